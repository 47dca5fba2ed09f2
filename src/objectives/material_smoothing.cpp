#include "recoil/objectives/material_smoothing.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "recoil/base/error.hpp"
#include "recoil/fem/reference/lagrange.hpp"
#include "recoil/parallel/exchange.hpp"
#include "recoil/parallel/halo.hpp"

namespace recoil::objectives {

namespace {

/// Who owns the ghost cells of this rank.
struct GhostCells {
  parallel::Halo halo;           ///< from owned cells to copies on other ranks
  std::vector<LocalIndex> cells; ///< the local ghost cell of every halo entry
};

struct OwnedCell {
  GlobalIndex id;
  LocalIndex index; ///< on its owner
};
struct CellAddress {
  int rank;
  LocalIndex index;
};

/// Asks for the owners through a directory of cell ids spread over all ranks. Collective.
template <int dim>
GhostCells find_ghost_cells(const mesh::DistributedMesh<dim>& mesh) {
  const parallel::Communicator& comm = *mesh.comm;
  const int size = comm.size();
  const auto id = [&](LocalIndex cell) { return mesh.cell_ids[cell]; };
  const auto directory = [&](GlobalIndex cell) { return cell % size; };

  std::vector<std::vector<OwnedCell>> entries(size);
  for (LocalIndex cell = 0; cell < mesh.num_owned_cells; ++cell)
    entries[directory(id(cell))].push_back({id(cell), cell});
  std::unordered_map<GlobalIndex, CellAddress> addresses;
  const auto listed = parallel::exchange(comm, entries);
  for (int rank = 0; rank < size; ++rank)
    for (const OwnedCell& cell : listed[rank]) addresses[cell.id] = {rank, cell.index};

  std::vector<std::vector<GlobalIndex>> questions(size);
  std::vector<std::vector<LocalIndex>> asked(size);
  for (LocalIndex cell = mesh.num_owned_cells; cell < mesh.num_cells(); ++cell) {
    questions[directory(id(cell))].push_back(id(cell));
    asked[directory(id(cell))].push_back(cell);
  }
  const auto received = parallel::exchange(comm, questions);
  std::vector<std::vector<CellAddress>> replies(size);
  for (int rank = 0; rank < size; ++rank)
    for (const GlobalIndex cell : received[rank]) replies[rank].push_back(addresses.at(cell));
  const auto answers = parallel::exchange(comm, replies);

  std::vector<std::vector<LocalIndex>> wanted(size), ghosts(size);
  for (int rank = 0; rank < size; ++rank) {
    RECOIL_ASSERT(answers[rank].size() == asked[rank].size());
    for (std::size_t k = 0; k < asked[rank].size(); ++k) {
      const std::size_t owner = answers[rank][k].rank;
      wanted[owner].push_back(answers[rank][k].index);
      ghosts[owner].push_back(asked[rank][k]);
    }
  }
  GhostCells result{parallel::Halo(comm, wanted), {}};
  for (const auto& part : ghosts) result.cells.insert(result.cells.end(), part.begin(), part.end());
  return result;
}

using CellPair = std::array<LocalIndex, 2>;

/// Pairs of selected local cells that share a face whose vertex with the smallest id this rank owns: over all
/// ranks every pair once. The owner of a vertex holds every cell around it.
template <int dim>
std::vector<CellPair> neighbours_across_faces(const Region<dim>& region) {
  const mesh::DistributedMesh<dim>& mesh = region.mesh();
  std::map<std::array<LocalIndex, dim>, LocalIndex> first_cell;
  std::vector<CellPair> pairs;
  for (LocalIndex cell = 0; cell < mesh.num_cells(); ++cell) {
    if (!region.selects(cell)) continue;
    for (int facet = 0; facet <= dim; ++facet) {
      // Ascending in input id, hence one order for both cells.
      std::array<LocalIndex, dim> face;
      const auto of_facet = fem::facet_vertices<dim>(facet);
      for (std::size_t i = 0; i < dim; ++i) face[i] = mesh.cells[cell][of_facet[i]];
      if (face[0] >= mesh.num_owned_vertices) continue;
      const auto [found, is_first] = first_cell.try_emplace(face, cell);
      if (!is_first) pairs.push_back({found->second, cell});
    }
  }
  return pairs;
}

template <int dim>
class MaterialSmoothing final : public Observable<dim> {
public:
  MaterialSmoothing(const Region<dim>& region, const CellConstants& constants)
      : MaterialSmoothing(region, constants, pairs_of(region, constants)) {}

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> result;
    for (const std::string& name : constants_.names) result.push_back({name, parameters::Place::cell});
    return result;
  }

  std::vector<double> values(const ObservedState&) override {
    std::vector<double> rows;
    for_each_ratio([&](const auto& ratio) { rows.push_back(1 - ratio.b / ratio.a); });
    return rows;
  }

  std::vector<double> tangent(const ObservedState&, std::span<const double>, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    std::vector<double> rows;
    for_each_ratio([&](const auto& ratio) {
      const Quantity constant{constants_.names[ratio.k], parameters::Place::cell};
      const std::vector<double>* change = dq.find_numbers(constant);
      rows.push_back(change ? ratio.by_a() * (*change)[ratio.cell_a] + ratio.by_b() * (*change)[ratio.cell_b]
                            : 0);
    });
    return rows;
  }

  void add_products(const ObservedState&, std::span<const double> y, std::span<double>, std::span<double>,
                    parameters::PhysicalGradient<dim>& g) override {
    std::vector<double> by_constants(constants_.values.size());
    const double* next = y.data();
    for_each_ratio([&](const auto& ratio) {
      by_constants[entry(ratio.cell_a, ratio.k)] += ratio.by_a() * *next;
      by_constants[entry(ratio.cell_b, ratio.k)] += ratio.by_b() * *next;
      ++next;
    });
    // What this rank found for cells of others goes to them.
    const std::size_t num_owned = region_.mesh().num_owned_cells;
    std::vector<double> ghosts, owned(num_owned * num_constants(), 0.0);
    for (const LocalIndex cell : ghosts_.cells)
      for (std::size_t k = 0; k < num_constants(); ++k) ghosts.push_back(by_constants[entry(cell, k)]);
    const int columns = num_constants();
    ghosts_.halo.add_back(ghosts, columns, owned);
    for (std::size_t k = 0; k < num_constants(); ++k) {
      std::vector<double>& total = g.numbers(constants_.names[k]);
      for (std::size_t cell = 0; cell < num_owned; ++cell)
        total[cell] += by_constants[num_constants() * cell + k] + owned[num_constants() * cell + k];
    }
  }

private:
  std::size_t num_constants() const { return constants_.names.size(); }
  std::size_t entry(LocalIndex cell, std::size_t k) const { return cell * num_constants() + k; }

  static void check(const Region<dim>& region, const CellConstants& constants) {
    const std::size_t count = constants.names.size();
    RECOIL_ASSERT(constants.law.size() == region.cells.size());
    RECOIL_ASSERT(constants.values.size() == region.cells.size() * count);
    for (LocalIndex cell = 0; cell < region.mesh().num_cells(); ++cell) {
      if (!region.selects(cell)) continue;
      for (std::size_t k = 0; k < count; ++k) {
        const double value = constants.values[cell * count + k];
        if (value != 0 && std::isfinite(value)) continue;
        const std::size_t body = region.mesh().cell_body[cell];
        throw InputError("material_smoothing compares ratios of constants: " + constants.names[k] +
                         " of the law of body '" + region.mesh().body_names[body] + "' is " +
                         std::to_string(value) + " in cell " + std::to_string(region.mesh().cell_ids[cell]));
      }
    }
  }
  static std::vector<CellPair> pairs_of(const Region<dim>& region, const CellConstants& constants) {
    parallel::collectively(region.comm(), [&] { check(region, constants); });
    std::vector<CellPair> pairs;
    for (const CellPair& pair : neighbours_across_faces(region))
      if (constants.law[pair[0]] == constants.law[pair[1]]) pairs.push_back(pair);
    return pairs;
  }
  MaterialSmoothing(const Region<dim>& region, const CellConstants& constants, std::vector<CellPair> pairs)
      : Observable<dim>(region.comm(), 2 * int(constants.names.size()), this->count(pairs.size())),
        region_(region), constants_(constants), ghosts_(find_ghost_cells(region_.mesh())),
        pairs_(std::move(pairs)) {}

  /// Constant k of two cells in 1 - b / a, and its derivatives.
  struct Ratio {
    LocalIndex cell_a, cell_b;
    std::size_t k;
    double a, b;
    double by_a() const { return b / (a * a); }
    double by_b() const { return -1 / a; }
  };
  template <class Act>
  void for_each_ratio(Act act) const {
    const auto& value = constants_.values;
    for (const auto& [one, other] : pairs_)
      for (std::size_t k = 0; k < num_constants(); ++k) {
        act(Ratio{one, other, k, value[entry(one, k)], value[entry(other, k)]});
        act(Ratio{other, one, k, value[entry(other, k)], value[entry(one, k)]});
      }
  }

  Region<dim> region_;
  CellConstants constants_;
  GhostCells ghosts_;
  std::vector<CellPair> pairs_;
};

} // namespace

template <int dim>
std::unique_ptr<Objective<dim>> make_material_smoothing(Region<dim> region, CellConstants constants) {
  return make_square<dim>("material_smoothing", std::make_unique<MaterialSmoothing<dim>>(region, constants));
}

template std::unique_ptr<Objective<2>> make_material_smoothing(Region<2>, CellConstants);
template std::unique_ptr<Objective<3>> make_material_smoothing(Region<3>, CellConstants);

} // namespace recoil::objectives
