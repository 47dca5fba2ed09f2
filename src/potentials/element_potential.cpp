#include "recoil/potentials/potential.hpp"

namespace recoil::potentials {

namespace {

/// Multiplies element matrices with a vector instead of storing them: y += K x on owned entries.
template <int dim>
class ElementProduct final : public linalg::ElementSink {
public:
  ElementProduct(const fem::FunctionSpace<dim>& space, std::span<const double> x, std::span<double> y)
      : space_(space), x_(x), y_(y) {}

  void add_element(LocalIndex element, const double* K) override {
    const auto nodes = space_.cell_nodes(element);
    const Eigen::Index size = dim * std::ssize(nodes);
    const Eigen::Map<const Eigen::MatrixXd> upper(K, size, size);
    for (std::size_t b = 0; b < nodes.size(); ++b)
      for (std::size_t a = 0; a <= b; ++a) {
        const Eigen::Matrix<double, dim, dim> block = upper.template block<dim, dim>(dim * a, dim * b);
        add(nodes[a], block, nodes[b]);
        if (a != b) add(nodes[b], block.transpose(), nodes[a]);
      }
  }
  void add_element_block(LocalIndex element, int a, int b, const double* block) override {
    const auto nodes = space_.cell_nodes(element);
    add(nodes[a], Eigen::Map<const Eigen::Matrix<double, dim, dim, Eigen::RowMajor>>(block), nodes[b]);
  }
  void add_identities(std::span<const double> scalars, double factor) override {
    const linalg::NodeGraph& graph = *space_.graph();
    for (LocalIndex row = 0; row < space_.num_owned_nodes(); ++row)
      for (auto k = graph.offsets[row]; k < graph.offsets[row + 1]; ++k)
        fem::node_block<dim>(y_, row) += factor * scalars[k] * fem::node_block<dim>(x_, graph.neighbours[k]);
  }

private:
  void add(LocalIndex row, const Eigen::Matrix<double, dim, dim>& block, LocalIndex column) {
    if (row < space_.num_owned_nodes())
      fem::node_block<dim>(y_, row) += block * fem::node_block<dim>(x_, column);
  }

  const fem::FunctionSpace<dim>& space_;
  std::span<const double> x_;
  std::span<double> y_;
};

} // namespace

template <int dim>
void ElementPotential<dim>::add_hessian_product(std::span<const double> u, std::span<const double> p,
                                                double factor, std::span<double> y) const {
  ElementProduct<dim> product(*space_, p, y);
  this->add_hessian(u, factor, Projection::none, {&product, nullptr});
}

template class ElementPotential<2>;
template class ElementPotential<3>;

} // namespace recoil::potentials
