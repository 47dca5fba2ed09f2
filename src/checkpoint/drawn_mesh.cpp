#include "checkpoint/drawn_mesh.hpp"

#include <algorithm>
#include <limits>

#include "recoil/base/error.hpp"

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

} // namespace

MeshFile write_mesh_arrays(io::Hdf5Writer& file, const DrawnMesh& mesh, std::span<const StaticArray> arrays) {
  MeshFile entry;
  const auto write = [&]<class T>(const std::string& name, std::span<const T> rows, int columns,
                                  GlobalIndex count, io::ElementType type, io::Centre centre) {
    file.write_rows<T>(name, rows, columns);
    entry.arrays.push_back({name, {count, columns, type}, centre});
  };

  entry.cells = mesh.cells->global_size();
  entry.shape = common_shape(mesh);
  const std::vector<double> coordinates = mesh.nodes->to_blocks<double>(mesh.coordinates, mesh.dim);
  write("coordinates", std::span<const double>(coordinates), mesh.dim, mesh.nodes->global_size(),
        io::ElementType::float64, io::Centre::none);
  const std::vector<std::int64_t> cells = cell_stream(mesh, entry.shape.has_value());
  const int columns = entry.shape ? io::node_count(*entry.shape) : 1;
  const GlobalIndex rows = mesh.cells->communicator().sum(std::ssize(cells)) / columns;
  write("connectivity", std::span<const std::int64_t>(cells), columns, rows, io::ElementType::int64,
        io::Centre::none);

  for (const StaticArray& array : arrays)
    std::visit(
        [&]<class T>(std::span<const T> owned) {
          constexpr auto type = std::is_same_v<T, double>         ? io::ElementType::float64
                                : std::is_same_v<T, std::int32_t> ? io::ElementType::int32
                                                                  : io::ElementType::int64;
          const std::vector<T> block = array.layout->to_blocks<T>(owned, array.components);
          write(array.name, std::span<const T>(block), array.components, array.layout->global_size(), type,
                array.centre);
        },
        array.owned);
  return entry;
}

} // namespace recoil::checkpoint
