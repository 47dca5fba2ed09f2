#include "app/study/direction.hpp"
#include "app/study/parameters/parameter_kind.hpp"

#include <algorithm>
#include <cmath>

namespace recoil::app {

namespace {

/// A number between -1 and 1 from three others (splitmix64): the same on every rank.
double draw(int seed, int parameter, GlobalIndex entry) {
  auto x = static_cast<std::uint64_t>(seed) * 0x9e3779b97f4a7c15ULL +
           static_cast<std::uint64_t>(parameter + 1) * 0xbf58476d1ce4e5b9ULL +
           static_cast<std::uint64_t>(entry + 1) * 0x94d049bb133111ebULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  x ^= x >> 31;
  return (x >> 11) * 0x1.0p-52 - 1;
}

} // namespace

template <int dim>
double size_of(const ParameterField<dim>& field, const mesh::DistributedMesh<dim>& mesh, double value) {
  if (field.spec->basis) return (mesh.max_corner - mesh.min_corner).norm();
  if (const double size = std::abs(value); size > 0) return size;
  double largest = 0;
  for (const double start : field.spec->initial) largest = std::max(largest, std::abs(start));
  return largest > 0 ? largest : 1;
}

template <int dim>
double component_of(const Direction& direction, const ParameterField<dim>& field,
                    const mesh::DistributedMesh<dim>& mesh, const std::vector<double>& values,
                    std::size_t entry) {
  const std::size_t width = field.components;
  const int owner = field.spec->tie.value_or(field.index);
  if (direction.only >= 0 && owner != direction.only) return 0;
  const GlobalIndex number = field.slot_ids[entry / width] * field.components + entry % width;
  const double component = draw(direction.seed, owner, number) * size_of(field, mesh, values[entry]);
  // At a limit there is one side to go to.
  const ParameterKind& quantity = *field.spec->kind;
  return !quantity.min_open && values[entry] == quantity.min ? std::abs(component) : component;
}

template double size_of(const ParameterField<2>&, const mesh::DistributedMesh<2>&, double);
template double size_of(const ParameterField<3>&, const mesh::DistributedMesh<3>&, double);
template double component_of(const Direction&, const ParameterField<2>&, const mesh::DistributedMesh<2>&,
                             const std::vector<double>&, std::size_t);
template double component_of(const Direction&, const ParameterField<3>&, const mesh::DistributedMesh<3>&,
                             const std::vector<double>&, std::size_t);

} // namespace recoil::app
