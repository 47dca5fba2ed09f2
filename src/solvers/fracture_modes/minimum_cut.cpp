#include "solvers/fracture_modes/minimum_cut.hpp"

#include <algorithm>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>

namespace recoil::solvers::fracture_modes {

struct MinimumCut::Network {
  using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property,
                                      boost::property<boost::edge_index_t, std::size_t>>;
  using Arc = Graph::edge_descriptor;

  Graph graph;
  std::vector<double> weights; ///< of links
  std::vector<Arc> arcs;       ///< by index; arcs of links first, both ways, then to and from the terminals
  std::vector<Arc> reverse;    ///< by index
  std::vector<double> capacity, residual;
  std::vector<boost::default_color_type> color;
  std::vector<Arc> predecessor;
  std::vector<long> distance;

  /// An arc both ways.
  void connect(int a, int b) {
    const std::size_t index = reverse.size();
    const Arc there = boost::add_edge(a, b, index, graph).first;
    const Arc back = boost::add_edge(b, a, index + 1, graph).first;
    reverse.push_back(back);
    reverse.push_back(there);
  }
};

MinimumCut::MinimumCut(const PieceGraph& graph) : network_(std::make_unique<Network>()) {
  const int source = graph.size(), sink = source + 1;
  network_->graph = Network::Graph(graph.size() + 2);
  for (const PieceGraph::Link& link : graph.links) {
    network_->connect(link.a, link.b);
    network_->weights.push_back(link.weight);
  }
  for (int p = 0; p < graph.size(); ++p) {
    network_->connect(source, p);
    network_->connect(p, sink);
  }
  network_->capacity.resize(network_->reverse.size());
  network_->residual.resize(network_->reverse.size());
  network_->color.resize(graph.size() + 2);
  network_->predecessor.resize(graph.size() + 2);
  network_->distance.resize(graph.size() + 2);
}

MinimumCut::MinimumCut(MinimumCut&&) noexcept = default;
MinimumCut::~MinimumCut() = default;

std::vector<char> MinimumCut::best_set(std::span<const double> gains, double scale) {
  Network& net = *network_;
  std::size_t arc = 0;
  for (const double weight : net.weights) {
    net.capacity[arc++] = scale * weight;
    net.capacity[arc++] = scale * weight;
  }
  for (const double gain : gains) {
    net.capacity[arc++] = std::max(gain, 0.0);
    net.capacity[arc++] = 0;
    net.capacity[arc++] = std::max(-gain, 0.0);
    net.capacity[arc++] = 0;
  }
  const auto arc_index = boost::get(boost::edge_index, net.graph);
  const auto vertex_index = boost::get(boost::vertex_index, net.graph);
  const auto of_arcs = [&](auto& values) {
    return boost::make_iterator_property_map(values.begin(), arc_index);
  };
  const auto of_vertices = [&](auto& values) {
    return boost::make_iterator_property_map(values.begin(), vertex_index);
  };
  const std::size_t source = gains.size(), sink = source + 1;
  boost::boykov_kolmogorov_max_flow(net.graph, of_arcs(net.capacity), of_arcs(net.residual),
                                    of_arcs(net.reverse), of_vertices(net.predecessor),
                                    of_vertices(net.color), of_vertices(net.distance), vertex_index, source,
                                    sink);
  // What is still reached from the source is black.
  std::vector<char> set(gains.size());
  for (std::size_t p = 0; p < set.size(); ++p)
    set[p] = net.color[p] == boost::color_traits<boost::default_color_type>::black();
  return set;
}

} // namespace recoil::solvers::fracture_modes
