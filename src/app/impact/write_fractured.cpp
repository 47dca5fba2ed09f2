#include "app/impact/write_fractured.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <Eigen/Geometry>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/impact/flying_bodies.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/crc32.hpp"

namespace recoil::app {

namespace {

namespace fm = solvers::fracture_modes;
using OrderedJson = nlohmann::ordered_json;

template <class Vector>
OrderedJson list_of(const Vector& values) {
  return std::vector<double>(values.data(), values.data() + values.size());
}

template <int dim>
OrderedJson inertia_of(const pieces::Moments<dim>& moments, double density) {
  if constexpr (dim == 2) return density * moments.second.trace();
  OrderedJson rows = OrderedJson::array();
  const auto inertia = moments.inertia();
  for (int i = 0; i < dim; ++i) {
    const Eigen::VectorXd row = density * inertia.row(i).transpose();
    rows.push_back(list_of(row));
  }
  return rows;
}

/// What an impact does to the shape as a whole.
template <int dim>
struct Outcome {
  std::vector<int> fragments;     ///< of pieces of the model
  std::vector<double> amplitudes; ///< of pieces of the model
  std::vector<FragmentMotion<dim>> motions;
};

template <int dim>
OrderedJson describe_impact(const PlannedImpact<dim>& impact) {
  OrderedJson json;
  if (impact.spec.place) json["place"] = *impact.spec.place;
  if (impact.spec.vertex) json["vertex"] = *impact.spec.vertex;
  json["hit"] = list_of(impact.hit.place);
  json["direction"] = list_of(impact.direction);
  json["magnitude"] = impact.spec.magnitude;
  json["sigma"] = impact.spec.sigma;
  json["projection"] = impact.spec.projection == fm::ImpactProjection::modes ? "modes" : "pieces";
  json["speed"] = impact.spec.speed;
  return json;
}

template <int dim>
OrderedJson describe_piece(const BodyPiece<dim>& piece, const std::string& file,
                           const Outcome<dim>& outcome) {
  const double density = outcome.motions[piece.fragment].density;
  double surface_area = 0;
  std::map<std::int32_t, double> fault_areas;
  for (std::size_t f = 0; f < piece.piece.mesh.facets.size(); ++f) {
    const double area = pieces::facet_size<dim>(piece.piece.mesh, piece.piece.mesh.facets[f]);
    (piece.piece.neighbours[f] < 0 ? surface_area : fault_areas[piece.piece.neighbours[f]]) += area;
  }
  OrderedJson neighbours = OrderedJson::array();
  for (const auto& [number, area] : fault_areas) neighbours.push_back({{"piece", number}, {"area", area}});
  return {{"file", file},
          {"fragment", piece.fragment},
          {"volume", piece.moments.volume},
          {"mass", density * piece.moments.volume},
          {"centre", list_of(piece.moments.centre)},
          {"inertia", inertia_of<dim>(piece.moments, density)},
          {"velocity", list_of(outcome.motions[piece.fragment].velocity)},
          {"surface_area", surface_area},
          {"neighbours", neighbours}};
}

template <int dim>
OrderedJson describe_fragments(const BreakableShape<dim>& shape, const Outcome<dim>& outcome,
                               const std::vector<BodyPiece<dim>>& pieces) {
  OrderedJson fragments = OrderedJson::array();
  std::vector<int> cells(outcome.motions.size(), 0);
  for (const auto piece : shape.piece_of_cell) ++cells[outcome.fragments[piece]];
  for (int f = 0; f < std::ssize(outcome.motions); ++f) {
    std::vector<int> parts, model_pieces;
    for (int n = 0; n < std::ssize(pieces); ++n)
      if (pieces[n].fragment == f) parts.push_back(n);
    for (int p = 0; p < std::ssize(outcome.fragments); ++p)
      if (outcome.fragments[p] == f) model_pieces.push_back(p);
    fragments.push_back({{"pieces", parts},
                         {"mesh_pieces", model_pieces},
                         {"cells", cells[f]},
                         {"cell_volume", outcome.motions[f].volume},
                         {"amplitude", outcome.motions[f].amplitude},
                         {"velocity", list_of(outcome.motions[f].velocity)}});
  }
  return fragments;
}

template <int dim>
OrderedJson describe_faces(const BreakableShape<dim>& shape, const PlannedImpact<dim>& impact,
                           const Outcome<dim>& outcome) {
  OrderedJson faces = OrderedJson::array();
  for (const auto& link : shape.model.links) {
    const double jump = std::abs(outcome.amplitudes[link.a] - outcome.amplitudes[link.b]);
    faces.push_back({{"mesh_pieces", {link.a, link.b}},
                     {"jump", impact.spec.magnitude * jump},
                     {"parted", outcome.fragments[link.a] != outcome.fragments[link.b]}});
  }
  return faces;
}

template <int dim>
OrderedJson describe_sums(const BrokenBody<dim>& broken) {
  double volume = 0, cells = 0;
  for (const auto& piece : broken.pieces) volume += piece.moments.volume;
  for (std::size_t c = 0; c < broken.cells.cells.size(); ++c) cells += cage::volume<dim>(broken.cells, c);
  return {{"pieces", broken.pieces.size()},
          {"volume", volume},
          {"body_volume", broken.volume},
          {"relative_difference", std::abs(volume - broken.volume) / broken.volume},
          {"cell_volume", cells}};
}

template <int dim>
void write_meshes(const BreakableShape<dim>& shape, const std::vector<BodyPiece<dim>>& pieces,
                  pieces::PieceFormat format, const std::filesystem::path& folder) {
  std::vector<pieces::Piece<dim>> meshes;
  for (const auto& piece : pieces) meshes.push_back(piece.piece);
  if constexpr (dim == 2)
    pieces::write_pieces(folder, meshes);
  else
    pieces::write_pieces(folder, meshes, shape.surface, format);
}

} // namespace

template <int dim>
Fracturer<dim>::Fracturer(BreakableShape<dim>& shape, const ImpactsFile& file)
    : shape_(&shape), file_(&file), solver_(shape.model) {}

template <int dim>
void Fracturer<dim>::write(const PlannedImpact<dim>& impact, const std::filesystem::path& folder) {
  const ImpactSpec& spec = impact.spec;
  const auto fragments = solver_.apply(impact.hit.point, spec.magnitude, spec.sigma, spec.projection);
  const Outcome<dim> outcome{{fragments.begin(), fragments.end()},
                             {solver_.amplitudes().begin(), solver_.amplitudes().end()},
                             fragment_motions<dim>(shape_->model, solver_, fragments,
                                                   spec.speed * spec.magnitude * impact.direction)};
  const BrokenBody<dim> broken = break_body<dim>(*shape_, outcome.fragments);
  write_meshes<dim>(*shape_, broken.pieces, file_->format, folder);
  OrderedJson json{{"impact", describe_impact<dim>(impact)}, {"sums", describe_sums<dim>(broken)}};
  if (!broken.repair.empty()) json["repair"] = broken.repair;
  OrderedJson pieces = OrderedJson::array();
  for (std::size_t n = 0; n < broken.pieces.size(); ++n) {
    const auto file =
        fmt::format("piece_{}.{}", n, file_->format == pieces::PieceFormat::obj ? "obj" : "ply");
    pieces.push_back(describe_piece<dim>(broken.pieces[n], file, outcome));
    pieces.back()["crc32"] = file_crc32(folder / file);
  }
  json["pieces"] = std::move(pieces);
  json["fragments"] = describe_fragments<dim>(*shape_, outcome, broken.pieces);
  json["faces"] = describe_faces<dim>(*shape_, impact, outcome);
  if (file_->bodies)
    json["bodies"] = write_flying_bodies<dim>(*shape_, broken, outcome.motions, *file_->bodies, folder);
  write_file_atomically(folder / "pieces.json", json.dump(1) + "\n");
}

template class Fracturer<2>;
template class Fracturer<3>;

} // namespace recoil::app
