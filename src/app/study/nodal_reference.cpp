#include "app/study/nodal_reference.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "app/simulation/node_layout.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

namespace {

/// @throws InputError where an array of displacements is not one of the experiment's nodes.
template <int dim>
void require_nodes(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                   const io::ArrayShape& shape) {
  if (shape.rows == space.num_nodes_global() && shape.columns == dim) return;
  throw InputError(spec.where.of("reference"),
                   fmt::format("{} has displacements 'u' of {} nodes in {}D, the experiment has {} nodes in "
                               "{}D; references are on the mesh of the experiment, in its order",
                               spec.reference.string(), shape.rows, shape.columns, space.num_nodes_global(),
                               dim));
}

template <int dim>
class RunReference {
public:
  RunReference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space, bool positions)
      : where_(spec.where.of("reference")), space_(space), layout_(space.layout()),
        nodes_(node_layout(space)), reader_(space.comm(), spec.reference / "trajectory") {
    for (const checkpoint::StateRecord& record : reader_.records())
      if (record.step && reader_.is_stored(record.id)) stored_.push_back({record.id, record.time});
    if (!stored_.empty()) require_nodes<dim>(spec, space, reader_.shape(stored_.front().id, "u"));
    if (positions) rest_ = reader_.template read_static<double>("coordinates", nodes_);
  }

  void check_time(double time) const { static_cast<void>(around(time)); }

  std::span<const double> at(double time) {
    const auto [before, after] = around(time);
    const double share = before.id == after.id ? 0 : (time - before.time) / (after.time - before.time);
    return interpolate(before.id, after.id, share);
  }

private:
  struct Stored {
    GlobalIndex id;
    double time;
  };

  double tolerance() const {
    return stored_.size() < 2 ? 1e-12
                              : 1e-6 * (stored_.back().time - stored_.front().time) /
                                    static_cast<double>(stored_.size() - 1);
  }

  /// The stored states before and after a time, twice the same on one of them.
  std::pair<Stored, Stored> around(double time) const {
    const auto after = std::ranges::lower_bound(stored_, time - tolerance(), {}, &Stored::time);
    if (after == stored_.end())
      throw InputError(where_, fmt::format("the reference ends at t = {:g}, {:g} is needed",
                                           stored_.empty() ? 0.0 : stored_.back().time, time));
    if (std::abs(after->time - time) <= tolerance()) return {*after, *after};
    if (after == stored_.begin())
      throw InputError(where_,
                       fmt::format("the reference starts at t = {:g}, {:g} is needed", after->time, time));
    return {*(after - 1), *after};
  }

  std::span<const double> interpolate(GlobalIndex before, GlobalIndex after, double share) {
    linalg::Vector field(layout_);
    auto entries = field.write_owned();
    const auto add = [&](GlobalIndex id, double factor) {
      const std::vector<double> u = reader_.read(id, "u", nodes_);
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += factor * u[i];
    };
    if (share < 1) add(before, 1 - share);
    if (share > 0) add(after, share);
    const std::size_t width = rest_.empty() ? 0 : rest_.size() / (entries.size() / dim);
    if (!rest_.empty())
      for (std::size_t i = 0; i < entries.size(); ++i) entries[i] += rest_[i / dim * width + i % dim];
    field.update_ghosts();
    values_.assign(field.local().begin(), field.local().end());
    return values_;
  }

  std::string where_;
  const fem::FunctionSpace<dim>& space_;
  std::shared_ptr<const linalg::VectorLayout> layout_;
  io::BlockLayout nodes_;
  checkpoint::TrajectoryReader reader_;
  std::vector<Stored> stored_;
  std::vector<double> rest_, values_;
};

/// The array `u` of an HDF5 file at the local nodes, plus the rest mesh where `positions`.
template <int dim>
std::vector<double> read_reference_file(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                                        bool positions) {
  const io::BlockLayout nodes = node_layout(space);
  const std::vector<double> block = parallel::collectively(space.comm(), [&] {
    const io::Hdf5Reader file(spec.reference);
    if (!file.contains("u"))
      throw InputError(spec.where.of("reference"),
                       spec.reference.string() + " holds no array 'u', the displacements of the nodes");
    require_nodes<dim>(spec, space, file.shape("u"));
    return file.read_rows<double>("u", nodes.block_begin(), nodes.block_end());
  });
  const linalg::Vector field(space.layout(), nodes.from_blocks<double>(block, dim));
  std::vector<double> values(field.local().begin(), field.local().end());
  if (positions)
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] += space.node_positions()[i / dim][static_cast<Eigen::Index>(i % dim)];
  return values;
}

} // namespace

template <int dim>
objectives::ReferenceField nodal_reference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                                           bool positions, const std::array<double, 2>& interval) {
  // The first rank's look decides, as the others may see an older state of the file system.
  std::error_code error;
  if (!space.comm().any(space.comm().rank() == 0 && std::filesystem::is_directory(spec.reference, error)))
    return objectives::constant_reference(read_reference_file<dim>(spec, space, positions));
  auto run = std::make_shared<RunReference<dim>>(spec, space, positions);
  for (const double time : interval) run->check_time(time);
  return [run](double time) { return run->at(time); };
}

#define RECOIL_INSTANTIATE(dim)                                                                              \
  template objectives::ReferenceField nodal_reference(const ObjectiveSpec&, const fem::FunctionSpace<dim>&,  \
                                                      bool, const std::array<double, 2>&);
RECOIL_INSTANTIATE(2)
RECOIL_INSTANTIATE(3)
#undef RECOIL_INSTANTIATE

} // namespace recoil::app
