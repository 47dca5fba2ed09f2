// Hessian assembly on an n^3 box of six tetrahedra per cube (2D: two triangles per square), on one rank.
//
//   bench_assembly [-n 40] [-n_orders 16] [-repeat 7] [-only_ratio] [-json FILE]
//
// First recoil's P1 Neo-Hookean element loop against the leanest loop for the same mesh, alternating in one
// run, then every law at orders 1..4. CPU time of this process, smallest of the repeats: other jobs disturb
// it little.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>

#include "recoil/fem/element_assembler.hpp"
#include "recoil/fem/reference/quadrature.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"
#include "recoil/potentials/elastic.hpp"
#include "recoil/potentials/laws/all.hpp"
#include "reference_assembly.hpp"

namespace {

using namespace recoil;

constexpr double lambda = 2, mu = 1;

double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Work>
double seconds_of(Work&& work) {
  const double start = cpu_seconds();
  work();
  return cpu_seconds() - start;
}

PetscInt option(const char* name, PetscInt fallback) {
  RECOIL_PETSC(PetscOptionsGetInt(nullptr, nullptr, name, &fallback, nullptr));
  return fallback;
}

mesh::RawMesh unit_box(int dim, int n) {
  mesh::Generator generator;
  generator.shape = dim == 3 ? mesh::GeneratorShape::box : mesh::GeneratorShape::rectangle;
  generator.size.assign(static_cast<std::size_t>(dim), 1.0);
  generator.divisions.assign(static_cast<std::size_t>(dim), n);
  return mesh::generate(generator, "bench");
}

mesh::SimplexMesh whole_mesh(int dim, const mesh::RawMesh& raw) {
  mesh::SimplexMesh whole;
  whole.dim = dim;
  whole.vertices = raw.vertices;
  whole.vertex_point_id.assign(raw.vertices.size(), 0);
  if (dim == 3)
    whole.cells = raw.tetrahedra;
  else
    for (const auto& t : raw.triangles) whole.cells.push_back({t[0], t[1], t[2], -1});
  whole.cell_body.assign(whole.cells.size(), 0);
  whole.cell_volume_id.assign(whole.cells.size(), 0);
  whole.facet_ids.assign(whole.cells.size(), {mesh::interior_facet, mesh::interior_facet,
                                              mesh::interior_facet, mesh::interior_facet});
  whole.cell_source.assign(whole.cells.size(), 0);
  whole.body_names = {"box"};
  return whole;
}

Eigen::Vector3d displacement(const Eigen::Vector3d& X) {
  return 0.01 * Eigen::Vector3d(std::sin(3 * X[1]), std::sin(4 * X[2]), std::sin(5 * X[0]));
}

/// The mesh on this rank with nodes of one order, a matrix, and the table of block positions.
template <int dim>
struct Body {
  mesh::DistributedMesh<dim> mesh;
  fem::FunctionSpace<dim> space;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry;
  linalg::BlockMatrix matrix;
  fem::ElementAssembler<dim> assembler;
  linalg::Vector u;

  Body(const parallel::Communicator& comm, const mesh::RawMesh& raw, int order)
      : mesh(mesh::distribute<dim>(comm, whole_mesh(dim, raw))), space(mesh, {order}),
        geometry(std::make_shared<const fem::CellGeometry<dim>>(mesh)), matrix(space.layout(), space.graph()),
        assembler(space, matrix), u(space.layout()) {
    auto values = u.write_local();
    for (LocalIndex node = 0; node < space.num_nodes(); ++node) {
      Eigen::Vector3d X = Eigen::Vector3d::Zero();
      X.head<dim>() = space.node_positions()[static_cast<std::size_t>(node)];
      const Eigen::Vector3d at = displacement(X);
      for (int i = 0; i < dim; ++i) values[static_cast<std::size_t>(dim * node + i)] = at[i];
    }
  }

  template <class Law>
  std::unique_ptr<potentials::ElasticPotential<dim>> potential(int order) const {
    const auto& cells = space.cells_of_order(order);
    parameters::CellField field;
    typename Law::Parameters constants;
    constants.fill(mu);
    constants[0] = lambda;
    for (std::size_t k = 0; k < cells.size(); ++k) field.add(constants);
    return potentials::make_elastic<dim>(*potentials::find_law(Law::name), space, geometry, order, cells,
                                         field);
  }

  void assemble(const potentials::ElasticPotential<dim>& potential, potentials::Projection projection) {
    assembler.begin();
    potential.add_hessian(u.local(), 1, projection, {&assembler, nullptr});
    assembler.end();
  }
};

double frobenius_norm(Mat matrix) {
  PetscReal norm = 0;
  RECOIL_PETSC(MatNorm(matrix, NORM_FROBENIUS, &norm));
  return norm;
}

/// One line of JSON with the ratio to the reference loop.
std::string compare(const parallel::Communicator& comm, int n, int repeats) {
  const mesh::RawMesh raw = unit_box(3, n);
  bench::ReferenceAssembly reference(raw.vertices, raw.tetrahedra);
  std::vector<double> u_reference;
  for (const auto& X : raw.vertices) {
    const Eigen::Vector3d u = displacement(X);
    u_reference.insert(u_reference.end(), u.data(), u.data() + 3);
  }
  Body<3> body(comm, raw, 1);
  const auto potential = body.potential<potentials::NeoHookean<3>>(1);

  reference.assemble(u_reference, lambda, mu);
  body.assemble(*potential, potentials::Projection::none);
  const double expected = frobenius_norm(reference.matrix()), found = frobenius_norm(body.matrix.get());
  if (!(std::abs(found - expected) <= 1e-12 * expected)) {
    std::fprintf(stderr, "the two matrices differ: %.16g and %.16g\n", expected, found);
    return {};
  }

  double best_kernel = 1e99, best_reference = 1e99, best_recoil = 1e99, sum = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    best_kernel =
        std::min(best_kernel, seconds_of([&] { sum += reference.kernels_only(u_reference, lambda, mu); }));
    best_reference =
        std::min(best_reference, seconds_of([&] { reference.assemble(u_reference, lambda, mu); }));
    best_recoil =
        std::min(best_recoil, seconds_of([&] { body.assemble(*potential, potentials::Projection::none); }));
  }
  const double scale = 1e6 / static_cast<double>(reference.num_cells()), ratio = best_recoil / best_reference;
  std::printf("P1 Neo-Hookean, %zu tetrahedra (checksum %.6g)\n", reference.num_cells(), sum);
  std::printf(
      "  kernels only    %7.3f us/cell\n  direct AIJ loop %7.3f us/cell\n  recoil          %7.3f us/cell\n"
      "  ratio           %7.2f\n\n",
      best_kernel * scale, best_reference * scale, best_recoil * scale, ratio);
  std::array<char, 256> line{};
  std::snprintf(
      line.data(), line.size(),
      "{\"cells\": %zu, \"kernels_us\": %.4f, \"direct_us\": %.4f, \"recoil_us\": %.4f, \"ratio\": %.4f}",
      reference.num_cells(), best_kernel * scale, best_reference * scale, best_recoil * scale, ratio);
  return line.data();
}

template <int dim, class Law>
void time_law(Body<dim>& body, int order, int repeats, std::string& json) {
  const auto potential = body.template potential<Law>(order);
  std::array<double, 2> best{1e99, 1e99};
  constexpr std::array<potentials::Projection, 2> kinds{potentials::Projection::none,
                                                        potentials::Projection::per_element};
  for (int repeat = 0; repeat < repeats; ++repeat)
    for (std::size_t k = 0; k < 2; ++k)
      best[k] = std::min(best[k], seconds_of([&] { body.assemble(*potential, kinds[k]); }));
  const int nodes = fem::num_lagrange_nodes(dim, order);
  const auto points =
      static_cast<double>(fem::simplex_quadrature<dim>(fem::stiffness_degree(order)).weights.size());
  const double us = best[0] * 1e6 / static_cast<double>(body.mesh.num_cells());
  const double projected = best[1] * 1e6 / static_cast<double>(body.mesh.num_cells());
  const double per_pair = us * 1e3 / (nodes * nodes * points);
  std::printf("%dD  P%d  %-18s %9.3f us/cell  %6.2f ns/(nodes^2 points)  projected %9.3f us/cell\n", dim,
              order, std::string(Law::name).c_str(), us, per_pair, projected);
  std::array<char, 256> line{};
  std::snprintf(
      line.data(), line.size(),
      "%s\n  {\"dim\": %d, \"order\": %d, \"law\": \"%s\", \"us_per_cell\": %.4f, \"ns_per_pair_and_point\": "
      "%.4f, \"projected_us\": %.4f}",
      json.empty() ? "" : ",", dim, order, std::string(Law::name).c_str(), us, per_pair, projected);
  json += line.data();
}

template <int dim>
void time_orders(const parallel::Communicator& comm, int n, int repeats, std::string& json) {
  for (int order = 1; order <= 4; ++order) {
    Body<dim> body(comm, unit_box(dim, std::max(1, n / order)), order);
    potentials::for_each_law<dim>([&]<class Law>() { time_law<dim, Law>(body, order, repeats, json); });
  }
}

} // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  const linalg::PetscSession session(&argc, &argv);
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  if (comm.size() != 1) {
    if (comm.rank() == 0) std::fprintf(stderr, "bench_assembly runs on one rank\n");
    return 2;
  }
  const int repeats = static_cast<int>(option("-repeat", 7));
  const std::string ratio = compare(comm, static_cast<int>(option("-n", 40)), repeats);
  if (ratio.empty()) return 1;
  PetscBool only_ratio = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsHasName(nullptr, nullptr, "-only_ratio", &only_ratio));
  std::string orders;
  if (only_ratio == PETSC_FALSE) {
    const int n = static_cast<int>(option("-n_orders", 16));
    time_orders<2>(comm, 5 * n, repeats, orders);
    time_orders<3>(comm, n, repeats, orders);
  }
  std::array<char, 512> path{};
  PetscBool has_path = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsGetString(nullptr, nullptr, "-json", path.data(), path.size(), &has_path));
  if (has_path != PETSC_FALSE)
    std::ofstream(path.data()) << "{\"ratio\": " << ratio << ",\n \"orders\": [" << orders << "]}\n";
  return 0;
}
