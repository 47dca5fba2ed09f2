#pragma once

namespace recoil::potentials {

/// How the energy of a pair grows as its gap closes.
enum class ContactLaw {
  barrier, ///< b(gap, dhat), the logarithmic barrier [Li et al. 2020, equation 6]: no pair overlaps
  penalty, ///< (dhat - gap)^2 / 2 below dhat: pairs that are pressed by more than kappa dhat overlap
  /// 8/15 E* sqrt(R*) (dhat - gap)^2.5 [Hertz 1882], from the gap dhat on; pairs may overlap
  hertz
};

/// How friction of a pair grows as its sides slide on each other.
enum class TangentialLaw {
  coulomb, ///< at once; implicit steps smooth it below a speed
  /// As the spring 8 G* a s, s the slip since the pair touched and a the radius of Hertz' contact, up to
  /// Coulomb's limit [Mindlin 1949]
  mindlin
};

} // namespace recoil::potentials
