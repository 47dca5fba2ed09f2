#include "recoil/potentials/mean_dilatation.hpp"

#include <limits>

#include "potentials/elastic_units.hpp"
#include "recoil/geometry/inversion.hpp"
#include "recoil/potentials/contact/geometric_contact.hpp"
#include "recoil/potentials/laws/stress.hpp"

namespace recoil::potentials {

namespace {

/// m, see make_mean_dilatation(). bench/physics/cook.py: at 1 a beam of 20 x 2 squares is 18 % too soft, at
/// 0.9 Cook's membrane of 8 x 8 at nu = 0.4999 3.5 % too stiff; at 0.95 these are 6 % and 2 %.
constexpr double mean_share = 0.95;

/// Something that a stress works on along changes of F and of the mean J.
template <int dim>
struct Pulled {
  SquareMatrix<dim> by_F = SquareMatrix<dim>::Zero();
  double by_mean = 0;
};

/// Fbar as a function of F at a point and of the mean J of its cell.
template <int dim>
class MeanMap {
  using Matrix = SquareMatrix<dim>;

public:
  MeanMap(const Matrix& F, bool small_strain) : F_(F), small_strain_(small_strain) {
    if (small_strain_) {
      J_ = 1 + F.trace() - dim;
      gradient_ = Matrix::Identity();
    } else {
      gradient_ = cofactor<dim>(F);
      J_ = determinant<dim>(F, gradient_);
    }
  }
  double J() const { return J_; }
  /// dJ/dF.
  const Matrix& gradient() const { return gradient_; }
  /// d(dJ/dF) along dF.
  Matrix gradient_change(const Matrix& dF) const {
    if (small_strain_) return Matrix::Zero();
    const Matrix N = gradient_ / J_;
    return J_ * (inner_product<dim>(N, dF) * N - N * dF.transpose() * N);
  }

  void set_mean(double mean) {
    mean_ = mean;
    scale_ = small_strain_ ? 1 : std::pow(mean / J_, exponent);
    Fbar_ = small_strain_ ? Matrix(F_ + exponent * (mean - J_) * Matrix::Identity()) : Matrix(scale_ * F_);
  }
  const Matrix& Fbar() const { return Fbar_; }
  /// dFbar along changes of F and of the mean.
  Matrix push(const Matrix& dF, double dmean) const {
    if (small_strain_) return dF + exponent * (dmean - dF.trace()) * Matrix::Identity();
    return scale_ * dF + relative(dF, dmean) * Fbar_;
  }
  /// The transpose: M : push(dF, dmean) = by_F : dF + by_mean dmean.
  Pulled<dim> pull(const Matrix& M) const {
    const double part = exponent * trace(M);
    if (small_strain_) return {M - part * Matrix::Identity(), part};
    return {scale_ * M - part / J_ * gradient_, part / mean_};
  }
  /// The change of pull(M) as M, F and the mean change.
  Pulled<dim> pull_change(const Matrix& M, const Matrix& dM, const Matrix& dF, double dmean) const {
    if (small_strain_) return pull(dM);
    const double part = exponent * trace(M),
                 dpart = exponent * (trace(dM) + inner_product<dim>(M, push(dF, dmean)));
    const Matrix N = gradient_ / J_;
    return {scale_ * dM + relative(dF, dmean) * scale_ * M - dpart * N + part * N * dF.transpose() * N,
            (dpart - part * dmean / mean_) / mean_};
  }

private:
  /// Change of the scale over the scale.
  double relative(const Matrix& dF, double dmean) const {
    return exponent * (dmean / mean_ - inner_product<dim>(gradient_, dF) / J_);
  }
  /// M : Fbar, of laws of linear theory tr M.
  double trace(const Matrix& M) const { return small_strain_ ? M.trace() : inner_product<dim>(M, Fbar_); }

  static constexpr double exponent = mean_share / dim;

  Matrix F_, Fbar_, gradient_;
  bool small_strain_;
  double J_ = 1, mean_ = 1, scale_ = 1;
};

template <int dim>
SquareMatrix<dim> unit(int entry) {
  SquareMatrix<dim> D = SquareMatrix<dim>::Zero();
  D(entry / dim, entry % dim) = 1;
  return D;
}

template <int dim>
class MeanDilatation final : public ElasticPotential<dim> {
  using Kernel = CellKernel<dim, Eigen::Dynamic>;
  using Matrix = SquareMatrix<dim>;

public:
  MeanDilatation(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                 std::shared_ptr<const fem::CellGeometry<dim>> geometry, int order,
                 std::vector<LocalIndex> cells, parameters::CellField constants)
      : ElasticPotential<dim>(space), law_(law), derivatives_(elastic_derivatives<dim>(law)),
        at_(derivatives_.at()), geometry_(std::move(geometry)), cells_(std::move(cells)),
        constants_(std::move(constants)),
        table_(fem::tabulate(this->space().basis(order),
                             fem::simplex_quadrature<dim>(this->space().stiffness_degree(order)))),
        positivity_(order) {
    if (constants_.points_per_cell != 1) RECOIL_ASSERT(constants_.points_per_cell == table_.num_points);
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      small_strain_ = at_.state(points(), k, 0, Matrix::Identity()).small_strain;
      Tangent<dim> A;
      at_.tangent(points(), k, 0, Matrix::Identity(), A);
      stiffness_.push_back(geometry_->weight_factor(cells_[k]) * A.diagonal().maxCoeff());
    }
  }

  std::string_view name() const override { return law_.name; }
  const std::vector<LocalIndex>& cells() const override { return cells_; }

  double value(std::span<const double> u) const override {
    double sum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      if (!points().is_owned(cells_[k])) continue;
      if (!is_uninverted(cells_[k], u)) return std::numeric_limits<double>::infinity();
      const std::vector<MeanMap<dim>> maps = maps_of(k, u);
      for (int q = 0; q < table_.num_points; ++q)
        sum += points().weight(cells_[k], q) * state(k, q, maps[q]).energy_density;
    }
    return sum;
  }

  void add_gradient(std::span<const double> u, double factor, std::span<double> g) const override {
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      const std::vector<MeanMap<dim>> maps = maps_of(k, u);
      scatter_pulled(
          k, maps, factor, [&](int q) { return state(k, q, maps[q]).P; }, g);
    }
  }

  void add_hessian(std::span<const double> u, double factor, Projection projection,
                   const linalg::HessianSink& H) const override {
    typename Kernel::Hessian K;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      element_hessian(k, u, factor, K);
      if (projection == Projection::per_element) {
        Eigen::MatrixXd whole = K;
        project_psd(whole);
        K = whole;
      }
      H.elements->add_element(cells_[k], K.data());
    }
  }

  double squared_round_off(std::span<const double> u) const override {
    double sum = 0;
    for (std::size_t k = 0; k < cells_.size(); ++k) {
      if (!points().is_owned(cells_[k])) continue;
      const double size = stiffness_[k] * std::min(1.0, points().gradient(cells_[k], 0, u).squaredNorm());
      sum += size * size;
    }
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    return epsilon * epsilon * sum;
  }

  std::vector<PointStress<dim>> stress(std::span<const double> u, std::size_t index) const override {
    const std::vector<MeanMap<dim>> maps = maps_of(index, u);
    std::vector<PointStress<dim>> stresses;
    for (int q = 0; q < table_.num_points; ++q) {
      const PointState<dim> at = state(index, q, maps[q]);
      stresses.push_back({at.small_strain ? at.P : cauchy_stress<dim>(at.F, at.P), at.energy_density,
                          points().weight(cells_[index], q)});
    }
    return stresses;
  }

  std::vector<parameters::Quantity> quantities() const override { return derivatives_.quantities(); }
  void add_parameter_products(std::span<const double> u, std::span<const double> p, double factor,
                              parameters::PhysicalGradient<dim>& g) const override;
  void add_parameter_tangent(std::span<const double> u, const parameters::PhysicalDirection<dim>& dq,
                             double factor, std::span<double> y) const override;
  double integrate(std::span<const double> u, const PointFunction<dim>& j,
                   std::span<const char> selected) const override;
  void add_integral_gradient(std::span<const double> u, const PointFunction<dim>& j,
                             std::span<const char> selected, double factor,
                             std::span<double> g) const override;
  void add_integral_parameter_products(std::span<const double> u, const PointFunction<dim>& j,
                                       std::span<const char> selected, double factor,
                                       parameters::PhysicalGradient<dim>& g) const override;

private:
  CellPoints<dim> points() const { return {this->space(), *geometry_, cells_, table_, constants_}; }
  PointState<dim> state(std::size_t k, int q, const MeanMap<dim>& map) const {
    return at_.state(points(), k, q, map.Fbar());
  }
  Tangent<dim> tangent(std::size_t k, int q, const MeanMap<dim>& map) const {
    Tangent<dim> A;
    at_.tangent(points(), k, q, map.Fbar(), A);
    return A;
  }
  /// dj/dFbar through F, P and W together.
  Matrix total_derivative(std::size_t k, int q, const MeanMap<dim>& map, const PointState<dim>& at,
                          const PointFunction<dim>& j) const {
    const auto by = j.derivatives(at);
    return by.by_F + contract<dim>(by.by_P, tangent(k, q, map)) + by.by_W * at.P;
  }

  double volume(std::size_t k) const {
    double sum = 0;
    for (int q = 0; q < table_.num_points; ++q) sum += points().weight(cells_[k], q);
    return sum;
  }
  /// sum_q w_q f(q) over the volume of the cell.
  template <class Function>
  double mean(std::size_t k, Function f) const {
    double sum = 0;
    for (int q = 0; q < table_.num_points; ++q) sum += points().weight(cells_[k], q) * f(q);
    return sum / volume(k);
  }

  std::vector<MeanMap<dim>> maps_of(std::size_t k, std::span<const double> u) const {
    std::vector<MeanMap<dim>> maps;
    for (int q = 0; q < table_.num_points; ++q)
      maps.emplace_back(Matrix::Identity() + points().gradient(cells_[k], q, u), small_strain_);
    const double J = mean(k, [&](int q) { return maps[q].J(); });
    for (MeanMap<dim>& map : maps) map.set_mean(J);
    return maps;
  }

  /// The matrices R_q for which sum_q w_q stress(q) : dFbar_q = sum_q w_q R_q : dF_q.
  template <class Stress>
  std::vector<Matrix> pulled(std::size_t k, const std::vector<MeanMap<dim>>& maps, Stress stress) const {
    std::vector<Pulled<dim>> pulls;
    for (int q = 0; q < table_.num_points; ++q) pulls.push_back(maps[q].pull(stress(q)));
    const double of_mean = mean(k, [&](int q) { return pulls[q].by_mean; });
    std::vector<Matrix> R;
    for (int q = 0; q < table_.num_points; ++q) R.push_back(pulls[q].by_F + of_mean * maps[q].gradient());
    return R;
  }
  template <class Stress>
  void scatter_pulled(std::size_t k, const std::vector<MeanMap<dim>>& maps, double factor, Stress stress,
                      std::span<double> g) const {
    const std::vector<Matrix> R = pulled(k, maps, stress);
    for (int q = 0; q < table_.num_points; ++q)
      points().scatter(cells_[k], q, factor * points().weight(cells_[k], q) * R[q], g);
  }

  /// How R of the stresses of the law changes as F does by `dF`, the constants at rest.
  std::vector<Matrix> pulled_change(std::size_t k, const std::vector<MeanMap<dim>>& maps,
                                    const std::vector<Matrix>& dF) const;
  void element_hessian(std::size_t k, std::span<const double> u, double factor,
                       typename Kernel::Hessian& K) const;

  bool is_uninverted(LocalIndex cell, std::span<const double> u) const {
    if (small_strain_) return true;
    const auto nodes = this->space().cell_nodes(cell);
    typename Kernel::Values positions = Kernel::gather(nodes, u);
    for (Eigen::Index a = 0; a < positions.rows(); ++a)
      positions.row(a) += this->space().node_positions()[nodes[a]].transpose();
    return positivity_.is_positive(positions.data(), geometry_->edge_determinant[cell]);
  }

  const LawInfo& law_;
  const ElasticDerivatives<dim>& derivatives_;
  LawAtPoint<dim> at_;
  std::shared_ptr<const fem::CellGeometry<dim>> geometry_;
  std::vector<LocalIndex> cells_;
  parameters::CellField constants_;
  fem::Tabulation<dim> table_;
  geometry::JacobianPositivity<dim> positivity_;
  std::vector<double> stiffness_; ///< modulus times measure of each cell [J]
  bool small_strain_ = false;
};

template <int dim>
void MeanDilatation<dim>::element_hessian(std::size_t k, std::span<const double> u, double factor,
                                          typename Kernel::Hessian& K) const {
  const LocalIndex cell = cells_[k];
  const std::vector<MeanMap<dim>> maps = maps_of(k, u);
  const Eigen::Index num_nodes = table_.num_nodes, size = dim * num_nodes;
  K.setZero(size, size);
  std::vector<PointState<dim>> states;
  for (int q = 0; q < table_.num_points; ++q) states.push_back(state(k, q, maps[q]));
  const double of_mean = mean(k, [&](int q) { return maps[q].pull(states[q].P).by_mean; });
  // Derivatives of the nodal values of the mean, of the forces by the mean, and of both.
  Eigen::VectorXd by_nodes = Eigen::VectorXd::Zero(size), by_mean = by_nodes;
  double twice_by_mean = 0;
  for (int q = 0; q < table_.num_points; ++q) {
    const Tangent<dim> A = tangent(k, q, maps[q]);
    const Matrix& P = states[q].P;
    const auto change = [&](const Matrix& dF, double dmean) {
      return maps[q].pull_change(P, contract<dim>(A, maps[q].push(dF, dmean)), dF, dmean);
    };
    Tangent<dim> B;
    for (int entry = 0; entry < dim * dim; ++entry) {
      const Matrix dF = unit<dim>(entry), column = change(dF, 0).by_F + of_mean * maps[q].gradient_change(dF);
      for (int row = 0; row < dim * dim; ++row) B(row, entry) = column(row / dim, row % dim);
    }
    const typename Kernel::Gradients G = Kernel::gradients(table_, q, geometry_->inverse_edges[cell]);
    const double weight = points().weight(cell, q);
    add_tangent_hessian(G, factor * weight, B, K);
    const Pulled<dim> along_mean = change(Matrix::Zero(), 1);
    twice_by_mean += weight * along_mean.by_mean;
    for (Eigen::Index a = 0; a < num_nodes; ++a) {
      by_nodes.segment<dim>(dim * a) += weight / volume(k) * maps[q].gradient() * G.row(a).transpose();
      by_mean.segment<dim>(dim * a) += weight * along_mean.by_F * G.row(a).transpose();
    }
  }
  K.template triangularView<Eigen::StrictlyLower>() = K.transpose();
  K += factor * (by_mean * by_nodes.transpose() + by_nodes * by_mean.transpose() +
                 twice_by_mean * by_nodes * by_nodes.transpose());
}

template <int dim>
std::vector<SquareMatrix<dim>> MeanDilatation<dim>::pulled_change(std::size_t k,
                                                                  const std::vector<MeanMap<dim>>& maps,
                                                                  const std::vector<Matrix>& dF) const {
  const double dmean = mean(k, [&](int q) { return inner_product<dim>(maps[q].gradient(), dF[q]); });
  std::vector<Pulled<dim>> pulls, changes;
  for (int q = 0; q < table_.num_points; ++q) {
    const Matrix P = state(k, q, maps[q]).P;
    pulls.push_back(maps[q].pull(P));
    changes.push_back(maps[q].pull_change(
        P, contract<dim>(tangent(k, q, maps[q]), maps[q].push(dF[q], dmean)), dF[q], dmean));
  }
  const double of_mean = mean(k, [&](int q) { return pulls[q].by_mean; }),
               change_of_mean = mean(k, [&](int q) { return changes[q].by_mean; });
  std::vector<Matrix> R;
  for (int q = 0; q < table_.num_points; ++q)
    R.push_back(changes[q].by_F + change_of_mean * maps[q].gradient() +
                of_mean * maps[q].gradient_change(dF[q]));
  return R;
}

template <int dim>
void MeanDilatation<dim>::add_parameter_products(std::span<const double> u, std::span<const double> p,
                                                 double factor, parameters::PhysicalGradient<dim>& g) const {
  std::vector<std::vector<double>*> by_parameters;
  for (const LawParameter& parameter : law_.parameters) by_parameters.push_back(&g.numbers(parameter.name));
  auto* by_vertex = g.rest_positions();
  std::vector<Matrix> stresses(by_parameters.size());
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const LocalIndex cell = cells_[k];
    if (!points().is_owned(cell)) continue;
    const std::vector<MeanMap<dim>> maps = maps_of(k, u);
    std::vector<Matrix> Gu, Gp;
    for (int q = 0; q < table_.num_points; ++q) {
      Gu.push_back(points().gradient(cell, q, u));
      Gp.push_back(points().gradient(cell, q, p));
    }
    const double along_mean = mean(k, [&](int q) { return inner_product<dim>(maps[q].gradient(), Gp[q]); });
    for (int q = 0; q < table_.num_points; ++q) {
      at_.by_parameters(points(), k, q, maps[q].Fbar(), stresses, {});
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_parameters[i])[cell] += factor * points().weight(cell, q) *
                                     inner_product<dim>(stresses[i], maps[q].push(Gp[q], along_mean));
    }
    if (!by_vertex) continue;
    // R : Gp dX changes as in virtual_work_shape_term(): R is symmetric in what it is differentiated by.
    const std::vector<Matrix> R = pulled(k, maps, [&](int q) { return state(k, q, maps[q]).P; }),
                              Z = pulled_change(k, maps, Gp);
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < table_.num_points; ++q)
      shape += factor * points().weight(cell, q) * virtual_work_shape_term<dim>(R[q], Z[q], Gp[q], Gu[q]);
    add_cell_product<dim>(this->space(), *geometry_, cell, shape, *by_vertex);
  }
}

template <int dim>
void MeanDilatation<dim>::add_parameter_tangent(std::span<const double> u,
                                                const parameters::PhysicalDirection<dim>& dq, double factor,
                                                std::span<double> y) const {
  std::vector<const std::vector<double>*> changes;
  for (const LawParameter& parameter : law_.parameters) changes.push_back(dq.find_numbers(parameter.name));
  const auto* vertices = dq.rest_positions();
  std::vector<Matrix> stresses(changes.size());
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const LocalIndex cell = cells_[k];
    const std::vector<MeanMap<dim>> maps = maps_of(k, u);
    const auto by_constants = [&](int q) {
      at_.by_parameters(points(), k, q, maps[q].Fbar(), stresses, {});
      return stress_change<dim>(stresses, changes, cell);
    };
    scatter_pulled(k, maps, factor, by_constants, y);
    if (!vertices) continue;
    const Matrix D = cell_gradient<dim>(this->space(), *geometry_, cell, *vertices);
    std::vector<Matrix> dF;
    for (int q = 0; q < table_.num_points; ++q) dF.push_back(-points().gradient(cell, q, u) * D);
    const std::vector<Matrix> R = pulled(k, maps, [&](int q) { return state(k, q, maps[q]).P; }),
                              dR = pulled_change(k, maps, dF);
    for (int q = 0; q < table_.num_points; ++q)
      points().scatter(
          cell, q,
          factor * points().weight(cell, q) * Matrix(D.trace() * R[q] - R[q] * D.transpose() + dR[q]), y);
  }
}

template <int dim>
double MeanDilatation<dim>::integrate(std::span<const double> u, const PointFunction<dim>& j,
                                      std::span<const char> selected) const {
  double sum = 0;
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    if (!points().is_owned(cells_[k]) || !is_selected(selected, cells_[k])) continue;
    const std::vector<MeanMap<dim>> maps = maps_of(k, u);
    for (int q = 0; q < table_.num_points; ++q)
      sum += points().weight(cells_[k], q) * j.value(state(k, q, maps[q]));
  }
  return sum;
}

template <int dim>
void MeanDilatation<dim>::add_integral_gradient(std::span<const double> u, const PointFunction<dim>& j,
                                                std::span<const char> selected, double factor,
                                                std::span<double> g) const {
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    if (!is_selected(selected, cells_[k])) continue;
    const std::vector<MeanMap<dim>> maps = maps_of(k, u);
    const auto by_Fbar = [&](int q) { return total_derivative(k, q, maps[q], state(k, q, maps[q]), j); };
    scatter_pulled(k, maps, factor, by_Fbar, g);
  }
}

template <int dim>
void MeanDilatation<dim>::add_integral_parameter_products(std::span<const double> u,
                                                          const PointFunction<dim>& j,
                                                          std::span<const char> selected, double factor,
                                                          parameters::PhysicalGradient<dim>& g) const {
  std::vector<std::vector<double>*> by_parameters;
  for (const LawParameter& parameter : law_.parameters) by_parameters.push_back(&g.numbers(parameter.name));
  auto* by_vertex = g.rest_positions();
  std::vector<Matrix> stresses(by_parameters.size());
  std::vector<double> energies(by_parameters.size());
  for (std::size_t k = 0; k < cells_.size(); ++k) {
    const LocalIndex cell = cells_[k];
    if (!points().is_owned(cell) || !is_selected(selected, cell)) continue;
    const std::vector<MeanMap<dim>> maps = maps_of(k, u);
    const std::vector<Matrix> R =
        pulled(k, maps, [&](int q) { return total_derivative(k, q, maps[q], state(k, q, maps[q]), j); });
    Matrix shape = Matrix::Zero();
    for (int q = 0; q < table_.num_points; ++q) {
      const PointState<dim> at = state(k, q, maps[q]);
      const auto by = j.derivatives(at);
      const double weight = factor * points().weight(cell, q);
      at_.by_parameters(points(), k, q, maps[q].Fbar(), stresses, energies);
      for (std::size_t i = 0; i < stresses.size(); ++i)
        (*by_parameters[i])[cell] +=
            weight * (inner_product<dim>(by.by_P, stresses[i]) + by.by_W * energies[i]);
      shape += weight * (j.value(at) * Matrix::Identity() - points().gradient(cell, q, u).transpose() * R[q]);
    }
    if (by_vertex) add_cell_product<dim>(this->space(), *geometry_, cell, shape, *by_vertex);
  }
}

} // namespace

template <int dim>
std::unique_ptr<ElasticPotential<dim>>
make_mean_dilatation(const LawInfo& law, const fem::FunctionSpace<dim>& space,
                     std::shared_ptr<const fem::CellGeometry<dim>> geometry, int order,
                     std::vector<LocalIndex> cells, parameters::CellField constants) {
  return std::make_unique<MeanDilatation<dim>>(law, space, std::move(geometry), order, std::move(cells),
                                               std::move(constants));
}

template std::unique_ptr<ElasticPotential<2>>
make_mean_dilatation(const LawInfo&, const fem::FunctionSpace<2>&,
                     std::shared_ptr<const fem::CellGeometry<2>>, int, std::vector<LocalIndex>,
                     parameters::CellField);
template std::unique_ptr<ElasticPotential<3>>
make_mean_dilatation(const LawInfo&, const fem::FunctionSpace<3>&,
                     std::shared_ptr<const fem::CellGeometry<3>>, int, std::vector<LocalIndex>,
                     parameters::CellField);

} // namespace recoil::potentials
