#pragma once

#include <optional>
#include <vector>

#include <coin/Clp_C_Interface.h>

namespace recoil::test {

/// A linear program min cost' x, A x = b, lower <= x, column by column, solved by COIN-OR CLP: an oracle.
class LinearProgram {
public:
  explicit LinearProgram(int rows) : right_(rows, 0.0) {}

  struct Entry {
    int row;
    double value;
  };
  void add_column(double cost, double lower, const std::vector<Entry>& entries) {
    costs_.push_back(cost);
    lower_.push_back(lower);
    for (const Entry& entry : entries) {
      rows_.push_back(entry.row);
      values_.push_back(entry.value);
    }
    starts_.push_back(static_cast<CoinBigIndex>(rows_.size()));
  }
  void set_right(int row, double value) { right_[row] = value; }

  /// The least cost; empty where nothing satisfies the conditions.
  std::optional<double> least_cost() const {
    const std::vector<double> upper(costs_.size(), 1e30);
    Clp_Simplex* model = Clp_newModel();
    Clp_setLogLevel(model, 0);
    Clp_loadProblem(model, static_cast<int>(costs_.size()), static_cast<int>(right_.size()), starts_.data(),
                    rows_.data(), values_.data(), lower_.data(), upper.data(), costs_.data(), right_.data(),
                    right_.data());
    Clp_setPrimalTolerance(model, 1e-9);
    Clp_setDualTolerance(model, 1e-9);
    Clp_scaling(model, 0);
    std::optional<double> cost;
    if (Clp_primal(model, 0) == 0 && Clp_status(model) == 0) cost = Clp_objectiveValue(model);
    Clp_deleteModel(model);
    return cost;
  }

private:
  std::vector<double> costs_, lower_, values_, right_;
  std::vector<int> rows_;
  std::vector<CoinBigIndex> starts_{0};
};

} // namespace recoil::test
