#include "recoil/potentials/laws/projected_tangent.hpp"

namespace recoil::potentials {

namespace {

constexpr double thinnest = 1e-5;

/// The rotation that takes tensors in the frame to tensors: vec(left X right^T) = R vec(X).
template <int dim>
Tangent<dim> tensor_rotation(const PrincipalFrame<dim>& frame) {
  Tangent<dim> R;
  for (int a = 0; a < dim; ++a)
    for (int b = 0; b < dim; ++b)
      for (int i = 0; i < dim; ++i)
        for (int j = 0; j < dim; ++j) R(dim * i + j, dim * a + b) = frame.left(i, a) * frame.right(j, b);
  return R;
}

} // namespace

template <int dim>
bool find_principal_frame(const SquareMatrix<dim>& F, PrincipalFrame<dim>& frame) {
  geometry::SmallMatrix<12> vectors = F.transpose() * F;
  Eigen::Matrix<double, 12, 1> squares;
  if (!geometry::find_eigenvectors(vectors, squares)) return false;
  if (!(squares[0] > thinnest * thinnest * squares[dim - 1])) return false;
  frame.right = vectors;
  frame.stretches = squares.template head<dim>().cwiseSqrt();
  frame.left.noalias() = F * frame.right;
  for (int a = 0; a < dim; ++a) frame.left.col(a) /= frame.stretches[a];
  return true;
}

template <int dim>
void project_principal_tangent(const PrincipalFrame<dim>& frame, Tangent<dim>& A) {
  SquareMatrix<dim> stretching;
  for (int a = 0; a < dim; ++a)
    for (int b = 0; b < dim; ++b) stretching(a, b) = A((dim + 1) * a, (dim + 1) * b);
  geometry::project_psd(stretching);
  Tangent<dim> projected = Tangent<dim>::Zero();
  for (int a = 0; a < dim; ++a)
    for (int b = 0; b < dim; ++b) projected((dim + 1) * a, (dim + 1) * b) = stretching(a, b);
  for (int a = 0; a < dim; ++a)
    for (int b = a + 1; b < dim; ++b) {
      const int p = dim * a + b, q = dim * b + a;
      Eigen::Matrix2d shears;
      shears << A(p, p), A(p, q), A(q, p), A(q, q);
      geometry::project_psd(shears);
      projected(p, p) = shears(0, 0);
      projected(p, q) = shears(0, 1);
      projected(q, p) = shears(1, 0);
      projected(q, q) = shears(1, 1);
    }
  const Tangent<dim> R = tensor_rotation(frame);
  const Tangent<dim> half = R.lazyProduct(projected);
  A = half.lazyProduct(R.transpose());
}

template bool find_principal_frame<2>(const SquareMatrix<2>&, PrincipalFrame<2>&);
template bool find_principal_frame<3>(const SquareMatrix<3>&, PrincipalFrame<3>&);
template void project_principal_tangent<2>(const PrincipalFrame<2>&, Tangent<2>&);
template void project_principal_tangent<3>(const PrincipalFrame<3>&, Tangent<3>&);

} // namespace recoil::potentials
