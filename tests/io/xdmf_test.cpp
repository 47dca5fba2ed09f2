#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recoil/base/error.hpp"
#include "recoil/io/xdmf.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::io {
namespace {

using ::testing::HasSubstr;
using testing::TemporaryFolder;

XdmfMesh triangles() {
  return {{"mesh.h5", "coordinates", {4, 2, ElementType::float64}},
          {"mesh.h5", "connectivity", {2, 3, ElementType::int64}},
          2,
          CellShape::triangle,
          {{"body", Centre::cell, {"mesh.h5", "body", {2, 1, ElementType::int32}}},
           {"ids", Centre::none, {"mesh.h5", "ids", {4, 1, ElementType::int64}}}}};
}

XdmfState state(int number) {
  return {"step " + std::to_string(number),
          0.1 * number,
          {{"u",
            Centre::node,
            {"a & b.h5", "states/" + std::to_string(number) + "/u", {4, 3, ElementType::float64}}}}};
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(Xdmf, GrowsToWhatIsWrittenAtOnce) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  if (comm.rank() != 0) return;
  XdmfWriter grown(folder / "grown.xdmf", triangles());
  grown.append({state(0)});
  grown.append({});
  grown.append({state(1), state(2)});
  XdmfWriter whole(folder / "whole.xdmf", triangles(), {state(0), state(1), state(2)});
  EXPECT_EQ(content(folder / "grown.xdmf"), content(folder / "whole.xdmf"));
  const std::string text = content(folder / "grown.xdmf");
  EXPECT_THAT(text, HasSubstr("CollectionType=\"Temporal\""));
  EXPECT_THAT(text, HasSubstr("<Time Value=\"0.10000000000000001\"/>"));
  EXPECT_THAT(
      text,
      HasSubstr("<Topology TopologyType=\"Triangle\" NumberOfElements=\"2\"><DataItem Dimensions=\"2 3\" "
                "NumberType=\"Int\" Precision=\"8\" Format=\"HDF\">mesh.h5:/connectivity</DataItem>"));
  EXPECT_THAT(text, HasSubstr("<Geometry GeometryType=\"XY\">"));
  EXPECT_THAT(text, HasSubstr("<Attribute Name=\"body\" AttributeType=\"Scalar\" Center=\"Cell\">"));
  EXPECT_THAT(text, HasSubstr("<Attribute Name=\"u\" AttributeType=\"Vector\" Center=\"Node\">"));
  EXPECT_THAT(text, HasSubstr("a &amp; b.h5:/states/2/u"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("ids")));
}

TEST(Xdmf, CellsOfSeveralShapesAreMixed) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  if (comm.rank() != 0) return;
  XdmfMesh mesh = triangles();
  mesh.shape.reset();
  mesh.topology.shape = {11, 1, ElementType::int64};
  XdmfWriter(folder / "mixed.xdmf", mesh, {state(0)});
  EXPECT_THAT(
      content(folder / "mixed.xdmf"),
      HasSubstr("<Topology TopologyType=\"Mixed\" NumberOfElements=\"2\"><DataItem Dimensions=\"11\""));
}

TEST(Xdmf, CannotBeWrittenIntoAMissingFolder) {
  const parallel::Communicator comm(MPI_COMM_WORLD);
  const TemporaryFolder folder(comm);
  EXPECT_THROW(XdmfWriter(folder / "none/x.xdmf", triangles()), FileError);
}

} // namespace
} // namespace recoil::io
