"""What the scripts of this folder share: the box that they load, and how they start recoil."""
import os
import subprocess
import sys


def box(divisions, length=1, steps=0, dim=3, order=1, law="NeoHookean", gravity=0.981):
    """A box (a rectangle in 2D) of `length` unit lengths along x with divisions^dim cubes in each, clamped at its low end, under its own weight.

    At rest, or in that many steps of c dt / h = 10 with c = (E / rho)^1/2, whatever the size.
    """
    scene = {
        "geometry": {
            "generator": {"type": "box" if dim == 3 else "rectangle", "size": [float(length)] + [1.0] * (dim - 1),
                          "divisions": [divisions * length] + [divisions] * (dim - 1)},
            "surface_selection": [{"id": 1, "axis": "-x", "position": -0.4999 * length}],
        },
        "space": {"discr_order": order},
        "materials": {"type": law, "E": 1e6, "nu": 0.3, "rho": 1000},
        "gravity": [0.0] * (dim - 1) + [-gravity],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0] * dim}]},
    }
    if steps:
        scene["time"] = {"dt": 10 / divisions / 1e3**0.5, "time_steps": steps}
    return scene


def environment(**more):
    """That of this process, with one thread a rank and Open MPI's permission to run as root where this is root."""
    result = dict(os.environ, OMP_NUM_THREADS="1", **more)
    if os.geteuid() == 0:
        result.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    return result


def run(command, **more):
    """Runs a command with `more` in its environment; ends the script with what it said if it fails."""
    done = subprocess.run(command, env=environment(**more), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
