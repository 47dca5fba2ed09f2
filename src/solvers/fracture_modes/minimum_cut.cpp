#include "solvers/fracture_modes/minimum_cut.hpp"

#include <algorithm>
#include <numeric>

#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>

namespace recoil::solvers::fracture_modes {

/// Pieces, then source and sink, and arcs both ways: along links, from the source and to the sink.
struct MinimumCut::Network {
  using Graph = boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                                   boost::no_property, int, int>;
  using Arc = Graph::edge_descriptor;

  Graph graph;
  std::vector<double> weights; ///< of links
  /// Places of the two arcs of each link, then of those of each piece from the source and to the sink.
  std::vector<int> places;
  std::vector<Arc> reverse; ///< by place
  std::vector<double> capacity, residual;
  std::vector<boost::default_color_type> color;
  std::vector<Arc> predecessor;
  std::vector<long> distance;
};

MinimumCut::MinimumCut(const PieceGraph& graph) : network_(std::make_unique<Network>()) {
  Network& net = *network_;
  const int source = graph.size(), sink = source + 1;
  // Every second one is the reverse of the one before.
  std::vector<std::pair<int, int>> arcs;
  const auto connect = [&](int a, int b) {
    arcs.emplace_back(a, b);
    arcs.emplace_back(b, a);
  };
  for (const PieceGraph::Link& link : graph.links) {
    connect(link.a, link.b);
    net.weights.push_back(link.weight);
  }
  for (int p = 0; p < graph.size(); ++p) {
    connect(source, p);
    connect(p, sink);
  }
  std::vector<int> order(arcs.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int k) { return arcs[k].first; });
  std::vector<std::pair<int, int>> sorted(arcs.size());
  net.places.resize(arcs.size());
  for (int place = 0; place < std::ssize(order); ++place) {
    sorted[place] = arcs[order[place]];
    net.places[order[place]] = place;
  }
  net.graph = Network::Graph(boost::edges_are_sorted, sorted.begin(), sorted.end(), graph.size() + 2);
  net.reverse.resize(arcs.size());
  for (int k = 0; k < std::ssize(arcs); ++k)
    net.reverse[net.places[k]] = Network::Arc(arcs[k ^ 1].first, net.places[k ^ 1]);
  net.capacity.resize(arcs.size());
  net.residual.resize(arcs.size());
  net.color.resize(graph.size() + 2);
  net.predecessor.resize(graph.size() + 2);
  net.distance.resize(graph.size() + 2);
}

MinimumCut::MinimumCut(MinimumCut&&) noexcept = default;
MinimumCut::~MinimumCut() = default;

std::vector<char> MinimumCut::best_set(std::span<const double> gains, double scale) {
  Network& net = *network_;
  auto place = net.places.begin();
  const auto set_next = [&](double value) { net.capacity[*place++] = value; };
  for (const double weight : net.weights) {
    set_next(scale * weight);
    set_next(scale * weight);
  }
  for (const double gain : gains) {
    set_next(std::max(gain, 0.0));
    set_next(0);
    set_next(std::max(-gain, 0.0));
    set_next(0);
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
