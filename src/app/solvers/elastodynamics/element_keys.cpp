#include <algorithm>
#include <cmath>
#include <utility>

#include "app/solvers/elastodynamics/build_elements.hpp"
#include "recoil/app/scene/bound_member.hpp"
#include "recoil/app/solvers/elastodynamics/element_scene.hpp"
#include "recoil/base/error.hpp"

namespace recoil::app {
namespace {

constexpr Key space[] = {
    {.pattern = "/conventions",
     .types = text,
     .fallback = "\"recoil\"",
     .choices = "[\"recoil\", \"polyfem\"]",
     .doc = "Whose formulas are taken for damping and for the convergent barrier, where those of PolyFEM are "
            "others: see polyfem.md."},
    {.pattern = "/space", .types = object, .fallback = "{}", .doc = "Finite element space."},
    {.pattern = "/space/discr_order",
     .types = integer | one_or_list,
     .items = object,
     .fallback = "1",
     .range = from_to(1, 4),
     .doc = "Order of the Lagrange basis for all bodies, or a list of orders per body (bodies not listed: "
            "1). Bodies that share a vertex need the same order. Order 1 locks where Poisson's ratio is "
            "above 0.4, and bends too little where a body is five times as long as thick or more and has up "
            "to three elements across: cantilevers of one, two and three elements give 0.23, 0.54 and 0.72 "
            "of their deflection. Both are warned of."},
    {.pattern = "/space/discr_order/*/body", .types = text, .required = true, .doc = "Name of the body."},
    {.pattern = "/space/discr_order/*/order",
     .types = integer,
     .required = true,
     .range = from_to(1, 4),
     .doc = "Order of the Lagrange basis on it."},
    {.pattern = "/space/advanced", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/space/advanced/quadrature_order",
     .types = integer,
     .fallback = "-1",
     .range = from_to(-1, 30),
     .doc = "Degree of the quadrature of elastic and damping energies, stress objectives and norms, for all "
            "orders k; -1 or 0: max(2(k - 1), 1)."},
    {.pattern = "/space/advanced/mass_quadrature_order",
     .types = integer,
     .fallback = "-1",
     .range = from_to(-1, 30),
     .doc = "Quadrature of the mass matrix in PolyFEM. Accepted from 2 k on, the degree to which masses and "
            "body forces are integrated here, exactly where they are constant."},
};

constexpr const char* flags_reason = "an object, or true or false per axis";

constexpr Key periodic[] = {
    {.pattern = "/boundary_conditions/periodic_boundary",
     .types = object | list | null,
     .items = boolean,
     .length = {0, 3},
     .reason = flags_reason,
     .doc =
         "A cell that repeats: u+ = u- + H (X+ - X-) at nodes across from each other, H the macroscopic "
         "displacement gradient; see [Periodic cells](#periodic-cells). Or a flag per axis, as PolyFEM once "
         "had it."},
    {.pattern = "/boundary_conditions/periodic_boundary/enabled",
     .types = boolean,
     .doc = "Has to be said in an object with other keys."},
    {.pattern = "/boundary_conditions/periodic_boundary/axes",
     .types = one_or_list,
     .items = text,
     .length = {1, 3},
     .implied = "all",
     .choices = "[\"x\", \"y\", \"z\"]",
     .doc = "Axes along which the cell, a box, repeats; sides along others are ordinary boundaries."},
    {.pattern = "/boundary_conditions/periodic_boundary/correspondence",
     .types = list,
     .items = list,
     .doc = "The d ways from a side to the one across, where the cell is a parallelogram or parallelepiped; "
            "without it or empty the edges of the bounding box."},
    {.pattern = "/boundary_conditions/periodic_boundary/correspondence/*",
     .types = list,
     .items = number,
     .length = {2, 3},
     .unit = "m",
     .doc = "A way."},
    {.pattern = "/boundary_conditions/periodic_boundary/tolerance",
     .types = number,
     .implied = "1e-5",
     .range = {0, 0.1, true, false},
     .doc =
         "How far nodes may be from where the one across has its partner, over the diagonal of the bounding "
         "box."},
    {.pattern =
         "/boundary_conditions/{periodic_boundary/linear_displacement_offset,linear_displacement_offset}",
     .types = list,
     .items = list,
     .implied = "zero",
     .doc = "H, d rows of d numbers or formulas of t: H_ij = d u_i / d X_j. Beside `periodic_boundary` where "
            "that is a list of flags."},
    {.pattern =
         "/boundary_conditions/{periodic_boundary/linear_displacement_offset,linear_displacement_offset}/*",
     .types = list,
     .items = expression,
     .length = {2, 3},
     .doc = "A row."},
    {.pattern = "/boundary_conditions/{periodic_boundary/fixed_macro_strain,fixed_macro_strain}",
     .types = list,
     .items = integer,
     .implied = "all",
     .range = from_to(0, 8),
     .doc = "Numbers i d + j of the entries H_ij that are prescribed. Of the others the mean stress is zero; "
            "where H_ij and H_ji are both free they are equal, so that the cell does not turn."},
    {.pattern = "/boundary_conditions/periodic_boundary/force_zero_mean",
     .types = boolean,
     .choices = "[false]",
     .mark = Mark::refused,
     .reason = "the displacement is zero at one node, and its mean is not taken out",
     .doc = "PolyFEM's shift of the displacement."},
};

constexpr Key regions[] = {
    {.pattern = "/materials/*/id",
     .types = one_or_list,
     .items = integer | text,
     .implied = "0",
     .doc = "Volume ids, or names of physical groups of a Gmsh file."},
};

constexpr Key lame_rows[] = {
    {.pattern = "/materials/*/lambda",
     .types = expression | element_data,
     .unit = "Pa",
     .doc = "First Lame constant, with `mu`; lambda + 2 mu/3 must be positive."},
    {.pattern = "/materials/*/mu",
     .types = expression | element_data,
     .range = positive,
     .unit = "Pa",
     .doc = "Shear modulus."},
};

constexpr Key for_all_laws[] = {
    {.pattern = "/materials/*/{phi,psi}",
     .types = expression | element_data,
     .fallback = "0",
     .range = non_negative,
     .unit = "Pa s",
     .doc = "Strain-rate damping P = F (2 psi E' + phi tr(E') I); active when either is positive. With "
            "`conventions` \"polyfem\": see polyfem.md."},
    {.pattern = "/materials/*/mean_dilatation",
     .types = boolean,
     .fallback = "false",
     .doc =
         "Takes nearly one change of volume for each element, the mean of it, in any law: bodies of order 2 "
         "then hardly lock from nu 0.49 to 0.4999. Needs `discr_order` 2; refused in plane stress. See "
         "[elasticity](physics/elasticity.md#locking)."},
    {.pattern = "/materials/*/plane",
     .types = text,
     .fallback = "\"stress\"",
     .choices = "[\"stress\", \"strain\"]",
     .doc = "2D with `E`, `nu`: lambda = E nu/(1-nu^2), or E nu/((1+nu)(1-2nu))."},
};

/// Rows of the constants that laws bring along beside lambda and mu; several laws may share one.
std::vector<Key> own_constants() {
  std::vector<Key> rows;
  for (const potentials::LawInfo& law : potentials::laws()) {
    if (law.lame) continue;
    for (const potentials::LawConstant& constant : law.constants) {
      const std::string doc =
          "`" + std::string(law.name) + "`" + (*constant.doc ? ": " + std::string(constant.doc) : "") + ".";
      const std::string pattern = "/materials/*/" + std::string(constant.name);
      Key row{.pattern = keep(pattern),
              .types = expression | element_data,
              .unit = constant.unit,
              .doc = keep(doc)};
      if (std::isfinite(constant.min)) row.range = {constant.min, row.range.max, true, false};
      if (constant.max_terms > 0) {
        row.items = std::exchange(row.types, one_or_list);
        row.length = {1, constant.max_terms};
      }
      const auto shared = std::ranges::find(rows, std::string_view(pattern), &Key::pattern);
      if (shared != rows.end()) {
        RECOIL_ASSERT(shared->types == row.types && shared->range.min == row.range.min);
        shared->doc = keep(std::string(shared->doc) + " " + doc);
        continue;
      }
      rows.push_back(row);
    }
  }
  return rows;
}

std::vector<Key> material_rows() {
  std::vector<Key> rows(std::begin(regions), std::end(regions));
  rows.insert(rows.end(), std::begin(lame_rows), std::end(lame_rows));
  std::ranges::copy(own_constants(), std::back_inserter(rows));
  rows.insert(rows.end(), std::begin(for_all_laws), std::end(for_all_laws));
  return rows;
}

constexpr Key initial_state_keys[] = {
    {.pattern = "/initial_conditions/state",
     .types = object,
     .doc =
         "Displacements and velocities of a stored state of another run, before all entries above: on a "
         "finer "
         "or coarser mesh, with other orders, material laws, loads or time steps. Bodies of the same name, "
         "which have to have the same shape at rest, take the values at the rest positions of their nodes; "
         "others start at rest. The first step is BDF1, and time begins at `t0`."},
    {.pattern = "/initial_conditions/state/run",
     .types = folder,
     .required = true,
     .doc = "Folder of `recoil simulate`."},
    {.pattern = "/initial_conditions/state/time",
     .types = number,
     .implied = "the last one",
     .unit = "s",
     .doc = "Time of the state in its run."},
};

constexpr Key integrator[] = {
    {.pattern = "/time/integrator",
     .types = text | object,
     .fallback = "\"ImplicitEuler\"",
     .doc = "`ImplicitEuler`, `BDF1` .. `BDF6` (`BDF` = `BDF1`), or {\"type\": \"BDF\", \"steps\": k}. The "
            "order grows by one per step at the start."},
    {.pattern = "/time/integrator/type", .types = text, .required = true, .doc = "As above."},
    {.pattern = "/time/integrator/steps",
     .types = integer,
     .implied = "1",
     .range = from_to(1, 6),
     .doc = "Order of `BDF`."},
};

constexpr Key newton[] = {
    {.pattern = "/solver/nonlinear", .types = object, .fallback = "{}", .doc = "Newton's method."},
    {.pattern = "/solver/nonlinear/stop",
     .member = &bound<&ElementScene::solver, &SolverSpec::stop>,
     .doc =
         "`gradient`: by the norms below; `step`: by these or by the largest displacement of a Newton step."},
    {.pattern = "/solver/nonlinear/grad_norm_tol",
     .member = &bound<&ElementScene::solver, &SolverSpec::grad_norm_tol>,
     .range = non_negative,
     .doc =
         "Stop when sqrt(g' V^-1 g) < tol/10 F0 L^(d/2): g the gradient of the step's potential (in "
         "dynamic scenes forces times (b dt)^2, b of the BDF formula), V the lumped volume, F0 and L the "
         "characteristic force density and length. It holds only where the norm is below 3e-7 of the "
         "largest of its terms, too (inertia, elasticity, each load, damping, contact, friction): small "
         "bodies "
         "and steps have small gradients. A solve that gets stuck below tol counts, too. See `norm_type`."},
    {.pattern = "/solver/nonlinear/rel_grad_norm_tol",
     .member = &bound<&ElementScene::solver, &SolverSpec::rel_grad_norm_tol>,
     .range = non_negative,
     .doc =
         "Or when the norm has fallen to a tenth of this factor; stuck below the factor itself counts, too."},
    {.pattern = "/solver/nonlinear/first_grad_norm_tol",
     .member = &bound<&ElementScene::solver, &SolverSpec::first_grad_norm_tol>,
     .range = non_negative,
     .doc = "As `grad_norm_tol`, but before the first iteration and without the tenth."},
    {.pattern = "/solver/nonlinear/step_tolerance",
     .member = &bound<&ElementScene::solver, &SolverSpec::step_tolerance>,
     .range = positive,
     .doc = "`step`: stop when max|direction|/dt falls below this times the diagonal of the rest bounding "
            "box, per second (statics: dt = 1)."},
    {.pattern = "/solver/nonlinear/norm_type",
     .member = &bound<&ElementScene::solver, &SolverSpec::norm>,
     .doc = "Norm of the gradient: as in `grad_norm_tol`, or sqrt(g' g) < tol F0 L^d."},
    {.pattern = "/solver/nonlinear/max_iterations",
     .member = &bound<&ElementScene::solver, &SolverSpec::max_iterations>,
     .range = from_to(1, 2147483647),
     .doc = "Newton iterations of one solve before it counts as failed."},
    {.pattern = "/solver/nonlinear/allow_out_of_iterations",
     .member = &bound<&ElementScene::solver, &SolverSpec::allow_out_of_iterations>,
     .doc = "Accept the last iterate instead."},
    {.pattern = "/solver/advanced", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/solver/advanced/lump_mass_matrix",
     .member = &bound<&ElementScene::solver, &SolverSpec::lump_mass_matrix>,
     .doc = "Row-sum lumping in the inertia term; order 1 only."},
    {.pattern = "/solver/advanced/characteristic_length",
     .member = &bound<&ElementScene::solver, &SolverSpec::characteristic_length>,
     .implied = "diagonal of the rest bounding box",
     .range = positive,
     .unit = "m",
     .doc = "L of `grad_norm_tol`."},
    {.pattern = "/solver/advanced/characteristic_force_density",
     .member = &bound<&ElementScene::solver, &SolverSpec::characteristic_force_density>,
     .range = positive,
     .unit = "N/m^3",
     .doc = "F0 of `grad_norm_tol`."},
    {.pattern = "/solver/advanced/lagged_regularization_weight",
     .member = &bound<&ElementScene::solver, &SolverSpec::lagged_regularization_weight>,
     .range = non_negative,
     .doc = "Statics: adds w/2 |u - u_lag|^2 to the first lagging solves; without friction there is one "
            "solve, and the term stays in the solution."},
    {.pattern = "/solver/advanced/lagged_regularization_iterations",
     .member = &bound<&ElementScene::solver, &SolverSpec::lagged_regularization_iterations>,
     .range = from_to(0, 2147483647),
     .doc = "How many of them."},
};

} // namespace

std::vector<KeySection> element_keys() {
  static const std::vector<Key> materials = material_rows();
  return {{"root", space},
          {"materials", materials},
          {"boundary_conditions", periodic},
          {"initial_conditions", initial_state_keys},
          {"time", integrator},
          {"solver", newton}};
}

} // namespace recoil::app
