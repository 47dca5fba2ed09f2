#pragma once

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/study/experiment/parameter_chains.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/experiment/check_scenes.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "support/derivatives.hpp"
#include "support/temporary_folder.hpp"

namespace recoil::app {

/// Whether the program runs on one rank. There derivatives are compared with differences, which are most of
/// the work; on several ranks they are compared with those of one.
inline bool is_alone() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size == 1;
}

/// A study with one experiment on the ranks of a communicator.
template <int dim>
class StudiedExperiment {
public:
  StudiedExperiment(MPI_Comm ranks, const nlohmann::json& scene, nlohmann::json study,
                    const std::map<std::string, std::string>& files = {})
      : comm_(ranks), folder_(comm_) {
    study["experiments"] = {{"name", "run"}, {"scene", "scene.json"}};
    if (comm_.rank() == 0) {
      std::ofstream(folder_ / "scene.json") << scene;
      for (const auto& [name, content] : files) std::ofstream(folder_ / name) << content;
    }
    comm_.barrier();
    loaded_ = load_scene(comm_, folder_ / "scene.json", all_solvers());
    study_ = parse_study(study.dump(), "study.json", folder_.path()).study;
    const std::vector<Scene> scenes{loaded_.file.scene};
    const std::vector<int> dims{dim};
    check_study_against_scenes(study_, scenes);
    check_study_dimensions(study_, dims);
    geometry_ = std::make_unique<DistributedGeometry<dim>>(distribute_geometry<dim>(comm_, loaded_));
    fields_ = make_parameter_fields(study_, 0, this->scene(), *geometry_);
    for (const auto& field : fields_) start_.push_back(read_start_values(field, *geometry_->mesh.comm));
  }

  const parallel::Communicator& comm() const { return comm_; }
  const std::filesystem::path& folder() const { return folder_.path(); }
  const Study& study() const { return study_; }
  const Scene& scene() const { return loaded_.file.scene; }
  const std::string& resolved() const { return loaded_.file.resolved; }
  const DistributedGeometry<dim>& geometry() const { return *geometry_; }
  const std::vector<ParameterField<dim>>& fields() const { return fields_; }
  const ParameterValues& start() const { return start_; }

  Variant<dim> at(const ParameterValues& values) const {
    return make_variant(scene(), *geometry_, fields_, values);
  }

  /// A direction of the values of field `k`, each of its own size, the same on any partition.
  std::vector<double> direction(std::size_t k) const {
    const ParameterField<dim>& field = fields_[k];
    const auto width = static_cast<std::size_t>(field.components);
    std::vector<double> values(field.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::sin(7.13 * static_cast<double>(field.slot_ids[i / width]) +
                           41.7 * static_cast<double>(i % width) + static_cast<double>(k) + 0.3) *
                  (start_[k][i] != 0 ? std::abs(start_[k][i]) : 0.02);
    return values;
  }
  /// Derivative along the direction of field `k`, summed over ranks.
  double slope(std::size_t k, const std::vector<double>& gradient) const {
    const std::vector<double> along = direction(k);
    double sum = 0;
    for (std::size_t i = 0; i < fields_[k].owned_size(); ++i) sum += gradient[i] * along[i];
    return fields_[k].extent == ParameterField<dim>::Extent::replicated ? sum : comm_.sum(sum);
  }

private:
  parallel::Communicator comm_;
  testing::TemporaryFolder folder_;
  LoadedScene loaded_;
  Study study_;
  std::unique_ptr<DistributedGeometry<dim>> geometry_;
  std::vector<ParameterField<dim>> fields_;
  ParameterValues start_;
};

/// The smallest error of central differences of fourth order of value(h) at 0 against `slope`.
template <class Value>
double difference_error(double slope, Value&& value) {
  double error = std::numeric_limits<double>::infinity();
  for (const double h : {1e-2, 1e-3, 1e-4, 1e-5}) {
    const auto difference = [&](double by) { return value(by) - value(-by); };
    error = std::min(error, std::abs((8 * difference(h) - difference(2 * h)) / (12 * h) - slope));
    if (error <= 1e-9 * std::abs(slope)) break;
  }
  return error;
}

} // namespace recoil::app
