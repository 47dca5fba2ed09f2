#include "recoil/io/xdmf.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <utility>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::io {
namespace {

constexpr const char* closing_tags = "    </Grid>\n  </Domain>\n</Xdmf>\n";

struct ShapeRow {
  CellShape shape;
  int nodes;
  const char* topology;
};
constexpr ShapeRow shapes[] = {{CellShape::vertex, 1, "Polyvertex\" NodesPerElement=\"1"},
                               {CellShape::segment, 2, "Polyline\" NodesPerElement=\"2"},
                               {CellShape::triangle, 3, "Triangle"},
                               {CellShape::tetrahedron, 4, "Tetrahedron"},
                               {CellShape::segment_3, 3, "Edge_3"},
                               {CellShape::triangle_6, 6, "Triangle_6"},
                               {CellShape::tetrahedron_10, 10, "Tetrahedron_10"}};

const ShapeRow& row_of(CellShape shape) {
  const auto* row = std::ranges::find(shapes, shape, &ShapeRow::shape);
  RECOIL_ASSERT(row != std::end(shapes));
  return *row;
}

std::string escape(const std::string& text) {
  constexpr std::string_view special = "&<>\"";
  constexpr const char* entities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  std::string escaped;
  for (const char c : text)
    if (const auto which = special.find(c); which != std::string_view::npos)
      escaped += entities[which];
    else
      escaped += c;
  return escaped;
}

// Texts are put together by appending: g++ 12 takes `literal + std::string` for an overlapping copy.
std::string data_item(const XdmfArray& array) {
  std::string item = "<DataItem Dimensions=\"";
  item += std::to_string(array.shape.rows);
  // One column is written without its dimension: some readers take (n, 1) for something else than (n).
  if (array.shape.columns > 1) item.append(" ").append(std::to_string(array.shape.columns));
  item += array.shape.type == ElementType::float64 ? "\" NumberType=\"Float" : "\" NumberType=\"Int";
  item += array.shape.type == ElementType::int32 ? "\" Precision=\"4" : "\" Precision=\"8";
  item.append("\" Format=\"HDF\">").append(escape(array.file + ":/" + array.dataset)).append("</DataItem>");
  return item;
}

const char* attribute_type(int columns) {
  if (columns == 1) return "Scalar";
  if (columns == 3) return "Vector";
  if (columns == 6) return "Tensor6";
  return columns == 9 ? "Tensor" : "Matrix";
}

std::string attribute(const XdmfAttribute& field) {
  if (field.centre == Centre::none) return {};
  std::string text = "        <Attribute Name=\"";
  text.append(escape(field.name))
      .append("\" AttributeType=\"")
      .append(attribute_type(field.array.shape.columns));
  text += field.centre == Centre::node ? "\" Center=\"Node\">" : "\" Center=\"Cell\">";
  return text.append(data_item(field.array)).append("</Attribute>\n");
}

std::string topology(const XdmfMesh& mesh) {
  const char* type = mesh.shape ? row_of(*mesh.shape).topology : "Mixed";
  std::string text = "        <Topology TopologyType=\"";
  text.append(type).append("\" NumberOfElements=\"").append(std::to_string(mesh.cells)).append("\">");
  return text.append(data_item(mesh.topology)).append("</Topology>\n");
}

std::string grid(const XdmfMesh& mesh, const XdmfState& state) {
  char time[40];
  std::snprintf(time, sizeof time, "%.17g", state.time);
  std::string text = "      <Grid Name=\"";
  text.append(escape(state.name)).append("\" GridType=\"Uniform\">\n        <Time Value=\"").append(time);
  text.append("\"/>\n").append(topology(mesh)).append("        <Geometry GeometryType=\"");
  text.append(mesh.geometry.shape.columns == 2 ? "XY\">" : "XYZ\">").append(data_item(mesh.geometry));
  text += "</Geometry>\n";
  for (const XdmfAttribute& field : mesh.attributes) text += attribute(field);
  for (const XdmfAttribute& field : state.attributes) text += attribute(field);
  return text + "      </Grid>\n";
}

[[noreturn]] void throw_write_error(const std::filesystem::path& path) {
  throw FileError(path.string() +
                  ": cannot write: " + (errno ? std::strerror(errno) : "the file was not written in full"));
}

} // namespace

int node_count(CellShape shape) { return row_of(shape).nodes; }

XdmfWriter::XdmfWriter(std::filesystem::path path, XdmfMesh mesh, const std::vector<XdmfState>& states)
    : path_(std::move(path)), mesh_(std::move(mesh)) {
  std::string head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Xdmf Version=\"3.0\">\n  <Domain>\n"
                     "    <Grid Name=\"trajectory\" GridType=\"Collection\" CollectionType=\"Temporal\">\n";
  for (const XdmfState& state : states) head += grid(mesh_, state);
  write_file_atomically(path_, head + closing_tags);
  end_ = head.size();
}

void XdmfWriter::append(const std::vector<XdmfState>& states) {
  if (states.empty()) return;
  std::string text;
  for (const XdmfState& state : states) text += grid(mesh_, state);
  errno = 0;
  std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(end_);
  file << text << closing_tags;
  file.close();
  if (!file) throw_write_error(path_);
  end_ += text.size();
}

} // namespace recoil::io
