#include "recoil/solvers/fracture_modes/full_modes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <Eigen/Cholesky>
#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/fem/cell_geometry.hpp"
#include "recoil/linalg/components.hpp"
#include "recoil/linalg/generalized_eigenpairs.hpp"
#include "solvers/fracture_modes/face_tensors.hpp"
#include "solvers/fracture_modes/jump_modes.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// Q_e, node-major with components.
template <int dim>
Eigen::MatrixXd element_stiffness(const Eigen::Matrix<double, dim, dim + 1>& gradients, double volume,
                                  StrainEnergy energy, double young, double poisson) {
  constexpr int corners = dim + 1;
  const double mu = young / (2 * (1 + poisson)),
               lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  Eigen::MatrixXd stiffness(corners * dim, corners * dim);
  for (int i = 0; i < corners; ++i)
    for (int j = 0; j < corners; ++j) {
      const Eigen::Matrix<double, dim, 1> g = gradients.col(i), h = gradients.col(j);
      Eigen::Matrix<double, dim, dim> block = Eigen::Matrix<double, dim, dim>::Identity() * g.dot(h);
      if (energy == StrainEnergy::gradient)
        block *= young;
      else
        block = mu * block + lambda * g * h.transpose() + mu * h * g.transpose();
      stiffness.block<dim, dim>(i * dim, j * dim) = volume * block;
    }
  return stiffness;
}

double in_range(double value, double low, double high, const char* name, GlobalIndex cell_id) {
  if (!(value > low && value < high) || !std::isfinite(value))
    throw InputError(fmt::format("fracture modes: {} of cell {} is {}; it must be above {} and below {}",
                                 name, cell_id, value, low, high));
  return value;
}

/// Q_e of the owned cells. @throws InputError on every rank.
template <int dim>
std::vector<Eigen::MatrixXd> stiffnesses(const mesh::DistributedMesh<dim>& mesh,
                                         const StrainMaterial& material) {
  return parallel::collectively(*mesh.comm, [&] {
    if (!(material.omega > 0) || !std::isfinite(material.omega))
      throw InputError(fmt::format("fracture modes: omega is {}; it must be positive", material.omega));
    const fem::CellGeometry<dim> geometry(mesh);
    std::vector<Eigen::MatrixXd> all;
    for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
      const GlobalIndex id = mesh.cell_ids[cell];
      const double young = in_range(material.youngs_modulus ? material.youngs_modulus(cell) : 1, 0,
                                    std::numeric_limits<double>::infinity(), "Young's modulus", id);
      const double poisson = in_range(material.poisson_ratio ? material.poisson_ratio(cell) : 0.3, -1, 0.5,
                                      "Poisson's ratio", id);
      Eigen::Matrix<double, dim, dim + 1> gradients;
      gradients.template rightCols<dim>() = geometry.inverse_edges[cell].transpose();
      gradients.col(0) = -gradients.template rightCols<dim>().rowwise().sum();
      const double volume = geometry.weight_factor(cell) / (dim == 2 ? 2 : 6);
      all.push_back(element_stiffness<dim>(gradients, volume, material.energy, young, poisson));
    }
    return all;
  });
}

/// The layout of `numbers` per element, or of as many nodes of `dim` numbers each.
std::shared_ptr<const linalg::VectorLayout> layout_of(const ElementGraph& graph, int nodes, int block_size) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = graph.layout->comm;
  layout->block_size = block_size;
  layout->num_owned = graph.layout->num_owned * nodes;
  layout->offset = graph.layout->offset * nodes;
  layout->num_global = graph.layout->num_global * nodes;
  for (const GlobalIndex ghost : graph.layout->ghosts)
    for (int k = 0; k < nodes; ++k) layout->ghosts.push_back(ghost * nodes + k);
  return layout;
}

/// Translations and, of elastic bodies, rotations, by the positions of the corners.
template <int dim>
std::vector<std::vector<double>> motions(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                                         StrainEnergy energy) {
  std::vector<double> owned;
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    for (const LocalIndex vertex : mesh.cells[cell])
      for (int i = 0; i < dim; ++i) owned.push_back(mesh.vertices[vertex][i]);
  const linalg::Vector positions(layout_of(graph, dim + 1, dim), owned);
  const auto x = positions.local();
  std::vector<std::vector<double>> all(dim, std::vector<double>(x.size(), 0.0));
  for (std::size_t k = 0; k < x.size(); ++k) all[k % dim][k] = 1;
  if (energy == StrainEnergy::gradient) return all;
  const Eigen::Matrix<double, dim, 1> centre = (mesh.min_corner + mesh.max_corner) / 2;
  for (int i = 0; i < dim; ++i)
    for (int j = 0; j < i; ++j) {
      auto& rotation = all.emplace_back(x.size(), 0.0);
      for (std::size_t node = 0; node < x.size() / dim; ++node) {
        rotation[node * dim + i] = x[node * dim + j] - centre[j];
        rotation[node * dim + j] = centre[i] - x[node * dim + i];
      }
    }
  return all;
}

/// R_f: omega w_f (L' (x) T_f), L L' the matrix of int_f phi_k phi_l / A.
template <int dim>
Eigen::MatrixXd jump_matrix(double weight, const Eigen::Matrix<double, dim, dim>& tensor) {
  const Eigen::Matrix<double, dim, dim> mass =
      (Eigen::Matrix<double, dim, dim>::Identity() + Eigen::Matrix<double, dim, dim>::Ones()) /
      (dim * (dim + 1));
  const Eigen::Matrix<double, dim, dim> upper = mass.llt().matrixU();
  Eigen::MatrixXd matrix(dim * dim, dim * dim);
  for (int k = 0; k < dim; ++k)
    for (int l = 0; l < dim; ++l) matrix.block<dim, dim>(k * dim, l * dim) = weight * upper(k, l) * tensor;
  return matrix;
}

template <int dim>
JumpProblem exploded_linear(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                            const JumpTensors<dim>& tensors, const StrainMaterial& material) {
  constexpr int corners = dim + 1;
  const FaceTensors<dim> of_faces(graph, tensors);
  JumpProblem problem;
  problem.dim = problem.pairs = dim;
  problem.layout = layout_of(graph, corners, dim);
  for (std::size_t e = 0; e < graph.cell_ids.size(); ++e)
    for (int k = 0; k < corners; ++k) {
      problem.ids.push_back(graph.cell_ids[e] * corners + k);
      problem.masses.push_back(graph.masses[e] / corners);
    }
  for (const ElementFace& face : graph.faces) {
    JumpProblem::Link link{{}, {}, face.breakable, face.counted};
    for (int k = 0, a = 0, b = 0; k < corners; ++k) { // vertices of both sides in the order of their ids
      if (k != face.opposite_a) link.a[a++] = face.a * corners + k;
      if (k != face.opposite_b) link.b[b++] = face.b * corners + k;
    }
    problem.links.push_back(link);
    const Eigen::MatrixXd matrix = jump_matrix<dim>(material.omega * face.weight, of_faces.mean(face));
    problem.matrices.insert(problem.matrices.end(), matrix.data(), matrix.data() + matrix.size());
  }
  auto all = stiffnesses<dim>(mesh, material);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell) {
    JumpProblem::Element element{{}, std::move(all[cell])};
    for (int k = 0; k < corners; ++k) element.nodes[k] = cell * corners + k;
    problem.elements.push_back(std::move(element));
  }
  problem.motions = motions<dim>(mesh, graph, material.energy);
  return problem;
}

linalg::Vector on_layout(const std::shared_ptr<const linalg::VectorLayout>& layout, const linalg::Vector& x) {
  return {layout, x.owned()};
}

} // namespace

template <int dim>
FullEnergy full_energy(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                       const JumpTensors<dim>& tensors, const StrainMaterial& material,
                       const linalg::Vector& field) {
  const JumpEnergy energy = energy_of(exploded_linear<dim>(mesh, graph, tensors, material), field.local());
  return {energy.strain, energy.discontinuity / material.omega};
}

namespace {

/// One number for nodes that links join, on one rank.
linalg::Components glued_nodes(const JumpProblem& problem) {
  std::vector<std::array<LocalIndex, 2>> edges;
  for (const JumpProblem::Link& link : problem.links)
    for (int k = 0; k < problem.pairs; ++k) edges.push_back({link.a[k], link.b[k]});
  return linalg::numbered_components(*problem.layout, problem.ids, edges);
}

/// Stiffness and mass of a problem on one rank whose links do not break.
struct GluedMatrices {
  linalg::BlockMatrix stiffness, mass;
  double shift; ///< well below the smallest eigenvalue that is not zero
};

GluedMatrices glued_matrices(const JumpProblem& problem, const linalg::Components& glued) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &problem.comm();
  layout->block_size = problem.dim;
  layout->num_owned = glued.count;
  layout->num_global = glued.count;
  std::vector<std::vector<LocalIndex>> rows(glued.count);
  for (const auto& element : problem.elements)
    for (int i = 0; i <= problem.dim; ++i)
      for (int j = 0; j <= problem.dim; ++j)
        rows[glued.of_local[element.nodes[i]]].push_back(glued.of_local[element.nodes[j]]);
  auto graph = std::make_shared<linalg::NodeGraph>();
  graph->offsets.push_back(0);
  for (auto& row : rows) {
    std::ranges::sort(row);
    row.erase(std::unique(row.begin(), row.end()), row.end());
    graph->neighbours.insert(graph->neighbours.end(), row.begin(), row.end());
    graph->offsets.push_back(std::ssize(graph->neighbours));
  }
  GluedMatrices matrices{{layout, graph}, {layout, graph}, 0};
  const auto stiffness = matrices.stiffness.begin_filling(), mass = matrices.mass.begin_filling();
  double of_stiffness = 0, of_mass = 0;
  for (const auto& element : problem.elements) {
    const auto stride = static_cast<int>(element.stiffness.rows());
    of_stiffness += element.stiffness.trace();
    for (int i = 0; i <= problem.dim; ++i) {
      const LocalIndex row = glued.of_local[element.nodes[i]];
      const Eigen::MatrixXd of_node =
          problem.masses[element.nodes[i]] * Eigen::MatrixXd::Identity(problem.dim, problem.dim);
      of_mass += of_node.trace();
      mass.add(problem.dim, row, matrices.mass.position(row, row), of_node.data(), problem.dim);
      for (int j = 0; j <= problem.dim; ++j) {
        const LocalIndex column = glued.of_local[element.nodes[j]];
        // Symmetric, so that rows may be columns.
        stiffness.add(problem.dim, row, matrices.stiffness.position(row, column),
                      &element.stiffness(j * problem.dim, i * problem.dim), stride);
      }
    }
  }
  matrices.stiffness.finish_filling();
  matrices.mass.finish_filling();
  // The quotient is of the order of the largest eigenvalue, that of wave lengths of an edge.
  matrices.shift = 0.01 * of_stiffness / of_mass * std::pow(double(glued.count), -2.0 / problem.dim);
  return matrices;
}

} // namespace

template <int dim>
StrainModes strain_modes(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                         const StrainMaterial& material, int count) {
  const JumpProblem problem = exploded_linear<dim>(mesh, graph, {}, material);
  const ReplicatedProblem all = replicate(problem);
  const JumpProblem& whole = all.problem;
  const parallel::Communicator& comm = graph.comm();
  StrainModes modes = parallel::collectively(comm, [&] {
    StrainModes found;
    if (comm.rank() != 0) return found;
    const linalg::Components glued = glued_nodes(whole);
    const GluedMatrices matrices = glued_matrices(whole, glued);
    auto pairs = linalg::smallest_eigenpairs(matrices.stiffness, matrices.mass, count, matrices.shift);
    found.values = std::move(pairs.values);
    for (const linalg::Vector& vector : pairs.vectors) {
      auto& field = found.fields.emplace_back();
      for (const LocalIndex node : glued.of_local)
        for (int i = 0; i < dim; ++i) field.push_back(vector.owned()[node * dim + i]);
    }
    return found;
  });
  comm.broadcast(modes.values);
  modes.fields.resize(modes.values.size());
  for (auto& field : modes.fields) {
    comm.broadcast(field);
    field = owned_part(problem, whole.ids, field);
  }
  return modes;
}

template <int dim>
FullModes find_full_modes(const mesh::DistributedMesh<dim>& mesh, const ElementGraph& graph,
                          const JumpTensors<dim>& tensors, const StrainMaterial& material,
                          const std::vector<std::vector<double>>& starts,
                          const std::vector<std::vector<double>>& cuts, const VectorModeOptions& options,
                          const SearchObserver& observe, const SearchState* from) {
  constexpr int corners = dim + 1;
  const JumpProblem problem = exploded_linear<dim>(mesh, graph, tensors, material);
  std::vector<std::vector<double>> sources;
  for (const auto& cut : cuts) {
    auto& source = sources.emplace_back();
    for (const double value : cut) source.insert(source.end(), corners, value);
  }
  const VectorModes found = find_jump_modes(problem, graph.layout->num_global <= options.replicated_elements,
                                            starts, sources, options, observe, from);
  const auto layout = layout_of(graph, 1, corners * dim);
  FullModes result;
  for (const auto& constant : found.constants) result.constants.push_back(on_layout(layout, constant));
  for (const VectorMode& mode : found.modes) {
    const JumpEnergy energy = energy_of(problem, mode.field.local());
    result.modes.push_back({on_layout(layout, mode.field), mode.energy, energy.strain,
                            energy.discontinuity / material.omega, mode.gap, mode.iterations, mode.start});
  }
  return result;
}

template FullEnergy full_energy(const mesh::DistributedMesh<2>&, const ElementGraph&, const JumpTensors<2>&,
                                const StrainMaterial&, const linalg::Vector&);
template FullEnergy full_energy(const mesh::DistributedMesh<3>&, const ElementGraph&, const JumpTensors<3>&,
                                const StrainMaterial&, const linalg::Vector&);
template StrainModes strain_modes(const mesh::DistributedMesh<2>&, const ElementGraph&, const StrainMaterial&,
                                  int);
template StrainModes strain_modes(const mesh::DistributedMesh<3>&, const ElementGraph&, const StrainMaterial&,
                                  int);
template FullModes find_full_modes(const mesh::DistributedMesh<2>&, const ElementGraph&,
                                   const JumpTensors<2>&, const StrainMaterial&,
                                   const std::vector<std::vector<double>>&,
                                   const std::vector<std::vector<double>>&, const VectorModeOptions&,
                                   const SearchObserver&, const SearchState*);
template FullModes find_full_modes(const mesh::DistributedMesh<3>&, const ElementGraph&,
                                   const JumpTensors<3>&, const StrainMaterial&,
                                   const std::vector<std::vector<double>>&,
                                   const std::vector<std::vector<double>>&, const VectorModeOptions&,
                                   const SearchObserver&, const SearchState*);

} // namespace recoil::solvers::fracture_modes
