// Work and traffic of one search for contact, rank by rank, in a scene as it starts.
//
//   mpirun -n 8 bench_pile scene.json        (pile.py writes such scenes)
//
// Reads the scene as recoil does, cuts its mesh, and searches once with the whole pile about to fall by dhat.
// Everything that is counted is printed as the sum over ranks and the largest of any rank, one line of JSON.
// Processor seconds contain the waiting for messages, which MPI does by asking again and again.
#include <cstdio>
#include <ctime>
#include <set>
#include <string>
#include <vector>

#include "recoil/base/error.hpp"
#include "support/count_messages.hpp"
#include "support/scene_main.hpp"
#include "support/scene_surface.hpp"

namespace {

using namespace recoil;

/// Writes one object, entry by entry, on rank 0.
class Line {
public:
  explicit Line(const parallel::Communicator& comm) : comm_(comm) {}

  /// The same number on every rank.
  void add(const std::string& name, GlobalIndex value) { append(name, std::to_string(value)); }
  /// Collective.
  void add_over_ranks(const std::string& name, GlobalIndex value) {
    const auto [sum, max] = bench::over_ranks(comm_, value);
    append(name, "{\"sum\": " + std::to_string(sum) + ", \"max\": " + std::to_string(max) + "}");
  }
  void add_over_ranks(const std::string& name, double value) {
    const double sum = comm_.sum(value), max = comm_.max(value);
    append(name, "{\"sum\": " + std::to_string(sum) + ", \"max\": " + std::to_string(max) + "}");
  }
  void print() const {
    if (comm_.rank() == 0) std::printf("{%s}\n", text_.c_str());
  }

private:
  void append(const std::string& name, const std::string& value) {
    text_ += (text_.empty() ? "\"" : ", \"") + name + "\": " + value;
  }

  const parallel::Communicator& comm_;
  std::string text_;
};

/// Whether a pair has a vertex of another rank.
template <int dim>
bool reaches_out(const std::array<LocalIndex, 4>& vertices, const surface::StencilVertices<dim>& known) {
  for (const LocalIndex v : vertices)
    if (v >= static_cast<LocalIndex>(known.num_owned())) return true;
  return false;
}

/// Bodies here, and bodies that have cells on other ranks, too.
void count_bodies(const mesh::DistributedMesh<3>& mesh, Line& line) {
  std::set<std::int32_t> bodies(mesh.cell_body.begin(), mesh.cell_body.begin() + mesh.num_owned_cells);
  GlobalIndex cut = 0;
  for (std::size_t body = 0; body < mesh.body_names.size(); ++body) {
    const bool here = bodies.count(static_cast<std::int32_t>(body)) != 0;
    if (mesh.comm->sum(GlobalIndex{here}) > 1) ++cut;
  }
  line.add("bodies", static_cast<GlobalIndex>(mesh.body_names.size()));
  line.add("bodies_cut", cut);
  line.add_over_ranks("bodies_here", static_cast<GlobalIndex>(bodies.size()));
  line.add_over_ranks("cells", GlobalIndex{mesh.num_owned_cells});
}

void count_search(const surface::Surface<3>& surface, double dhat, Line& line) {
  const parallel::Communicator& comm = surface.comm();
  const std::vector<double> rest(static_cast<std::size_t>(surface.num_nodes()) * 3, 0.0);
  const std::vector<double> obstacles(static_cast<std::size_t>(surface.num_obstacle_vertices()) * 3, 0.0);
  const auto from = surface.positions(rest, obstacles);
  auto to = from;
  for (std::size_t v = 0; v < to.size(); ++v)
    if (surface.node(static_cast<LocalIndex>(v)) >= 0) to[v][2] -= dhat;

  potentials::ContactSearch<3> search(surface, dhat);
  comm.barrier();
  const bench::Messages before = bench::messages_sent();
  const std::clock_t begin = std::clock();
  search.cover(from, to);
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  const bench::Messages sent = bench::messages_sent() - before;

  const auto& vertices = *search.vertices();
  GlobalIndex candidates_out = 0, active_out = 0;
  for (const auto& candidate : search.candidates())
    candidates_out += reaches_out<3>(candidate.vertices, vertices);
  const potentials::Barrier<3> barrier(dhat, potentials::BarrierForm::plain, {});
  const auto positions = vertices.gather({from.data(), static_cast<std::size_t>(surface.num_owned())});
  const auto active = barrier.active_pairs(search.candidates(), vertices, positions);
  for (const auto& pair : active) active_out += reaches_out<3>(pair.vertices, vertices);

  line.add("searches", search.num_searches());
  line.add_over_ranks("primitives",
                      static_cast<GlobalIndex>(surface.edges().size() + surface.faces().size()) +
                          surface.num_owned());
  line.add_over_ranks("ranks_met", GlobalIndex{search.traffic().ranks_met});
  line.add_over_ranks("boxes_sent", search.traffic().boxes_sent);
  line.add_over_ranks("boxes_received", search.traffic().boxes_received);
  line.add_over_ranks("tests", search.traffic().tests);
  line.add_over_ranks("candidates", static_cast<GlobalIndex>(search.candidates().size()));
  line.add_over_ranks("candidates_between", candidates_out);
  line.add_over_ranks("active", static_cast<GlobalIndex>(active.size()));
  line.add_over_ranks("active_between", active_out);
  line.add_over_ranks("messages", sent.count);
  line.add_over_ranks("bytes", sent.bytes);
  line.add("collectives", sent.collectives);
  line.add("gathered_bytes", sent.gathered_bytes);
  line.add_over_ranks("halo_ranks", GlobalIndex{vertices.halo().num_neighbours()});
  line.add_over_ranks("halo_bytes", static_cast<GlobalIndex>(vertices.halo().bytes_per_forward(3)));
  line.add_over_ranks("cpu_s", seconds);
}

void run(const parallel::Communicator& comm, const char* path) {
  const bench::SceneSurface scene(comm, path);
  Line line(comm);
  line.add("ranks", comm.size());
  count_bodies(scene.mesh, line);
  count_search(*scene.surface(), scene.dhat(), line);
  line.print();
}

} // namespace

int main(int argc, char** argv) {
  return bench::scene_main(argc, argv, "bench_pile", bench::SceneArgument::required, run);
}
