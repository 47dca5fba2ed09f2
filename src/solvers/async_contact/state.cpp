#include "recoil/solvers/async_contact/state.hpp"

#include <cmath>
#include <type_traits>

#include "recoil/base/error.hpp"
#include "solvers/async_contact/ledger_sums.hpp"

namespace recoil::solvers::async_contact {

namespace {

constexpr double version_of_numbers = 2;

/// Whole numbers go in two parts, each of which a double holds exactly.
constexpr double low_part = 0x1p32;

struct NumberWriter {
  std::vector<double> numbers;

  void number(const double& x) { numbers.push_back(x); }
  void whole(const std::int64_t& x) {
    const std::int64_t high = x >> 32;
    numbers.push_back(static_cast<double>(high));
    numbers.push_back(static_cast<double>(x - (high << 32)));
  }
  template <class Matrix>
  void matrix(const Matrix& x) {
    for (const double entry : x.reshaped()) number(entry);
  }
  template <class List>
  std::size_t size(const List& list) {
    whole(static_cast<std::int64_t>(list.size()));
    return list.size();
  }
};

struct NumberReader {
  std::span<const double> numbers;

  double next() {
    if (numbers.empty())
      throw InputError(
          "the state of asynchronous contact ends too early: take a restart point that is whole");
    const double x = numbers.front();
    numbers = numbers.subspan(1);
    return x;
  }
  void number(double& x) { x = next(); }
  void whole(std::int64_t& x) {
    const double high = next(), low = next();
    if (!(std::abs(high) < 0x1p31 && low >= 0 && low < low_part))
      throw InputError("the state of asynchronous contact is damaged: take a restart point that is whole");
    x = (static_cast<std::int64_t>(high) << 32) + static_cast<std::int64_t>(low);
  }
  template <class Matrix>
  void matrix(Matrix& x) {
    for (double& entry : x.reshaped()) number(entry);
  }
  template <class List>
  std::size_t size(List& list) {
    std::int64_t count = 0;
    whole(count);
    if (count < 0 || count > std::ssize(numbers))
      throw InputError("the state of asynchronous contact is damaged: take a restart point that is whole");
    list.resize(static_cast<std::size_t>(count));
    return list.size();
  }
};

/// Hands all members to a writer or, by reference, to a reader.
template <class Archive, class State>
void visit_state(Archive& archive, State& state) {
  archive.whole(state.tick);
  archive.size(state.vertices);
  for (auto& vertex : state.vertices) {
    archive.matrix(vertex.q);
    archive.matrix(vertex.v);
    archive.whole(vertex.tick);
    archive.number(vertex.inverse_mass);
    archive.matrix(vertex.ahead);
    archive.matrix(vertex.force);
  }
  archive.size(state.rest_angles);
  for (auto& angle : state.rest_angles) archive.number(angle);
  archive.size(state.shapes);
  for (auto& shape : state.shapes) archive.number(shape);
  archive.size(state.anchors);
  for (auto& anchor : state.anchors) {
    std::int64_t number = static_cast<std::int64_t>(anchor.pair);
    archive.whole(number);
    if constexpr (!std::is_const_v<State>) anchor.pair = static_cast<std::uint64_t>(number);
    archive.whole(anchor.last_contact);
    archive.matrix(anchor.friction.displacement);
    archive.matrix(anchor.friction.points);
    archive.number(anchor.friction.mean);
    archive.number(anchor.friction.owed);
    archive.number(anchor.friction.pressing);
  }
  visit_sums(state.ledger, [&](auto& x) { archive.number(x); });
}

} // namespace

std::vector<double> to_numbers(const IntegratorState& state) {
  NumberWriter writer;
  writer.number(version_of_numbers);
  visit_state(writer, state);
  return std::move(writer.numbers);
}

IntegratorState from_numbers(std::span<const double> numbers) {
  NumberReader reader{numbers};
  if (reader.next() != version_of_numbers)
    throw InputError("the state of asynchronous contact is of another version of recoil: begin the run anew");
  IntegratorState state;
  visit_state(reader, state);
  if (!reader.numbers.empty())
    throw InputError("the state of asynchronous contact is damaged: take a restart point that is whole");
  return state;
}

} // namespace recoil::solvers::async_contact
