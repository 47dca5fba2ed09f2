#include "solvers/fracture_modes/jump_problem.hpp"

#include <algorithm>
#include <cmath>

#include "recoil/linalg/components.hpp"
#include "recoil/parallel/exchange.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

using Block = Eigen::Map<const Eigen::MatrixXd>;
constexpr int most_numbers = 9; ///< of a link

std::array<double, most_numbers> difference(const JumpProblem& problem, const JumpProblem::Link& link,
                                            std::span<const double> field) {
  std::array<double, most_numbers> result{};
  const int dim = problem.dim;
  for (int k = 0; k < problem.pairs; ++k)
    for (int i = 0; i < dim; ++i)
      result[k * dim + i] = field[link.a[k] * dim + i] - field[link.b[k] * dim + i];
  return result;
}

/// What is sent of a link: the ids of its nodes.
struct SentLink {
  std::array<GlobalIndex, 3> a, b;
  std::int32_t breakable;
  std::array<double, most_numbers * most_numbers> matrix;
};
struct SentNode {
  GlobalIndex id;
  double mass;
  std::array<double, 6 * 3> motions;
};
constexpr int most_rows = 12; ///< of the stiffness of an element
struct SentElement {
  std::array<GlobalIndex, 4> nodes;
  std::int32_t rows;
  std::array<double, most_rows * most_rows> stiffness;
};

template <class T>
std::vector<T> on_every_rank(const parallel::Communicator& comm, std::vector<T> part) {
  std::vector<T> all = parallel::gather(comm, 0, std::move(part));
  comm.broadcast(all);
  return all;
}

/// Places of ids in a sorted list.
LocalIndex place_of(const std::vector<GlobalIndex>& sorted, GlobalIndex id) {
  return static_cast<LocalIndex>(std::ranges::lower_bound(sorted, id) - sorted.begin());
}

void take_nodes(const JumpProblem& problem, JumpProblem& whole) {
  std::vector<SentNode> nodes;
  for (LocalIndex k = 0; k < problem.layout->num_owned; ++k) {
    SentNode node{problem.ids[k], problem.masses[k], {}};
    for (std::size_t m = 0; m < problem.motions.size(); ++m)
      for (int i = 0; i < problem.dim; ++i) node.motions[m * 3 + i] = problem.motions[m][k * problem.dim + i];
    nodes.push_back(node);
  }
  nodes = on_every_rank(problem.comm(), std::move(nodes));
  std::ranges::sort(nodes, {}, &SentNode::id);
  whole.motions.resize(problem.motions.size());
  for (const SentNode& node : nodes) {
    whole.ids.push_back(node.id);
    whole.masses.push_back(node.mass);
    for (std::size_t m = 0; m < whole.motions.size(); ++m)
      for (int i = 0; i < problem.dim; ++i) whole.motions[m].push_back(node.motions[m * 3 + i]);
  }
}

void take_links(const JumpProblem& problem, JumpProblem& whole) {
  std::vector<SentLink> links;
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const JumpProblem::Link& link = problem.links[l];
    if (!link.counted) continue;
    SentLink sent{{}, {}, link.breakable, {}};
    for (int k = 0; k < problem.pairs; ++k) {
      sent.a[k] = problem.ids[link.a[k]];
      sent.b[k] = problem.ids[link.b[k]];
    }
    std::ranges::copy(problem.matrix(l), sent.matrix.begin());
    links.push_back(sent);
  }
  links = on_every_rank(problem.comm(), std::move(links));
  std::ranges::sort(links, {}, [](const SentLink& link) { return std::pair(link.a, link.b); });
  const int numbers = whole.size() * whole.size();
  for (const SentLink& sent : links) {
    JumpProblem::Link link{{}, {}, sent.breakable != 0, true};
    for (int k = 0; k < problem.pairs; ++k) {
      link.a[k] = place_of(whole.ids, sent.a[k]);
      link.b[k] = place_of(whole.ids, sent.b[k]);
    }
    whole.links.push_back(link);
    whole.matrices.insert(whole.matrices.end(), sent.matrix.begin(), sent.matrix.begin() + numbers);
  }
}

void take_elements(const JumpProblem& problem, JumpProblem& whole) {
  std::vector<SentElement> elements;
  for (const JumpProblem::Element& element : problem.elements) {
    SentElement sent{{}, static_cast<std::int32_t>(element.stiffness.rows()), {}};
    for (int k = 0; k < sent.rows / problem.dim; ++k) sent.nodes[k] = problem.ids[element.nodes[k]];
    std::ranges::copy(element.stiffness.reshaped(), sent.stiffness.begin());
    elements.push_back(sent);
  }
  elements = on_every_rank(problem.comm(), std::move(elements));
  std::ranges::sort(elements, {}, &SentElement::nodes);
  for (const SentElement& sent : elements) {
    JumpProblem::Element element{{}, Block(sent.stiffness.data(), sent.rows, sent.rows)};
    for (int k = 0; k < sent.rows / problem.dim; ++k) element.nodes[k] = place_of(whole.ids, sent.nodes[k]);
    whole.elements.push_back(std::move(element));
  }
}

} // namespace

void jumps(const JumpProblem& problem, std::span<const double> field, std::span<double> result) {
  const int size = problem.size();
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const auto step = difference(problem, problem.links[l], field);
    const double* matrix = problem.matrices.data() + l * size * size;
    double* to = result.data() + l * size;
    if (problem.isotropic) {
      for (int i = 0; i < size; ++i) to[i] = matrix[0] * step[i];
      continue;
    }
    std::fill_n(to, size, 0.0);
    for (int j = 0; j < size; ++j)
      for (int i = 0; i < size; ++i) to[i] += matrix[j * size + i] * step[j];
  }
}

void add_transposed_jumps(const JumpProblem& problem, std::span<const double> of_links, double factor,
                          std::span<double> target) {
  const int size = problem.size(), dim = problem.dim;
  const LocalIndex owned = problem.layout->num_owned;
  std::array<double, most_numbers> row{};
  for (std::size_t l = 0; l < problem.links.size(); ++l) {
    const double* matrix = problem.matrices.data() + l * size * size;
    const double* from = of_links.data() + l * size;
    for (int j = 0; j < size; ++j) {
      double sum = 0;
      if (problem.isotropic)
        sum = matrix[0] * from[j];
      else
        for (int i = 0; i < size; ++i) sum += matrix[j * size + i] * from[i];
      row[j] = factor * sum;
    }
    const JumpProblem::Link& link = problem.links[l];
    for (int k = 0; k < problem.pairs; ++k) {
      if (link.a[k] < owned)
        for (int i = 0; i < dim; ++i) target[link.a[k] * dim + i] += row[k * dim + i];
      if (link.b[k] < owned)
        for (int i = 0; i < dim; ++i) target[link.b[k] * dim + i] -= row[k * dim + i];
    }
  }
}

namespace {
Eigen::VectorXd on_element(const JumpProblem& problem, const JumpProblem::Element& element,
                           std::span<const double> field) {
  Eigen::VectorXd x(element.stiffness.rows());
  for (Eigen::Index r = 0; r < x.size(); ++r)
    x[r] = field[element.nodes[r / problem.dim] * problem.dim + r % problem.dim];
  return x;
}
} // namespace

void add_stiffness_product(const JumpProblem& problem, std::span<const double> field, double factor,
                           std::span<double> target) {
  for (const JumpProblem::Element& element : problem.elements) {
    const Eigen::VectorXd forces = factor * (element.stiffness * on_element(problem, element, field));
    for (Eigen::Index r = 0; r < forces.size(); ++r)
      target[element.nodes[r / problem.dim] * problem.dim + r % problem.dim] += forces[r];
  }
}

JumpEnergy energy_of(const JumpProblem& problem, std::span<const double> field) {
  std::array<double, 2> sums{};
  for (const JumpProblem::Element& element : problem.elements) {
    const Eigen::VectorXd x = on_element(problem, element, field);
    sums[0] += x.dot(element.stiffness * x) / 2;
  }
  const int size = problem.size();
  std::vector<double> all(problem.links.size() * size);
  jumps(problem, field, all);
  for (std::size_t l = 0; l < problem.links.size(); ++l)
    if (problem.links[l].counted)
      sums[1] += Eigen::Map<const Eigen::VectorXd>(all.data() + l * size, size).norm();
  problem.comm().sum(sums);
  return {sums[0], sums[1]};
}

std::vector<double> mass_products(const JumpProblem& problem, const linalg::Vector& x,
                                  std::span<const linalg::Vector> others) {
  std::vector<double> sums(others.size(), 0.0);
  for (std::size_t k = 0; k < others.size(); ++k) {
    const double *left = x.owned().data(), *right = others[k].owned().data();
    double sum = 0;
    for (LocalIndex node = 0, at = 0; node < problem.layout->num_owned; ++node) {
      double here = 0;
      for (int i = 0; i < problem.dim; ++i, ++at) here += left[at] * right[at];
      sum += problem.masses[node] * here;
    }
    sums[k] = sum;
  }
  if (!sums.empty()) problem.comm().sum(sums);
  return sums;
}

double mass_product(const JumpProblem& problem, const linalg::Vector& x, const linalg::Vector& y) {
  return mass_products(problem, x, std::span(&y, 1)).front();
}

void orthogonalise(const JumpProblem& problem, linalg::Vector& x, std::span<const linalg::Vector> fields) {
  for (int sweep = 0; sweep < 2; ++sweep) {
    const std::vector<double> parts = mass_products(problem, x, fields);
    for (std::size_t k = 0; k < parts.size(); ++k) x.add(-parts[k], fields[k]);
  }
}

std::vector<linalg::Vector> zero_modes(const JumpProblem& problem) {
  std::vector<std::array<LocalIndex, 2>> edges;
  for (const JumpProblem::Link& link : problem.links)
    for (int k = 0; k < problem.pairs; ++k) edges.push_back({link.a[k], link.b[k]});
  for (const JumpProblem::Element& element : problem.elements)
    for (int k = 1; k < element.stiffness.rows() / problem.dim; ++k)
      edges.push_back({element.nodes[0], element.nodes[k]});
  const auto components = linalg::numbered_components(*problem.layout, problem.ids, edges);
  std::vector<linalg::Vector> result;
  for (int component = 0; component < components.count; ++component) {
    const std::size_t begin = result.size();
    for (const auto& motion : problem.motions) {
      linalg::Vector field(problem.layout);
      const auto values = field.write_local();
      for (std::size_t k = 0; k < values.size(); ++k)
        values[k] = components.of_local[k / problem.dim] == component ? motion[k] : 0;
      const double before = std::sqrt(mass_product(problem, field, field));
      orthogonalise(problem, field, std::span(result).subspan(begin));
      const double norm = std::sqrt(mass_product(problem, field, field));
      if (!(norm > 1e-9 * before)) continue; // elements on one line or in one plane
      field.scale(1 / norm);
      result.push_back(std::move(field));
    }
  }
  return result;
}

ReplicatedProblem replicate(const JumpProblem& problem) {
  ReplicatedProblem replicated{
      std::make_unique<parallel::Communicator>(problem.comm().split(problem.comm().rank())), {}};
  JumpProblem& whole = replicated.problem;
  whole.dim = problem.dim;
  whole.pairs = problem.pairs;
  whole.isotropic = problem.isotropic;
  take_nodes(problem, whole);
  take_links(problem, whole);
  take_elements(problem, whole);
  auto layout = std::make_shared<linalg::VectorLayout>();
  layout->comm = replicated.alone.get();
  layout->block_size = problem.dim;
  layout->num_owned = static_cast<LocalIndex>(whole.ids.size());
  layout->num_global = std::ssize(whole.ids);
  whole.layout = layout;
  return replicated;
}

namespace {
struct SentValue {
  GlobalIndex id;
  std::array<double, 3> values;
};
} // namespace

std::vector<double> gather_field(const JumpProblem& problem, std::span<const double> owned, int width) {
  std::vector<SentValue> rows;
  for (LocalIndex k = 0; k < problem.layout->num_owned; ++k) {
    SentValue row{problem.ids[k], {}};
    for (int i = 0; i < width; ++i) row.values[i] = owned[k * width + i];
    rows.push_back(row);
  }
  rows = on_every_rank(problem.comm(), std::move(rows));
  std::ranges::sort(rows, {}, &SentValue::id);
  std::vector<double> result;
  for (const SentValue& row : rows)
    result.insert(result.end(), row.values.begin(), row.values.begin() + width);
  return result;
}

std::vector<double> owned_part(const JumpProblem& problem, const std::vector<GlobalIndex>& sorted_ids,
                               std::span<const double> gathered) {
  std::vector<double> result;
  for (LocalIndex k = 0; k < problem.layout->num_owned; ++k) {
    const std::size_t place = place_of(sorted_ids, problem.ids[k]);
    for (int i = 0; i < problem.dim; ++i) result.push_back(gathered[place * problem.dim + i]);
  }
  return result;
}

} // namespace recoil::solvers::fracture_modes
