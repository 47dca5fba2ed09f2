#include "app/scene/shared_keys.hpp"
#include "recoil/app/scene/bound_member.hpp"

namespace recoil::app {
namespace {

constexpr Range up_to_one{0, 1, true, false};

constexpr Key contact[] = {
    {.pattern = "/contact",
     .types = object,
     .fallback = "{}",
     .doc = "Contact within and between all bodies and obstacles."},
    {.pattern = "/contact/enabled", .member = &bound<&Scene::contact, &ContactSpec::enabled>, .doc = ""},
    {.pattern = "/contact/dhat",
     .member = &bound<&Scene::contact, &ContactSpec::dhat>,
     .filled_in = false,
     .range = positive,
     .unit = "m",
     .doc = "Distance below which a pair is active."},
    {.pattern = "/contact/dhat_relative",
     .member = &bound<&Scene::contact, &ContactSpec::dhat_relative>,
     .range = positive,
     .doc = "Instead of `dhat`: fraction of the diagonal of the rest bounding box of the deformable bodies."},
    {.pattern = "/contact/friction_coefficient",
     .member = &bound<&Scene::contact, &ContactSpec::friction_coefficient>,
     .range = non_negative,
     .doc = "Coulomb coefficient of all pairs."},
    {.pattern = "/contact/friction_pairs",
     .types = one_or_list,
     .items = object,
     .fallback = "[]",
     .doc = "Coefficients of single pairs of bodies, over `friction_coefficient`."},
    {.pattern = "/contact/friction_pairs/*/bodies",
     .types = list,
     .items = text,
     .length = {2, 2},
     .required = true,
     .doc = "Two names; twice the same for self-contact."},
    {.pattern = "/contact/friction_pairs/*/coefficient",
     .types = number,
     .required = true,
     .range = non_negative,
     .doc = "Coulomb coefficient."},
    {.pattern = "/contact/epsv",
     .member = &bound<&Scene::contact, &ContactSpec::epsv>,
     .range = positive,
     .unit = "m/s",
     .doc = "Sliding velocity below which friction is smoothed (statics: displacement)."},
    {.pattern = "/contact/periodic",
     .member = &bound<&Scene::contact, &ContactSpec::periodic>,
     .doc = "Of a `periodic_boundary`: bodies touch those of the cells next to theirs, too; see [Periodic "
            "cells](#periodic-cells). Not with `use_gcp_formulation`."},
    {.pattern = "/contact/use_convergent_formulation",
     .member = &bound<&Scene::contact, &ContactSpec::use_convergent_formulation>,
     .doc = "The barrier in d instead of d^2 (`conventions` \"polyfem\": in d^2), with the three parts "
            "below; they have no effect without it."},
    {.pattern = "/contact/use_area_weighting",
     .member = &bound<&Scene::contact, &ContactSpec::use_area_weighting>,
     .doc = "Weighs every term with the rest area (2D: length) around its vertex or its edges. The adaptive "
            "stiffness follows the weights; a given one has to be chosen for them."},
    {.pattern = "/contact/use_improved_max_operator",
     .member = &bound<&Scene::contact, &ContactSpec::use_improved_max_operator>,
     .doc = "Inclusion-exclusion: an edge or vertex that several primitives share counts once. For dhat well "
            "below the edge lengths of the surface."},
    {.pattern = "/contact/use_physical_barrier",
     .member = &bound<&Scene::contact, &ContactSpec::use_physical_barrier>,
     .doc = "Takes a given solver/contact/barrier_stiffness for a pressure [Pa] and divides it by dhat "
            "(`conventions` \"polyfem\": by dhat^3); no effect on the adaptive one."},
    {.pattern = "/contact/use_gcp_formulation",
     .member = &bound<&Scene::contact, &ContactSpec::use_gcp_formulation>,
     .doc =
         "The geometric contact potential [Huang et al. 2025]: pairs count where they are closest on their "
         "own surfaces and outside of the bodies, weighed with the measures of their primitives. See "
         "[Forms of contact](contact.md)."},
    {.pattern = "/contact/alpha_t",
     .member = &bound<&Scene::contact, &ContactSpec::alpha_t>,
     .range = up_to_one,
     .doc = "Of `use_gcp_formulation`: sine of the angle by which a pair may miss being closest before its "
            "weight is 0. Flat parts push less along themselves the smaller it is."},
    {.pattern = "/contact/beta_t",
     .member = &bound<&Scene::contact, &ContactSpec::beta_t>,
     .range = from_to(-1, 1),
     .doc = "The same sine, of the other sign, from which on the weight is whole; more than -`alpha_t`."},
    {.pattern = "/contact/alpha_n",
     .member = &bound<&Scene::contact, &ContactSpec::alpha_n>,
     .range = up_to_one,
     .doc = "The same of the angle to the outside of a body."},
    {.pattern = "/contact/beta_n",
     .member = &bound<&Scene::contact, &ContactSpec::beta_n>,
     .range = from_to(-1, 1),
     .doc = "As `beta_t`; more than -`alpha_n`."},
    {.pattern = "/contact/adhesion",
     .types = object,
     .fallback = "{}",
     .doc = "Adhesion of all pairs [Fang et al. 2023]. See [Forms of contact](contact.md#adhesion)."},
    {.pattern = "/contact/adhesion/adhesion_enabled",
     .member = &bound<&Scene::contact, &ContactSpec::adhesion_enabled>,
     .doc = "Whether surfaces adhere."},
    {.pattern = "/contact/adhesion/adhesion_strength",
     .member = &bound<&Scene::contact, &ContactSpec::adhesion_strength>,
     .range = non_negative,
     .doc =
         "Largest traction of adhesion [Pa] where contact weighs by areas (`use_convergent_formulation` with "
         "`use_area_weighting`), else the largest force of a pair of primitives [N]. Needed with "
         "`adhesion_enabled`."},
    {.pattern = "/contact/adhesion/dhat_p",
     .member = &bound<&Scene::contact, &ContactSpec::adhesion_peak>,
     .range = positive,
     .unit = "m",
     .doc = "Distance at which adhesion is largest; `contact/dhat` or more, so that it is not the barrier "
            "that ends it."},
    {.pattern = "/contact/adhesion/dhat_a",
     .member = &bound<&Scene::contact, &ContactSpec::adhesion_reach>,
     .range = positive,
     .unit = "m",
     .doc = "Distance from which on there is none; more than `dhat_p`."},
};

constexpr Key solver[] = {
    {.pattern = "/contact/adhesion/tangential_adhesion_coefficient",
     .member = &bound<&Scene::contact, &ContactSpec::tangential_adhesion>,
     .range = non_negative,
     .doc = "Largest force of tangential adhesion over `adhesion_strength` (`conventions` \"polyfem\": over "
            "`adhesion_strength` / (2 `dhat_p`)), the same at all distances up to `dhat_a`. Absent: none."},
    {.pattern = "/contact/adhesion/epsa",
     .member = &bound<&Scene::contact, &ContactSpec::epsa>,
     .range = positive,
     .unit = "m/s",
     .doc =
         "Sliding velocity at which tangential adhesion is largest (statics: displacement); from twice that "
         "on there is none."},
    {.pattern = "/solver", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/solver/type", .types = text, .doc = "What bodies are simulated as."},
    {.pattern = "/solver/contact", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/solver/contact/barrier_stiffness",
     .types = number | text,
     .fallback = "\"adaptive\"",
     .range = positive,
     .reason = "\"adaptive\" is the only text allowed",
     .doc = "Barrier stiffness, or \"adaptive\"."},
    {.pattern = "/solver/contact/initial_barrier_stiffness",
     .member = &bound<&Scene::contact, &ContactSpec::initial_barrier_stiffness>,
     .range = positive,
     .doc = "With an adaptive stiffness: used for the very first friction lagging only."},
    {.pattern = "/solver/contact/friction_iterations",
     .member = &bound<&Scene::contact, &ContactSpec::friction_iterations>,
     .range = from_to(-1, 2147483647),
     .doc = "Most solves per step with friction and tangential adhesion lagged again; -1: until converged "
            "(given up after 100, or after 20 without progress, with a warning); 0 switches friction off."},
    {.pattern = "/solver/contact/friction_convergence_tol",
     .member = &bound<&Scene::contact, &ContactSpec::friction_convergence_tol>,
     .range = non_negative,
     .doc = "0: friction has converged where the norm sqrt(g' g) of the gradient with the new lagged "
            "quantities is "
            "at most 1e-4 of that of the contact forces in it, in studies 1e-7. Above 0: PolyFEM's bound on "
            "the same "
            "norm, times dt, which has units (PolyFEM's default is 0.01); studies demand both."},
};

constexpr Key output[] = {
    {.pattern = "/output", .types = object, .fallback = "{}", .doc = ""},
    {.pattern = "/output/every",
     .member = &bound<&Scene::output, &OutputSpec::every>,
     .range = from_to(1, 2147483647),
     .doc = "Steps between stored states; the last state and sub-steps of repeated steps are stored, too."},
    {.pattern = "/output/times",
     .types = list,
     .items = number,
     .length = {1, 1 << 30},
     .unit = "s",
     .doc =
         "In place of `every`: times whose states are stored, each the end of a step, ascending. The initial "
         "and the last state are stored anyway."},
    {.pattern = "/output/chunk",
     .member = &bound<&Scene::output, &OutputSpec::chunk>,
     .range = from_to(1, 1000000),
     .doc = "States per trajectory file."},
    {.pattern = "/output/fields",
     .types = one_or_list,
     .items = text,
     .fallback = "[]",
     .choices = "[\"stress\", \"von_mises\", \"strain_energy\", \"contact_force\", \"friction_force\", "
                "\"reaction_force\"]",
     .doc = "Written beside displacement and velocity. `reaction_force`: at nodes, what holds or moves "
            "prescribed components [N], see below."},
    {.pattern = "/tests",
     .types = object,
     .doc = "Norms of the displacement that a regression run compares with; not used by the simulation."},
    {.pattern = "/tests/{err_l2,err_lp,err_linf,err_h1,err_h1_semi,err_linf_grad}",
     .types = number,
     .range = non_negative,
     .doc = "Norm after the last step run."},
    {.pattern = "/tests/margin",
     .types = number,
     .fallback = "1e-5",
     .range = non_negative,
     .doc = "Relative tolerance."},
    {.pattern = "/tests/time_steps",
     .types = integer | text,
     .fallback = "1",
     .range = from_to(1, 2147483647),
     .reason = "\"all\" and \"static\" are the only texts allowed",
     .doc = "Steps to run, \"all\" or \"static\"."},
};

} // namespace

std::vector<KeySection> solver_sections() {
  return {{"contact", contact}, {"solver", solver}, {"output", output}};
}

} // namespace recoil::app
