#include <random>

#include "app_experiment/every_kind.hpp"
#include "app_experiment/experiment.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app::parameter_kinds_test {
namespace {

using nlohmann::json;
using namespace every_kind;

/// Fields on the space of a variant, the same wherever it is, and the products with them of what the
/// parameters act on.
template <int dim>
struct Probe {
  DiscreteScene<dim>& on;
  const linalg::Vector previous, p, x, y, z;
  linalg::Vector now;
  stepping::StepRecord record;

  explicit Probe(DiscreteScene<dim>& discrete)
      : on(discrete), previous(test::rough_field(on.space(), 2e-4, 1)),
        p(free(test::rough_field(on.space(), 1, 3))), x(test::rough_field(on.space(), 10, 4)),
        y(test::rough_field(on.space(), 1e3, 5)), z(test::rough_field(on.space(), 1e2, 6)), now(previous) {
    now.add(1, test::rough_field(on.space(), 3e-4, 2));
    const auto& history = on.solver().history();
    const auto coefficients = history.next_coefficients();
    // Between the ends of two steps.
    record = history.next_record(1, 3, 0.0103, 0.0041, coefficients);
  }
  linalg::Vector free(linalg::Vector field) const {
    on.solver().problem().dirichlet->clear(field.write_owned());
    field.update_ghosts();
    return field;
  }

  /// p' G + p' M x + y' g + y' u_0 + z' v_0: forces of a step, prescribed displacements, initial state.
  double value() const {
    stepping::SweepProducts<dim> none;
    const auto step = on.solver().recorded_step(5, none);
    const stepping::State first{0, previous, z}, last{1, now, z};
    step->linearize(record, last, first);
    linalg::Vector Mx(x), prescribed(y.shared_layout());
    step->multiply_mass(x, Mx);
    on.solver().problem().dirichlet->set_values(record.time, 1, prescribed);
    const stepping::State& start = on.solver().history().newest();
    return step->gradient_product(p) + p.dot(Mx) + y.dot(prescribed) + y.dot(start.u) + z.dot(start.v);
  }
  /// The derivatives of the step.
  ParameterValues gradient(const std::vector<ParameterField<dim>>& fields) const {
    const std::vector<std::unique_ptr<objectives::Objective<dim>>> objectives;
    GradientChain<dim> chain = gradient_chain(on, fields, objectives);
    const auto step = on.solver().recorded_step(5, chain.products());
    const stepping::State first{0, previous, z}, last{1, now, z};
    step->linearize(record, last, first);
    step->add_parameter_products(0, p, 1);
    step->add_mass_products(0, p, x);
    if (step->wants_prescribed_products()) step->add_prescribed_products(0, y);
    step->add_initial_products(0, y, z);
    return chain.finish();
  }
};

/// y' W w and w' W' y with a random y of this rank, where W takes a change w of the values to changes of all
/// that the sweeps see.
template <int dim>
class ChainProducts {
public:
  ChainProducts(const StudiedExperiment<dim>& experiment, DiscreteScene<dim>& discrete)
      : discrete_(discrete), kind_(*experiment.fields()[0].spec->kind),
        random_(17 + experiment.comm().rank()),
        tangent_(tangent_chain<dim>(discrete, experiment.fields(), {{experiment.direction(0)}})),
        transposed_(gradient_chain<dim>(discrete, experiment.fields(), {})) {
    take_arrays();
    take_functions();
    forward = experiment.comm().sum(forward);
    size = experiment.comm().sum(size);
    backward = experiment.slope(0, transposed_.finish()[0]);
  }

  double forward = 0, backward = 0, size = 0; ///< of the sum of absolute values

private:
  double draw() { return std::uniform_real_distribution(-1.0, 1.0)(random_); }
  void take(std::span<double> y, std::span<const double> change) {
    ASSERT_LE(y.size(), change.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      y[i] = draw();
      forward += y[i] * change[i];
      size += std::abs(y[i] * change[i]);
    }
  }
  void take_arrays() {
    if (tangent_.directions().loads) tangent_.directions().loads(0, time);
    parameters::PhysicalGradient<dim>& g = transposed_.products().gradients[0];
    for (const parameters::Quantity& quantity : kind_.quantities)
      if (quantity.place != parameters::Place::node && quantity.place != parameters::Place::surface_vertex)
        take(g.entries(quantity), tangent_.directions().changes[0].entries(quantity));
    if (transposed_.products().loads) transposed_.products().loads(0, time);
  }
  void take_functions() {
    auto& directions = tangent_.directions();
    auto& products = transposed_.products();
    linalg::Vector y(discrete_.space().layout()), change(y), z(y), other(y);
    if (directions.prescribed) {
      directions.prescribed(0, time, 0.7, change);
      take(y.write_owned(), change.owned());
      products.prescribed(0, time, 0.7, y);
      change.fill(0);
    }
    if (directions.initial) {
      directions.initial(0, change, other);
      take(y.write_owned(), change.owned());
      take(z.write_owned(), other.owned());
      products.initial(0, y, z);
    }
    if (directions.obstacles) {
      const auto& surface = discrete_.solver().problem().contact->surface();
      std::vector<Eigen::Matrix<double, dim, 1>> moves(surface.num_owned());
      directions.obstacles(0, time, 0.7, moves);
      auto by_moves = moves;
      take(parameters::components(by_moves), parameters::components(moves));
      products.obstacles(0, time, 0.7, by_moves);
    }
  }

  static constexpr double time = 0.0103; ///< between the ends of two steps
  DiscreteScene<dim>& discrete_;
  const ParameterKind& kind_;
  std::mt19937 random_;
  TangentChain<dim> tangent_;
  GradientChain<dim> transposed_;
};

/// Derivative along a direction of all values, which differences agree with.
template <int dim>
double check_entry(MPI_Comm ranks, const ParameterKind& kind, const json& entry) {
  const potentials::LawInfo& law = law_for(kind);
  json study{{"objectives", {{{"name", "o"}, {"type", "elastic_energy"}}}}, {"parameters", {entry}}};
  const parallel::Communicator comm(ranks);
  const testing::TemporaryFolder folder(comm);
  if (entry.contains("basis") && entry["basis"].contains("modes")) {
    const StudiedExperiment<dim> plain(
        ranks, scene<dim>(law),
        {{"objectives", study["objectives"]},
         {"parameters", {{{"name", "q"}, {"quantity", "density"}, {"initial", 1}}}}});
    every_kind::write_modes<dim>(comm, folder / "modes.h5", plain.geometry().mesh.num_vertices_global, 0.3);
    study["parameters"][0]["basis"]["modes"] = (folder / "modes.h5").string();
  }
  const StudiedExperiment<dim> experiment(ranks, scene<dim>(law), study);
  const Variant<dim> variant = experiment.at(experiment.start());
  const ParameterValues gradient = Probe<dim>(*variant.discrete).gradient(experiment.fields());
  const double slope = experiment.slope(0, gradient[0]);
  const ChainProducts<dim> products(experiment, *variant.discrete);
  EXPECT_LE(std::abs(products.forward - products.backward), 1e-12 * products.size) << entry;
  EXPECT_GT(std::abs(products.forward), 1e-6 * products.size) << entry;
  if (!is_alone()) return slope;
  const double error = difference_error(slope, [&](double h) {
    ParameterValues values = experiment.start();
    for (std::size_t i = 0; i < values[0].size(); ++i) values[0][i] += h * experiment.direction(0)[i];
    return Probe<dim>(*experiment.at(values).discrete).value();
  });
  // Exponents of Ogden's law hardly matter at these strains.
  const double rounding = 1e-12 * std::abs(Probe<dim>(*variant.discrete).value());
  EXPECT_LE(error, 1e-6 * std::abs(slope) + rounding) << entry;
  EXPECT_GT(std::abs(slope), 1e2 * rounding) << entry;
  return slope;
}

template <int dim>
void check_registry() {
  for_each_kind<dim>([](const ParameterKind& kind) {
    ASSERT_FALSE(kind.quantities.empty() || !kind.actions<dim>().weights) << kind.name;
    for (const json& entry : entries<dim>(kind)) {
      const double alone = check_entry<dim>(MPI_COMM_SELF, kind, entry);
      if (is_alone()) continue;
      EXPECT_NEAR(check_entry<dim>(MPI_COMM_WORLD, kind, entry), alone, 1e-9 * std::abs(alone)) << entry;
    }
  });
}
TEST(ParameterKinds, HaveBothProductsOfWhatTheyApply2D) { check_registry<2>(); }
TEST(ParameterKinds, HaveBothProductsOfWhatTheyApply3D) { check_registry<3>(); }

} // namespace
} // namespace recoil::app::parameter_kinds_test
