#include "solvers/fracture_modes/jump_search.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <utility>

#include "recoil/base/error.hpp"
#include "recoil/linalg/components.hpp"
#include "recoil/linalg/dense.hpp"
#include "recoil/parallel/exchange.hpp"
#include "solvers/fracture_modes/jump_polish.hpp"

namespace recoil::solvers::fracture_modes {

namespace {

constexpr double none = std::numeric_limits<double>::max();
/// Relative decrease of the energy that counts as one.
constexpr double relative_decrease = 1e-11;
/// Level sets of each field: all of small bodies; of large ones few are kept.
constexpr int classes = 32, cuts_of_large = 3;
constexpr GlobalIndex small = 1000, large = 200000; ///< nodes

FoundField as_found(const linalg::Vector& field, double energy) {
  return {{field.owned().begin(), field.owned().end()}, energy, 0, 0, 0, true};
}

/// R_l for a jump that is the same at all pairs of nodes.
Eigen::MatrixXd rigid_part(const JumpProblem& problem, std::size_t link) {
  const int size = problem.size();
  const Eigen::Map<const Eigen::MatrixXd> matrix(problem.matrix(link).data(), size, size);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(size, problem.dim);
  for (int k = 0; k < problem.pairs; ++k) sum += matrix.middleCols(k * problem.dim, problem.dim);
  return sum;
}

} // namespace

JumpSearch::JumpSearch(const JumpProblem& problem, const parallel::Communicator* team,
                       std::vector<std::vector<double>> starts,
                       const std::vector<std::vector<double>>& cut_sources, const VectorModeOptions& options)
    : problem_(problem), team_(team), starts_(std::move(starts)), options_(options),
      painted_(problem.comm().any(
          std::ranges::any_of(problem.links, [](const auto& link) { return !link.breakable; }))),
      least_parts_(problem, options.least_piece), zero_modes_(fracture_modes::zero_modes(problem)),
      admm_(problem, zero_modes_) {
  for (auto& start : starts_) glue_unbreakable(start);
  for (const auto& source : cut_sources)
    for (Cut& cut : level_sets(source)) cuts_.push_back(std::move(cut));
}

/// Means by mass over the nodes that must stay together.
void JumpSearch::glue_unbreakable(std::vector<double>& field) const {
  if (!painted_) return;
  auto scalar = std::make_shared<linalg::VectorLayout>(*problem_.layout);
  scalar->block_size = 1;
  std::vector<std::array<LocalIndex, 2>> edges;
  for (const JumpProblem::Link& link : problem_.links)
    if (!link.breakable)
      for (int k = 0; k < problem_.pairs; ++k) edges.push_back({link.a[k], link.b[k]});
  const auto first = linalg::smallest_ids_of_components(scalar, problem_.ids, edges);
  std::vector<GlobalIndex> painted; // parts of more than one node
  for (const auto& [a, b] : edges) painted.push_back(first[a]);
  painted = problem_.comm().all_gather_parts(painted);
  std::ranges::sort(painted);
  painted.erase(std::unique(painted.begin(), painted.end()), painted.end());
  const LocalIndex owned = problem_.layout->num_owned;
  const std::size_t width = // numbers per node; a rank without nodes does not know
      problem_.comm().max(owned > 0 ? GlobalIndex(field.size()) / owned : GlobalIndex{0});
  std::vector<double> sums(painted.size() * (width + 1), 0.0);
  const auto part_of = [&](LocalIndex node) {
    const auto place = std::ranges::lower_bound(painted, first[node]);
    return place != painted.end() && *place == first[node] ? place - painted.begin() : -1;
  };
  for (LocalIndex node = 0; node < problem_.layout->num_owned; ++node) {
    const auto part = part_of(node);
    if (part < 0) continue;
    for (std::size_t i = 0; i < width; ++i)
      sums[part * (width + 1) + i] += problem_.masses[node] * field[node * width + i];
    sums[part * (width + 1) + width] += problem_.masses[node];
  }
  problem_.comm().sum(sums);
  for (LocalIndex node = 0; node < problem_.layout->num_owned; ++node)
    if (const auto part = part_of(node); part >= 0)
      for (std::size_t i = 0; i < width; ++i)
        field[node * width + i] = sums[part * (width + 1) + i] / sums[part * (width + 1) + width];
}

/// Orthogonal to zero modes and modes, of mass norm 1; false where nothing is left.
bool JumpSearch::make_feasible(linalg::Vector& field) const {
  const double before = std::sqrt(mass_product(problem_, field, field));
  orthogonalise(problem_, field, zero_modes_);
  orthogonalise(problem_, field, fields_);
  orthogonalise(problem_, field, zero_modes_);
  const double norm = std::sqrt(mass_product(problem_, field, field));
  if (!(norm > 1e-7 * before)) return false;
  field.scale(1 / norm);
  field.update_ghosts();
  return true;
}

/// Values between the level sets of a field that are tried. Collective.
std::vector<double> JumpSearch::thresholds_of(const std::vector<double>& owned) const {
  const parallel::Communicator& comm = problem_.comm();
  double low = none, high = -none;
  for (const double value : owned) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  low = comm.min(low);
  high = comm.max(high);
  const double tiny = 1e-9 * std::max(std::abs(high), std::abs(low));
  std::vector<double> result;
  if (!(high - low > tiny)) return result;
  if (problem_.layout->num_global > small) {
    for (int k = 0; k < classes; ++k) result.push_back(low + (high - low) * (k + 0.5) / classes);
    return result;
  }
  std::vector<double> values = parallel::gather(comm, 0, owned);
  comm.broadcast(values);
  std::ranges::sort(values);
  for (std::size_t k = 1; k < values.size(); ++k)
    if (values[k] - values[k - 1] > tiny) result.push_back((values[k] + values[k - 1]) / 2);
  return result;
}

/// Level sets of a scalar field, the cheapest first.
std::vector<JumpSearch::Cut> JumpSearch::level_sets(std::vector<double> owned) const {
  glue_unbreakable(owned);
  auto scalar = std::make_shared<linalg::VectorLayout>(*problem_.layout);
  scalar->block_size = 1;
  const linalg::Vector field(scalar, owned);
  const parallel::Communicator& comm = problem_.comm();
  const int dim = problem_.dim;
  std::vector<Cut> cuts;
  std::vector<double> marks; // of the cuts
  for (const double threshold : thresholds_of(owned)) {
    Cut cut{std::vector<char>(problem_.ids.size(), 0), Eigen::MatrixXd::Identity(dim, dim), none};
    for (std::size_t node = 0; node < cut.inside.size(); ++node)
      cut.inside[node] = field.local()[node] > threshold ? 1 : 0;
    least_parts_.absorb(cut.inside);
    std::array<double, 2> masses{};
    double mark = 0; // that few sets share
    for (LocalIndex node = 0; node < problem_.layout->num_owned; ++node) {
      masses[cut.inside[node]] += problem_.masses[node];
      if (cut.inside[node] != 0) mark += std::sin(double(problem_.ids[node] + 1));
    }
    comm.sum(masses);
    mark = comm.sum(mark);
    if (!(masses[0] > 0 && masses[1] > 0) || std::ranges::find(marks, mark) != marks.end()) continue;
    marks.push_back(mark);
    // Principal directions of what the links weigh.
    Eigen::MatrixXd shape = Eigen::MatrixXd::Zero(dim, dim);
    for (std::size_t l = 0; l < problem_.links.size(); ++l) {
      const JumpProblem::Link& link = problem_.links[l];
      if (!link.counted || cut.inside[link.a[0]] == cut.inside[link.b[0]]) continue;
      const Eigen::MatrixXd part = rigid_part(problem_, l);
      shape += part.transpose() * part / part.norm();
    }
    comm.sum(std::span(shape.data(), std::size_t(shape.size())));
    const bool has_directions =
        (shape - shape(0, 0) * Eigen::MatrixXd::Identity(dim, dim)).norm() > 1e-9 * shape.norm();
    if (has_directions) {
      const linalg::SymmetricEigen principal = linalg::symmetric_eigen(shape);
      if (!principal.converged) continue;
      const bool along_axes = Eigen::MatrixXd(shape.diagonal().asDiagonal()).isApprox(shape, 1e-9);
      if (!along_axes) {
        cut.directions.conservativeResize(Eigen::NoChange, 2 * dim);
        cut.directions.rightCols(dim) = principal.vectors;
      }
    }
    Eigen::VectorXd energies = Eigen::VectorXd::Zero(cut.directions.cols());
    for (std::size_t l = 0; l < problem_.links.size(); ++l) {
      const JumpProblem::Link& link = problem_.links[l];
      if (link.counted && cut.inside[link.a[0]] != cut.inside[link.b[0]])
        energies += (rigid_part(problem_, l) * cut.directions).colwise().norm().transpose();
    }
    comm.sum(std::span(energies.data(), std::size_t(energies.size())));
    cut.energy = energies.minCoeff() * std::sqrt((masses[0] + masses[1]) / (masses[0] * masses[1]));
    cuts.push_back(std::move(cut));
  }
  std::ranges::stable_sort(cuts, {}, &Cut::energy);
  if (problem_.layout->num_global > large && std::ssize(cuts) > cuts_of_large) cuts.resize(cuts_of_large);
  return cuts;
}

linalg::Vector JumpSearch::moved(const Cut& cut, int direction) const {
  linalg::Vector field(problem_.layout);
  const auto values = field.write_local();
  for (std::size_t k = 0; k < values.size(); ++k)
    if (cut.inside[k / problem_.dim] != 0)
      values[k] = cut.directions(static_cast<Eigen::Index>(k) % problem_.dim, direction);
  return field;
}

/// Level sets of the components along the axes and the principal directions.
std::vector<JumpSearch::Cut> JumpSearch::cuts_of_mode(const linalg::Vector& field) const {
  const int dim = problem_.dim;
  Eigen::MatrixXd gram = Eigen::MatrixXd::Zero(dim, dim);
  const auto owned = field.owned();
  for (LocalIndex node = 0; node < problem_.layout->num_owned; ++node) {
    const Eigen::Map<const Eigen::VectorXd> value(owned.data() + node * dim, dim);
    gram += problem_.masses[node] * value * value.transpose();
  }
  problem_.comm().sum(std::span(gram.data(), std::size_t(gram.size())));
  const linalg::SymmetricEigen principal = linalg::symmetric_eigen(gram);
  std::vector<Cut> cuts;
  for (int k = 0; k < dim; ++k) {
    if (!(principal.values[k] > 1e-6 * principal.values.sum())) continue;
    std::vector<double> component(problem_.layout->num_owned);
    for (std::size_t node = 0; node < component.size(); ++node)
      component[node] =
          Eigen::Map<const Eigen::VectorXd>(owned.data() + node * dim, dim).dot(principal.vectors.col(k));
    for (Cut& cut : level_sets(std::move(component))) cuts.push_back(std::move(cut));
  }
  return cuts;
}

/// The energies of cuts moved along each of their directions, made orthogonal to zero modes and modes and
/// scaled to mass norm 1; `none` where nothing is left. With x = 1_S a - sum_j c_j u_j, c_j = a . sum over S
/// of m u_j, only links count that are cut or that a mode jumps across.
std::vector<std::vector<double>> JumpSearch::energies_of(std::span<const Cut* const> cuts) const {
  constexpr double nothing = 1e-6; ///< of the mass norm squared
  const int dim = problem_.dim, size = problem_.size();
  const LocalIndex owned = problem_.layout->num_owned;
  const std::size_t zero = zero_modes_.size(), fields = zero + fields_.size(), width = fields * dim + 1;
  const auto field = [&](std::size_t j) -> const linalg::Vector& {
    return j < zero ? zero_modes_[j] : fields_[j - zero];
  };
  std::vector<double> sums(cuts.size() * width, 0.0); // of m u_j over each cut, then its mass
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    double* of_cut = sums.data() + c * width;
    for (LocalIndex node = 0; node < owned; ++node)
      if (cuts[c]->inside[node] != 0) of_cut[width - 1] += problem_.masses[node];
    for (std::size_t j = 0; j < fields; ++j) {
      const double* values = field(j).owned().data();
      for (LocalIndex node = 0; node < owned; ++node)
        if (cuts[c]->inside[node] != 0)
          for (int i = 0; i < dim; ++i) of_cut[j * dim + i] += problem_.masses[node] * values[node * dim + i];
    }
  }
  problem_.comm().sum(sums);

  const auto modes = static_cast<Eigen::Index>(fields_.size());
  std::vector<std::size_t> active;
  std::vector<Eigen::MatrixXd> mode_jumps; // by active link
  std::vector<std::vector<double>> all(modes, std::vector<double>(problem_.links.size() * size));
  Eigen::MatrixXd strains = Eigen::MatrixXd::Zero(modes, modes);
  for (Eigen::Index j = 0; j < modes; ++j) {
    jumps(problem_, fields_[j].local(), all[j]);
    if (problem_.elements.empty()) continue;
    std::vector<double> forces(problem_.layout->num_owned * dim, 0.0);
    add_stiffness_product(problem_, fields_[j].local(), 1, forces);
    for (Eigen::Index k = 0; k < modes; ++k)
      for (std::size_t n = 0; n < forces.size(); ++n) strains(j, k) += forces[n] * fields_[k].owned()[n];
  }
  if (!fields_.empty()) problem_.comm().sum(std::span(strains.data(), std::size_t(strains.size())));
  std::vector<char> is_active(problem_.links.size(), 0);
  for (std::size_t l = 0; l < problem_.links.size(); ++l) {
    if (!problem_.links[l].counted) continue;
    Eigen::MatrixXd here(size, modes);
    for (Eigen::Index j = 0; j < modes; ++j)
      here.col(j) = Eigen::Map<const Eigen::VectorXd>(all[j].data() + l * size, size);
    if (!(here.squaredNorm() > 0)) continue;
    is_active[l] = 1;
    active.push_back(l);
    mode_jumps.push_back(std::move(here));
  }

  std::vector<double> flat;
  std::vector<Eigen::MatrixXd> parts; // c_j of modes by direction, of each cut
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const Cut& cut = *cuts[c];
    const double* of_cut = sums.data() + c * width;
    const Eigen::Map<const Eigen::MatrixXd> by_field(of_cut, dim, static_cast<Eigen::Index>(fields));
    const Eigen::MatrixXd of_modes = by_field.rightCols(modes).transpose() * cut.directions;
    Eigen::VectorXd energies = Eigen::VectorXd::Zero(cut.directions.cols());
    for (std::size_t l = 0; l < problem_.links.size(); ++l) {
      const JumpProblem::Link& link = problem_.links[l];
      if (!link.counted || is_active[l] != 0 || cut.inside[link.a[0]] == cut.inside[link.b[0]]) continue;
      energies += (rigid_part(problem_, l) * cut.directions).colwise().norm().transpose();
    }
    for (std::size_t k = 0; k < active.size(); ++k) {
      const JumpProblem::Link& link = problem_.links[active[k]];
      const int step = cut.inside[link.a[0]] - cut.inside[link.b[0]];
      Eigen::MatrixXd jump = -mode_jumps[k] * of_modes;
      if (step != 0) jump += step * rigid_part(problem_, active[k]) * cut.directions;
      energies += jump.colwise().norm().transpose();
    }
    flat.insert(flat.end(), energies.data(), energies.data() + energies.size());
    parts.push_back(of_modes);
  }
  problem_.comm().sum(flat);
  std::vector<std::vector<double>> result;
  std::size_t at = 0;
  for (std::size_t c = 0; c < cuts.size(); ++c) {
    const double* of_cut = sums.data() + c * width;
    const Eigen::Map<const Eigen::MatrixXd> by_field(of_cut, dim, static_cast<Eigen::Index>(fields));
    auto& energies = result.emplace_back();
    for (Eigen::Index k = 0; k < cuts[c]->directions.cols(); ++k) {
      const Eigen::VectorXd direction = cuts[c]->directions.col(k);
      const double before = of_cut[width - 1] * direction.squaredNorm();
      const double rest = before - (by_field.transpose() * direction).squaredNorm();
      const double strain = parts[c].col(k).dot(strains * parts[c].col(k)) / 2;
      const double jump = flat[at++];
      energies.push_back(rest > nothing * before ? strain / rest + jump / std::sqrt(rest) : none);
    }
  }
  return result;
}

/// Moved cuts of least energy that are not almost the same.
void JumpSearch::add_cut_starts(std::vector<Start>& chosen) const {
  constexpr double alike = 0.9;
  struct Candidate {
    const Cut* cut;
    int direction;
    double energy;
  };
  std::vector<const Cut*> all;
  for (const Cut& cut : cuts_) all.push_back(&cut);
  for (const auto& list : cuts_of_modes_)
    for (const Cut& cut : list) all.push_back(&cut);
  std::vector<Candidate> candidates;
  const auto energies = energies_of(all);
  for (std::size_t c = 0; c < all.size(); ++c)
    for (int k = 0; k < std::ssize(energies[c]); ++k)
      if (energies[c][k] < none) candidates.push_back({all[c], k, energies[c][k]});
  std::ranges::stable_sort(candidates, {}, &Candidate::energy);
  int count = 0;
  for (const Candidate& candidate : candidates) {
    if (count == options_.cut_starts) return;
    linalg::Vector field = moved(*candidate.cut, candidate.direction);
    if (!make_feasible(field)) continue;
    if (std::ranges::any_of(chosen, [&](const Start& other) {
          return std::abs(mass_product(problem_, field, other.field)) > alike;
        }))
      continue;
    chosen.push_back({std::move(field), true});
    ++count;
  }
}

std::vector<JumpSearch::Start> JumpSearch::choose_starts() const {
  std::vector<Start> chosen;
  add_cut_starts(chosen);
  const auto add = [&](const std::vector<double>& values, bool has_pieces = false) {
    linalg::Vector field(problem_.layout, values);
    if (make_feasible(field)) chosen.push_back({std::move(field), has_pieces});
  };
  const std::size_t next = zero_modes_.size() + fields_.size();
  for (std::size_t i = next; i < std::min(starts_.size(), next + options_.eigenvector_starts); ++i)
    add(starts_[i]);
  std::seed_seq seed{options_.seed, static_cast<std::uint32_t>(searches_)};
  std::mt19937 random(seed);
  for (int i = 0; i < options_.random_starts && !starts_.empty(); ++i) {
    std::vector<double> values(starts_.front().size(), 0.0);
    // Uniform, as the distributions of the standard library differ between its implementations.
    for (const auto& start : starts_) {
      const double factor = double(random()) / 0x1p31 - 1;
      for (std::size_t k = 0; k < values.size(); ++k) values[k] += factor * start[k];
    }
    add(values);
  }
  for (const FoundField& field : dropped_) add(field.values, true);
  return chosen;
}

/// Links across which an earlier mode jumps.
std::vector<char> JumpSearch::earlier_faults() const {
  constexpr double jump = 1e-9; ///< part of the largest of the mode
  const int size = problem_.size();
  std::vector<char> faults(problem_.links.size(), 0);
  std::vector<double> all(problem_.links.size() * size);
  for (const linalg::Vector& field : fields_) {
    jumps(problem_, field.local(), all);
    std::vector<double> lengths;
    for (std::size_t l = 0; l < faults.size(); ++l)
      lengths.push_back(Eigen::Map<const Eigen::VectorXd>(all.data() + l * size, size).norm());
    const double largest = problem_.comm().max(lengths.empty() ? 0 : *std::ranges::max_element(lengths));
    for (std::size_t l = 0; l < faults.size(); ++l)
      if (lengths[l] > jump * largest) faults[l] = 1;
  }
  return faults;
}

/// Tries to take a field with less energy, made of large enough pieces, in the place of c, from where the
/// method of multipliers has come to; whether it has.
bool JumpSearch::lower_energy(Descent& now, std::span<const char> faults) {
  std::vector<char> closed = admm_.closed_links();
  least_parts_.close(faults, closed);
  if (problem_.comm().all(closed == now.tried)) return false;
  linalg::Vector field;
  if (auto polished = polish(problem_, closed, admm_.field(), zero_modes_, fields_, now.c,
                             options_.most_polished_numbers))
    field = std::move(polished->field);
  else if (!painted_ && options_.least_piece <= 0)
    field = admm_.field();
  else
    return false;
  // Without a polish the field changes although what is closed does not.
  if (options_.least_piece > 0) now.tried = std::move(closed);
  if (!make_feasible(field)) return false;
  const double energy = energy_of(problem_, field.local()).total();
  if (now.has_pieces && !(energy < now.energy * (1 - relative_decrease))) return false;
  now.energy = energy;
  now.c = std::move(field);
  now.has_pieces = true;
  return true;
}

/// @param has_pieces whether c is a sum of moved cuts and modes; others only lead to fields that are.
FoundField JumpSearch::descend(linalg::Vector c, bool has_pieces, double gap, int most_iterations) {
  constexpr int chunk = 20;
  constexpr double first_tolerance = 3e-2;
  // Large pieces differ from the solution of the convex problem by more than the latter from its limit.
  const double last_tolerance = options_.least_piece > 0 ? 1e-4 : 1e-9;
  if (!make_feasible(c)) return {};
  Descent now{std::move(c), 0, has_pieces || options_.least_piece <= 0, {}};
  now.energy = energy_of(problem_, now.c.local()).total();
  const std::vector<char> faults = earlier_faults();
  admm_.begin(now.c);
  double tolerance = first_tolerance, bound = 0;
  int convex_problems = 1;
  for (int used = 0; used < most_iterations; used += chunk) {
    admm_.iterate(chunk);
    bound = std::max(bound, admm_.progress().bound);
    RECOIL_ASSERT(!now.has_pieces || bound <= now.energy * 1.001 || !admm_.is_exact()); // c is feasible
    if (now.has_pieces && 1 - bound / now.energy <= gap) break;
    if (std::max(admm_.progress().primal, admm_.progress().dual) > tolerance) continue;
    if (lower_energy(now, faults)) {
      ++convex_problems;
      bound = 0;
      admm_.linearise_around(now.c);
      continue;
    }
    if (tolerance <= last_tolerance) break;
    tolerance *= 0.1;
  }
  if (!now.has_pieces && !lower_energy(now, faults)) return {};
  FoundField found = as_found(now.c, now.energy);
  found.gap = std::clamp(1 - bound / now.energy, 0.0, 1.0);
  found.iterations = convex_problems;
  return found;
}

/// Sends what one rank of the team has found to all.
void JumpSearch::share(FoundField& found, int root) const {
  team_->broadcast(found.values, root);
  std::vector<double> numbers{found.energy, found.gap, double(found.iterations), double(found.exists)};
  team_->broadcast(numbers, root);
  found.energy = numbers[0];
  found.gap = numbers[1];
  found.iterations = static_cast<int>(numbers[2]);
  found.exists = numbers[3] != 0;
}

FoundField JumpSearch::best_descent(const std::vector<Start>& starts,
                                    const std::function<void(double)>& observe) {
  const int ranks = team_ != nullptr ? team_->size() : 1, rank = team_ != nullptr ? team_->rank() : 0;
  while (descents_ < std::ssize(starts)) {
    const int wave = std::min<int>(ranks, static_cast<int>(std::ssize(starts)) - descents_);
    std::vector<double> energies(wave, 0.0);
    FoundField found;
    const auto work = [&] {
      if (rank >= wave) return;
      const Start& start = starts[descents_ + rank];
      found = descend(start.field, start.has_pieces, options_.rough_gap, options_.rough_iterations);
      energies[rank] = !found.exists ? none : found.energy;
    };
    if (team_ != nullptr) {
      parallel::collectively(*team_, work);
      team_->sum(energies);
    } else {
      work();
    }
    const int least = static_cast<int>(std::ranges::min_element(energies) - energies.begin());
    if (energies[least] != none &&
        (!best_.exists || energies[least] < best_.energy * (1 - relative_decrease))) {
      if (team_ != nullptr) share(found, least);
      found.start = descents_ + least;
      best_ = std::move(found);
    }
    descents_ += wave;
    if (observe) observe(double(descents_) / double(starts.size() + 2));
  }
  descents_ = 0;
  return std::exchange(best_, {});
}

/// The bound by cuts: a moved cut with less energy than the mode is a better start.
FoundField JumpSearch::below_cuts(FoundField mode) {
  constexpr double tolerance = 1e-9;
  constexpr int most_attempts = 5;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    const std::vector<Cut> of_mode = cuts_of_mode(linalg::Vector(problem_.layout, mode.values));
    std::vector<const Cut*> all;
    for (const Cut& cut : cuts_) all.push_back(&cut);
    for (const Cut& cut : of_mode) all.push_back(&cut);
    const auto energies = energies_of(all);
    double least = none;
    linalg::Vector best;
    for (std::size_t c = 0; c < all.size(); ++c)
      for (int k = 0; k < std::ssize(energies[c]); ++k)
        if (energies[c][k] < least) {
          least = energies[c][k];
          best = moved(*all[c], k);
        }
    if (!(least < mode.energy * (1 - tolerance))) break;
    FoundField found = descend(std::move(best), true, options_.gap, options_.iterations);
    if (!found.exists || found.energy >= mode.energy) break;
    mode = std::move(found);
  }
  return mode;
}

/// What `search` finds on the first rank of the team, or on all of a distributed problem; shared.
FoundField JumpSearch::on_first(const std::function<FoundField()>& search) const {
  if (team_ == nullptr) return search();
  FoundField found =
      parallel::collectively(*team_, [&] { return team_->rank() == 0 ? search() : FoundField{}; });
  share(found, 0);
  return found;
}

/// Goes on from a rough mode.
FoundField JumpSearch::finished(const FoundField& from) {
  FoundField found = on_first([&] {
    FoundField deep =
        descend(linalg::Vector(problem_.layout, from.values), true, options_.gap, options_.iterations);
    return !deep.exists ? deep : below_cuts(std::move(deep));
  });
  found.start = from.start;
  return found;
}

bool JumpSearch::find_next(const std::function<void(double)>& observe) {
  admm_.set_modes(fields_);
  FoundField best = best_descent(choose_starts(), observe);
  ++searches_;
  if (!best.exists) return false;
  insert(finished(best));
  return true;
}

void JumpSearch::insert(FoundField mode) {
  constexpr double tolerance = 1e-9;
  const auto place = std::ranges::find_if(
      modes_, [&](const FoundField& other) { return other.energy > mode.energy * (1 + tolerance); });
  if (place == modes_.end()) return add_mode(std::move(mode));
  const std::vector<FoundField> later(place, modes_.end());
  modes_.erase(place, modes_.end());
  fields_.resize(modes_.size());
  cuts_of_modes_.resize(modes_.size());
  admm_.set_modes(fields_);
  FoundField again = finished(mode);
  if (!again.exists || again.energy >= mode.energy * (1 - tolerance)) {
    // Fewer conditions have not helped the mode, and more do not change that the others are fixed points.
    mode.gap = std::max(mode.gap, again.gap);
    add_mode(std::move(mode));
    // With the mode for another condition, level sets may cost less than they did.
    auto other = later.begin();
    for (; other != later.end(); ++other) {
      admm_.set_modes(fields_);
      const FoundField lower = on_first([&] { return below_cuts(*other); });
      if (lower.energy < other->energy * (1 - tolerance)) break;
      add_mode(*other);
    }
    dropped_.insert(dropped_.end(), other, later.end());
    return;
  }
  add_mode(std::move(again));
  for (const FoundField& other : later) dropped_.push_back(other);
}

void JumpSearch::add_mode(FoundField mode) {
  linalg::Vector field(problem_.layout, mode.values);
  cuts_of_modes_.push_back(cuts_of_mode(field));
  fields_.push_back(std::move(field));
  modes_.push_back(std::move(mode));
}

void JumpSearch::resume(JumpSearchState state) {
  for (FoundField& mode : state.modes) add_mode(std::move(mode));
  dropped_ = std::move(state.dropped);
  searches_ = state.searches;
  descents_ = state.descents;
  best_ = std::move(state.best);
}

} // namespace recoil::solvers::fracture_modes
