"""Shapes that change so far that the insides of bodies are meshed anew by Gmsh on the way."""
import glob
import json
import os
import shutil
import stat

import h5py
import numpy as np

import runs
from pieces import box
from studies import exact, fit, logged_evaluations

LEAST = 0.005 # scaled Jacobian


def side(number, axis, position):
    return {"id": number, "axis": axis, "position": position}


def cantilever(recoil, dim, divisions):
    """A bar that is clamped at one end and loaded at the other, twice as stiff in one half: a value per element."""
    axes = [("x", 1), ("-y", 0.3), ("y", 0.3), ("-z", 0.3), ("z", 0.3)][:1 + 2 * (dim - 1)]
    sides = [side(1, "-x", -0.999)] + [side(k + 2, axis, (-1 if axis[0] == "-" else 1) * (at - 1e-3)) for k, (axis, at) in enumerate(axes)]
    bar = box("bar", [2, 0.6, 0.6][:dim], divisions, [0] * dim, surface_selection=sides)
    plain = {"geometry": [bar], "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000}, "space": {"discr_order": 2 if dim == 2 else 1},
             "solver": {"nonlinear": exact()},
             "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0] * dim}], "neumann_boundary": [{"id": 2, "value": [0, -3000, 0][:dim]}]}}
    folder = recoil.simulate(1, recoil.write_scene("plain%d" % dim, plain), "plain%d" % dim)
    stiffness = recoil.path("stiffness%d.h5" % dim)
    with h5py.File(os.path.join(folder, "trajectory", "mesh.h5")) as file:
        x, cells = file["coordinates"][:], file["connectivity"][:, :dim + 1]
    with h5py.File(stiffness, "w") as file:
        file["E"] = np.where(x[cells, 0].mean(axis=1) < 0, 2e6, 1e6)[:, None]
    plain["materials"]["E"] = {"file": stiffness, "dataset": "/E"}
    return recoil.write_scene("cantilever%d" % dim, plain), list(range(2, 2 + len(axes)))


def study(recoil, dim, name, **optimizer):
    """The elastic energy of a bar of at most its volume; its whole surface moves, in 2D but for the clamp."""
    scene, moving = cantilever(recoil, dim, [20, 6] if dim == 2 else [8, 4, 4])
    basis = dict({"extension": "elastic"}, **({"boundary": moving} if dim == 2 else {}))
    return recoil.write_scene(name, {
        "experiments": [{"name": "bend", "scene": scene}],
        "parameters": [{"name": "shape", "quantity": "shape", "basis": basis},
                       {"name": "nu", "quantity": "poisson_ratio", "initial": 0.3, "bounds": [0.29, 0.31]}],
        "objectives": [{"name": "energy", "type": "elastic_energy"}, {"name": "volume", "type": "volume_bound", "body": "bar", "limit": 1.2 if dim == 2 else 0.72, "weight": 1e4},
                       {"name": "smooth", "type": "boundary_smoothing", "p": 2, "weight": 10 if dim == 2 else 80}],
        "optimizer": dict({"renew_quality": 0.5 if dim == 2 else 0.3, "min_quality": LEAST, "max_iterations": 40}, **optimizer)})


def mesh_of(path, corners):
    with open(path) as file:
        lines = file.read().split("\n")
    first = lines.index("$Nodes")
    x = np.array([list(map(float, line.split()[1:])) for line in lines[first + 2:first + 2 + int(lines[first + 1])]])
    first = lines.index("$Elements")
    return x, np.array([list(map(int, line.split()[-corners:])) for line in lines[first + 2:first + 2 + int(lines[first + 1])]]) - 1


def quality(x, cells):
    """The smallest scaled Jacobian."""
    dim = cells.shape[1] - 1
    values = []
    for corner in range(dim + 1):
        edges = x[cells[:, [k for k in range(dim + 1) if k != corner]], :dim] - x[cells[:, [corner]], :dim]
        values.append(np.abs(np.linalg.det(edges)) / np.linalg.norm(edges, axis=2).prod(axis=1))
    return np.min(values) * (2 / np.sqrt(3) if dim == 2 else np.sqrt(2))


def rows_of(path):
    with open(path) as file:
        return file.read()


def ended(folder, run):
    """The exit code is that of the verdict: some have converged before their last iteration."""
    code, verdict = run[0], fit(folder)["verdict"]["is"]
    runs.check(code == {"converged": 0, "not_converged": 3}[verdict], "it ends with %d: %s" % (code, verdict))


def meshed_anew(recoil, dim):
    document, folder = study(recoil, dim, "reshape%d" % dim), recoil.path("fit%d" % dim)
    ended(folder, recoil.run(1, "optimize", document, "-o", folder, expect=None))
    found = fit(folder)
    anew = [made for made in found["meshes"] if made["how"] == "remeshed"]
    runs.check(len(anew) >= 3, "%dD: the bar is meshed anew %d times in %d iterations" % (dim, len(anew), found["iterations"]))
    runs.check(all(made["quality"] > 1.2 * made["quality_before"] for made in found["meshes"]), "each time its worst element gets better")
    runs.check(found["objective"] < 0.6 * found["initial_objective"], "the objective falls from %.4g to %.4g" % (found["initial_objective"], found["objective"]))
    stages = sorted(glob.glob(os.path.join(folder, "stages", "*")), key=lambda path: int(os.path.basename(path)))
    scenes = [os.path.join(stage, "bend") for stage in stages] + [os.path.join(folder, "scenes", "bend")]
    worst = [quality(*mesh_of(scene + "-data/body-0.msh", dim + 1)) for scene in scenes]
    runs.check(min(worst) >= LEAST, "no mesh that is solved on has an element below %g: %.3g" % (LEAST, min(worst)))
    rejected = [line["failure"] for stage in [folder] + [os.path.join(stage, "run") for stage in stages] for line in logged_evaluations(stage) if line["what"] == "path"]
    rejected = [text for text in rejected if "below optimizer/min_quality" in text]
    print("      %d of the steps were refused for their meshes" % len(rejected))
    with open(scenes[-1] + ".json") as file:
        scene = json.load(file)
    x, cells = mesh_of(scenes[-1] + "-data/body-0.msh", dim + 1)
    with h5py.File(scene["materials"]["E"]["file"]) as file:
        E = file[scene["materials"]["E"]["dataset"]][:, 0]
    centre = x[cells].mean(axis=1)[:, 0]
    runs.check(len(E) == len(cells) and (E[centre < -0.2] == 2e6).all() and (E[centre > 0.2] == 1e6).all(), "the stiffness of both halves comes along")
    with open(os.path.join(folder, "history.csv")) as file:
        count = len(file.readlines()) - 2
    runs.check(count == found["iterations"], "history.csv has a row per iteration of all stages")
    text = rows_of(os.path.join(folder, "log.txt"))
    runs.check(text.count("bodies are remeshed") == len(anew), "log.txt tells of each")
    recoil.run(1, "validate", scenes[-1] + ".json")
    return folder, found


def designs(folder):
    """The shape of the end, and the other parameters."""
    found = fit(folder)
    with h5py.File(os.path.join(folder, "fit.h5")) as file:
        return np.nan_to_num(file["shape"][:]), found["parameters"]["nu"]["value"], found["objective"]


def same(a, b, tolerance, text):
    (x, nu, value), (y, other, there) = designs(a), designs(b)
    error = max(np.abs(x - y).max() if x.shape == y.shape else np.inf, abs(nu / other - 1), abs(value / there - 1))
    runs.check(error <= tolerance, "%s: the same design to %.1e" % (text, error))


def killed_in_gmsh(recoil, dim, whole):
    """A Gmsh that ends recoil with kill -9 when it is called for the second time; what it had written is there in part."""
    program = recoil.path("killing-gmsh")
    with open(program, "w") as file:
        file.write("#!/bin/sh\ncount=%s.count\necho x >> $count\nif [ $(wc -l < $count) = 2 ]; then kill -9 $PPID; exit 1; fi\nexec gmsh \"$@\"\n" % program)
    os.chmod(program, stat.S_IRWXU)
    document, folder = study(recoil, dim, "killing%d" % dim, gmsh=program), recoil.path("killed%d" % dim)
    code, _ = recoil.run(1, "optimize", document, "-o", folder, "-q", expect=None)
    runs.check(code == -9 and not os.path.exists(os.path.join(folder, "fit.json")), "killed while Gmsh works (exit %d)" % code)
    ended(folder, recoil.run(1, "optimize", "--restart", folder, "-q", expect=None))
    same(folder, whole, 1e-12, "continued")
    done = [(line["x"], line["experiment"], line["what"]) for line in logged_evaluations(folder)]
    runs.check(len(done) == len(set(done)), "nothing before the kill was evaluated again")
    os.remove(program + ".count")


def on_more_ranks(recoil, dim):
    """Ten iterations."""
    document = study(recoil, dim, "ranks%d" % dim, max_iterations=10)
    folders = {}
    for ranks in (1, 2, 4):
        folders[ranks] = recoil.path("ranks%d-%d" % (dim, ranks))
        recoil.run(ranks, "optimize", document, "-o", folders[ranks], "-q", expect=3)
    for ranks in (2, 4):
        same(folders[ranks], folders[1], 1e-8, "%dD, %d ranks and one" % (dim, ranks))


def without_gmsh(recoil):
    document, folder = study(recoil, 2, "missing", gmsh="no-such-gmsh"), recoil.path("missing")
    code, text = recoil.run(1, "optimize", document, "-o", folder, expect=None)
    runs.check(code == 2 and "'no-such-gmsh' cannot be run" in text and "optimizer/gmsh" in text and "--restart" in text, "a missing Gmsh is named, with what to do")
    code, text = recoil.run(1, "optimize", study(recoil, 2, "flat", min_quality=0.9, renew_quality=0), "-o", recoil.path("flat"), expect=None)
    runs.check(code == 2 and "0.9" in text and "optimizer/min_quality" in text, "a start below the least quality is refused")


with runs.Recoil() as recoil:
    if shutil.which("gmsh") is None:
        print("Gmsh is not installed")
    else:
        for dim in (2, 3):
            folder, _ = meshed_anew(recoil, dim)
            killed_in_gmsh(recoil, dim, folder)
            on_more_ranks(recoil, dim)
    without_gmsh(recoil)
