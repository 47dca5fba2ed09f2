#include "recoil/pieces/files.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include <Eigen/Dense>
#include <fmt/format.h>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"
#include "recoil/mesh/input/raw_mesh.hpp"

namespace recoil::pieces {

namespace {

using Out = std::back_insert_iterator<std::string>;

/// Weights of the corners of a triangle at x, of the point of its plane nearest to x; held within [0, 1].
Eigen::Vector3d weights_in(const FacetMesh<3>& mesh, const std::array<std::int32_t, 3>& facet,
                           const Point<3>& x) {
  const Point<3>& origin = mesh.vertices[facet[0]];
  Eigen::Matrix<double, 3, 2> edges;
  edges << mesh.vertices[facet[1]] - origin, mesh.vertices[facet[2]] - origin;
  const Eigen::Vector2d local = edges.colPivHouseholderQr().solve(x - origin);
  Eigen::Vector3d weights(1 - local.sum(), local[0], local[1]);
  weights = weights.cwiseMax(0);
  return weights / weights.sum();
}

/// Facets by the number of the piece beyond, -1 first.
std::map<std::int32_t, std::vector<std::size_t>> groups(std::span<const std::int32_t> neighbours,
                                                        std::span<const std::int32_t> numbers) {
  std::map<std::int32_t, std::vector<std::size_t>> result;
  for (std::size_t f = 0; f < neighbours.size(); ++f)
    result[neighbours[f] < 0 ? -1 : numbers[neighbours[f]]].push_back(f);
  return result;
}

std::string group_name(std::int32_t number) {
  return number < 0 ? "g surface\n" : fmt::format("g fault_{}\n", number);
}

/// Appends a number as PLY wants it, the lowest byte first.
template <class Number>
void append_bytes(std::string& bytes, Number number) {
  auto raw = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  if constexpr (std::endian::native == std::endian::big) std::reverse(raw.begin(), raw.end());
  bytes.append(raw.data(), raw.size());
}

std::uint8_t byte_of(double channel) {
  return static_cast<std::uint8_t>(std::lround(255 * std::clamp(channel, 0.0, 1.0)));
}

void make_folder(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) throw FileError(folder.string() + ": cannot be made: " + error.message());
}

} // namespace

InputSurface read_surface(const std::filesystem::path& path) {
  InputSurface result;
  auto raw = mesh::read_surface(path, result.attributes);
  if (raw.triangles.empty())
    throw InputError(path.string(), "has no triangles; a body in 3D needs a closed surface");
  result.mesh = {std::move(raw.vertices), std::move(raw.triangles)};
  return result;
}

FacetMesh<2> read_outline(const std::filesystem::path& path) {
  const auto raw = mesh::read_mesh(path);
  if (raw.edges.empty())
    throw InputError(path.string(), "has no polylines (lines 'l 1 2 .. 1'); a body in 2D needs closed ones");
  FacetMesh<2> result{{}, raw.edges};
  for (const auto& x : raw.vertices) {
    if (x.z() != 0)
      throw InputError(path.string(), "has a vertex with a z other than 0; an outline lies in the plane");
    result.vertices.push_back(x.head<2>());
  }
  return result;
}

PieceAttributes attributes_of(const Piece<3>& piece, const InputSurface& input) {
  PieceAttributes result;
  const auto& texture = input.attributes.texture;
  const auto& colors = input.attributes.colors;
  if (!texture.empty())
    result.texture.assign(piece.mesh.facets.size(),
                          {Eigen::Vector2d::Zero(), Eigen::Vector2d::Zero(), Eigen::Vector2d::Zero()});
  if (!colors.empty()) result.colors.assign(piece.mesh.vertices.size(), Eigen::Vector3d::Constant(0.5));
  if (texture.empty() && colors.empty()) return result;
  for (std::size_t f = 0; f < piece.mesh.facets.size(); ++f) {
    if (piece.parents[f] < 0) continue;
    const auto& parent = input.mesh.facets[piece.parents[f]];
    for (int k = 0; k < 3; ++k) {
      const auto v = piece.mesh.facets[f][k];
      const auto weights = weights_in(input.mesh, parent, piece.mesh.vertices[v]);
      if (!colors.empty()) result.colors[v].setZero();
      for (int corner = 0; corner < 3; ++corner) {
        if (!texture.empty()) result.texture[f][k] += weights[corner] * texture[piece.parents[f]][corner];
        if (!colors.empty()) result.colors[v] += weights[corner] * colors[parent[corner]];
      }
    }
  }
  return result;
}

std::string obj_text(const Piece<3>& piece, const PieceAttributes& attributes,
                     std::span<const std::int32_t> numbers) {
  std::string text;
  const Out out(text);
  for (std::size_t v = 0; v < piece.mesh.vertices.size(); ++v) {
    const auto& x = piece.mesh.vertices[v];
    fmt::format_to(out, "v {} {} {}", x.x(), x.y(), x.z());
    if (!attributes.colors.empty()) {
      const auto& color = attributes.colors[v];
      fmt::format_to(out, " {:.6g} {:.6g} {:.6g}", color[0], color[1], color[2]);
    }
    text += '\n';
  }
  const bool has_texture = !attributes.texture.empty();
  for (const auto& corners : attributes.texture)
    for (const auto& place : corners) fmt::format_to(out, "vt {:.9g} {:.9g}\n", place.x(), place.y());
  for (const auto& [number, facets] : groups(piece.neighbours, numbers)) {
    text += group_name(number);
    for (const auto f : facets) {
      text += 'f';
      for (int k = 0; k < 3; ++k) {
        fmt::format_to(out, " {}", piece.mesh.facets[f][k] + 1);
        if (has_texture) fmt::format_to(out, "/{}", 3 * f + k + 1);
      }
      text += '\n';
    }
  }
  return text;
}

std::string obj_text(const Piece<2>& piece, std::span<const std::int32_t> numbers) {
  std::string text;
  const Out out(text);
  for (const auto& x : piece.mesh.vertices) fmt::format_to(out, "v {} {} 0\n", x.x(), x.y());
  for (const auto& [number, facets] : groups(piece.neighbours, numbers)) {
    text += group_name(number);
    for (const auto f : facets)
      fmt::format_to(out, "l {} {}\n", piece.mesh.facets[f][0] + 1, piece.mesh.facets[f][1] + 1);
  }
  return text;
}

std::string ply_bytes(const Piece<3>& piece, const PieceAttributes& attributes,
                      std::span<const std::int32_t> numbers) {
  const bool has_texture = !attributes.texture.empty(), has_colors = !attributes.colors.empty();
  std::string bytes = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty double x\nproperty double "
      "y\nproperty double "
      "z\n{}element face {}\nproperty list uchar int vertex_indices\nproperty int neighbour\nproperty int "
      "parent\n{}end_header\n",
      piece.mesh.vertices.size(),
      has_colors ? "property uchar red\nproperty uchar green\nproperty uchar blue\n" : "",
      piece.mesh.facets.size(), has_texture ? "property list uchar float texcoord\n" : "");
  for (std::size_t v = 0; v < piece.mesh.vertices.size(); ++v) {
    for (const double coordinate : piece.mesh.vertices[v]) append_bytes(bytes, coordinate);
    if (has_colors)
      for (const double channel : attributes.colors[v]) append_bytes(bytes, byte_of(channel));
  }
  for (std::size_t f = 0; f < piece.mesh.facets.size(); ++f) {
    append_bytes(bytes, std::uint8_t{3});
    for (const auto v : piece.mesh.facets[f]) append_bytes(bytes, v);
    append_bytes(bytes, piece.neighbours[f] < 0 ? -1 : numbers[piece.neighbours[f]]);
    append_bytes(bytes, piece.parents[f]);
    if (!has_texture) continue;
    append_bytes(bytes, std::uint8_t{6});
    for (const auto& place : attributes.texture[f])
      for (const double coordinate : place) append_bytes(bytes, static_cast<float>(coordinate));
  }
  return bytes;
}

template <int dim>
std::vector<std::int32_t> numbers_by_label(const std::vector<Piece<dim>>& pieces) {
  std::vector<std::int32_t> numbers;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    numbers.resize(std::max<std::size_t>(numbers.size(), pieces[n].label + 1), -1);
    numbers[pieces[n].label] = static_cast<std::int32_t>(n);
  }
  return numbers;
}

template std::vector<std::int32_t> numbers_by_label(const std::vector<Piece<2>>&);
template std::vector<std::int32_t> numbers_by_label(const std::vector<Piece<3>>&);

void write_pieces(const std::filesystem::path& folder, const std::vector<Piece<3>>& pieces,
                  const InputSurface& input, PieceFormat format) {
  make_folder(folder);
  const auto numbers = numbers_by_label(pieces);
  const bool is_obj = format == PieceFormat::obj;
  for (std::size_t n = 0; n < pieces.size(); ++n) {
    const auto attributes = attributes_of(pieces[n], input);
    write_file_atomically(folder / fmt::format("piece_{}.{}", n, is_obj ? "obj" : "ply"),
                          is_obj ? obj_text(pieces[n], attributes, numbers)
                                 : ply_bytes(pieces[n], attributes, numbers));
  }
}

void write_pieces(const std::filesystem::path& folder, const std::vector<Piece<2>>& pieces) {
  make_folder(folder);
  const auto numbers = numbers_by_label(pieces);
  for (std::size_t n = 0; n < pieces.size(); ++n)
    write_file_atomically(folder / fmt::format("piece_{}.obj", n), obj_text(pieces[n], numbers));
}

} // namespace recoil::pieces
