#include "linalg/solver_options.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <sstream>
#include <string_view>

#include "linalg/factorization.hpp"
#include "recoil/base/lookup.hpp"

namespace recoil::linalg {

namespace {

bool has_cholmod() {
  PetscBool has_package = PETSC_FALSE, has_type = PETSC_FALSE;
  RECOIL_PETSC(
      MatSolverTypeGet(MATSOLVERCHOLMOD, MATSEQSBAIJ, MAT_FACTOR_CHOLESKY, &has_package, &has_type, nullptr));
  return has_package == PETSC_TRUE && has_type == PETSC_TRUE;
}

/// Has a preconditioner with `options` work on all rows, gathered on one rank.
OptionList telescoped(OptionList options, const std::string& prefix, int num_ranks) {
  options.emplace_back(prefix + "pc_type", "telescope");
  options.emplace_back(prefix + "pc_telescope_reduction_factor", std::to_string(num_ranks));
  options.emplace_back(prefix + "telescope_ksp_type", "preonly");
  return options;
}

/// factorization_options for a matrix with both its triangles. What the user has chosen of PETSc's goes
/// first: on several ranks a factorisation that works on all of them, or any one behind PCTELESCOPE.
OptionList whole_factorization_options(const std::string& prefix, int num_ranks, const OptionList& of_user) {
  const auto has = [&](const std::string& name) {
    return std::ranges::any_of(of_user,
                               [&](const auto& option) { return option.first.starts_with(prefix + name); });
  };
  const auto chosen = std::ranges::find(of_user, prefix + "pc_type", &OptionList::value_type::first);
  const std::string type = chosen == of_user.end() ? "" : chosen->second;
  const bool has_solver = has("pc_factor_mat_solver_type");
  const bool has_telescope = type == "telescope" || has("telescope_") || has("pc_telescope");
  if (num_ranks > 1 && (has_telescope || (!has_cholmod() && type.empty() && !has_solver)))
    return telescoped(factorization_options(prefix + "telescope_"), prefix, num_ranks);
  // CHOLMOD does neither LU nor factorisations on several ranks.
  if (!type.empty() && (num_ranks > 1 || type != "cholesky")) return {};
  OptionList options = factorization_options(prefix);
  if (!has_cholmod() || (num_ranks == 1 ? has("pc_factor") : has_solver)) return options;
  options.front().second = upper_cholesky;
  // Where there is little fill CHOLMOD takes LDL' without supernodes. It solves indefinite systems too, for
  // the stationary point of the model, and conjugate gradients judge what comes out.
  for (auto& [name, value] : options)
    if (name == prefix + "mat_cholmod_factor") value = "auto";
  return options;
}

OptionList aggregation_options(const std::string& prefix) {
  return {{prefix + "pc_type", "gamg"},
          // Dropping weak links made coarse levels many and wide on irregular meshes.
          {prefix + "pc_gamg_threshold", "0"},
          // New bounds of the smoother with every matrix, not those of the matrix that the interpolation
          // was built from: beyond them the preconditioner is no longer positive definite.
          {prefix + "pc_gamg_use_sa_esteig", "false"},
          {prefix + "mg_levels_ksp_type", "chebyshev"},
          {prefix + "mg_levels_pc_type", "jacobi"}};
}

} // namespace

OptionList factorization_options(const std::string& prefix) {
  OptionList options{{prefix + "pc_type", "cholesky"}};
  if (!has_cholmod()) {
    options.emplace_back(prefix + "pc_factor_mat_ordering_type", "nd");
    return options;
  }
  options.emplace_back(prefix + "pc_factor_mat_solver_type", "cholmod");
  // CHOLMOD's other kind, the simplicial LDL', accepts indefinite matrices without a word.
  options.emplace_back(prefix + "mat_cholmod_factor", "supernodal");
  // Nothing on the screen about indefinite matrices.
  options.emplace_back(prefix + "mat_cholmod_print", "0");
  return options;
}

OptionList indefinite_options(const std::string& prefix, int num_ranks) {
  const std::string inner = num_ranks == 1 ? prefix : prefix + "telescope_";
  OptionList options = factorization_options(inner);
  for (auto& [name, value] : options)
    if (name == inner + "mat_cholmod_factor") value = "simplicial";
  return num_ranks == 1 ? options : telescoped(std::move(options), prefix, num_ranks);
}

OptionList default_options(LinearMethod method, const std::string& prefix, int num_ranks,
                           const OptionList& of_user, bool has_coarse_space) {
  if (method == LinearMethod::direct) return whole_factorization_options(prefix, num_ranks, of_user);
  if (method == LinearMethod::block_jacobi) return {{prefix + "pc_type", PCPBJACOBI}};
  OptionList options = aggregation_options(prefix);
  if (has_coarse_space) {
    options = aggregation_options(prefix + "mg_coarse_");
    options.insert(options.end(), {{prefix + "pc_type", "mg"},
                                   {prefix + "mg_levels_ksp_type", "chebyshev"},
                                   {prefix + "mg_levels_pc_type", "jacobi"},
                                   {prefix + "mg_coarse_ksp_type", "preonly"}});
  }
  // Triple products that are not multiplied by blocks (use_block_products). One rank: half the time of
  // PETSc's choice for half as much memory again. From three ranks on that choice adds contributions in the
  // order in which messages arrive; this one sorts them, in a fifth of the time of the other one that repeats
  // (allatonce).
  if (num_ranks == 1) options.emplace_back("matptap_via", "rap");
  if (num_ranks > 2) options.emplace_back("matptap_via", "backend");
  return options;
}

OptionList user_options(const std::string& prefix) {
  char* text = nullptr;
  RECOIL_PETSC(PetscOptionsGetAll(nullptr, &text));
  std::istringstream words(text == nullptr ? "" : text);
  RECOIL_PETSC(PetscFree(text));
  OptionList options;
  bool wanted = false;
  for (std::string word; words >> word;) {
    const bool is_name =
        word.size() > 1 && word[0] == '-' && std::isalpha(static_cast<unsigned char>(word[1]));
    if (is_name) {
      wanted = word.starts_with("-" + prefix) || word.starts_with("-matptap") ||
               word.starts_with("-mat_product") || word.starts_with("-mat_coarsen");
      if (wanted) options.emplace_back(word.substr(1), "");
    } else if (wanted) {
      std::string& value = options.back().second;
      value += (value.empty() ? "" : " ") + word;
    }
  }
  return options;
}

bool chooses_products(const OptionList& of_user) {
  return std::ranges::any_of(of_user, [](const auto& option) {
    return option.first.starts_with("matptap") || option.first.starts_with("mat_product");
  });
}

bool chooses_aggregates(const OptionList& of_user) {
  return std::ranges::any_of(of_user, [](const auto& option) {
    return option.first.find("mat_coarsen") != std::string::npos ||
           option.first.ends_with("pc_gamg_aggressive_coarsening") ||
           option.first.ends_with("pc_gamg_square_graph");
  });
}

bool are_repeatable(const OptionList& options, int num_ranks) {
  constexpr std::array<std::string_view, 6> parallel_factorizations{"mumps",  "superlu_dist", "strumpack",
                                                                    "pastix", "elemental",    "mkl_cpardiso"};
  constexpr std::array<std::string_view, 3> ordered_products{"allatonce", "allatonce_merged", "backend"};
  return std::ranges::none_of(options, [&](const auto& option) {
    const auto& [name, value] = option;
    if (num_ranks > 1 && holds(parallel_factorizations, value)) return true;
    return num_ranks > 2 && name.starts_with("matptap") && !holds(ordered_products, value);
  });
}

} // namespace recoil::linalg
