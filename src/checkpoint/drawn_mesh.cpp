#include <algorithm>
#include <limits>

#include "checkpoint/reader_state.hpp"
#include "recoil/base/error.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::checkpoint {
namespace {

/// The shape of all cells, if they have one shape. Collective.
std::optional<io::CellShape> common_shape(const DrawnMesh& mesh) {
  GlobalIndex least = std::numeric_limits<GlobalIndex>::max(), greatest = 0;
  for (const io::CellShape shape : mesh.shapes) {
    least = std::min(least, static_cast<GlobalIndex>(shape));
    greatest = std::max(greatest, static_cast<GlobalIndex>(shape));
  }
  const auto& comm = mesh.cells->communicator();
  least = comm.min(least);
  greatest = comm.max(greatest);
  if (least != greatest) return std::nullopt;
  return static_cast<io::CellShape>(least);
}

/// Cells of this rank's block, one after the other: nodes only where all have one shape, else preceded by the
/// shape code.
std::vector<std::int64_t> cell_stream(const DrawnMesh& mesh, bool one_shape) {
  const std::size_t width = mesh.width;
  std::vector<std::int32_t> codes;
  for (const io::CellShape shape : mesh.shapes) codes.push_back(static_cast<std::int32_t>(shape));
  codes = mesh.cells->to_blocks<std::int32_t>(codes, 1);
  const auto nodes = mesh.cells->to_blocks<std::int64_t>(mesh.connectivity, mesh.width);
  std::vector<std::int64_t> stream;
  for (std::size_t cell = 0; cell < codes.size(); ++cell) {
    const auto shape = static_cast<io::CellShape>(codes[cell]);
    const int count = io::node_count(shape);
    RECOIL_ASSERT(count <= mesh.width);
    if (!one_shape) {
      stream.push_back(codes[cell]);
      // The codes of these two stand for any number of nodes.
      if (shape == io::CellShape::vertex || shape == io::CellShape::segment) stream.push_back(count);
    }
    const auto first = nodes.begin() + cell * width;
    stream.insert(stream.end(), first, first + count);
  }
  return stream;
}

DrawnCell padded(std::span<const std::int64_t> nodes) {
  DrawnCell cell;
  cell.fill(-1);
  std::ranges::copy(nodes, cell.begin());
  return cell;
}

/// Cells begin..end-1 of a stream in which each is preceded by its shape: only the cells before it tell where
/// one starts, so all of them are passed by, a piece of the file at a time.
std::vector<DrawnCell> read_mixed(const io::Hdf5Reader& file, GlobalIndex rows, GlobalIndex begin,
                                  GlobalIndex end) {
  constexpr GlobalIndex piece = 1 << 18;
  std::vector<std::int64_t> stream;
  std::vector<DrawnCell> cells;
  GlobalIndex read = 0, cell = 0;
  std::size_t at = 0;
  while (cell < end) {
    if (stream.size() - at <= DrawnCell().size() && read < rows) {
      stream.erase(stream.begin(), stream.begin() + at);
      at = 0;
      const GlobalIndex until = std::min(rows, read + piece);
      const auto next = file.read_rows<std::int64_t>("connectivity", read, until);
      stream.insert(stream.end(), next.begin(), next.end());
      read = until;
    }
    RECOIL_ASSERT(at < stream.size());
    const std::size_t count = io::node_count(static_cast<io::CellShape>(stream[at]));
    RECOIL_ASSERT(at + count < stream.size());
    if (cell++ >= begin) cells.push_back(padded(std::span(stream).subspan(at + 1, count)));
    at += count + 1;
  }
  return cells;
}

} // namespace

MeshFile write_mesh_arrays(io::Hdf5Writer& file, const DrawnMesh& mesh, std::span<const StaticArray> arrays) {
  MeshFile entry;
  const auto write = [&]<class T>(const std::string& name, std::span<const T> rows, int columns,
                                  GlobalIndex count, io::Centre centre) {
    file.write_rows<T>(name, rows, columns);
    entry.arrays.push_back({name, {count, columns, io::element_type<T>}, centre});
  };

  entry.cells = mesh.cells->global_size();
  entry.shape = common_shape(mesh);
  const std::vector<double> coordinates = mesh.nodes->to_blocks<double>(mesh.coordinates, mesh.dim);
  write("coordinates", std::span<const double>(coordinates), mesh.dim, mesh.nodes->global_size(),
        io::Centre::none);
  const std::vector<std::int64_t> cells = cell_stream(mesh, entry.shape.has_value());
  const int columns = entry.shape ? io::node_count(*entry.shape) : 1;
  const GlobalIndex rows = mesh.cells->communicator().sum(std::ssize(cells)) / columns;
  write("connectivity", std::span<const std::int64_t>(cells), columns, rows, io::Centre::none);

  for (const StaticArray& array : arrays)
    std::visit(
        [&]<class T>(std::span<const T> owned) {
          const std::vector<T> block = array.layout->to_blocks<T>(owned, array.components);
          write(array.name, std::span<const T>(block), array.components, array.layout->global_size(),
                array.centre);
        },
        array.owned);
  return entry;
}

GlobalIndex TrajectoryReader::num_cells() const { return impl_->manifest.mesh.cells; }

std::vector<DrawnCell> TrajectoryReader::read_cells() {
  const MeshFile& mesh = impl_->manifest.mesh;
  const io::ArrayShape shape = static_shape("connectivity");
  const io::Hdf5Reader& file = impl_->open(mesh);
  const GlobalIndex begin = io::block_begin(mesh.cells, impl_->comm.rank(), impl_->comm.size());
  const GlobalIndex end = io::block_begin(mesh.cells, impl_->comm.rank() + 1, impl_->comm.size());
  return parallel::collectively(impl_->comm, [&] {
    if (!mesh.shape) return read_mixed(file, shape.rows, begin, end);
    const auto nodes = file.read_rows<std::int64_t>("connectivity", begin, end);
    const std::size_t width = shape.columns;
    std::vector<DrawnCell> cells;
    for (std::size_t first = 0; first < nodes.size(); first += width)
      cells.push_back(padded(std::span(nodes).subspan(first, width)));
    return cells;
  });
}

} // namespace recoil::checkpoint
