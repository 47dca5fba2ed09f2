#include "recoil/inverse/laplace_posterior.hpp"

#include <algorithm>

#include "inverse/shared_work.hpp"
#include "recoil/base/error.hpp"
#include "recoil/linalg/largest_eigenpairs.hpp"

namespace recoil::inverse {

namespace {

/// On the first rank, by data_product(d).
template <class Product>
linalg::Eigenpairs find_eigenpairs(const Product& data_product, const GaussianPrior& prior,
                                   const LaplaceSettings& settings) {
  const auto multiply = [&](std::span<const double> y, std::span<double> result) {
    std::ranges::copy(prior.colour_transposed(data_product(prior.colour(y))), result.begin());
  };
  linalg::Eigenpairs found =
      linalg::largest_eigenpairs(prior.num_rows(), multiply, settings.threshold, settings.most);
  for (std::vector<double>& vector : found.vectors) vector = prior.colour(vector);
  return found;
}

/// Gives all ranks what the first one has.
void share(const parallel::Communicator& comm, std::size_t n, linalg::Eigenpairs& pairs) {
  comm.broadcast(pairs.values);
  pairs.vectors.resize(pairs.values.size(), std::vector<double>(n));
  for (std::vector<double>& vector : pairs.vectors) comm.broadcast(vector);
  pairs.is_complete = comm.any(pairs.is_complete);
}

} // namespace

double LaplacePosterior::determined() const {
  double sum = 0;
  for (const double lambda : eigenvalues) sum += lambda / (1 + lambda);
  return sum;
}

LaplacePosterior
laplace_posterior(const parallel::Communicator& comm, const GaussianPrior& prior,
                  const std::function<std::vector<double>(std::span<const double>)>& data_product,
                  const LaplaceSettings& settings) {
  RECOIL_ASSERT(prior.is_proper());
  std::vector<double> product;
  int count = 0;
  SharedWork shared(comm, [&](std::span<const double> d) {
    product = data_product(d);
    ++count;
  });
  linalg::Eigenpairs pairs;
  shared.lead([&] {
    const auto shared_product = [&](std::vector<double> d) {
      shared.ask(std::move(d));
      return product;
    };
    pairs = find_eigenpairs(shared_product, prior, settings);
  });
  share(comm, prior.num_rows(), pairs);
  LaplacePosterior result{
      std::move(pairs.values), std::move(pairs.vectors), prior.variances(), {}, pairs.is_complete, count};
  result.variances = result.prior_variances;
  for (std::size_t k = 0; k < result.eigenvalues.size(); ++k) {
    const double reduction = result.eigenvalues[k] / (1 + result.eigenvalues[k]);
    for (std::size_t i = 0; i < result.variances.size(); ++i)
      result.variances[i] -= reduction * result.vectors[k][i] * result.vectors[k][i];
  }
  for (double& variance : result.variances) variance = std::max(variance, 0.0);
  return result;
}

} // namespace recoil::inverse
