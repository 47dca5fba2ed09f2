#include "recoil/linalg/vector.hpp"

#include <algorithm>

#include "recoil/base/error.hpp"

namespace recoil::linalg {

namespace {
Vec prototype_of(const VectorLayout& layout) {
  VecHandle& prototype = layout.prototype.vec;
  if (prototype.get() != nullptr) return prototype.get();
  const std::vector<PetscInt> ghosts(layout.ghosts.begin(), layout.ghosts.end());
  RECOIL_PETSC(VecCreateGhostBlock(layout.comm->get(), layout.block_size,
                                   layout.num_owned * layout.block_size,
                                   petsc_int(layout.num_global * layout.block_size), petsc_int(ghosts.size()),
                                   ghosts.data(), prototype.put()));
  return prototype.get();
}
} // namespace

Vector::Vector(std::shared_ptr<const VectorLayout> layout) : layout_(std::move(layout)) {
  RECOIL_PETSC(VecDuplicate(prototype_of(*layout_), vec_.put()));
  PetscScalar* values = nullptr;
  RECOIL_PETSC(VecGetArray(vec_.get(), &values));
  // The ghosts follow the owned entries.
  values_ = std::span<double>(values, layout_->num_local() * layout_->block_size);
  RECOIL_PETSC(VecRestoreArray(vec_.get(), &values));
  std::ranges::fill(values_, 0.0);
}

Vector::Vector(std::shared_ptr<const VectorLayout> layout, std::span<const double> owned)
    : Vector(std::move(layout)) {
  RECOIL_ASSERT(owned.size() == owned_size());
  std::ranges::copy(owned, write_owned().begin());
  update_ghosts();
}

Vector::Vector(const Vector& other) {
  if (!other.layout_) return;
  *this = Vector(other.layout_);
  copy_from(other);
}

Vector& Vector::operator=(const Vector& other) {
  if (this == &other) return *this;
  if (!other.layout_) return *this = Vector();
  if (layout_ != other.layout_) *this = Vector(other.layout_);
  copy_from(other);
  return *this;
}

std::span<double> Vector::write_local() {
  // The array is changed behind PETSc's back; a new object state keeps it from using cached norms.
  mark_changed(reinterpret_cast<PetscObject>(vec_.get()));
  return values_;
}

void Vector::update_ghosts() {
  RECOIL_PETSC(VecGhostUpdateBegin(vec_.get(), INSERT_VALUES, SCATTER_FORWARD));
  RECOIL_PETSC(VecGhostUpdateEnd(vec_.get(), INSERT_VALUES, SCATTER_FORWARD));
}

void Vector::add_ghosts_to_owners() {
  RECOIL_PETSC(VecGhostUpdateBegin(vec_.get(), ADD_VALUES, SCATTER_REVERSE));
  RECOIL_PETSC(VecGhostUpdateEnd(vec_.get(), ADD_VALUES, SCATTER_REVERSE));
  std::ranges::fill(write_local().subspan(owned_size()), 0.0);
}

void Vector::fill(double value) { std::ranges::fill(write_local(), value); }

void Vector::copy_from(const Vector& other) { std::ranges::copy(other.local(), write_local().begin()); }

void Vector::add(double factor, const Vector& other) {
  const std::span<double> values = write_local();
  const std::span<const double> others = other.local();
  RECOIL_ASSERT(values.size() == others.size());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += factor * others[i];
}

void Vector::scale(double factor) {
  for (double& value : write_local()) value *= factor;
}

double Vector::dot(const Vector& other) const {
  PetscScalar result = 0;
  RECOIL_PETSC(VecDot(vec_.get(), other.vec_.get(), &result));
  return result;
}

double Vector::norm() const {
  PetscReal result = 0;
  RECOIL_PETSC(VecNorm(vec_.get(), NORM_2, &result));
  return result;
}

double Vector::norm_infinity() const {
  PetscReal result = 0;
  RECOIL_PETSC(VecNorm(vec_.get(), NORM_INFINITY, &result));
  return result;
}

} // namespace recoil::linalg
