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

PetscErrorCode create_level_by_blocks(PC pc, Mat fine, PetscInt block_size, Mat* interpolation, Mat* coarse,
                                      PetscMPIInt* num_ranks, IS* permutation, PetscBool is_last) {
  PetscCall(take_products(*interpolation, fine));
  PetscCall(create_level(pc, fine, block_size, interpolation, coarse, num_ranks, permutation, is_last));
  // Another one where the coarse matrix went to fewer ranks.
  return take_products(*interpolation, fine);
}

} // namespace

PetscErrorCode use_block_products(PC preconditioner) {
  PetscBool is_gamg = PETSC_FALSE;
  PetscCall(PetscObjectTypeCompare(reinterpret_cast<PetscObject>(preconditioner), PCGAMG, &is_gamg));
  if (is_gamg == PETSC_FALSE) return 0;
  const auto* const multigrid = static_cast<const PC_MG*>(preconditioner->data);
  CreateLevel& present = static_cast<const PC_GAMG*>(multigrid->innerctx)->ops->createlevel;
  if (present != &create_level_by_blocks) create_level = present;
  present = &create_level_by_blocks;
  return 0;
}

} // namespace recoil::linalg
