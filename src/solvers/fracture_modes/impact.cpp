#include "recoil/solvers/fracture_modes/impact.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/linalg/linear_solver.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/solvers/fracture_modes/piece_graph.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

/// Faces across which no mode jumps.
std::vector<char> closed_faces(const ElementGraph& graph, const FractureModes& modes, double threshold) {
  std::vector<char> closed(graph.faces.size(), 1);
  for (const FractureMode& mode : modes.modes) {
    const auto field = mode.field.local();
    double largest = 0;
    for (const ElementFace& face : graph.faces)
      largest = std::max(largest, std::abs(field[face.a] - field[face.b]));
    largest = graph.comm().max(largest);
    for (std::size_t f = 0; f < closed.size(); ++f) {
      const double jump = std::abs(field[graph.faces[f].a] - field[graph.faces[f].b]);
      if (graph.faces[f].breakable && jump > threshold * largest) closed[f] = 0;
    }
  }
  return closed;
}

/// For each piece the one that it is joined to, or itself, when none lighter than a share of its component is
/// left. Sums that are rounded in another way change nothing.
std::vector<int> join_light_pieces(const PieceGraph& graph, double share) {
  constexpr double rounding = 1e-9;
  const std::vector<int> component = components(graph);
  std::vector<double> masses = graph.masses, least(masses.size(), 0.0);
  for (int p = 0; p < graph.size(); ++p) least[component[p]] += share * masses[p];
  std::vector<std::map<int, double>> neighbours(masses.size());
  for (const PieceGraph::Link& link : graph.links)
    neighbours[link.a][link.b] = neighbours[link.b][link.a] = link.weight;
  std::vector<int> joined_to(masses.size());
  std::iota(joined_to.begin(), joined_to.end(), 0);
  while (true) {
    int light = -1;
    for (int p = 0; p < graph.size(); ++p)
      if (joined_to[p] == p && !neighbours[p].empty() && masses[p] < least[component[p]] * (1 - rounding) &&
          (light < 0 || masses[p] < masses[light] * (1 - rounding)))
        light = p;
    if (light < 0) break;
    auto best = neighbours[light].begin();
    for (auto other = best; other != neighbours[light].end(); ++other)
      if (other->second > best->second * (1 + rounding)) best = other;
    const int to = best->first;
    joined_to[light] = to;
    masses[to] += masses[light];
    for (const auto& [other, weight] : neighbours[light]) {
      neighbours[other].erase(light);
      if (other != to) {
        neighbours[to][other] += weight;
        neighbours[other][to] += weight;
      }
    }
  }
  for (int p = 0; p < graph.size(); ++p) {
    int& to = joined_to[p];
    while (joined_to[to] != to) to = joined_to[to];
  }
  return joined_to;
}

/// The pieces between the faces that are not closed, without light ones. Collective.
GatheredPieces heavy_pieces(const ElementGraph& graph, std::vector<char> closed, double least_piece) {
  GatheredPieces pieces = gather_pieces(graph, closed);
  if (least_piece == 0) return pieces;
  const std::vector<int> joined_to = join_light_pieces(pieces.graph, least_piece);
  for (std::size_t f = 0; f < closed.size(); ++f)
    if (joined_to[pieces.of_local[graph.faces[f].a]] == joined_to[pieces.of_local[graph.faces[f].b]])
      closed[f] = 1;
  return gather_pieces(graph, closed);
}

/// Means of the modes and constants over the pieces; one row per piece.
std::vector<double> mode_table(const ElementGraph& graph, const GatheredPieces& pieces,
                               const FractureModes& modes) {
  std::vector<const linalg::Vector*> fields;
  for (const FractureMode& mode : modes.modes) fields.push_back(&mode.field);
  for (const linalg::Vector& constant : modes.constants) fields.push_back(&constant);
  std::vector<double> table(pieces.graph.masses.size() * fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::vector<double> sums = sum_over_pieces(graph, pieces, fields[i]->owned());
    for (std::size_t p = 0; p < sums.size(); ++p)
      table[p * fields.size() + i] = sums[p] / pieces.graph.masses[p];
  }
  return table;
}

/// Rows of a table that this rank holds, with the ids they belong to; brought together on all ranks by
/// ascending id.
void share_rows(const parallel::Communicator& comm, std::vector<GlobalIndex> ids, std::vector<double> rows,
                int width, ImpactModel& model) {
  ids = parallel::gather(comm, 0, std::move(ids));
  rows = parallel::gather(comm, 0, std::move(rows));
  std::vector<std::size_t> order(ids.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return ids[i]; });
  for (const std::size_t i : order) {
    model.vertices.push_back(ids[i]);
    model.responses.insert(model.responses.end(), rows.begin() + i * width, rows.begin() + (i + 1) * width);
  }
  comm.broadcast(model.vertices);
  comm.broadcast(model.responses);
}

template <int dim>
std::vector<char> surface_nodes(const fem::FunctionSpace<dim>& space) {
  std::vector<char> on_surface(space.num_nodes(), 0);
  for (const fem::BoundaryFacet& facet : space.boundary_facets()) {
    const auto nodes = space.cell_nodes(facet.cell);
    for (int i = 0; i <= dim; ++i)
      if (i != facet.facet) on_surface[nodes[i]] = 1;
  }
  return on_surface;
}

constexpr double solve_tolerance = 1e-12;
constexpr int max_solve_iterations = 1000;

} // namespace

template <int dim>
ImpactPieces prepare_impacts(const VertexMatrices<dim>& matrices, const ElementGraph& graph,
                             const FractureModes& modes, const ImpactOptions& options) {
  if (!(options.blur_length >= 0) || !std::isfinite(options.blur_length))
    throw InputError("impacts: the blur length must be a number of metres, 0 or more");
  if (!(options.piece_threshold >= 0) || !(options.piece_threshold < 1))
    throw InputError("impacts: the threshold of pieces must be from 0 to below 1");
  if (!(options.least_piece >= 0) || !(options.least_piece < 0.5))
    throw InputError("impacts: the least share of a piece must be from 0 to below 1/2");
  const parallel::Communicator& comm = graph.comm();
  const fem::FunctionSpace<dim>& space = matrices.space;
  GatheredPieces pieces =
      heavy_pieces(graph, closed_faces(graph, modes, options.piece_threshold), options.least_piece);
  ImpactPieces result;
  ImpactModel& model = result.model;
  model.num_pieces = pieces.graph.size();
  model.num_modes = static_cast<int>(modes.modes.size());
  model.masses = pieces.graph.masses;
  for (const PieceGraph::Link& link : pieces.graph.links) model.links.push_back({link.a, link.b});
  model.modes = mode_table(graph, pieces, modes);
  const std::vector<double> cell_volumes = matrices.cell_volumes();
  model.volumes.assign(model.num_pieces, 0.0);
  for (LocalIndex cell = 0; cell < graph.layout->num_owned; ++cell)
    model.volumes[pieces.of_local[cell]] += cell_volumes[cell];
  comm.sum(model.volumes);
  const double volume = std::accumulate(model.volumes.begin(), model.volumes.end(), 0.0);

  linalg::BlockMatrix matrix = matrices.combination(options.blur_length * options.blur_length, 1);
  linalg::LinearSolver solver(matrices.layout, {.dimension = dim, .prefix = "recoil_impact_"});
  solver.update(matrix, [&] {
    return linalg::NearNullSpace(*matrices.layout, 1,
                                 [](int, std::span<double> values) { std::ranges::fill(values, 1.0); });
  });
  const std::vector<char> on_surface = surface_nodes(space);
  std::vector<GlobalIndex> ids;
  for (LocalIndex node = 0; node < matrices.layout->num_owned; ++node)
    if (on_surface[node] != 0) ids.push_back(space.canonical_ids()[node]);
  std::vector<double> rows(ids.size() * model.num_pieces);
  linalg::Vector load(matrices.layout), response(matrices.layout);
  for (int piece = 0; piece < model.num_pieces; ++piece) {
    load.fill(0);
    const auto values = load.write_local();
    for (LocalIndex cell = 0; cell < graph.layout->num_owned; ++cell)
      if (pieces.of_local[cell] == piece)
        for (const LocalIndex node : space.cell_nodes(cell))
          values[node] += volume * graph.masses[cell] / ((dim + 1) * model.masses[piece]);
    load.add_ghosts_to_owners();
    const linalg::LinearResult solved = solver.solve(load, response, solve_tolerance, max_solve_iterations);
    if (solved.outcome != linalg::LinearOutcome::converged && solved.relative_residual > 1e-9)
      throw Error(ExitCode::no_solution, "impacts: the diffusion of an impact cannot be solved for");
    std::size_t row = 0;
    for (LocalIndex node = 0; node < matrices.layout->num_owned; ++node)
      if (on_surface[node] != 0) rows[row++ * model.num_pieces + piece] = response.local()[node];
  }
  share_rows(comm, std::move(ids), std::move(rows), model.num_pieces, model);
  result.piece_of_local = std::move(pieces.of_local);
  return result;
}

template ImpactPieces prepare_impacts(const VertexMatrices<2>&, const ElementGraph&, const FractureModes&,
                                      const ImpactOptions&);
template ImpactPieces prepare_impacts(const VertexMatrices<3>&, const ElementGraph&, const FractureModes&,
                                      const ImpactOptions&);

ImpactSolver::ImpactSolver(const ImpactModel& model)
    : model_(&model), amplitudes_(model.num_pieces),
      coefficients_(model.modes.size() / std::max(model.num_pieces, 1)), together_(model.num_pieces),
      fragments_(model.num_pieces) {}

void ImpactSolver::project_on_modes() noexcept {
  const std::size_t width = coefficients_.size();
  std::ranges::fill(coefficients_, 0.0);
  for (int p = 0; p < model_->num_pieces; ++p)
    for (std::size_t i = 0; i < width; ++i)
      coefficients_[i] += model_->masses[p] * amplitudes_[p] * model_->modes[p * width + i];
  for (int p = 0; p < model_->num_pieces; ++p) {
    amplitudes_[p] = 0;
    for (std::size_t i = 0; i < width; ++i) amplitudes_[p] += coefficients_[i] * model_->modes[p * width + i];
  }
}

std::span<const int> ImpactSolver::apply(const ImpactPoint& point, double magnitude, double sigma,
                                         ImpactProjection projection) noexcept {
  std::ranges::fill(amplitudes_, 0.0);
  for (std::size_t k = 0; k < point.vertices.size(); ++k) {
    if (point.weights[k] == 0) continue;
    const double* row = model_->responses.data() + std::size_t(point.vertices[k]) * model_->num_pieces;
    for (int p = 0; p < model_->num_pieces; ++p) amplitudes_[p] += point.weights[k] * row[p];
  }
  if (projection == ImpactProjection::modes) project_on_modes();
  together_.reset();
  for (const ImpactModel::Link& link : model_->links)
    if (magnitude * std::abs(amplitudes_[link.a] - amplitudes_[link.b]) < sigma)
      together_.unite(link.a, link.b);
  num_fragments_ = 0;
  for (int p = 0; p < model_->num_pieces; ++p) {
    const int first = together_.root(p);
    fragments_[p] = first == p ? num_fragments_++ : fragments_[first];
  }
  return fragments_;
}

} // namespace recoil::solvers::fracture_modes
