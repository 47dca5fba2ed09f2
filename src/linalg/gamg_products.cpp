#include "linalg/gamg_products.hpp"

#include <string>
#include <utility>

#include <petsc/private/matimpl.h>
#include <petsc/private/pcgamgimpl.h>

#include "linalg/block_triple_product.hpp"
#include "linalg/solver_options.hpp"

namespace recoil::linalg {

namespace {

PetscErrorCode destroy_block_product(void* product) {
  delete static_cast<BlockTripleProduct*>(product);
  return 0;
}

PetscErrorCode fill_block_product(Mat product) {
  return without_exceptions([&] {
    const Mat_Product& parts = *product->product;
    return static_cast<BlockTripleProduct*>(parts.data)->fill(parts.A, parts.B, product);
  });
}

PetscErrorCode set_from_options(Mat product);

/// PETSc asks the factors of a product for a function by their types, A first, where these have no method in
/// common.
PetscErrorCode compose(Mat factor, Mat A, Mat P) {
  const auto type = [](Mat matrix) { return std::string(reinterpret_cast<PetscObject>(matrix)->type_name); };
  const std::string name = "MatProductSetFromOptions_" + type(A) + "_" + type(P) + "_C";
  return PetscObjectComposeFunction(reinterpret_cast<PetscObject>(factor), name.c_str(), &set_from_options);
}

PetscErrorCode create_by_blocks(Mat product) {
  Mat_Product& parts = *product->product;
  std::unique_ptr<BlockTripleProduct> blocks = BlockTripleProduct::make(parts.A, parts.B);
  if (!blocks) {
    product->ops->productsymbolic = nullptr;
    PetscCall(parts.A->ops->productsetfromoptions(product));
    return product->ops->productsymbolic(product);
  }
  PetscCall(blocks->create(product));
  parts.data = blocks.release();
  parts.destroy = &destroy_block_product;
  product->ops->productnumeric = &fill_block_product;
  // Where its level went to fewer ranks, renewed operators of the next one have this matrix in place of the
  // one that create_level_with_block_products() has seen.
  return compose(product, product, parts.B);
}

PetscErrorCode create_block_product(Mat product) {
  return without_exceptions([&] { return create_by_blocks(product); });
}

/// MatProductSetFromOptions() for products with an interpolation.
PetscErrorCode set_from_options(Mat product) {
  Mat A = product->product->A;
  if (product->product->type != MATPRODUCT_PtAP) return A->ops->productsetfromoptions(product);
  product->ops->productsymbolic = &create_block_product;
  return 0;
}

PetscErrorCode register_block_product(Mat interpolation, Mat fine) {
  interpolation->ops->productsetfromoptions = nullptr;
  PetscCall(compose(fine, fine, interpolation));
  return compose(interpolation, fine, interpolation);
}

using CreateLevel = decltype(_PCGAMGOps::createlevel);

/// PETSc's own, which has no public name; the same in all preconditioners.
CreateLevel create_level = nullptr;

PetscErrorCode create_level_with_block_products(PC pc, Mat fine, PetscInt block_size, Mat* interpolation,
                                                Mat* coarse, PetscMPIInt* num_ranks, IS* permutation,
                                                PetscBool is_last) {
  PetscCall(register_block_product(*interpolation, fine));
  PetscCall(create_level(pc, fine, block_size, interpolation, coarse, num_ranks, permutation, is_last));
  // Another one where the coarse matrix went to fewer ranks.
  return register_block_product(*interpolation, fine);
}

} // namespace

const gamg_TAG* find_gamg(PC preconditioner) {
  PetscBool is_gamg = PETSC_FALSE;
  RECOIL_PETSC(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCGAMG, &is_gamg));
  if (is_gamg == PETSC_FALSE) return nullptr;
  const auto* const multigrid = static_cast<const PC_MG*>(preconditioner->data);
  return static_cast<const PC_GAMG*>(multigrid->innerctx);
}

bool is_block_product(Mat matrix) { return matrix->ops->productnumeric == &fill_block_product; }

void use_block_products(PC preconditioner) {
  const PC_GAMG* const gamg = find_gamg(preconditioner);
  if (gamg == nullptr || gamg->ops->createlevel == &create_level_with_block_products) return;
  create_level = std::exchange(gamg->ops->createlevel, &create_level_with_block_products);
}

void multiply_levels_by_halves(PC preconditioner, LevelProducts& products) {
  if (find_gamg(preconditioner) == nullptr) return;
  PetscInt num_levels = 0;
  RECOIL_PETSC(PCMGGetLevels(preconditioner, &num_levels));
  products.resize(num_levels);
  for (PetscInt level = 1; level + 1 < num_levels; ++level) {
    KSP smoother = nullptr;
    Mat matrix = nullptr;
    PetscInt block_size = 0;
    RECOIL_PETSC(PCMGGetSmoother(preconditioner, level, &smoother));
    RECOIL_PETSC(KSPGetOperators(smoother, nullptr, &matrix));
    RECOIL_PETSC(MatGetBlockSize(matrix, &block_size));
    if (!is_block_product(matrix) || !SymmetricBlocks::can_take(static_cast<int>(block_size))) continue;
    if (!products[level]) products[level] = std::make_unique<SymmetricBlocks>();
    products[level]->take(matrix);
    // The smoother reads its operators from its preconditioner; KSPSetOperators() would have it estimate its
    // bounds anew.
    PC of_smoother = nullptr;
    RECOIL_PETSC(KSPGetPC(smoother, &of_smoother));
    RECOIL_PETSC(PCSetOperators(of_smoother, products[level]->get(), matrix));
    RECOIL_PETSC(PCMGSetResidual(preconditioner, level, &PCMGResidualDefault, products[level]->get()));
  }
}

} // namespace recoil::linalg
