#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

#include <nlohmann/json.hpp>

#include "recoil/app/study/fields/parameter_kind.hpp"
#include "recoil/io/hdf5_file.hpp"

/// Values of parameters, and derivatives by them, in files of results.
namespace recoil::app {

/// The unit of the values of a parameter, "1" where it has none.
const char* unit_of(const ParameterSpec& spec);

/// A single value as it is, several as a list.
template <class T>
nlohmann::ordered_json value_or_list(const std::vector<T>& values) {
  if (values.size() == 1) return values.front();
  return values;
}

/// The derivative by what an optimiser sees of a value, from that by the value.
double scaled_derivative(const ParameterSpec& spec, double value, double derivative);

/// Writes an HDF5 file aside, then puts it in the place of `path`. Collective. @throws FileError on every
/// rank.
void write_arrays_aside(const parallel::Communicator& comm, const std::filesystem::path& path,
                        const std::function<void(io::Hdf5Writer&)>& write,
                        io::Durability durability = io::Durability::machine);

/// Writes the values of a field, slot by slot, as an array that depends on neither partition nor number of
/// ranks: a row per cell, vertex or node of all bodies in the order of their ids, NaN where the field has no
/// value; of a replicated field a row per slot. Each row has as many columns as a value has components. Of
/// slots that several ranks hold the owner's values count. Collective.
template <int dim>
void write_in_file_order(io::Hdf5Writer& file, const std::string& name, const ParameterField<dim>& field,
                         const mesh::DistributedMesh<dim>& mesh, std::span<const double> values);

/// Reads such an array again: the values of all slots of this rank, zero in those of other owners.
/// Collective.
/// @throws FileError on every rank if the array is of another mesh or field.
template <int dim>
std::vector<double> read_in_file_order(const io::Hdf5Reader& file, const std::string& name,
                                       const ParameterField<dim>& field,
                                       const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app
