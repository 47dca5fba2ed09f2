# Spack 1.0 or later; how to use it from a clone: docs/packaging.md.
import os

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Recoil(CMakePackage):
    """Distributed-memory, differentiable solver for deformable bodies in frictional contact."""

    license("BSD-3-Clause")

    # Sources are those of a clone, by `spack develop`.
    version("main")

    variant("tests", default=False, description="Build the tests")
    variant("python", default=True, description="The Python package")
    variant("scripts", default=True, description="What the scripts that draw and report need")
    variant("gmsh", default=False, description="Gmsh, which makes meshes")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    # An installed recoil finds these anew for the projects that use it.
    depends_on("pkgconfig", type=("build", "link"))

    depends_on("mpi")
    # PETSc's multigrid is always there; hypre, MUMPS and SuiteSparse are what recoil takes where it finds them.
    depends_on("petsc@3.18:+mpi+double~complex+hypre+mumps+suite-sparse")
    depends_on("slepc@3.18:")
    depends_on("hdf5@1.10:+mpi")
    depends_on("metis@5:")
    depends_on("lapack")
    depends_on("eigen@3.4:3")
    depends_on("boost@1.74:")  # headers alone, found by the CMake file that Boost brings along
    depends_on("cli11")
    depends_on("nlohmann-json")
    depends_on("fmt")
    depends_on("spdlog")
    depends_on("zlib-api")

    depends_on("googletest+gmock", type="build", when="+tests")
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pybind11@2.10:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-h5py", type=("build", "run"))
    with when("+scripts"):
        depends_on("python@3.9:", type="run")
        depends_on("py-numpy", type="run")
        depends_on("py-h5py", type="run")
        depends_on("py-matplotlib", type="run")
    depends_on("gmsh", type="run", when="+gmsh")

    # C++20; tried with GCC 12.
    conflicts("%gcc@:10")

    generator("ninja")

    def cmake_args(self):
        args = [
            # Spack's compiler wrappers choose the instruction set.
            self.define("RECOIL_NATIVE", False),
            self.define_from_variant("RECOIL_PYTHON", "python"),
            self.define_from_variant("RECOIL_BUILD_TESTS", "tests"),
            self.define("RECOIL_BUILD_BENCHES", False),
        ]
        if self.spec.satisfies("+python"):
            # Where Spack's Python looks, whatever the system is.
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
            args.append(self.define("RECOIL_PYTHON_DIR", os.path.relpath(python_platlib, self.prefix)))
        return args

    def setup_run_environment(self, env):
        env.prepend_path("PYTHONPATH", self.prefix.share.recoil.scripts)
