#include "recoil/potentials/elastic.hpp"

#include "potentials/elastic_units.hpp"
#include "recoil/potentials/laws/all.hpp"

namespace recoil::potentials {

namespace {

template <class Law>
LawInfo describe_law() {
  static_assert(ConstitutiveLaw<Law>);
  LawInfo law{.name = Law::name, .alias = {}, .lame = false, .constants = Law::constants, .parameters = {}};
  law.lame = law.constants.data() == lame_constants.data();
  if constexpr (requires { Law::alias; }) law.alias = Law::alias;
  for (const LawConstant& constant : law.constants) {
    const std::string quantity = constant.quantity ? constant.quantity : "";
    if (constant.max_terms == 0) law.parameters.push_back({constant.name, quantity, &constant, 0});
    for (int term = 0; term < constant.max_terms; ++term) {
      const std::string number = "_" + std::to_string(term + 1);
      law.parameters.push_back(
          {constant.name + number, quantity.empty() ? "" : quantity + number, &constant, term});
    }
  }
  return law;
}

} // namespace

std::span<const LawInfo> laws() {
  static const std::vector<LawInfo> all = [] {
    std::vector<LawInfo> infos;
    for_each_law<3>([&]<class Law>() { infos.push_back(describe_law<Law>()); });
    return infos;
  }();
  return all;
}

const LawInfo* find_law(std::string_view name) {
  for (const LawInfo& law : laws())
    if (name == law.name || (!law.alias.empty() && name == law.alias)) return &law;
  return nullptr;
}

} // namespace recoil::potentials
