#include <bit>

#include <gtest/gtest.h>

#include "linalg/stencils.hpp"
#include "recoil/linalg/linear_solver.hpp"

namespace recoil::lasting_hierarchy_test {
namespace {

using linalg::BlockMatrix;
using linalg::HierarchyRecord;
using linalg::LinearMethod;
using linalg::LinearOutcome;
using linalg::LinearSolver;
using linalg::Renewal;
using linalg::Vector;

/// Sequences of one box whose stiffness changes from one to the next, each of two solves.
class LastingHierarchy : public ::testing::Test {
protected:
  parallel::Communicator comm{MPI_COMM_WORLD};
  testing::ElasticBox<3> box{comm, 9};
  BlockMatrix matrix{box.layout, box.graph};
  LinearSolver solver = make_solver();
  int references = 0; ///< how often one was asked for

  LinearSolver make_solver() const {
    return LinearSolver(box.layout, {.dimension = 3, .method = LinearMethod::amg});
  }
  void assemble(double young) {
    testing::ElasticParameters parameters;
    parameters.dt = 1e-2;
    parameters.young = young;
    testing::assemble(box, parameters, matrix);
  }
  struct Solved {
    Vector x;
    int iterations = 0;
  };
  Solved pass_sequence(double young, double key = 1) {
    solver.begin_sequence();
    solver.begin_with_reference(
        matrix, key,
        [&] {
          ++references;
          assemble(1e6);
        },
        box.modes());
    assemble(young);
    solver.update(matrix, box.modes());
    const Vector b = testing::weight(box, 1000);
    Solved solved{Vector(box.layout)};
    for (const double tolerance : {1e-3, 1e-6}) {
      const auto result = solver.solve(b, solved.x, tolerance, 500);
      EXPECT_EQ(result.outcome, LinearOutcome::converged);
      solved.iterations += result.iterations;
    }
    return solved;
  }
  void expect_same_bits(const Solved& a, const Solved& b) const {
    EXPECT_EQ(a.iterations, b.iterations);
    EXPECT_TRUE(comm.all(std::ranges::equal(a.x.owned(), b.x.owned(), [](double x, double y) {
      return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
    })));
  }
};

TEST_F(LastingHierarchy, IsBuiltOnceForSequencesThatChangeLittle) {
  const int first = pass_sequence(1e6).iterations;
  for (const double young : {1.02e6, 1.1e6, 0.95e6}) EXPECT_LE(pass_sequence(young).iterations, first + 4);
  EXPECT_EQ(references, 1);
  EXPECT_EQ(solver.hierarchy_record().at_start, Renewal::stiff_terms);
  EXPECT_GT(solver.hierarchy_record().iterations_per_digit, 0);
}

TEST_F(LastingHierarchy, IsAnotherOneForAnotherKey) {
  pass_sequence(1e6, 1);
  pass_sequence(1e6, 2);
  pass_sequence(1e6, 2);
  EXPECT_EQ(references, 2);
}

// Stiffnesses at which the hierarchy is used whole, then for its interpolation alone, then not at all.
TEST_F(LastingHierarchy, GoesOnWithTheSameBitsFromARecord) {
  const std::vector<double> course{1e6, 1.05e6, 0.97e6, 2e7, 1e6, 3e7, 1e6};
  std::vector<Solved> whole;
  std::vector<HierarchyRecord> records;
  for (const double young : course) {
    whole.push_back(pass_sequence(young));
    records.push_back(solver.hierarchy_record());
  }
  EXPECT_EQ(records[2].at_start, Renewal::stiff_terms);
  EXPECT_GT(records.back().at_start, Renewal::stiff_terms);

  for (std::size_t from = 1; from < course.size(); ++from) {
    solver = make_solver();
    solver.restore(records[from - 1]);
    for (std::size_t sequence = from; sequence < course.size(); ++sequence) {
      expect_same_bits(pass_sequence(course[sequence]), whole[sequence]);
      EXPECT_EQ(solver.hierarchy_record().at_start, records[sequence].at_start);
      EXPECT_EQ(solver.hierarchy_record().iterations_per_digit, records[sequence].iterations_per_digit);
    }
  }
}

TEST_F(LastingHierarchy, IsNotBuiltAgainAfterItHasBeenGivenUp) {
  solver.restore({1, 2, Renewal::everything});
  pass_sequence(1e6);
  EXPECT_EQ(references, 0);
}

TEST_F(LastingHierarchy, LeavesOtherMethodsAlone) {
  solver = LinearSolver(box.layout, {.dimension = 3, .method = LinearMethod::direct});
  pass_sequence(1e6);
  solver = LinearSolver(box.layout, {.dimension = 3, .method = LinearMethod::block_jacobi});
  pass_sequence(1e6);
  EXPECT_EQ(references, 0);
}

/// With stiff springs between a wall and nodes of the last layer, other ones in the second solve of a
/// sequence.
class LastingHierarchyInContact : public LastingHierarchy {
protected:
  /// Number of springs in the first solve and the second, and whether one of the second couples far nodes.
  struct Course {
    double young;
    int first, second;
    bool couples = false;
  };
  linalg::StencilMatrix contact{box.layout};

  void touch(int begin, int count, bool couples = false) {
    const int n = box.divisions;
    const GlobalIndex last_layer = GlobalIndex{n} * box.layer_size();
    std::vector<testing::Stencil> springs;
    for (GlobalIndex k = begin; k < begin + count; ++k) {
      const Eigen::Vector3d normal = Eigen::Vector3d(0.1 * std::sin(1.0 * k), 0.2, 1).normalized();
      const GlobalIndex node = last_layer + k / n * (n + 1) + k % n + 1; // beside the clamped face
      springs.push_back(
          {static_cast<int>(k % comm.size()), {node}, 1e4 * 1e6 / n * normal * normal.transpose()});
    }
    if (couples) {
      Eigen::VectorXd g(6);
      g << 0, 0, 1, 0, 0, -1;
      springs.push_back({0, {GlobalIndex{n}, last_layer + n}, 1e6 * g * g.transpose()});
    }
    testing::assemble(springs, contact);
  }
  Solved pass(const Course& course) {
    solver.begin_sequence();
    assemble(course.young);
    touch(0, course.first);
    solver.update(matrix, box.modes(), &contact);
    const auto reference = [&] {
      ++references;
      assemble(1e6);
    };
    if (solver.begin_with_reference(matrix, 1, reference, box.modes(), &contact)) assemble(course.young);
    const Vector b = testing::weight(box, 1000);
    Solved solved{Vector(box.layout)};
    for (const bool begins : {true, false}) {
      if (!begins) touch(2, course.second, course.couples);
      solver.update(matrix, box.modes(), &contact);
      const auto result = solver.solve(b, solved.x, begins ? 1e-3 : 1e-6, 500);
      EXPECT_EQ(result.outcome, LinearOutcome::converged);
      EXPECT_LE(result.relative_residual, 1e-3);
      solved.iterations += result.iterations;
    }
    return solved;
  }
};

// The operators of the reference are made again where contact has ended.
TEST_F(LastingHierarchyInContact, KeepsItsInterpolation) {
  const int first = pass({1e6, 0, 0}).iterations;
  for (const Course& course : {Course{1.02e6, 0, 20}, Course{1.1e6, 20, 40}, Course{0.95e6, 40, 3}})
    EXPECT_LE(pass(course).iterations, 1.3 * first + 4);
  EXPECT_EQ(references, 1);
  EXPECT_LE(pass({1.02e6, 0, 0}).iterations, first + 4);
  EXPECT_EQ(references, 2);
  EXPECT_EQ(solver.hierarchy_record().at_start, Renewal::stiff_terms);
  EXPECT_GT(solver.hierarchy_record().iterations_per_digit_with_stiff_terms, 0);
}

TEST_F(LastingHierarchyInContact, GoesOnWithTheSameBitsFromARecord) {
  const std::vector<Course> courses{{1e6, 0, 0},   {1e6, 0, 20},      {1.1e6, 30, 20}, {0.97e6, 0, 0},
                                    {1e6, 30, 40}, {1.2e6, 40, 40},   {0.9e6, 40, 40}, {2e7, 30, 30},
                                    {1e6, 9, 9},   {1e6, 0, 7, true}, {1e6, 20, 30}};
  std::vector<Solved> whole;
  std::vector<HierarchyRecord> records;
  for (const Course& course : courses) {
    whole.push_back(pass(course));
    records.push_back(solver.hierarchy_record());
  }
  EXPECT_EQ(records[6].at_start, Renewal::stiff_terms);
  EXPECT_EQ(records.back().at_start, Renewal::everything);

  for (std::size_t from = 1; from < courses.size(); ++from) {
    solver = make_solver();
    solver.restore(records[from - 1]);
    for (std::size_t sequence = from; sequence < courses.size(); ++sequence) {
      expect_same_bits(pass(courses[sequence]), whole[sequence]);
      const HierarchyRecord record = solver.hierarchy_record();
      EXPECT_EQ(record.at_start, records[sequence].at_start);
      EXPECT_EQ(record.iterations_per_digit, records[sequence].iterations_per_digit);
      EXPECT_EQ(record.iterations_per_digit_with_stiff_terms,
                records[sequence].iterations_per_digit_with_stiff_terms);
    }
  }
}

TEST_F(LastingHierarchyInContact, EndsWhereTermsCoupleWhatTheMatrixDoesNot) {
  pass({1e6, 0, 5});
  pass({1e6, 5, 5, true});
  EXPECT_EQ(solver.hierarchy_record().at_start, Renewal::everything);
  pass({1e6, 5, 5});
  EXPECT_EQ(references, 1);
}

} // namespace
} // namespace recoil::lasting_hierarchy_test
