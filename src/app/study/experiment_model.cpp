#include "app/study/experiment_model.hpp"

#include <algorithm>
#include <cmath>

#include "app/study/experiment_problem.hpp"
#include "app/study/file_order.hpp"
#include "app/study/scene_as_run.hpp"
#include "app/study/scene_draft.hpp"
#include "app/study/start_values.hpp"

namespace recoil::app {

template <int dim>
ExperimentOnMesh<dim>::ExperimentOnMesh(const parallel::Communicator& comm, const Study& study,
                                        int experiment, LoadedScene loaded, const Interrupts& interrupts)
    : comm_(comm), study_(study), experiment_(experiment), loaded_(std::move(loaded)),
      geometry_(distribute_geometry<dim>(comm, loaded_)),
      fields_(make_parameter_fields(study, experiment, loaded_.file.scene, geometry_)),
      objectives_(open_objectives<dim>({study, experiment, loaded_.file.scene, geometry_.mesh})),
      interrupts_(interrupts) {
  for (const auto& field : fields_) start_.push_back(read_start_values(field, geometry_.mesh));
}

template <int dim>
Variant<dim> ExperimentOnMesh<dim>::variant(const Scene& scene, const ParameterValues& values) const {
  Variant<dim> variant = make_variant(scene, geometry_, fields_, values);
  variant.discrete->solver().interrupt_when(interrupts_.watch());
  return variant;
}

template <int dim>
std::unique_ptr<inverse::ForwardProblem> ExperimentOnMesh<dim>::at(const ParameterValues& values) const {
  return std::make_unique<ExperimentProblem<dim>>(*this, scene(), values);
}

template <int dim>
std::vector<int> ExperimentOnMesh<dim>::parameters() const {
  std::vector<int> result;
  for (const auto& field : fields_) result.push_back(field.index);
  return result;
}

template <int dim>
ParameterValues ExperimentOnMesh<dim>::values_along(const Direction& direction, double factor) const {
  ParameterValues values = start_;
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t entry = 0; entry < values[k].size(); ++entry)
      values[k][entry] += factor * component_of(direction, fields_[k], mesh(), start_[k], entry);
  return values;
}

template <int dim>
FieldSlots ExperimentOnMesh<dim>::slots(std::size_t k) const {
  const ParameterField<dim>& field = fields_[k];
  FieldSlots slots{field.index, field.components, is_replicated(k), {}, field.slot_names, 0, {}, {}};
  const std::size_t count = field.num_owned_slots, width = field.components;
  if (slots.is_replicated) {
    slots.ids = field.slot_ids;
  } else {
    const auto& mesh = geometry_.mesh;
    const bool cells = field.extent == ParameterField<dim>::Extent::cells;
    slots.num_rows = cells ? mesh.num_cells_global : mesh.num_vertices_global;
    slots.ids = comm_.all_gather_parts(std::span(field.slot_ids).first(count));
    std::ranges::sort(slots.ids);
  }
  slots.start.assign(slots.ids.size() * width, 0.0);
  slots.sizes = slots.start;
  for (std::size_t slot = 0; slot < count; ++slot) {
    const std::size_t at = std::ranges::lower_bound(slots.ids, field.slot_ids[slot]) - slots.ids.begin();
    for (std::size_t c = 0; c < width; ++c) {
      const double value = start_[k][slot * width + c];
      slots.start[at * width + c] = value;
      slots.sizes[at * width + c] = size_of(field, mesh(), value);
    }
  }
  if (!slots.is_replicated) {
    comm_.sum(slots.start);
    comm_.sum(slots.sizes);
  }
  return slots;
}

template <int dim>
double ExperimentOnMesh<dim>::derivative(const ParameterValues& gradient, const Direction& direction) const {
  double replicated = 0, shared = 0;
  for (std::size_t k = 0; k < fields_.size(); ++k) {
    double& sum = is_replicated(k) ? replicated : shared;
    for (std::size_t entry = 0; entry < fields_[k].owned_size(); ++entry)
      sum += gradient[k][entry] * component_of(direction, fields_[k], mesh(), start_[k], entry);
  }
  return replicated + comm_.sum(shared);
}

template <int dim>
double ExperimentOnMesh<dim>::sensitivity(const ParameterValues& gradient, std::size_t field) const {
  double squares = 0;
  for (std::size_t entry = 0; entry < fields_[field].owned_size(); ++entry) {
    const double change = gradient[field][entry] * size_of(fields_[field], mesh(), start_[field][entry]);
    squares += change * change;
  }
  return std::sqrt(is_replicated(field) ? squares : comm_.sum(squares));
}

template <int dim>
void ExperimentOnMesh<dim>::write_scene(const ParameterValues& values,
                                        const std::filesystem::path& folder) const {
  write_scene_with_values(scene_as_run(loaded_.file), scene(), geometry_, fields_, values, folder, name());
}

template <int dim>
void ExperimentOnMesh<dim>::write_field(io::Hdf5Writer& file, const std::string& group, std::size_t field,
                                        const ParameterValues& gradient) const {
  const auto write = [&](const char* array, const std::vector<double>& values) {
    write_in_file_order(file, group + "/" + array, fields_[field], mesh(), values);
  };
  std::vector<double> scaled = gradient[field];
  for (std::size_t i = 0; i < fields_[field].owned_size(); ++i)
    scaled[i] = scaled_derivative(*fields_[field].spec, start_[field][i], scaled[i]);
  write("value", start_[field]);
  write("gradient", gradient[field]);
  write("gradient_scaled", scaled);
}

template class ExperimentOnMesh<2>;
template class ExperimentOnMesh<3>;

} // namespace recoil::app
