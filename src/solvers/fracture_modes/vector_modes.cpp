#include "recoil/solvers/fracture_modes/vector_modes.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/linalg/dense.hpp"
#include "solvers/fracture_modes/face_tensors.hpp"
#include "solvers/fracture_modes/jump_modes.hpp"

namespace recoil::solvers::fracture_modes {

template <int dim>
FaceTensors<dim>::FaceTensors(const ElementGraph& graph, const JumpTensors<dim>& tensors) {
  const parallel::Communicator& comm = graph.comm();
  const bool given = comm.any(!tensors.empty());
  parallel::collectively(comm, [&] {
    if (given && std::ssize(tensors) != graph.layout->num_owned)
      throw InputError("fracture modes: the tensors must be given for all elements or none");
    for (std::size_t e = 0; e < tensors.size(); ++e) {
      const auto& T = tensors[e];
      bool ok = T.allFinite() && (T - T.transpose()).norm() <= 1e-12 * T.norm();
      ok = ok && linalg::symmetric_eigen(T).values[0] > 1e-12 * T.norm();
      if (!ok)
        throw InputError(
            fmt::format("fracture modes: the tensor of cell {} must be symmetric and positive definite",
                        graph.cell_ids[e]));
    }
  });
  of_local_.assign(graph.cell_ids.size(), Tensor::Identity());
  if (!given) return;
  auto layout = std::make_shared<linalg::VectorLayout>(*graph.layout);
  layout->block_size = dim * dim;
  std::vector<double> owned;
  for (const Tensor& tensor : tensors) owned.insert(owned.end(), tensor.data(), tensor.data() + dim * dim);
  const linalg::Vector all(layout, owned);
  for (std::size_t e = 0; e < of_local_.size(); ++e)
    of_local_[e] = Eigen::Map<const Tensor>(all.local().data() + e * dim * dim);
}

template <int dim>
bool FaceTensors<dim>::are_isotropic(const ElementGraph& graph) const {
  bool isotropic = true;
  for (const Tensor& tensor : of_local_)
    isotropic = isotropic && tensor == Tensor(tensor(0, 0) * Tensor::Identity());
  return graph.comm().all(isotropic);
}

template class FaceTensors<2>;
template class FaceTensors<3>;

namespace {

template <int dim>
JumpProblem piecewise_constant(const ElementGraph& graph, const JumpTensors<dim>& tensors) {
  const FaceTensors<dim> of_faces(graph, tensors);
  JumpProblem problem;
  problem.dim = dim;
  auto layout = std::make_shared<linalg::VectorLayout>(*graph.layout);
  layout->block_size = dim;
  problem.layout = layout;
  problem.ids = graph.cell_ids;
  problem.masses = graph.masses;
  problem.isotropic = of_faces.are_isotropic(graph);
  for (const ElementFace& face : graph.faces) {
    problem.links.push_back({{face.a}, {face.b}, face.breakable, face.counted});
    const Eigen::Matrix<double, dim, dim> matrix = face.weight * of_faces.mean(face);
    problem.matrices.insert(problem.matrices.end(), matrix.data(), matrix.data() + dim * dim);
  }
  for (int i = 0; i < dim; ++i) {
    auto& motion = problem.motions.emplace_back(problem.ids.size() * dim, 0.0);
    for (std::size_t e = 0; e < problem.ids.size(); ++e) motion[e * dim + i] = 1;
  }
  return problem;
}

} // namespace

template <int dim>
double vector_discontinuity_energy(const ElementGraph& graph, const JumpTensors<dim>& tensors,
                                   const linalg::Vector& field) {
  const FaceTensors<dim> of_faces(graph, tensors);
  using Map = Eigen::Map<const Eigen::Matrix<double, dim, 1>>;
  const double* values = field.local().data();
  double energy = 0;
  for (const ElementFace& face : graph.faces)
    if (face.counted)
      energy += face.weight *
                (of_faces.mean(face) * (Map(values + face.a * dim) - Map(values + face.b * dim))).norm();
  return graph.comm().sum(energy);
}

template <int dim>
VectorModes find_vector_modes(const ElementGraph& graph, const JumpTensors<dim>& tensors,
                              const std::vector<std::vector<double>>& starts, const FractureModes& scalar,
                              const VectorModeOptions& options, const SearchObserver& observe,
                              const SearchState* from) {
  const JumpProblem problem = piecewise_constant<dim>(graph, tensors);
  std::vector<std::vector<double>> vector_starts, sources = starts;
  for (const auto& start : starts)
    for (int i = 0; i < dim; ++i) {
      auto& along = vector_starts.emplace_back(start.size() * dim, 0.0);
      for (std::size_t e = 0; e < start.size(); ++e) along[e * dim + i] = start[e];
    }
  for (const FractureMode& mode : scalar.modes)
    sources.emplace_back(mode.field.owned().begin(), mode.field.owned().end());
  return find_jump_modes(problem, graph.layout->num_global <= options.replicated_elements, vector_starts,
                         sources, options, observe, from);
}

template double vector_discontinuity_energy<2>(const ElementGraph&, const JumpTensors<2>&,
                                               const linalg::Vector&);
template double vector_discontinuity_energy<3>(const ElementGraph&, const JumpTensors<3>&,
                                               const linalg::Vector&);
template VectorModes find_vector_modes<2>(const ElementGraph&, const JumpTensors<2>&,
                                          const std::vector<std::vector<double>>&, const FractureModes&,
                                          const VectorModeOptions&, const SearchObserver&,
                                          const SearchState*);
template VectorModes find_vector_modes<3>(const ElementGraph&, const JumpTensors<3>&,
                                          const std::vector<std::vector<double>>&, const FractureModes&,
                                          const VectorModeOptions&, const SearchObserver&,
                                          const SearchState*);

} // namespace recoil::solvers::fracture_modes
