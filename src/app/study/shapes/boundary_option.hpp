#pragma once

#include "recoil/app/solvers/elastodynamics/discrete_scene.hpp"
#include "recoil/app/study/shapes/shape_form.hpp"

/// The options of the form `boundary_vertices` besides its extension. Each option is one source of this
/// folder, named in registry.cpp.
namespace recoil::app {

/// Flags of the local vertices of boundary facets of selected cells for which `takes(surface id)`.
/// Collective.
template <int dim, class Takes>
std::vector<char> vertices_of_facets(const SlotBuilder<dim>& builder, const ParameterSpec& spec,
                                     Takes takes) {
  const auto& mesh = builder.geometry.mesh;
  const fem::FunctionSpace<dim> linear(mesh, std::vector<int>(mesh.body_names.size(), 1));
  linalg::Vector marks(linear.layout());
  auto values = marks.write_local();
  for (const fem::BoundaryFacet& facet : linear.boundary_facets()) {
    if (!builder.selects(spec, facet.cell) || !takes(facet.id)) continue;
    const auto nodes = linear.cell_nodes(facet.cell);
    for (const int node : linear.basis(1).facet_nodes(facet.facet)) values[nodes[node] * dim] = 1;
  }
  // Facets of a ghost vertex may lie on cells that only its owner holds.
  marks.update_ghosts();
  std::vector<char> flags(mesh.vertices.size(), 0);
  for (LocalIndex vertex = 0; vertex < std::ssize(flags); ++vertex)
    flags[vertex] = marks.local()[linear.node_of_vertex(vertex) * dim] != 0;
  return flags;
}

/// Vertices of the boundary that move, of all ranks, by ascending input id: the same on every rank.
template <int dim>
struct MovingVertices {
  const SlotBuilder<dim>& builder;
  const ParameterSpec& spec;
  Eigen::AlignedBox<double, dim> box; ///< around the rest vertices of the selected bodies
  std::vector<GlobalIndex> ids;
  std::vector<Eigen::Matrix<double, dim, 1>> positions; ///< at rest
};

/// Says of two of them, by their places in MovingVertices, that they move as one.
using JoinVertices = std::function<void(std::size_t a, std::size_t b)>;

/// An option says which vertices of the boundary move, and which of them as one.
class BoundaryOption {
public:
  virtual ~BoundaryOption() = default;
  /// @throws InputError at `where` for one that cannot be of `dim` dimensions.
  virtual void check_dimension(int, const std::string& /*where*/) const {}
  /// Takes the flags of local vertices away that are to stay. Collective. @throws InputError on every rank.
  virtual void choose(const SlotBuilder<2>&, const ParameterSpec&, std::vector<char>& /*moving*/) const {}
  virtual void choose(const SlotBuilder<3>&, const ParameterSpec&, std::vector<char>& /*moving*/) const {}
  virtual bool joins() const { return false; }
  /// @throws InputError where a vertex lacks one to move with. @pre joins().
  virtual void join(const MovingVertices<2>&, const JoinVertices&) const {}
  virtual void join(const MovingVertices<3>&, const JoinVertices&) const {}
};

/// A row of the table of options.
struct BoundaryOptionRow {
  std::vector<Key> keys; ///< of a basis with `extension`, in the order of the documentation
  /// Reads these keys; null where they are not written.
  std::unique_ptr<BoundaryOption> (*read)(const Item& basis);
};

const std::vector<BoundaryOptionRow>& boundary_options();

} // namespace recoil::app
