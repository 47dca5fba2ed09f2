#include "recoil/inverse/laplace_posterior.hpp"

#include <algorithm>
#include <exception>

#include "recoil/base/error.hpp"
#include "recoil/linalg/largest_eigenpairs.hpp"

namespace recoil::inverse {

namespace {

using DataProduct = std::function<std::vector<double>(std::span<const double>)>;

/// Products that the first rank asks all of them for, until it asks for that of nothing.
class SharedProducts {
public:
  SharedProducts(const parallel::Communicator& comm, const DataProduct& product)
      : comm_(comm), product_(product) {}

  std::vector<double> ask(std::vector<double> d) {
    comm_.broadcast(d);
    return work(d);
  }
  void end() {
    std::vector<double> nothing;
    comm_.broadcast(nothing);
  }
  void serve() {
    std::vector<double> d;
    for (comm_.broadcast(d); !d.empty(); comm_.broadcast(d)) work(d);
  }
  int count() const { return count_; }
  /// What was thrown last was thrown on every rank.
  bool has_failed_everywhere() const { return is_at_work_; }

private:
  std::vector<double> work(const std::vector<double>& d) {
    is_at_work_ = true;
    std::vector<double> result = product_(d);
    is_at_work_ = false;
    ++count_;
    return result;
  }

  const parallel::Communicator& comm_;
  const DataProduct& product_;
  int count_ = 0;
  bool is_at_work_ = false;
};

linalg::Eigenpairs find_eigenpairs(SharedProducts& products, const GaussianPrior& prior,
                                   const LaplaceSettings& settings) {
  const auto multiply = [&](std::span<const double> y, std::span<double> result) {
    std::ranges::copy(prior.colour_transposed(products.ask(prior.colour(y))), result.begin());
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

LaplacePosterior laplace_posterior(const parallel::Communicator& comm, const GaussianPrior& prior,
                                   const DataProduct& data_product, const LaplaceSettings& settings) {
  RECOIL_ASSERT(prior.is_proper());
  SharedProducts products(comm, data_product);
  linalg::Eigenpairs pairs;
  std::exception_ptr own; // of the first rank alone
  if (comm.rank() != 0) {
    products.serve();
  } else {
    try {
      pairs = find_eigenpairs(products, prior, settings);
    } catch (...) {
      if (products.has_failed_everywhere()) throw;
      own = std::current_exception();
    }
    products.end();
  }
  parallel::collectively(comm, [&] {
    if (own) std::rethrow_exception(own);
  });
  share(comm, prior.num_rows(), pairs);
  LaplacePosterior result{std::move(pairs.values), std::move(pairs.vectors), prior.variances(), {},
                          pairs.is_complete,       products.count()};
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
