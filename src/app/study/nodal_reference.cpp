#include "app/study/nodal_reference.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"

namespace recoil::app {

namespace {

template <int dim>
class RunReference {
public:
  RunReference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space, bool positions)
      : where_(spec.where.of("reference")), space_(space), layout_(space.layout()),
        nodes_(space.comm(),
               std::span(space.canonical_ids()).first(static_cast<std::size_t>(space.num_owned_nodes()))),
        reader_(space.comm(), spec.reference / "trajectory") {
    for (const checkpoint::StateRecord& record : reader_.records())
      if (record.step && reader_.is_stored(record.id)) stored_.push_back({record.id, record.time});
    if (positions) rest_ = reader_.template read_static<double>("coordinates", nodes_);
  }

  std::span<const double> at(double time) {
    const auto after = std::ranges::lower_bound(stored_, time - tolerance(), {}, &Stored::time);
    if (after == stored_.end())
      throw InputError(where_, fmt::format("the reference ends at t = {:g}, {:g} is needed",
                                           stored_.empty() ? 0.0 : stored_.back().time, time));
    if (std::abs(after->time - time) <= tolerance()) return interpolate(after->id, after->id, 0);
    if (after == stored_.begin())
      throw InputError(where_,
                       fmt::format("the reference starts at t = {:g}, {:g} is needed", after->time, time));
    const auto before = after - 1;
    return interpolate(before->id, after->id, (time - before->time) / (after->time - before->time));
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

} // namespace

template <int dim>
objectives::ReferenceField nodal_reference(const ObjectiveSpec& spec, const fem::FunctionSpace<dim>& space,
                                           bool positions) {
  auto run = std::make_shared<RunReference<dim>>(spec, space, positions);
  return [run](double time) { return run->at(time); };
}

template objectives::ReferenceField nodal_reference(const ObjectiveSpec&, const fem::FunctionSpace<2>&, bool);
template objectives::ReferenceField nodal_reference(const ObjectiveSpec&, const fem::FunctionSpace<3>&, bool);

} // namespace recoil::app
