#include <algorithm>

#include "checkpoint/reader_state.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/io/block_layout.hpp"

namespace recoil::checkpoint {

namespace {

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
