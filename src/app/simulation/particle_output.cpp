#include "recoil/app/simulation/particle_output.hpp"

#include <array>

#include <fmt/format.h>

#include "recoil/base/error.hpp"
#include "recoil/checkpoint/trajectory_reader.hpp"
#include "recoil/particles/fragments.hpp"

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

ParticleOutput::ParticleOutput(solvers::BondedParticlesSolver& solver)
    : solver_(&solver), counted_(counted_bonds(particles())),
      nodes_(*particles().points->comm, owned_ids(particles())),
      bonds_(*particles().points->comm, bond_ids(particles())) {}

void ParticleOutput::write_mesh(checkpoint::TrajectoryWriter& writer) const {
  std::vector<double> coordinates;
  for (LocalIndex k = 0; k < particles().num_owned(); ++k)
    coordinates.insert(coordinates.end(), particles().positions[k].begin(), particles().positions[k].end());
  std::vector<GlobalIndex> ends;
  for (const LocalIndex bond : counted_)
    ends.insert(ends.end(),
                {particles().ids[particles().bonds[bond].a], particles().ids[particles().bonds[bond].b]});
  const std::vector<io::CellShape> shapes(counted_.size(), io::CellShape::segment);
  const std::size_t count = particles().num_owned();
  const std::array<checkpoint::StaticArray, 2> arrays{
      checkpoint::StaticArray{"radius", 1, &nodes_, std::span(particles().radii).first(count),
                              io::Centre::node},
      checkpoint::StaticArray{"body", 1, &nodes_, std::span(particles().body).first(count),
                              io::Centre::node}};
  writer.write_mesh({&nodes_, 3, coordinates, &bonds_, shapes, ends, 2}, arrays);
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

std::vector<checkpoint::Field> ParticleOutput::restart_fields() {
  broken_.clear();
  for (const LocalIndex bond : counted_) broken_.push_back(solver_->problem().bonds->is_broken(bond));
  std::vector<checkpoint::Field> fields{{"broken", 1, &bonds_, broken_, io::Centre::cell, true}};
  if (solver_->problem().contact) {
    least_distance_.clear();
    for (const LocalIndex bond : counted_)
      least_distance_.push_back(solver_->problem().contact->pairs.bond_distances()[bond]);
    fields.push_back({"least_distance", 1, &bonds_, least_distance_, io::Centre::cell, true});
  }
  return fields;
}

void ParticleOutput::restore(checkpoint::TrajectoryReader& reader, GlobalIndex id) {
  // Every rank that holds a bond has to know: those with the other end in hand ask the one that counts it.
  const std::vector<double> flags = reader.read(id, "broken", bonds_);
  std::vector<double> least_distances;
  if (solver_->problem().contact) least_distances = reader.read(id, "least_distance", bonds_);
  solver_->restore_broken(flags, least_distances);
}

std::vector<checkpoint::Field> ParticleOutput::fields(const linalg::Vector& u) {
  displacement_.clear();
  orientation_.clear();
  stresses_.clear();
  for (LocalIndex k = 0; k < particles().num_owned(); ++k) {
    const double* point = u.owned().data() + 7 * std::size_t(k);
    for (int i = 0; i < 3; ++i) displacement_.push_back(point[i] - particles().positions[k][i]);
    orientation_.insert(orientation_.end(), point + 3, point + 7);
  }
  for (const LocalIndex bond : counted_) {
    const auto [sigma, tau] = solver_->stresses(bond, u);
    stresses_.insert(stresses_.end(), {sigma, tau});
  }
  std::vector<checkpoint::Field> fields{{"displacement", 3, &nodes_, displacement_, io::Centre::node, false},
                                        {"orientation", 4, &nodes_, orientation_, io::Centre::node, false},
                                        {"stresses", 2, &bonds_, stresses_, io::Centre::cell, false}};
  if (solver_->problem().strength) {
    const particles::Fragments fragments = find_fragments(particles(), solver_->problem().bonds->broken());
    fragment_.assign(fragments.of_owned.begin(), fragments.of_owned.end());
    fields.push_back({"fragment", 1, &nodes_, fragment_, io::Centre::node, false});
  }
  return fields;
}

stepping::Entries ParticleOutput::summary() const {
  if (!solver_->problem().strength) return {};
  const particles::Fragments fragments = find_fragments(particles(), solver_->problem().bonds->broken());
  return {{"fragments", GlobalIndex(fragments.all.size())},
          {"largest_fragment_share",
           double(fragments.all.front().particles) / double(particles().points->num_global)}};
}

} // namespace recoil::app
