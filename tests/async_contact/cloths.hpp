#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>

#include "recoil/potentials/contact/contact_search.hpp"
#include "recoil/solvers/async_contact/integrator.hpp"
#include "recoil/solvers/async_contact/shell.hpp"
#include "surface/sheet.hpp"

/// Sheets for runs of asynchronous contact.
namespace recoil::solvers::async_contact::testing {

using Map = std::function<Eigen::Vector3d(double, double)>;

/// Sheets of nx x ny rectangles, each of two triangles, as the text of one OBJ file; (s, t) in the unit
/// square.
class SheetText {
public:
  void add_grid(int nx, int ny, const Map& map) {
    const int first = count_ + 1;
    for (int j = 0; j <= ny; ++j)
      for (int i = 0; i <= nx; ++i) add_vertex(map(double(i) / nx, double(j) / ny));
    const auto at = [&](int i, int j) { return " " + std::to_string(first + i + j * (nx + 1)); };
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) {
        faces_ += "f" + at(i, j) + at(i + 1, j) + at(i + (i + j) % 2, j + 1) + "\n";
        faces_ += "f" + at(i + 1 - (i + j) % 2, j) + at(i + 1, j + 1) + at(i, j + 1) + "\n";
      }
  }
  /// Pyramid of three sides without a bottom.
  void add_spike(const Eigen::Vector3d& base, double radius, double height) {
    for (int i = 0; i < 3; ++i)
      add_vertex(base + radius * Eigen::Vector3d(std::cos(2.1 * i), std::sin(2.1 * i), 0));
    add_vertex(base + Eigen::Vector3d(0, 0, height));
    for (int i = 0; i < 3; ++i)
      faces_ += "f " + std::to_string(count_ - 3 + i) + " " + std::to_string(count_ - 3 + (i + 1) % 3) + " " +
                std::to_string(count_) + "\n";
  }
  std::string text() const { return vertices_ + faces_; }

private:
  void add_vertex(const Eigen::Vector3d& x) {
    vertices_ +=
        "v " + std::to_string(x.x()) + " " + std::to_string(x.y()) + " " + std::to_string(x.z()) + "\n";
    ++count_;
  }
  int count_ = 0;
  std::string vertices_, faces_;
};

/// Sheets of a text as surface and model.
struct Shells {
  parallel::Communicator comm{MPI_COMM_SELF}; ///< shells are on one rank
  surface::Sheet<3> sheet;
  surface::Surface<3> surface;
  Model model;

  Shells(const SheetText& text, const ShellMaterial& material)
      : sheet(comm, text.text()), surface(surface::surface_of_sheets<3>(comm, sheet.share)) {
    add_shell(model, surface, material);
  }
  GlobalIndex intersections(const Integrator& run) const {
    std::vector<Eigen::Vector3d> x = run.positions();
    x.resize(surface.vertices().size());
    return potentials::count_intersections<3>(surface, x);
  }
  /// Prescribes the vertices that `which` is true of and takes away elements of these alone.
  void prescribe(const std::function<bool(const Eigen::Vector3d&)>& which) {
    for (LocalIndex v = 0; v < model.num_vertices(); ++v)
      if (which(model.positions[v])) model.masses[v] = prescribed_mass;
    const auto fixed = [&](const auto& element) {
      return std::ranges::all_of(element.vertices, [&](LocalIndex v) { return std::isinf(model.masses[v]); });
    };
    std::erase_if(model.membranes, fixed);
    std::erase_if(model.hinges, fixed);
  }
};

inline ShellMaterial cloth() {
  return {.stretching_stiffness = 50, .bending_stiffness = 1e-4, .area_density = 0.2};
}

/// A sheet with random velocities that walls press together.
struct CrumpledSheet : Shells {
  explicit CrumpledSheet(unsigned seed) : Shells(text(), material()) {
    std::mt19937 generator(seed);
    std::uniform_real_distribution<double> number(-1, 1);
    for (Eigen::Vector3d& v : model.velocities)
      v = 2 * Eigen::Vector3d(number(generator), number(generator), number(generator));
    model.contact = {.eta = 1e-3, .stiffness = 200, .alpha = 0.05, .restitution = 0.5, .friction = 0.3};
    for (const int axis : {0, 1}) {
      const Eigen::Vector3d along = Eigen::Vector3d::Unit(axis);
      model.add_plane(-0.02 * along, along, 1.0 * along);
      model.add_plane(0.16 * along, -along, -1.0 * along);
    }
  }

private:
  static SheetText text() {
    SheetText result;
    result.add_grid(7, 7, [](double s, double t) {
      return Eigen::Vector3d(0.14 * s, 0.14 * t, 0.003 * std::sin(17 * s * t));
    });
    return result;
  }
  static ShellMaterial material() {
    ShellMaterial result = cloth();
    // Where friction holds a vertex, each kick of a membrane is an energy (h F)^2 / 2 m that friction takes
    // away: dissipation of first order in the step, beyond what the ledger's tolerance allows with 0.1.
    result.alpha = 0.025;
    return result;
  }
};

/// Two cloths of `cells`^2 rectangles above nine spikes (a small version of the paper's).
struct ClothsAboveSpikes : Shells {
  explicit ClothsAboveSpikes(int cells = 7) : Shells(text(cells), damped()) {
    prescribe([](const Eigen::Vector3d& x) { return x.z() < 0.041; });
    model.gravity = {0, 0, -9.8};
    model.contact = {.eta = cells > 20 ? 4e-4 : 1e-3, .stiffness = 200, .alpha = 0.05};
  }

private:
  static SheetText text(int cells) {
    SheetText result;
    for (const double height : {0.05, 0.058})
      result.add_grid(cells, cells, [height](double s, double t) {
        return Eigen::Vector3d(0.14 * s - 0.07, 0.14 * t - 0.07, height + 0.002 * std::sin(11 * s + 5 * t));
      });
    for (const double x : {-0.04, 0.0, 0.04})
      for (const double y : {-0.04, 0.0, 0.04}) result.add_spike({x + 0.003, y - 0.002, 0}, 0.006, 0.04);
    return result;
  }
  static ShellMaterial damped() {
    ShellMaterial material = cloth();
    material.stretch_damping = 0.01;
    material.bend_damping = 1e-7;
    return material;
  }
};

} // namespace recoil::solvers::async_contact::testing
