#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "recoil/checkpoint/run_folder.hpp"
#include "recoil/parallel/communicator.hpp"

/// Tables that a run writes beside its trajectory: CSV files whose second column is the time.
namespace recoil::app {

/// Begins a table anew, or keeps its complete rows up to a time: those of a run that is continued from there.
/// Not collective. @throws FileError.
void begin_table(const std::filesystem::path& table, const std::string& head, double last_time);

/// The time [s] up to which a run has rows of before: that of the state that it continues from; -infinity
/// where it begins. Collective. @throws FileError on every rank.
double time_of_last_rows(const parallel::Communicator& comm, const checkpoint::RunFolder& folder,
                         bool continues);

/// Adds rows, which the first rank has. Collective. @throws FileError on every rank.
void add_to_table(const parallel::Communicator& comm, const std::filesystem::path& table,
                  const std::string& rows);

/// A name as a cell, in quotes where it has to be (RFC 4180). @pre it has no line breaks.
std::string quoted_cell(const std::string& name);

/// A comma and nine digits for each value.
std::string table_cells(std::span<const double> values);

} // namespace recoil::app
