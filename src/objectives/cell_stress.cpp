#include <algorithm>
#include <utility>

#include "recoil/objectives/stress.hpp"

namespace recoil::objectives {

namespace {

template <int dim>
class CellStress final : public Observable<dim> {
  using Point = Eigen::Matrix<double, dim, 1>;
  using Matrix = Eigen::Matrix<double, dim, dim, Eigen::RowMajor>;

public:
  CellStress(const fem::FunctionSpace<dim>& space, const fem::PeriodicBoundary<dim>& periodic,
             StoredEnergies<dim> energies)
      : Observable<dim>(space.comm(), dim * dim, this->one_point(space.comm())), space_(&space),
        periodic_(&periodic), energies_(std::move(energies)) {}

  std::vector<Quantity> depends_on() const override {
    std::vector<Quantity> result{quantities::displacement, quantities::vertices};
    for (const auto& summand : energies_)
      for (Quantity& quantity : summand.potential->quantities())
        if (std::ranges::find(result, quantity) == result.end()) result.push_back(std::move(quantity));
    return result;
  }

  std::vector<double> values(const ObservedState& state) override {
    return this->on_first(stress(gradient_at(state)));
  }

  /// y' dP = 1/V p' dg with p_a = Y X_a, and what the positions themselves and V change.
  void add_products(const ObservedState& state, std::span<const double> y, std::span<double> du,
                    std::span<double>, parameters::PhysicalGradient<dim>& g) override {
    const linalg::Vector forces = gradient_at(state);
    const std::vector<double> all = this->on_all(y);
    const Matrix Y = Eigen::Map<const Matrix>(all.data());
    const linalg::Vector p = affine(Y);
    const double share = 1 / periodic_->volume();
    for (const auto& [potential, factor] : energies_) {
      potential->add_hessian_product(state.u, p.local(), share * factor, du);
      potential->add_parameter_products(state.u, p.local(), share * factor, g);
    }
    auto* by_positions = g.rest_positions();
    if (by_positions == nullptr) return;
    add_position_products(forces, Y, *by_positions);
    const double mean = Y.cwiseProduct(stress(forces)).sum();
    for (const auto& span : periodic_->spans()) {
      const auto [minus, plus] = periodic_->owned_ends(span);
      if (minus >= 0) (*by_positions)[minus][span.axis] += mean / span.length;
      if (plus >= 0) (*by_positions)[plus][span.axis] -= mean / span.length;
    }
  }

  std::vector<double> tangent(const ObservedState& state, std::span<const double> du, std::span<const double>,
                              const parameters::PhysicalDirection<dim>& dq) override {
    const linalg::Vector forces = gradient_at(state);
    linalg::Vector change(space_->layout()), moved(space_->layout());
    std::ranges::copy(du.first(moved.owned().size()), moved.write_owned().begin());
    moved.update_ghosts();
    // The Hessians of elastic energies and of contact are symmetric.
    for (const auto& [potential, factor] : energies_) {
      potential->add_hessian_product(state.u, moved.local(), factor, change.write_owned());
      potential->add_parameter_tangent(state.u, dq, factor, change.write_owned());
    }
    Matrix result = stress(change);
    if (const auto* dX = dq.rest_positions()) {
      result += position_tangent(forces, *dX);
      Point lengths = Point::Zero();
      for (const auto& span : periodic_->spans()) {
        const auto [minus, plus] = periodic_->owned_ends(span);
        if (minus >= 0) lengths[span.axis] -= (*dX)[minus][span.axis] / span.length;
        if (plus >= 0) lengths[span.axis] += (*dX)[plus][span.axis] / span.length;
      }
      this->comm().sum({lengths.data(), dim});
      result -= lengths.sum() * stress(forces);
    }
    return this->on_first(result);
  }

private:
  linalg::Vector gradient_at(const ObservedState& state) {
    for (const auto& summand : energies_) summand.potential->update(state.u);
    linalg::Vector forces(space_->layout());
    potentials::add_gradients<dim>(energies_, state.u, forces.write_owned());
    return forces;
  }
  /// (1/V) sum_a f_a X_a' over all ranks.
  Matrix stress(const linalg::Vector& forces) const {
    Matrix sum = Matrix::Zero();
    for (LocalIndex node = 0; node < space_->num_owned_nodes(); ++node)
      sum += fem::node_block<dim>(forces.owned(), node) * space_->node_positions()[node].transpose();
    this->comm().sum({sum.data(), std::size_t{dim * dim}});
    return sum / periodic_->volume();
  }
  /// Y X at all local nodes.
  linalg::Vector affine(const Matrix& Y) const {
    linalg::Vector p(space_->layout());
    auto entries = p.write_local();
    for (LocalIndex node = 0; node < space_->num_nodes(); ++node)
      fem::node_block<dim>(entries, node) = Y * space_->node_positions()[node];
    return p;
  }
  /// act(node, vertex, weight): the position of an owned node is the weighted sum of those of vertices.
  template <class Act>
  void for_node_positions(Act act) const {
    std::vector<char> seen(space_->num_owned_nodes(), 0);
    for (LocalIndex cell = 0; cell < space_->mesh().num_cells(); ++cell) {
      const auto nodes = space_->cell_nodes(cell);
      const auto& basis = space_->basis(space_->order(cell));
      for (std::size_t a = 0; a < nodes.size(); ++a) {
        if (nodes[a] >= space_->num_owned_nodes() || std::exchange(seen[nodes[a]], 1) != 0) continue;
        for (int v = 0; v <= dim; ++v)
          if (const int part = basis.multi_index(int(a))[v]; part != 0)
            act(nodes[a], space_->mesh().cells[cell][v], double(part) / basis.order());
      }
    }
  }
  void add_position_products(const linalg::Vector& forces, const Matrix& Y,
                             std::vector<Point>& positions) const {
    const double share = 1 / periodic_->volume();
    for_node_positions([&](LocalIndex node, LocalIndex vertex, double weight) {
      positions[vertex] += share * weight * (Y.transpose() * fem::node_block<dim>(forces.owned(), node));
    });
  }
  Matrix position_tangent(const linalg::Vector& forces, const std::vector<Point>& dX) const {
    Matrix sum = Matrix::Zero();
    for_node_positions([&](LocalIndex node, LocalIndex vertex, double weight) {
      sum += weight * fem::node_block<dim>(forces.owned(), node) * dX[vertex].transpose();
    });
    this->comm().sum({sum.data(), std::size_t{dim * dim}});
    return sum / periodic_->volume();
  }

  const fem::FunctionSpace<dim>* space_;
  const fem::PeriodicBoundary<dim>* periodic_;
  StoredEnergies<dim> energies_;
};

} // namespace

template <int dim>
std::unique_ptr<Observable<dim>> observe_cell_stress(const fem::FunctionSpace<dim>& space,
                                                     const fem::PeriodicBoundary<dim>& periodic,
                                                     StoredEnergies<dim> energies) {
  return std::make_unique<CellStress<dim>>(space, periodic, std::move(energies));
}

template std::unique_ptr<Observable<2>>
observe_cell_stress(const fem::FunctionSpace<2>&, const fem::PeriodicBoundary<2>&, StoredEnergies<2>);
template std::unique_ptr<Observable<3>>
observe_cell_stress(const fem::FunctionSpace<3>&, const fem::PeriodicBoundary<3>&, StoredEnergies<3>);

} // namespace recoil::objectives
