"""recoil: deformable bodies in contact on many ranks, simulations and their gradients.

    import recoil
    run = recoil.simulate({"geometry": .., "materials": ..}, "run/")   # or the path of a scene
    run.trajectory.positions, run.ledger["elastic"]

    f = recoil.ReducedObjective("study.json")
    scipy.optimize.least_squares(f.residuals, f.x0, f.jacobian, bounds=(f.lower, f.upper))

On several ranks: ``mpirun -n 4 python3 -m mpi4py script.py``; all functions are collective and take ``comm=``, a communicator of mpi4py.
The keys of scenes and studies are those of the program: docs/scene.md, docs/study.md.
"""

from ._commands import gradient, info, optimize, restart, schema, simulate, validate
from ._core import build_info as _build_info
from ._core import version as _version
from ._errors import Error, FileError, Finding, InputError, InternalError, Interrupted, NoSolution, SceneError, StudyError
from ._folders import Fit, FolderError, Gradient, Run, Trajectory
from ._objective import ReducedObjective
from ._session import start

__version__ = _version()
#: How this build of recoil was made, in one line.
build_info = _build_info()

__all__ = [
    "Error", "FileError", "Finding", "Fit", "FolderError", "Gradient", "InputError", "InternalError", "Interrupted", "NoSolution",
    "ReducedObjective", "Run", "SceneError", "StudyError", "Trajectory", "build_info", "gradient", "info", "optimize", "restart", "schema",
    "simulate", "start", "validate",
]
