#pragma once

#include <span>
#include <vector>

#include "app/study/parameters/parameter_field.hpp"
#include "recoil/io/hdf5_file.hpp"

namespace recoil::app {

/// The derivative by what an optimiser sees of a value, from that by the value.
double scaled_derivative(const ParameterSpec& spec, double value, double derivative);

/// Writes the values of a field, slot by slot, as an array that depends on neither partition nor number of
/// ranks: a row per cell or vertex of all bodies in the order of their input ids, NaN where the field has no
/// value; of a replicated field a row per slot. Each row has as many columns as a value has components. Of
/// slots that several ranks hold the owner's values count. Collective.
template <int dim>
void write_in_file_order(io::Hdf5Writer& file, const std::string& name, const ParameterField<dim>& field,
                         const mesh::DistributedMesh<dim>& mesh, std::span<const double> values);

/// The inverse: the values of all slots of this rank, zero in those of other owners. Collective.
/// @throws FileError on every rank if the array is of another mesh or field.
template <int dim>
std::vector<double> read_in_file_order(const io::Hdf5Reader& file, const std::string& name,
                                       const ParameterField<dim>& field,
                                       const mesh::DistributedMesh<dim>& mesh);

} // namespace recoil::app
