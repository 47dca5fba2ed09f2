#include "recoil/app/solvers/bonded_particles/particle_output.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include <fmt/format.h>

#include "app/solvers/bonded_particles/contact_network.hpp"
#include "recoil/app/solvers/bonded_particles/particle_moduli.hpp"
#include "recoil/app/solvers/bonded_particles/particle_scene.hpp"
#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/particles/bond_values.hpp"
#include "recoil/particles/fragments.hpp"
#include "recoil/solvers/bdem/softening.hpp"

namespace recoil::app {

namespace {

std::vector<LocalIndex> counted_bonds(const particles::DistributedParticles& particles) {
  std::vector<LocalIndex> counted;
  for (LocalIndex bond = 0; bond < std::ssize(particles.bonds); ++bond)
    if (particles.owns(particles.bonds[bond])) counted.push_back(bond);
  return counted;
}

std::vector<GlobalIndex> owned_ids(const particles::DistributedParticles& particles) {
  return {particles.ids.begin(), particles.ids.begin() + particles.num_owned()};
}

std::vector<GlobalIndex> bond_ids(const particles::DistributedParticles& particles) {
  std::vector<GlobalIndex> ids;
  for (const LocalIndex bond : counted_bonds(particles)) ids.push_back(particles.bonds[bond].id);
  return ids;
}

} // namespace

ParticleOutput::ParticleOutput(solvers::BondedParticlesSolver& solver, const Scene& scene,
                               const ParticleDistribution* distribution)
    : solver_(&solver), scene_(&scene), distribution_(distribution), counted_(counted_bonds(particles())),
      nodes_(*particles().points->comm, owned_ids(particles())),
      bonds_(*particles().points->comm, bond_ids(particles())),
      broken_at_(counted_.size(), std::numeric_limits<double>::quiet_NaN()),
      broken_by_(counted_.size(), 0.0) {}

void ParticleOutput::write_mesh(checkpoint::TrajectoryWriter& writer) const {
  std::vector<double> coordinates;
  for (LocalIndex k = 0; k < particles().num_owned(); ++k)
    coordinates.insert(coordinates.end(), particles().positions[k].begin(), particles().positions[k].end());
  std::vector<GlobalIndex> ends, drawn;
  std::vector<std::int32_t> shifts;
  for (const LocalIndex bond : counted_) {
    const GlobalIndex a = particles().ids[particles().bonds[bond].a],
                      b = particles().ids[particles().bonds[bond].b];
    const particles::CellShift shift =
        particles().cell ? particles().bond_shifts[bond] : particles::CellShift{};
    ends.insert(ends.end(), {a, b});
    // A line to where b is itself would lead across the cell.
    drawn.insert(drawn.end(), {a, particles::is_zero(shift) ? b : a});
    shifts.insert(shifts.end(), shift.begin(), shift.end());
  }
  const std::vector<io::CellShape> shapes(counted_.size(), io::CellShape::segment);
  const std::size_t count = particles().num_owned();
  std::vector<checkpoint::StaticArray> arrays{
      checkpoint::StaticArray{"radius", 1, &nodes_, std::span(particles().radii).first(count),
                              io::Centre::node},
      checkpoint::StaticArray{"body", 1, &nodes_, std::span(particles().body).first(count),
                              io::Centre::node}};
  if (particles().cell) {
    arrays.push_back({"ends", 2, &bonds_, std::span<const std::int64_t>(ends), io::Centre::cell});
    arrays.push_back({"shift", 3, &bonds_, std::span<const std::int32_t>(shifts), io::Centre::cell});
  }
  writer.write_mesh({&nodes_, 3, coordinates, &bonds_, shapes, drawn, 2}, arrays);
}

void ParticleOutput::require_mesh_of(checkpoint::TrajectoryReader& reader, GlobalIndex id,
                                     const std::string& where) const {
  const GlobalIndex rows = reader.shape(id, "u").rows;
  if (rows != nodes_.global_size())
    throw InputError(where,
                     fmt::format("the bodies are no longer those that the run was begun with: they have "
                                 "{} particles, there were {}; put the mesh files of then back, or "
                                 "start again in a new folder",
                                 nodes_.global_size(), rows));
}

void ParticleOutput::record_breaks() {
  const auto id_of = [&](LocalIndex bond) { return particles().bonds[bond].id; };
  for (const solvers::BrokenBond& broken : solver_->broken_in_step()) {
    const auto place = std::ranges::lower_bound(counted_, broken.bond, {}, id_of) - counted_.begin();
    broken_at_[place] = broken.time;
    broken_by_[place] = broken.by_tension ? 1 : 2;
  }
}

std::vector<checkpoint::Field> ParticleOutput::restart_fields() {
  broken_.clear();
  for (const LocalIndex bond : counted_) broken_.push_back(solver_->problem().bonds->is_broken(bond));
  std::vector<checkpoint::Field> fields{{"broken", 1, &bonds_, broken_, io::Centre::cell, true}};
  if (distribution_) {
    rank_.assign(particles().num_owned(), particles().points->comm->rank());
    fields.push_back({"rank", 1, &nodes_, rank_, io::Centre::node, true});
  }
  if (solver_->problem().contact) {
    least_distance_.clear();
    for (const LocalIndex bond : counted_)
      least_distance_.push_back(solver_->problem().contact->bond_distances()[bond]);
    fields.push_back({"least_distance", 1, &bonds_, least_distance_, io::Centre::cell, true});
  }
  if (solver_->problem().strength) {
    record_breaks();
    fields.push_back({"broken_at", 1, &bonds_, broken_at_, io::Centre::cell, true});
    fields.push_back({"broken_by", 1, &bonds_, broken_by_, io::Centre::cell, true});
  }
  if (solver_->problem().softens()) {
    stress_ratio_.clear();
    for (const LocalIndex bond : counted_)
      stress_ratio_.push_back(solver_->history().newest().internal[bond]);
    fields.push_back({"stress_ratio", 1, &bonds_, stress_ratio_, io::Centre::cell, true});
  }
  if (solver_->problem().corrodes()) {
    section_share_.clear();
    for (const LocalIndex bond : counted_)
      section_share_.push_back(solver_->history().newest().internal[bond]);
    fields.push_back({"section_share", 1, &bonds_, section_share_, io::Centre::cell, true});
  }
  if (solver_->problem().has_springs())
    springs_.add(nodes_, particles(),
                 solvers::springs_of(solver_->problem(), solver_->history().newest().internal), fields);
  return fields;
}

stepping::Entries ParticleOutput::restart_entries() const {
  if (!distribution_) return {};
  return {{"ranks", GlobalIndex(particles().points->comm->size())},
          {"repartitions", distribution_->repartitions},
          {"reached_imbalance", distribution_->reached}};
}

void ParticleOutput::restore(const FieldReader& read) {
  // Every rank that holds a bond has to know: those with the other end in hand ask the one that counts it.
  const std::vector<double> flags = read("broken", bonds_);
  std::vector<double> least_distances;
  if (solver_->problem().contact) least_distances = read("least_distance", bonds_);
  solver_->restore_broken(flags, least_distances);
  if (!solver_->problem().strength) return;
  broken_at_ = read("broken_at", bonds_);
  broken_by_ = read("broken_by", bonds_);
}

std::vector<double> ParticleOutput::internal(const FieldReader& read) const {
  std::vector<double> all = internal_of_bonds(read);
  if (!solver_->problem().has_springs()) return all;
  const std::vector<double> springs = SpringFields::read(read, nodes_);
  all.insert(all.end(), springs.begin(), springs.end());
  return all;
}

std::vector<double> ParticleOutput::internal_of_bonds(const FieldReader& read) const {
  if (solver_->problem().corrodes())
    return particles::complete_bond_values(particles(), read("section_share", bonds_));
  if (!solver_->problem().softens()) return {};
  std::vector<double> all = particles::complete_bond_values(particles(), read("stress_ratio", bonds_));
  if (!solver_->problem().contact) return all;
  const std::vector<double> distances =
      particles::complete_bond_values(particles(), read("least_distance", bonds_));
  all.insert(all.end(), distances.begin(), distances.end());
  return all;
}

std::vector<checkpoint::Field> ParticleOutput::fields(const linalg::Vector& u) {
  const std::span<const double> v = solver_->history().newest().v.owned();
  for (auto* values : {&displacement_, &orientation_, &velocity_, &spin_, &sigma_, &tau_}) values->clear();
  for (LocalIndex k = 0; k < particles().num_owned(); ++k) {
    const double* point = u.owned().data() + 7 * std::size_t(k);
    for (int i = 0; i < 3; ++i) displacement_.push_back(point[i] - particles().positions[k][i]);
    orientation_.insert(orientation_.end(), point + 3, point + 7);
    const double* tangent = v.data() + 6 * std::size_t(k);
    velocity_.insert(velocity_.end(), tangent, tangent + 3);
    const Eigen::Vector3d spin =
        geometry::rotation_matrix(Eigen::Map<const geometry::Quaternion>(point + 3)) *
        Eigen::Map<const Eigen::Vector3d>(tangent + 3) / particles().radii[k];
    spin_.insert(spin_.end(), spin.begin(), spin.end());
  }
  for (const LocalIndex bond : counted_) {
    const auto [sigma, tau] = solver_->stresses(bond, u);
    sigma_.push_back(sigma);
    tau_.push_back(tau);
  }
  std::vector<checkpoint::Field> fields{{"displacement", 3, &nodes_, displacement_, io::Centre::node, false},
                                        {"orientation", 4, &nodes_, orientation_, io::Centre::node, false},
                                        {"velocity", 3, &nodes_, velocity_, io::Centre::node, false},
                                        {"angular_velocity", 3, &nodes_, spin_, io::Centre::node, false},
                                        {"sigma", 1, &bonds_, sigma_, io::Centre::cell, false},
                                        {"tau", 1, &bonds_, tau_, io::Centre::cell, false}};
  if (solver_->problem().strength) {
    const particles::Fragments fragments = find_fragments(particles(), solver_->problem().bonds->broken());
    fragment_.assign(fragments.of_owned.begin(), fragments.of_owned.end());
    fields.push_back({"fragment", 1, &nodes_, fragment_, io::Centre::node, false});
  }
  if (particles_of(*scene_).solver.writes_contacts) {
    coordination_ = coordination_numbers(solver_->problem());
    fields.push_back({"coordination", 1, &nodes_, coordination_, io::Centre::node, false});
  }
  if (solver_->problem().softens()) {
    damage_.clear();
    for (const LocalIndex bond : counted_) damage_.push_back(1 - solver_->problem().bonds->integrity(bond));
    fields.push_back({"damage", 1, &bonds_, damage_, io::Centre::cell, false});
  }
  return fields;
}

stepping::Entries ParticleOutput::summary() const {
  stepping::Entries entries;
  for (const LatticeModuli& moduli : lattice_moduli(*scene_)) {
    entries.push_back({"E_x of " + moduli.body, moduli.young_x});
    entries.push_back({"E_z of " + moduli.body, moduli.young_z});
    entries.push_back({"nu_xy of " + moduli.body, moduli.poisson_xy});
  }
  if (particles_of(*scene_).solver.writes_contacts) {
    double sum = 0;
    for (const double number : coordination_numbers(solver_->problem())) sum += number;
    entries.push_back(
        {"coordination_number", particles().points->comm->sum(sum) / double(particles().points->num_global)});
  }
  if (distribution_) entries.push_back({"repartitions", distribution_->repartitions});
  if (!solver_->problem().strength) return entries;
  const particles::Fragments fragments = find_fragments(particles(), solver_->problem().bonds->broken());
  entries.push_back({"fragments", fragments.count});
  entries.push_back(
      {"largest_fragment_share", double(fragments.largest) / double(particles().points->num_global)});
  return entries;
}

} // namespace recoil::app
