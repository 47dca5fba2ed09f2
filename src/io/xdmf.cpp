#include "recoil/io/xdmf.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <utility>

#include "recoil/base/atomic_file.hpp"
#include "recoil/base/error.hpp"

namespace recoil::io {
namespace {

constexpr const char* closing_tags = "    </Grid>\n  </Domain>\n</Xdmf>\n";

std::string escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) switch (c) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += c;
    }
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
  switch (columns) {
  case 1:
    return "Scalar";
  case 3:
    return "Vector";
  case 6:
    return "Tensor6";
  case 9:
    return "Tensor";
  default:
    return "Matrix";
  }
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
  std::string type = "Mixed";
  if (mesh.shape) switch (*mesh.shape) {
    case CellShape::vertex:
      type = "Polyvertex\" NodesPerElement=\"1";
      break;
    case CellShape::segment:
      type = "Polyline\" NodesPerElement=\"2";
      break;
    case CellShape::triangle:
      type = "Triangle";
      break;
    case CellShape::tetrahedron:
      type = "Tetrahedron";
      break;
    case CellShape::segment_3:
      type = "Edge_3";
      break;
    case CellShape::triangle_6:
      type = "Triangle_6";
      break;
    case CellShape::tetrahedron_10:
      type = "Tetrahedron_10";
      break;
    }
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

int node_count(CellShape shape) {
  switch (shape) {
  case CellShape::vertex:
    return 1;
  case CellShape::segment:
    return 2;
  case CellShape::triangle:
  case CellShape::segment_3:
    return 3;
  case CellShape::tetrahedron:
    return 4;
  case CellShape::triangle_6:
    return 6;
  case CellShape::tetrahedron_10:
    return 10;
  }
  RECOIL_ASSERT(!"known cell shape");
  return 0;
}

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
