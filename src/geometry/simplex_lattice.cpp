#include "recoil/geometry/simplex_lattice.hpp"

#include <string>

#include "recoil/base/error.hpp"

namespace recoil::geometry {

namespace {

constexpr int binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  int value = 1;
  for (int i = 1; i <= k; ++i) value = value * (n - k + i) / i;
  return value;
}

// Vertex tuples of all sub-simplices of one dimension, in lexicographic order, one after the other.
std::vector<int> make_entities(int dim, int entity_dim) {
  std::vector<int> tuples, tuple(entity_dim + 1);
  auto extend = [&](auto&& self, int position, int first) -> void {
    if (position > entity_dim) {
      tuples.insert(tuples.end(), tuple.begin(), tuple.end());
      return;
    }
    for (int v = first; v <= dim; ++v) {
      tuple[position] = v;
      self(self, position + 1, v + 1);
    }
  };
  extend(extend, 0, 0);
  return tuples;
}

template <int dim>
const std::vector<int>& entities(int entity_dim) {
  static const std::array<std::vector<int>, dim + 1> tables = [] {
    std::array<std::vector<int>, dim + 1> t;
    for (int e = 0; e <= dim; ++e) t[e] = make_entities(dim, e);
    return t;
  }();
  return tables[entity_dim];
}

} // namespace

template <int dim>
SimplexLattice<dim>::SimplexLattice(int order) : order_(order) {
  if (order < 0 || order > 12)
    throw InputError("lattice order " + std::to_string(order) + " is outside 0..12");
  if (order == 0) {
    multi_indices_.emplace_back();
    multi_indices_.back().fill(0);
  }
  for (int e = 0; e <= dim && order > 0; ++e)
    for (int entity = 0; entity < num_entities(e); ++entity) {
      const std::span<const int> vertices = entity_vertices(e, entity);
      MultiIndex alpha{};
      // Positive parts that sum to the order, first part largest first.
      auto extend = [&](auto&& self, int position, int left) -> void {
        if (position == e) {
          alpha[vertices[e]] = left;
          multi_indices_.push_back(alpha);
          return;
        }
        for (int part = left - (e - position); part >= 1; --part) {
          alpha[vertices[position]] = part;
          self(self, position + 1, left - part);
        }
      };
      extend(extend, 0, order);
    }
  int keys = 1;
  for (int i = 0; i < dim; ++i) keys *= order + 1;
  lookup_.assign(keys, -1);
  for (int i = 0; i < size(); ++i) lookup_[key(multi_index(i))] = i;
}

template <int dim>
int SimplexLattice<dim>::num_entities(int entity_dim) {
  return binomial(dim + 1, entity_dim + 1);
}

template <int dim>
std::span<const int> SimplexLattice<dim>::entity_vertices(int entity_dim, int entity) {
  const std::size_t width = entity_dim + 1;
  return std::span<const int>(entities<dim>(entity_dim)).subspan(entity * width, width);
}

template <int dim>
int SimplexLattice<dim>::points_per_entity(int entity_dim) const {
  return binomial(order_ - 1, entity_dim);
}

template <int dim>
int SimplexLattice<dim>::first_point(int entity_dim, int entity) const {
  int first = entity * points_per_entity(entity_dim);
  for (int e = 0; e < entity_dim; ++e) first += num_entities(e) * points_per_entity(e);
  return first;
}

template <int dim>
std::vector<int> SimplexLattice<dim>::facet_points(int facet) const {
  if constexpr (dim == 1) {
    return {1 - facet};
  } else {
    const SimplexLattice<dim - 1> facet_lattice(order_);
    std::vector<int> points;
    for (int p = 0; p < facet_lattice.size(); ++p) {
      MultiIndex alpha{};
      for (int i = 0; i < dim; ++i) alpha[i < facet ? i : i + 1] = facet_lattice.multi_index(p)[i];
      points.push_back(index(alpha));
    }
    return points;
  }
}

template class SimplexLattice<1>;
template class SimplexLattice<2>;
template class SimplexLattice<3>;

} // namespace recoil::geometry
