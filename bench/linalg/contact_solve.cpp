// Newton systems of two elastic blocks that are pressed together, over the ratio of the stiffness of barriers
// to that of elements: iterations of conjugate gradients, seconds and memory of the contact-aware
// preconditioner and of multigrids of the assembled matrix.
//
//   mpirun -n 2 bench_contact_solve [-n 25] [-ratios 1,1e2,1e4,1e6,1e8] [-dts 0.01,1] [-rtol 1e-6]
//                                   [-methods sandwich,gamg,boomeramg,sandwich_boomeramg] [-max_it 2000]
//
// E 1e6, nu 0.4, rho 1000, unit cubes of n^3 cells, the lowest face clamped; every vertex of one side of the
// interface against a vertex or a triangle of the other, normals tilted at random, stiffness k n n' with k =
// ratio * E h * 10^(-2 .. 0); a random right-hand side. Lines of JSON; `refresh_s` is with new values of K,
// `contact_s` with a kept hierarchy and contact terms in another pattern.
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

#include "elastic_solve.hpp"
#include "recoil/linalg/stencil_matrix.hpp"

namespace {

using namespace recoil;

constexpr int dim = 3;

struct Method {
  const char* name;
  linalg::StiffTerms contact;
  const char* options; ///< of PETSc, each with the method's name as prefix
};
constexpr auto boomeramg = "pc_type hypre;pc_hypre_type boomeramg;pc_hypre_boomeramg_strong_threshold "
                           "0.5;pc_hypre_boomeramg_nodal_coarsen 1";
constexpr std::array<Method, 4> methods{{
    {"sandwich", linalg::StiffTerms::two_level, ""},
    {"gamg", linalg::StiffTerms::assembled, ""},
    {"boomeramg", linalg::StiffTerms::assembled, boomeramg},
    {"sandwich_boomeramg", linalg::StiffTerms::two_level, boomeramg},
}};

std::string text_option(const char* name, const char* fallback) {
  std::array<char, 256> text{};
  PetscBool set = PETSC_FALSE;
  RECOIL_PETSC(PetscOptionsGetString(nullptr, nullptr, name, text.data(), text.size(), &set));
  return set == PETSC_TRUE ? text.data() : fallback;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Resident memory now, summed over the ranks. Collective.
double megabytes_now(const parallel::Communicator& comm) {
  long pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    std::fclose(file);
  }
  return comm.sum(static_cast<double>(pages) * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6);
}

/// Two blocks, clamped on the lowest face.
struct Blocks {
  testing::ElasticBox<dim> box;
  testing::ElasticParameters parameters;

  Blocks(const parallel::Communicator& comm, int n) : box(comm, n, -1, 2) {
    parameters.poisson = 0.4;
    std::ranges::fill(box.constrained, 0);
    const linalg::Vector x = box.positions();
    for (std::size_t i = 0; i < box.constrained.size(); ++i)
      box.constrained[i] = x.local()[i - i % dim + 2] == 0 ? 1 : 0;
  }

  /// Contact of all interface vertices, dealt out to the ranks like cards.
  void press(double ratio, unsigned seed, linalg::StencilMatrix& contact) const {
    const int n = box.divisions, size = box.layout->comm->size();
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> unit(0, 1);
    contact.begin();
    for (int k = 0; k < 2 * n * n; ++k) {
      const int side = k % 2, i = k / 2 % n, j = k / 2 / n;
      const Eigen::Vector3d normal =
          Eigen::Vector3d(0.2 * (unit(generator) - 0.5), 0.2 * (unit(generator) - 0.5), 1).normalized();
      const double stiffness = ratio * parameters.young / n * std::pow(10.0, 2 * (unit(generator) - 1));
      const bool vertex = unit(generator) < 0.5;
      const double first = vertex ? 0 : 0.5 * unit(generator), second = vertex ? 0 : 0.4 * unit(generator);
      if (k % size != box.layout->comm->rank()) continue;
      const int own = n + side, other = n + 1 - side;
      const std::array<GlobalIndex, 4> nodes{node(i, j, own), node(i, j, other), node(i + 1, j, other),
                                             node(i + 1, j + 1, other)};
      const std::array<double, 4> weights{1, first + second - 1, -first, -second};
      Eigen::Matrix<double, 12, 1> g;
      for (int a = 0; a < 12; ++a) g[a] = weights[static_cast<std::size_t>(a / dim)] * normal[a % dim];
      const Eigen::Matrix<double, 12, 12> block = stiffness * g * g.transpose();
      contact.add(nodes, block.data(), 12);
    }
    contact.finish();
  }

  linalg::Vector random_load() const {
    linalg::Vector b(box.layout);
    const std::span<double> values = b.write_owned();
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::mt19937_64 generator(static_cast<std::uint64_t>(box.layout->offset) * dim + i);
      values[i] = box.constrained[i] ? 0 : std::uniform_real_distribution<double>(0, 1)(generator);
    }
    return b;
  }

private:
  GlobalIndex node(int i, int j, int layer) const {
    return i + (box.divisions + 1) * (j + static_cast<GlobalIndex>(box.divisions + 1) * layer);
  }
};

double seconds(const parallel::Communicator& comm, auto work) {
  comm.barrier();
  const double start = MPI_Wtime();
  work();
  comm.barrier();
  return MPI_Wtime() - start;
}

void measure(const Blocks& blocks, linalg::BlockMatrix& matrix, double dt, double ratio,
             const Method& method) {
  const parallel::Communicator& comm = *blocks.box.layout->comm;
  linalg::StencilMatrix contact(blocks.box.layout);
  const linalg::Vector b = blocks.random_load();
  linalg::Vector x(blocks.box.layout);
  const double before = megabytes_now(comm);
  linalg::LinearSolver solver(blocks.box.layout, {.method = linalg::LinearMethod::amg,
                                                  .stiff_terms = method.contact,
                                                  .prefix = std::string(method.name) + "_",
                                                  .stiff_name = "contact"});
  const auto touch = [&] {
    matrix.begin_filling();
    matrix.finish_filling();
  };
  blocks.press(ratio, 1, contact);
  touch();
  const linalg::Vector positions = blocks.box.positions();
  const auto modes = [&] { return linalg::rigid_body_modes(positions, blocks.box.constrained); };
  solver.update(matrix, modes, &contact);
  const double set_up = seconds(comm, [&] { solver.prepare(linalg::Renewal::everything); });
  touch();
  const double refresh = seconds(comm, [&] { solver.prepare(linalg::Renewal::operators); });
  double changed = 0;
  const double assembly = seconds(comm, [&] { blocks.press(ratio, 2, contact); });
  if (method.contact == linalg::StiffTerms::two_level)
    changed = seconds(comm, [&] { solver.prepare(linalg::Renewal::stiff_terms); });
  else
    solver.prepare(linalg::Renewal::operators);
  linalg::LinearResult result;
  const double solve = seconds(comm, [&] {
    result =
        solver.solve(b, x, bench::option("-rtol", 1e-6), static_cast<int>(bench::option("-max_it", 2000)));
  });
  const double memory = megabytes_now(comm) - before;
  const GlobalIndex bits = bench::fingerprint(comm, x);
  if (comm.rank() != 0) return;
  std::printf(
      "{\"ranks\": %d, \"dofs\": %lld, \"contact_dofs\": %lld, \"dt\": %g, \"ratio\": %g, \"method\": "
      "\"%s\", \"iterations\": %d, \"outcome\": \"%s\", \"residual\": %.2g, \"setup_s\": %.3g, "
      "\"refresh_s\": %.3g, \"assembly_s\": %.3g, \"contact_s\": %.3g, \"solve_s\": %.3g, \"mb\": %.0f, "
      "\"bits\": \"%llx\"}\n",
      comm.size(), static_cast<long long>(dim * blocks.box.layout->num_global),
      static_cast<long long>(dim * contact.num_nodes()), dt, ratio, method.name, result.iterations,
      bench::name_of(result.outcome), result.relative_residual, set_up, refresh, assembly, changed, solve,
      memory, static_cast<unsigned long long>(bits));
  std::fflush(stdout);
}

void run() {
  const parallel::Communicator comm(PETSC_COMM_WORLD);
  for (const Method& method : methods)
    for (const std::string& option : split(method.options, ';'))
      linalg::insert_options("-" + std::string(method.name) + "_" + option);
  const std::vector<std::string> wanted = split(text_option("-methods", "sandwich,gamg,boomeramg"), ',');
  Blocks blocks(comm, static_cast<int>(bench::option("-n", 25)));
  linalg::BlockMatrix matrix(blocks.box.layout, blocks.box.graph);
  for (const std::string& dt : split(text_option("-dts", "0.01,1"), ',')) {
    blocks.parameters.dt = std::stod(dt);
    testing::assemble(blocks.box, blocks.parameters, matrix);
    for (const Method& method : methods) {
      if (std::ranges::find(wanted, method.name) == wanted.end()) continue;
      for (const std::string& ratio : split(text_option("-ratios", "1,1e2,1e4,1e6,1e8"), ','))
        measure(blocks, matrix, blocks.parameters.dt, std::stod(ratio), method);
    }
  }
}

} // namespace

int main(int argc, char** argv) {
  const linalg::PetscSession session(&argc, &argv);
  run();
}
