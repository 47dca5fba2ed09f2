#include <filesystem>
#include <fstream>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "objective.hpp"
#include "recoil/app/run/inspect.hpp"
#include "recoil/app/run/simulate.hpp"
#include "recoil/app/scene/read_scene.hpp"
#include "recoil/app/scene/scene_format.hpp"
#include "recoil/app/solvers/list/all_solvers.hpp"
#include "recoil/app/study/fit/optimize.hpp"
#include "recoil/app/study/gradient/gradient.hpp"
#include "recoil/app/study/input/read_study.hpp"
#include "recoil/base/atomic_file.hpp"
#include "recoil/base/version.hpp"
#include "session.hpp"

/// The module recoil._core: functions of app and inverse for the Python package around it, which says what
/// they do (_core.pyi).
namespace recoil::python {

namespace py = pybind11;

namespace {

using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::span<const double> numbers_of(const Numbers& array) {
  if (array.ndim() != 1) throw py::value_error("an array with one axis is needed");
  return {array.data(), static_cast<std::size_t>(array.size())};
}

Numbers array_of(const std::vector<double>& numbers) {
  return Numbers(static_cast<py::ssize_t>(numbers.size()), numbers.data());
}

/// Makes a Failure a Python exception. A signal is first handed to Python's handler of it, which mostly
/// raises one of its own.
void raise(const Failure& failure) {
  if (failure.signal != 0) {
    PyErr_SetInterruptEx(failure.signal);
    if (PyErr_CheckSignals() != 0) return;
  }
  try {
    const py::object make = py::module_::import("recoil._errors").attr("make");
    const py::object error = make(static_cast<int>(failure.code), failure.message, failure.subject);
    PyErr_SetObject(py::type::of(error).ptr(), error.ptr());
  } catch (py::error_already_set& error) {
    error.restore();
  }
}

/// What `work(comm)` gives, in a Call. Collective.
template <class Work>
auto call(std::uintptr_t address, const char* subject, Work work) {
  const py::gil_scoped_release release;
  const Call call(subject);
  const parallel::Communicator comm = communicator_at(address);
  return call.run(comm, [&] { return work(comm); });
}

app::ConsoleOptions console(bool quiet, bool verbose) { return {quiet, false, verbose}; }

std::string validate(const std::string& scene, const std::string& text, std::uintptr_t comm) {
  return call(comm, "scene", [&](const parallel::Communicator& ranks) {
    std::string report = app::validate_scene(ranks, scene, app::all_solvers(), text);
    ranks.broadcast(report);
    return report;
  });
}

int simulate(const std::string& scene, const std::string& text, const std::string& output,
             const std::string& restart, std::optional<std::int64_t> steps, bool quiet, bool verbose,
             std::uintptr_t comm) {
  return call(comm, "scene", [&](const parallel::Communicator& ranks) {
    const app::SimulateOptions options{scene, text, output, restart, steps, console(quiet, verbose)};
    const ExitCode code = app::simulate(ranks, options, app::all_solvers());
    ranks.barrier(); // the first rank has written the last file
    return static_cast<int>(code);
  });
}

/// One of the commands that work on a study in a folder.
template <ExitCode (*command)(const parallel::Communicator&, const app::StudyOptions&)>
int study_command(const std::string& study, const std::string& text, const std::string& output,
                  const std::string& restart, bool check, bool quiet, bool verbose, std::uintptr_t comm) {
  return call(comm, "study", [&](const parallel::Communicator& ranks) {
    app::StudyOptions options;
    options.study = study;
    options.text = text;
    options.output = output;
    options.restart = restart;
    options.check = check;
    options.console = console(quiet, verbose);
    const ExitCode code = command(ranks, options);
    ranks.barrier();
    return static_cast<int>(code);
  });
}

py::tuple info(const std::string& folder, std::uintptr_t comm) {
  const app::RunReport report = call(comm, "folder", [&](const parallel::Communicator& ranks) {
    app::RunReport found = app::describe_run(ranks, folder);
    ranks.broadcast(found.text);
    return found;
  });
  return py::make_tuple(report.text, report.sound);
}

void write_resolved_scene(const std::string& text, const std::string& name, const std::string& path,
                          std::uintptr_t comm) {
  call(comm, "scene", [&](const parallel::Communicator& ranks) {
    return parallel::collectively(ranks, [&] {
      if (ranks.rank() != 0) return 0;
      const app::SceneFile scene =
          app::parse_scene(text, name, std::filesystem::current_path(), app::all_solvers().format());
      write_file_atomically(path, scene.resolved);
      return 0;
    });
  });
}

/// Makes a folder for temporary files, on the first rank. Collective.
std::string make_temporary_folder(std::uintptr_t comm) {
  return call(comm, "", [&](const parallel::Communicator& ranks) {
    std::string made = parallel::collectively(ranks, [&]() -> std::string {
      if (ranks.rank() != 0) return {};
      std::string name = (std::filesystem::temp_directory_path() / "recoil-XXXXXX").string();
      if (mkdtemp(name.data()) == nullptr)
        throw FileError(name + ": cannot be made; TMPDIR names the folder for it");
      return name;
    });
    ranks.broadcast(made);
    return made;
  });
}

std::string schema(const std::string& kind) {
  if (kind == "scene") return app::scene_json_schema(app::all_solvers().format());
  if (kind == "study") return app::study_json_schema();
  throw py::value_error("there are schemas of \"scene\" and \"study\"");
}

template <std::vector<double> (StudyFunction::*member)(std::span<const double>)>
Numbers evaluate(StudyFunction& function, const Numbers& x) {
  const std::span<const double> numbers = numbers_of(x);
  std::vector<double> result;
  {
    const py::gil_scoped_release release;
    result = (function.*member)(numbers);
  }
  return array_of(result);
}

void add_study_function(py::module_& module) {
  py::class_<StudyFunction>(module, "StudyFunction")
      .def(py::init([](const std::string& study, const std::string& text, const std::string& folder,
                       std::uintptr_t comm) {
             const py::gil_scoped_release release;
             return std::make_unique<StudyFunction>(comm, study, text, folder);
           }),
           py::arg("study"), py::arg("text"), py::arg("folder"), py::arg("comm"))
      .def("close", &StudyFunction::close)
      .def("value",
           [](StudyFunction& function, const Numbers& x) {
             const std::span<const double> numbers = numbers_of(x);
             const py::gil_scoped_release release;
             return function.value(numbers);
           })
      .def("gradient", &evaluate<&StudyFunction::gradient>)
      .def("residuals", &evaluate<&StudyFunction::residuals>)
      .def("jacobian",
           [](StudyFunction& function, const Numbers& x) {
             const Numbers rows = evaluate<&StudyFunction::jacobian>(function, x);
             return rows.attr("reshape")(-1, function.start().size());
           })
      .def("write_scenes",
           [](StudyFunction& function, const Numbers& x, const std::string& folder) {
             const std::span<const double> numbers = numbers_of(x);
             const py::gil_scoped_release release;
             function.write_scenes(numbers, folder);
           })
      .def("values",
           [](const StudyFunction& f, const Numbers& x) { return array_of(f.values(numbers_of(x))); })
      .def("variables",
           [](const StudyFunction& f, const Numbers& q) { return array_of(f.variables(numbers_of(q))); })
      .def_property_readonly("parameters",
                             [](const StudyFunction& function) {
                               py::dict labels;
                               for (const ParameterBlock& block : function.parameters())
                                 labels[py::str(block.name)] = block.labels;
                               return labels;
                             })
      .def_property_readonly("warnings", &StudyFunction::warnings)
      .def_property_readonly("start", [](const StudyFunction& f) { return array_of(f.start()); })
      .def_property_readonly("lower", [](const StudyFunction& f) { return array_of(f.lower()); })
      .def_property_readonly("upper", [](const StudyFunction& f) { return array_of(f.upper()); })
      .def_property_readonly("why_not_least_squares", &StudyFunction::why_not_least_squares)
      .def_property_readonly("is_chi_squared", &StudyFunction::is_chi_squared)
      .def_property_readonly("failure", &StudyFunction::failure);
}

} // namespace

} // namespace recoil::python

PYBIND11_MODULE(_core, module) {
  namespace py = pybind11;
  namespace core = recoil::python;
  py::register_exception_translator([](std::exception_ptr escaped) {
    try {
      if (escaped) std::rethrow_exception(escaped);
    } catch (const core::Failure& failure) {
      core::raise(failure);
    } catch (const recoil::Error& error) {
      core::raise({error.code(), error.what()});
    }
  });
  module.def("version", &recoil::version);
  module.def("build_info", &recoil::build_info);
  module.attr("size_of_communicator") = sizeof(MPI_Comm);
  module.def("is_started", &core::is_started);
  module.def("start", &core::start, py::arg("petsc"));
  module.def("finish", &core::finish);
  module.def("schema", &core::schema);
  module.def("validate", &core::validate, py::arg("scene"), py::arg("text"), py::arg("comm"));
  module.def("simulate", &core::simulate, py::arg("scene"), py::arg("text"), py::arg("output"),
             py::arg("restart"), py::arg("steps"), py::arg("quiet"), py::arg("verbose"), py::arg("comm"));
  const auto add_command = [&](const char* name, auto command) {
    module.def(name, command, py::arg("study"), py::arg("text"), py::arg("output"), py::arg("restart"),
               py::arg("check"), py::arg("quiet"), py::arg("verbose"), py::arg("comm"));
  };
  add_command("gradient", &core::study_command<&recoil::app::gradient>);
  add_command("optimize", &core::study_command<&recoil::app::optimize>);
  module.def("info", &core::info, py::arg("folder"), py::arg("comm"));
  module.def("write_resolved_scene", &core::write_resolved_scene, py::arg("text"), py::arg("name"),
             py::arg("path"), py::arg("comm"));
  module.def("make_temporary_folder", &core::make_temporary_folder, py::arg("comm"));
  core::add_study_function(module);
}
