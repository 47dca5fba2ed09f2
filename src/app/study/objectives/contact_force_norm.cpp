#include "recoil/objectives/contact_force_norm.hpp"

#include "app/study/objectives/objective_type.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

class ContactForceNorm final : public ObjectiveOf<ContactForceNorm> {
public:
  explicit ContactForceNorm(const Item&) {}

  void check(const ExperimentScene& at) const override {
    if (!at.scene.contact.enabled)
      at.fail(where, "type",
              "contact_force_norm needs contact: set contact/enabled to true in " + at.scene.file.string());
    const auto* list = time ? std::get_if<objectives::ChosenSteps>(&*time) : nullptr;
    if (at.scene.time.kind == TimeKind::statics && list && list->steps.front() == 0)
      at.fail(
          where, "time",
          "contact_force_norm is known for the solution of a static scene only, step 1, not for its start");
  }

  template <int dim>
  auto make(DiscreteScene<dim>& discrete) const {
    const auto& problem = discrete.solver().problem();
    if (!problem.contact) throw InputError(where.of("type"), "the scene has no contact");
    return objectives::make_contact_force_norm<dim>(
        region_of(*this, discrete), *problem.contact, barrier_stiffness(discrete),
        [motion = &problem.obstacle_motion](double at) { return (*motion)(at, 1); });
  }
};

} // namespace

ObjectiveType contact_force_norm_objective() {
  return {.name = "contact_force_norm",
          .doc = "sum over the nodes of |f|^2, f the force of contact without friction.",
          .keys = {body_key(), time_key()},
          .read = ContactForceNorm::read};
}

} // namespace recoil::app
