#pragma once

namespace recoil::potentials {

/// How the energy of a pair grows as its gap closes.
enum class ContactLaw {
  barrier, ///< b(gap, dhat), the logarithmic barrier [Li et al. 2020, equation 6]: no pair overlaps
  penalty, ///< (dhat - gap)^2 / 2 below dhat: pairs that are pressed by more than kappa dhat overlap
  /// 8/15 E* sqrt(R*) (dhat - gap)^2.5 [Hertz 1882], from the gap dhat on; pairs may overlap
  hertz
};

} // namespace recoil::potentials
