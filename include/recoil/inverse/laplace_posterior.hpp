#pragma once

#include <functional>
#include <span>
#include <vector>

#include "recoil/inverse/priors.hpp"
#include "recoil/parallel/communicator.hpp"

namespace recoil::inverse {

/// The normal distribution around the solution of a least-squares problem |r|^2 + |W (z - mean)|^2 that has
/// its second derivatives (Laplace's approximation, exact where r is linear): with the generalised
/// eigenvectors J'J v = lambda W'W v, v'W'W v = 1, of the data against the prior its covariance is
///
///     (W'W)^-1 - sum_k lambda_k / (1 + lambda_k) v_k v_k'
///
/// [Flath et al. 2011, SIAM J. Sci. Comput. 33, 407; Bui-Thanh et al. 2013, SIAM J. Sci. Comput. 35, A2494].
struct LaplacePosterior {
  std::vector<double> eigenvalues;          ///< lambda, descending, those of at least the threshold
  std::vector<std::vector<double>> vectors; ///< v
  /// Pointwise, in the unit of the variables squared. Rounding is relative to the prior's: where the data
  /// determine a variable to some 1e-8 of its prior deviation, its variance is 0.
  std::vector<double> prior_variances, variances;
  bool is_complete = false; ///< no eigenvalue above the threshold is missing
  int products = 0;         ///< with J'J

  /// sum lambda / (1 + lambda): how many numbers the data determine.
  double determined() const;
};

struct LaplaceSettings {
  /// What is left out makes no variance smaller than stated by more than threshold / (1 + threshold) of the
  /// prior's.
  double threshold = 0.1;
  std::size_t most = 500; ///< eigenvalues at most
};

/// Finds it by linalg::largest_eigenpairs() of W^-T J'J W^-1 on the first rank, while the others wait for the
/// products that it asks all of them for. The same on every rank.
/// @param data_product J'J d, collective and the same on every rank; what it throws, it throws on every rank.
/// @pre prior.is_proper(). Collective.
LaplacePosterior
laplace_posterior(const parallel::Communicator& comm, const GaussianPrior& prior,
                  const std::function<std::vector<double>(std::span<const double> d)>& data_product,
                  const LaplaceSettings& settings = {});

} // namespace recoil::inverse
