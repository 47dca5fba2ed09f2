#include "app/study/fit/fit_report.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "recoil/app/study/fields/written_values.hpp"
#include "recoil/base/log.hpp"
#include "recoil/base/timer.hpp"
#include "recoil/inverse/laplace_posterior.hpp"
#include "recoil/io/xdmf.hpp"

namespace recoil::app {

namespace {

using Block = DesignSpace::Block;

constexpr const char* posterior_file = "posterior.h5";

std::vector<const Block*> correlated_blocks(const DesignSpace& space) {
  std::vector<const Block*> result;
  for (const Block& block : space.blocks())
    if (block.mesh.size() > 0) result.push_back(&block);
  return result;
}

void require_posterior(const StudyObjective& objective) {
  if (!objective.is_chi_squared())
    throw InputError("the objective is not the chi^2 of data in their standard "
                     "deviations, each of which counts once");
  if (!objective.prior().is_proper())
    throw InputError("a posterior of fields needs a `prior` of every parameter");
}

/// A field as it is drawn: arrays by name, a number per element.
std::vector<std::pair<std::string, std::vector<double>>>
arrays_of(const Study& study, const Block& block, std::span<const double> values,
          const inverse::LaplacePosterior& posterior) {
  const auto part = [&](std::span<const double> all) {
    const auto of_block = all.subspan(block.first, block.size());
    return std::vector<double>(of_block.begin(), of_block.end());
  };
  const auto roots = [&](std::span<const double> all) {
    std::vector<double> result = part(all);
    for (double& entry : result) entry = std::sqrt(entry);
    return result;
  };
  const double mean = study.parameters[block.parameter].prior->mean.front();
  return {{"estimate", part(values)},
          {"prior_mean", std::vector<double>(block.size(), mean)},
          {"prior_sd", roots(posterior.prior_variances)},
          {"posterior_sd", roots(posterior.variances)}};
}

/// The element mesh in the file, as XDMF refers to it.
io::XdmfMesh write_mesh(io::Hdf5Writer& file, const std::string& group, const inverse::ElementMesh& mesh) {
  const int corners = mesh.dim + 1;
  const GlobalIndex count = std::ssize(mesh.cells) / corners;
  file.write_rows<double>(group + "/vertices", mesh.vertices, mesh.dim);
  file.write_rows<GlobalIndex>(group + "/cells", mesh.cells, corners);
  const GlobalIndex num_vertices = std::ssize(mesh.vertices) / mesh.dim;
  io::XdmfMesh drawn;
  drawn.geometry = {posterior_file, group + "/vertices", {num_vertices, mesh.dim}};
  drawn.topology = {posterior_file, group + "/cells", {count, corners, io::ElementType::int64}};
  drawn.cells = count;
  drawn.shape = mesh.dim == 2 ? io::CellShape::triangle : io::CellShape::tetrahedron;
  return drawn;
}

/// On one rank.
void write_files(const parallel::Communicator& alone, const Study& study, const DesignSpace& space,
                 std::span<const double> x, const inverse::LaplacePosterior& posterior,
                 const std::filesystem::path& root) {
  const std::vector<double> values = space.values(x);
  std::vector<std::pair<std::string, io::XdmfMesh>> drawings;
  write_arrays_aside(alone, root / posterior_file, [&](io::Hdf5Writer& file) {
    for (const Block* block : correlated_blocks(space)) {
      const ParameterSpec& spec = study.parameters[block->parameter];
      io::XdmfMesh mesh = write_mesh(file, spec.name, block->mesh);
      for (const auto& [name, numbers] : arrays_of(study, *block, values, posterior)) {
        const std::string dataset = spec.name + "/" + name;
        file.write_rows<double>(dataset, numbers, 1);
        mesh.attributes.push_back({name, io::Centre::cell, {posterior_file, dataset, {std::ssize(numbers)}}});
      }
      file.write_rows<GlobalIndex>(spec.name + "/elements", block->ids, 1);
      file.write_attribute(spec.name, "unit", unit_of(spec));
      file.write_attribute(spec.name, "sd_of", spec.scale.form->name);
      drawings.emplace_back(spec.name, std::move(mesh));
    }
  });
  for (const auto& [name, mesh] : drawings)
    const io::XdmfWriter drawing(root / ("posterior-" + name + ".xdmf"), mesh, {{name, 0, {}}});
}

} // namespace

Json write_field_posterior(const parallel::Communicator& world, const Study& study, StudyObjective& objective,
                           std::span<const double> x, double squares, const std::filesystem::path& root) {
  require_posterior(objective);
  const Stopwatch watch;
  log_info("the posterior of the fields: eigenvalues of the data against the prior");
  const inverse::LaplacePosterior posterior = inverse::laplace_posterior(
      world, objective.prior(), [&](std::span<const double> d) { return objective.data_product(x, d); });
  if (!posterior.is_complete)
    log_warning("the data determine more directions than are looked for: posterior deviations are too large");
  const parallel::Communicator alone = world.split(world.rank());
  parallel::collectively(world, [&] {
    if (world.rank() == 0) write_files(alone, study, objective.space(), x, posterior, root);
  });
  double of_prior = 0;
  for (const double r : objective.prior().residuals(x)) of_prior += r * r;
  const auto num_data = objective.num_data() - GlobalIndex(objective.prior().num_rows());
  return {{"file", posterior_file},
          {"data", num_data},
          {"chi_squared", squares - of_prior},
          {"prior_squares", of_prior},
          {"determined", posterior.determined()},
          {"kept", posterior.eigenvalues.size()},
          {"complete", posterior.is_complete},
          {"eigenvalues", posterior.eigenvalues},
          {"products", posterior.products},
          {"wall_s", watch.seconds()}};
}

} // namespace recoil::app
