#include "recoil/app/scene/option_keys.hpp"

namespace recoil::app {

OptionNames keys_of_options() {
  return {{"barrier_stiffness", "/solver/contact/barrier_stiffness"},
          {"cascade_share", "/solver/bonded_particles/cascade_share"},
          {"damage_width", "/solver/bonded_particles/damage_width"},
          {"dhat", "/contact/dhat"},
          {"dirichlet_boundary", "/boundary_conditions/dirichlet_boundary"},
          {"discr_order", "/space/discr_order"},
          {"dt", "/time/dt"},
          {"explicit_share", "/solver/bonded_particles/explicit_share"},
          {"friction_iterations", "/solver/contact/friction_iterations"},
          {"integrator", "/solver/bonded_particles/integrator"},
          {"max_broken_share", "/solver/bonded_particles/max_broken_share"},
          {"neumann_boundary", "/boundary_conditions/neumann_boundary"},
          {"obstacle_displacements", "/boundary_conditions/obstacle_displacements"},
          {"quasistatic", "/time/quasistatic"},
          {"store_every", "/sweep/store_every"},
          {"sudden_breaking", "/solver/bonded_particles/sudden_breaking"}};
}

} // namespace recoil::app
