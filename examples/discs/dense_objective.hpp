#pragma once

#include <algorithm>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>

#include <Eigen/Core>

#include "recoil/linalg/dense.hpp"
#include "recoil/newton/objective.hpp"
#include "recoil/parallel/communicator.hpp"

/// What small problems need of distributed vectors: every rank has all numbers and computes the same.
namespace recoil::discs {

using Eigen::MatrixXd;
using Eigen::VectorXd;

/// `num_blocks` blocks dealt out evenly, the first ranks having the more; the last ranks are empty when there
/// are fewer blocks than ranks. Each rank keeps its neighbours in the ring as ghosts. Collective.
inline std::shared_ptr<const linalg::VectorLayout> even_layout(const parallel::Communicator& comm,
                                                               int num_blocks, int block_size = 1) {
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = &comm;
  layout->block_size = block_size;
  layout->num_owned = num_blocks / comm.size() + (comm.rank() < num_blocks % comm.size() ? 1 : 0);
  layout->offset = comm.exclusive_scan(GlobalIndex{layout->num_owned});
  layout->num_global = num_blocks;
  if (layout->num_owned > 0 && layout->num_owned < num_blocks) {
    const GlobalIndex end = layout->offset + layout->num_owned;
    layout->ghosts.push_back((layout->offset + num_blocks - 1) % num_blocks);
    if (end % num_blocks != layout->ghosts.front()) layout->ghosts.push_back(end % num_blocks);
  }
  return layout;
}

/// All entries on every rank. Collective.
inline VectorXd gather(const linalg::Vector& v) {
  const auto& layout = v.layout();
  VectorXd all = VectorXd::Zero(layout.num_global * layout.block_size);
  const auto owned = v.owned();
  std::copy(owned.begin(), owned.end(), all.data() + layout.offset * layout.block_size);
  layout.comm->sum(std::span<double>(all.data(), static_cast<std::size_t>(all.size())));
  return all;
}

/// Sets the owned entries from all.
inline void scatter(const VectorXd& all, linalg::Vector& v) {
  const auto first = v.layout().offset * v.layout().block_size;
  const auto owned = v.write_owned();
  std::copy_n(all.data() + first, owned.size(), owned.begin());
}

/// An objective given by functions of all entries, evaluated alike on every rank, with dense
/// matrices.
class DenseObjective : public newton::Objective {
public:
  std::function<double(const VectorXd&)> f; ///< infinite where x is infeasible
  std::function<VectorXd(const VectorXd&)> df;
  std::function<MatrixXd(const VectorXd&)> ddf;
  std::function<double(const VectorXd&, const VectorXd&)> limit; ///< max_step; 1 if empty

  double value(const linalg::Vector& x) override { return f(all(x)); }
  void gradient(const linalg::Vector& x, linalg::Vector& g) override { scatter(df(all(x)), g); }
  void assemble_hessian(const linalg::Vector& x, newton::Projection projection) override {
    hessian_ = ddf(all(x));
    diagonal_ = hessian_.diagonal().cwiseAbs();
    if (projection == newton::Projection::none) return;
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(hessian_);
    hessian_ = (eigen.vectors * eigen.values.cwiseMax(0).asDiagonal()).lazyProduct(eigen.vectors.transpose());
  }
  void shift_hessian(double factor) override { hessian_ += factor * MatrixXd(diagonal_.asDiagonal()); }
  linalg::LinearResult solve(const linalg::Vector& rhs, linalg::Vector& d, double) override {
    VectorXd solution;
    const linalg::LinearResult result = solve(gather(rhs), solution);
    scatter(solution, d);
    return result;
  }
  double max_step(const linalg::Vector& x, const linalg::Vector& d) override {
    const VectorXd along = all(d);
    return limit ? limit(all(x), along) : 1;
  }

protected:
  /// Solves H x = b; x = 0 where H is not positive definite. A singular matrix shows as an eigenvalue at
  /// round-off.
  linalg::LinearResult solve(const VectorXd& b, VectorXd& x) const {
    const linalg::SymmetricEigen eigen = linalg::symmetric_eigen(hessian_);
    const bool definite = eigen.converged && eigen.values[0] > 1e-13 * hessian_.diagonal().maxCoeff();
    x = definite ? VectorXd(linalg::solve_definite(hessian_, b)) : VectorXd::Zero(b.size());
    return {definite ? linalg::LinearOutcome::converged : linalg::LinearOutcome::indefinite, 1};
  }

private:
  /// All entries, of which those that this rank keeps copies of must be what their owners have.
  static VectorXd all(const linalg::Vector& x) {
    VectorXd entries = gather(x);
    const auto& layout = x.layout();
    for (std::size_t k = 0; k < layout.ghosts.size(); ++k)
      for (int c = 0; c < layout.block_size; ++c) {
        const std::size_t local =
            (static_cast<std::size_t>(layout.num_owned) + k) * static_cast<std::size_t>(layout.block_size) +
            static_cast<std::size_t>(c);
        if (x.local()[local] != entries[layout.ghosts[k] * layout.block_size + c])
          throw std::logic_error("stale ghost");
      }
    return entries;
  }

  MatrixXd hessian_;
  VectorXd diagonal_;
};

} // namespace recoil::discs
