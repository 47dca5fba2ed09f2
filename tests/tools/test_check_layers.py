"""Proves that scripts/check_layers.py finds each kind of violation, and nothing in a clean house."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "check_layers.py"

TABLE = """
[floors]
0  base
1  parallel
1  geometry
2  linalg
8  solvers/elastodynamics
8  solvers/bdem
11 app
12 app/solvers/rods
13 app/study
13 drivers: app base
[headers]
petscdm*.h   -
petsc*.h     linalg
hdf5*.h      app/s*
mpi.h        parallel
[targets]
PkgConfig::PETSC   linalg
[top]
src include docs drivers scripts CMakeLists.txt
"""

CLEAN = {
    "docs/layers.txt": TABLE,
    "include/recoil/base/error.hpp": "#pragma once\n#include <string>\n",
    "include/recoil/parallel/communicator.hpp": '#pragma once\n#include <mpi.h>\n#include "recoil/base/error.hpp"\n',
    "include/recoil/geometry/distance.hpp": '#include "recoil/base/error.hpp"\n',
    "include/recoil/linalg/vector.hpp": '#include <petscvec.h>\n#include "recoil/parallel/communicator.hpp"\n',
    "include/recoil/app/run.hpp": '#include "recoil/solvers/bdem/step.hpp"\n',
    "include/recoil/solvers/bdem/step.hpp": '#include "recoil/linalg/vector.hpp"\n',
    "src/linalg/vector.cpp": '#include "recoil/linalg/vector.hpp"\n#include "linalg/check.hpp"\n',
    "src/linalg/check.hpp": "// https://example.org/home/x is no path\n",
    "src/linalg/CMakeLists.txt": "recoil_add_folder(linalg SOURCES vector.cpp PUBLIC recoil::parallel PkgConfig::PETSC)\n",
    "drivers/main.cpp": '#include "commands.hpp"\n#include "recoil/app/run.hpp"\n',
    "drivers/commands.hpp": "#pragma once\n",
}


class CheckLayers(unittest.TestCase):
    def run_on(self, changes, *options):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**CLEAN, **changes}.items():
                path = Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            return subprocess.run([sys.executable, SCRIPT, "--root", folder, *options], capture_output=True, text=True)

    def expect(self, rule, place, changes, words=""):
        result = self.run_on(changes)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        lines = [line for line in result.stdout.splitlines() if "[" in line]
        self.assertEqual(len(lines), 1, result.stdout)
        self.assertTrue(lines[0].startswith(f"{place}: [{rule}]"), lines[0])
        self.assertIn(words, lines[0])

    def test_clean_house_passes(self):
        result = self.run_on({})
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_higher_floor(self):
        self.expect("floor", "include/recoil/base/error.hpp:2",
                    {"include/recoil/base/error.hpp": '#pragma once\n#include "recoil/linalg/vector.hpp"\n'},
                    "base (floor 0) may not see linalg (floor 2)")

    def test_equal_floor(self):
        self.expect("floor", "src/geometry/a.cpp:1", {"src/geometry/a.cpp": '#include "recoil/parallel/communicator.hpp"\n'})

    def test_siblings(self):
        self.expect("floor", "src/solvers/elastodynamics/a.cpp:1",
                    {"src/solvers/elastodynamics/a.cpp": '#  include <recoil/solvers/bdem/step.hpp>\n'})

    def test_nested_folders(self):
        self.expect("floor", "src/app/a.cpp:1",
                    {"src/app/a.cpp": '#include "recoil/app/study/base/study.hpp"\n',
                     "include/recoil/app/study/base/study.hpp": "#pragma once\n"},
                    "may not see app/study")
        self.expect("private", "src/app/study/a.cpp:1", {"src/app/study/a.cpp": '#include "app/keys.hpp"\n'})

    def test_linked_higher_floor(self):
        self.expect("floor", "src/geometry/CMakeLists.txt:2",
                    {"src/geometry/CMakeLists.txt": "recoil_add_folder(geometry\n  PRIVATE recoil::solvers_bdem)\n"})

    def test_driver_past_app(self):
        self.expect("floor", "drivers/main.cpp:1", {"drivers/main.cpp": '#include "recoil/linalg/vector.hpp"\n'}, "only app")

    def test_private_header_of_another_folder(self):
        self.expect("private", "src/app/run.cpp:1", {"src/app/run.cpp": '#include "linalg/check.hpp"\n'})

    def test_public_includes_private(self):
        self.expect("private", "include/recoil/linalg/vector.hpp:1",
                    {"include/recoil/linalg/vector.hpp": '#include "linalg/check.hpp"\n'})

    def test_door(self):
        self.expect("door", "src/app/run.cpp:1", {"src/app/run.cpp": "#include <petscksp.h>\n"})

    def test_first_pattern_decides(self):
        self.expect("door", "src/linalg/a.cpp:1", {"src/linalg/a.cpp": "#include <petscdmplex.h>\n"}, "nobody")

    def test_door_of_several_folders(self):
        self.expect("door", "src/linalg/a.cpp:1",
                    {"src/linalg/a.cpp": "#include <hdf5.h>\n", "src/app/study/a.cpp": "#include <hdf5.h>\n"}, "app/study")

    def test_linked_past_a_door(self):
        self.expect("door", "src/app/CMakeLists.txt:1",
                    {"src/app/CMakeLists.txt": "target_link_libraries(x PUBLIC PkgConfig::PETSC)\n"})

    def test_unknown_folder(self):
        self.expect("folder", "src/extras/a.cpp:1", {"src/extras/a.cpp": "int a;\n"})

    def test_header_outside_recoil(self):
        self.expect("folder", "include/other/a.hpp:1", {"include/other/a.hpp": "int a;\n"})

    def test_type_defined_twice(self):
        step = "namespace recoil::solvers {\nstruct Step final : Base {\n};\nstruct Step::Part {\n};\n} // namespace recoil::solvers\n"
        elsewhere = step.replace("recoil::solvers", "recoil::linalg")
        unnamed = step.replace("solvers {\n", "solvers {\nnamespace {\n").replace("} //", "} // namespace\n} //", 1)
        self.expect("twice", "src/solvers/elastodynamics/a.hpp:2",
                    {"src/solvers/bdem/a.hpp": step, "src/solvers/elastodynamics/a.hpp": step, "src/linalg/a.hpp": elsewhere,
                     "src/solvers/bdem/b.cpp": unnamed}, "recoil::solvers::Step is defined in src/solvers/bdem/a.hpp:2")

    def test_asking_for_a_solver(self):
        for line in ('if (scene.solver == "rods") return;\n', "if (kind == &rods) return;\n", "if (rods.scene.name != name) return;\n",
                     "const auto* own = dynamic_cast<const RodScene*>(scene.own.get());\n"):
            self.expect("solver", "src/app/study/a.cpp:1", {"src/app/study/a.cpp": line})
            self.assertEqual(self.run_on({"src/app/solvers/rods/a.cpp": line}).returncode, 0)
        self.assertEqual(self.run_on({"src/app/study/a.cpp": "return {&rods, check_scene};\n"}).returncode, 0)

    def test_missing_header(self):
        self.expect("folder", "src/app/run.cpp:1", {"src/app/run.cpp": '#include "recoil/base/eror.hpp"\n'}, "does not exist")

    def test_include_without_folder(self):
        self.expect("folder", "src/linalg/a.cpp:1", {"src/linalg/a.cpp": '#include "check.hpp"\n'})

    def test_long_file(self):
        self.expect("length", "src/app/run.cpp:701", {"src/app/run.cpp": "int a;\n" * 701})
        self.assertEqual(self.run_on({"src/app/run.cpp": "int a;\n" * 700}).returncode, 0)

    def test_machine_path(self):
        for path in ("/" + "home/me/mesh.msh", "/" + "root/.cache"):
            self.expect("path", "src/app/run.cpp:1", {"src/app/run.cpp": f'const char* p = "{path}";\n'})

    def test_top_level(self):
        self.expect("top", "notes/a.md:1", {"notes/a.md": "x\n"})

    def test_wrong_table_is_no_pass(self):
        self.assertNotEqual(self.run_on({"docs/layers.txt": "[floors]\n"}).returncode, 0)
        self.assertNotEqual(self.run_on({"docs/layers.txt": TABLE.replace("   linalg", "   lianlg")}).returncode, 0)

    def test_empty_tree_is_no_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "docs").mkdir()
            Path(folder, "docs/layers.txt").write_text(TABLE)
            result = subprocess.run([sys.executable, SCRIPT, "--root", folder], capture_output=True)
            self.assertEqual(result.returncode, 1)


if __name__ == "__main__":
    unittest.main()
