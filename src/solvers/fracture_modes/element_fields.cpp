#include "solvers/fracture_modes/element_fields.hpp"

#include <algorithm>
#include <limits>

namespace recoil::solvers::fracture_modes {

linalg::Vector on_elements(const ElementGraph& graph, const GatheredPieces& pieces,
                           std::span<const double> field) {
  linalg::Vector vector(graph.layout);
  const auto values = vector.write_local();
  for (std::size_t e = 0; e < values.size(); ++e) values[e] = field[pieces.of_local[e]];
  return vector;
}

std::vector<double> on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                              std::span<const double> of_owned) {
  std::vector<double> field = sum_over_pieces(graph, pieces, of_owned);
  for (std::size_t p = 0; p < field.size(); ++p) field[p] /= pieces.graph.masses[p];
  return field;
}

std::vector<double> value_on_pieces(const ElementGraph& graph, const GatheredPieces& pieces,
                                    std::span<const double> of_owned) {
  // The first rank that has elements of a piece tells its value; the sum has one term that is not zero.
  const parallel::Communicator& comm = graph.comm();
  std::vector<double> field(pieces.graph.size(), 0.0), owner(pieces.graph.size(), 0.0);
  std::vector<char> held(field.size(), 0);
  for (std::size_t e = 0; e < of_owned.size(); ++e) {
    field[pieces.of_local[e]] = of_owned[e];
    held[pieces.of_local[e]] = 1;
  }
  for (std::size_t p = 0; p < held.size(); ++p) owner[p] = held[p] != 0 ? 1 : 0;
  const std::vector<double> holders = comm.all_gather(std::span<const double>(owner));
  for (std::size_t p = 0; p < held.size(); ++p)
    for (int rank = 0; rank < comm.rank(); ++rank)
      if (holders[rank * held.size() + p] != 0) field[p] = 0;
  comm.sum(field);
  return field;
}

SearchState::Field stored(const ElementGraph& graph, const GatheredPieces& pieces, const FoundMode& mode) {
  SearchState::Field field{std::vector<double>(graph.layout->num_owned), mode.energy, mode.gap,
                           mode.iterations, mode.start};
  for (std::size_t e = 0; e < field.values.size(); ++e) field.values[e] = mode.field[pieces.of_local[e]];
  return field;
}

FoundMode restored(const ElementGraph& graph, const GatheredPieces& pieces, const SearchState::Field& field) {
  return {value_on_pieces(graph, pieces, field.values), field.energy, field.gap, field.iterations,
          field.start};
}

std::vector<char> closed_faces(const ElementGraph& graph, std::span<const char> joined) {
  std::vector<char> closed;
  for (std::size_t f = 0; f < graph.faces.size(); ++f)
    closed.push_back(!graph.faces[f].breakable || (!joined.empty() && joined[f] != 0) ? 1 : 0);
  return closed;
}

} // namespace recoil::solvers::fracture_modes
