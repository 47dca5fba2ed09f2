#include "linalg/gamg_products.hpp"

#include <new>
#include <string>

#include <petsc/private/matimpl.h>
#include <petsc/private/pcgamgimpl.h>

#include "linalg/block_triple_product.hpp"

namespace recoil::linalg {

namespace {

PetscErrorCode destroy_block_product(void* product) {
  delete static_cast<BlockTripleProduct*>(product);
  return 0;
}

/// PETSc's frames around these functions know no exceptions.
PetscErrorCode fill_block_product(Mat product) try {
  const Mat_Product& parts = *product->product;
  return static_cast<BlockTripleProduct*>(parts.data)->fill(parts.A, parts.B, product);
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
}

bool is_block_product(Mat product) {
  return product->product != nullptr && product->product->destroy == &destroy_block_product;
}

PetscErrorCode create_block_product(Mat product) try {
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
  return 0;
} catch (const std::bad_alloc&) {
  return PETSC_ERR_MEM;
}

/// Stands behind products with an interpolation.
PetscErrorCode choose_product(Mat product) {
  Mat A = product->product->A;
  if (product->product->type != MATPRODUCT_PtAP) return A->ops->productsetfromoptions(product);
  product->ops->productsymbolic = &create_block_product;
  return 0;
}

/// PETSc asks the factors of a product for a function by their types, A first, where these have no method in
/// common.
PetscErrorCode take_products(Mat interpolation, Mat fine) {
  const auto object = [](Mat matrix) { return reinterpret_cast<PetscObject>(matrix); };
  const std::string name = std::string("MatProductSetFromOptions_") + object(fine)->type_name + "_" +
                           object(interpolation)->type_name + "_C";
  interpolation->ops->productsetfromoptions = nullptr;
  PetscCall(PetscObjectComposeFunction(object(fine), name.c_str(), &choose_product));
  return PetscObjectComposeFunction(object(interpolation), name.c_str(), &choose_product);
}

using CreateLevel = decltype(_PCGAMGOps::createlevel);

/// PETSc's own, which has no public name; the same in all preconditioners.
CreateLevel create_level = nullptr;

template <bool is_lasting>
PetscErrorCode create_level_by_blocks(PC pc, Mat fine, PetscInt block_size, Mat* interpolation, Mat* coarse,
                                      PetscMPIInt* num_ranks, IS* permutation, PetscBool is_last) {
  PetscCall(take_products(*interpolation, fine));
  PetscCall(create_level(pc, fine, block_size, interpolation, coarse, num_ranks, permutation, is_last));
  // Another one where the coarse matrix went to fewer ranks.
  PetscCall(take_products(*interpolation, fine));
  // All levels are alive at the end of a set-up, so data freed then would still have been in its peak.
  if (is_lasting && !is_block_product(*coarse)) PetscCall(MatProductClear(*coarse));
  return 0;
}

} // namespace

PetscErrorCode use_block_products(PC preconditioner, bool is_lasting) {
  PetscBool is_gamg = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCGAMG, &is_gamg));
  if (is_gamg == PETSC_FALSE) return 0;
  const auto* const multigrid = static_cast<const PC_MG*>(preconditioner->data);
  CreateLevel& present = static_cast<const PC_GAMG*>(multigrid->innerctx)->ops->createlevel;
  if (present != &create_level_by_blocks<true> && present != &create_level_by_blocks<false>)
    create_level = present;
  present = is_lasting ? &create_level_by_blocks<true> : &create_level_by_blocks<false>;
  return 0;
}

} // namespace recoil::linalg
