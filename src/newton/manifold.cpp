#include "recoil/newton/manifold.hpp"

#include "recoil/base/error.hpp"

namespace recoil::newton {

void Euclidean::retract(const linalg::Vector& x, const linalg::Vector& d, double s,
                        linalg::Vector& result) const {
  const auto from = x.owned(), along = d.owned();
  const auto to = result.write_owned();
  RECOIL_ASSERT(from.size() == along.size() && from.size() == to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = from[i] + s * along[i];
}

} // namespace recoil::newton
