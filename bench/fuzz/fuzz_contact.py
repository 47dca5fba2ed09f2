#!/usr/bin/env python3
"""Random small contact scenes through `recoil simulate`: each must end valid, or with exit code 3 and a message.

    bench/fuzz/fuzz_contact.py --recoil build/release/recoil --count 1000 --seed 0 --np 1 1 2 3 --keep /tmp/failures
    bench/fuzz/fuzz_contact.py --recoil build/release/recoil --show 17           # the scene of seed 17
    bench/fuzz/fuzz_contact.py --recoil build/release/recoil --reduce bad.json   # a smaller scene that fails alike

Scene number s depends on s alone and runs on the rank count np[s mod len(np)]; one in eight is stopped half-way and
continued on another rank count. Two to five bodies from the built-in generators, apart at the start; random materials,
speeds, spins, steps, planes, moving obstacles and prescribed bodies, friction, barrier, order, integrator.

Classes: `valid` (exit 0, all steps, no intersection, all numbers finite), `gave_up` (exit 3 with a message), and failures:
`intersects`, `infeasible` (an iterate of infinite value was accepted), `not_finite`, `incomplete`, `silent` (exit 3, no
message), `refused` (exit 2), `exit_<n>`, `timeout`. Scenes that fail are kept with their output in --keep. The exit code is 1
if any failed. With `--check` the stored states are searched a second time, by check_states.py and not by recoil.
"""
import argparse
import collections
import json
import math
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

STEPS = 10
CLOCK_FACTOR = 6  # machines may be shared
FAILURES = ("intersects", "infeasible", "not_finite", "incomplete", "silent", "refused", "timeout", "exit_")


# Scenes ---------------------------------------------------------------------------------------------------------------


def log_uniform(rng, low, high):
    return float(f"{math.exp(rng.uniform(math.log(low), math.log(high))):.4g}")


def unit_vector(rng, dim):
    while True:
        v = [rng.gauss(0, 1) for _ in range(dim)]
        length = math.hypot(*v)
        if length > 1e-3:
            return [x / length for x in v]


def rotation_matrix(angles, dim):
    """Degrees about the fixed axes x, y, z in this order; in 2D one angle."""
    if dim == 2:
        c, s = math.cos(math.radians(angles)), math.sin(math.radians(angles))
        return [[c, -s], [s, c]]
    (cx, cy, cz), (sx, sy, sz) = zip(*[(math.cos(math.radians(a)), math.sin(math.radians(a))) for a in angles])
    return [[cz * cy, cz * sy * sx - sz * cx, cz * sy * cx + sz * sx],
            [sz * cy, sz * sy * sx + cz * cx, sz * sy * cx - cz * sx],
            [-sy, cy * sx, cy * cx]]


class Shape:
    """A generated body with a bound of its extent in any direction."""

    def __init__(self, rng, dim, rotated):
        size = log_uniform(rng, 0.05, 1)
        extents = [size * rng.choice([1, 1, rng.uniform(0.2, 1)]) for _ in range(dim)]
        kind = rng.choice(["rectangle", "rectangle", "disk"] if dim == 2 else
                          ["box", "box", "ball", "cylinder", "plate"])
        self.round = kind in ("disk", "ball")
        if kind in ("rectangle", "box"):
            self.generator = {"type": kind, "size": extents, "divisions": [rng.randint(1, 3) for _ in range(dim)]}
        elif kind == "plate":
            extents[2] = size * rng.uniform(0.05, 0.2)
            self.generator = {"type": kind, "size": extents, "divisions": [rng.randint(1, 3), rng.randint(1, 3), 1]}
        elif kind == "cylinder":
            extents[1] = extents[0]
            self.generator = {"type": kind, "radius": extents[0] / 2, "height": extents[2],
                              "divisions": [rng.randint(1, 2), rng.randint(1, 2)]}
        else:
            extents = [size] * dim
            self.generator = {"type": kind, "radius": size / 2, "divisions": rng.randint(1, 2 if dim == 3 else 4)}
        self.half = [e / 2 for e in extents]
        self.angles = 0 if dim == 2 else [0, 0, 0]
        if rotated:
            self.angles = rng.uniform(-180, 180) if dim == 2 else [rng.uniform(-180, 180) for _ in range(3)]
            if rng.random() < 0.2:
                self.angles = 45 if dim == 2 else [rng.choice([0, 45, 90]) for _ in range(3)]
        self.axes = rotation_matrix(self.angles, dim)
        self.center = [0.0] * dim
        self.radius = self.half[0] if self.round else math.hypot(*self.half)

    def support(self, n):
        """max n.(x - centre) over the body."""
        if self.round:
            return self.half[0] * math.hypot(*n)
        dim = len(n)
        return sum(self.half[j] * abs(sum(n[i] * self.axes[i][j] for i in range(dim))) for j in range(dim))


def place(rng, shapes, dim, dhat):
    """Moves the shapes apart; all keep a gap."""
    aligned = all(not s.round and s.angles in (0, [0, 0, 0]) for s in shapes)
    gap = lambda: dhat * log_uniform(rng, 0.05, 20)
    if aligned and rng.random() < 0.7:  # a stack
        offset = rng.choice([0, 0.5])
        for below, shape in zip(shapes, shapes[1:]):
            shape.center = [c + offset * rng.uniform(-1, 1) * h for c, h in zip(below.center, below.half)]
            shape.center[-1] = below.center[-1] + below.half[-1] + shape.half[-1] + gap()
        return
    for k, shape in enumerate(shapes[1:], 1):
        for _ in range(200):
            near = shapes[rng.randrange(k)]
            n = unit_vector(rng, dim)
            # The plane between the two supports separates them.
            distance = near.support(n) + shape.support([-x for x in n]) + gap()
            shape.center = [c + distance * x for c, x in zip(near.center, n)]
            if all(other is near or separated(shape, other, dhat) for other in shapes[:k]):
                break
        else:
            shape.center = [c + 0.0 for c in shapes[0].center]
            shape.center[0] = max(s.center[0] + s.radius for s in shapes[:k]) + shape.radius + 2 * dhat


def separated(a, b, gap):
    between = [x - y for x, y in zip(a.center, b.center)]
    distance = math.hypot(*between)
    if distance == 0:
        return False
    n = [x / distance for x in between]
    return distance > a.support(n) + b.support(n) + gap


def material(rng):
    result = {"type": rng.choice(["NeoHookean"] * 10 + ["FixedCorotational"] * 2 + ["MooneyRivlin"] * 2 +
                                 ["SaintVenant", "LinearElasticity"]),
              "rho": log_uniform(rng, 10, 1e4)}
    E = log_uniform(rng, 1e4, 1e9)
    if result["type"] == "MooneyRivlin":
        result.update(c1=E / 8, c2=E / 20, k=E)
    else:
        result.update(E=E, nu=rng.choice([0, 0.3, 0.48, round(rng.uniform(0, 0.48), 3)]))
    if rng.random() < 0.15:
        result.update(phi=E * log_uniform(rng, 1e-5, 1e-2), psi=E * log_uniform(rng, 1e-5, 1e-2))
    return result


def motion(rng, direction, dim, size, duration):
    """Formulas of a prescribed motion."""
    kind = rng.choice(["steady", "steady", "swing", "turn", "still"])
    speed = min(log_uniform(rng, 0.01, 20), 20 * size / duration)
    if kind == "still":
        return [0] * dim
    if kind == "steady":
        return [f"{speed * x:.6g}*t" for x in direction]
    if kind == "swing":
        rate = rng.uniform(0.5, 4) * math.pi / duration
        return [f"{size * rng.uniform(0.1, 1) * x:.6g}*sin({rate:.6g}*t)" for x in direction]
    rate = rng.uniform(-2, 2) * math.pi / duration
    turn = [f"x*(cos({rate:.6g}*t)-1)-y*sin({rate:.6g}*t)", f"x*sin({rate:.6g}*t)+y*(cos({rate:.6g}*t)-1)", 0]
    return turn[:dim]


def make_scene(seed):
    rng = random.Random(seed)
    dim = rng.choice([2, 3])
    dhat = log_uniform(rng, 1e-4, 1e-2)
    dt = log_uniform(rng, 1e-3, 1e-1)
    rotated = rng.random() < 0.65
    shapes = [Shape(rng, dim, rotated and rng.random() < 0.8) for _ in range(rng.randint(2, 5 if dim == 2 else 4))]
    place(rng, shapes, dim, dhat)
    middle = [sum(s.center[i] for s in shapes) / len(shapes) for i in range(dim)]
    size = max(s.radius for s in shapes)

    geometry, materials, velocities, spins, dirichlet, obstacle_motions = [], [], [], [], [], []
    for k, shape in enumerate(shapes):
        name = f"body{k}"
        entry = {"name": name, "generator": shape.generator,
                 "transformation": {"translation": shape.center, "rotation": shape.angles}}
        inwards = [m - c for m, c in zip(middle, shape.center)]
        length = math.hypot(*inwards)
        inwards = [x / length for x in inwards] if length > 0 else unit_vector(rng, dim)
        geometry.append(entry)
        if k > 0 and rng.random() < 0.15:
            entry["is_obstacle"] = True
            entry["surface_selection"] = 100 + k
            if rng.random() < 0.3:
                entry["extract"] = rng.choice(["points", "edges"])
            if rng.random() < 0.6:
                obstacle_motions.append({"id": 100 + k, "value": motion(rng, inwards, dim, size, STEPS * dt)})
            continue
        materials.append({"body": name, **material(rng)})
        if rng.random() < 0.15:
            axis = rng.choice("xyz"[:dim])
            entry["surface_selection"] = rng.choice(
                [10 + k, [{"id": 10 + k, "axis": axis, "position": 0.6, "relative": True}]])
            dirichlet.append({"id": 10 + k, "value": motion(rng, inwards, dim, size, STEPS * dt)})
            continue
        if rng.random() < 0.7:
            speed = log_uniform(rng, 0.01, 500)
            direction = inwards if rng.random() < 0.7 else unit_vector(rng, dim)
            velocities.append({"body": name, "value": [speed * x for x in direction]})
        if rng.random() < 0.25:
            rate = log_uniform(rng, 0.1, 500)
            spins.append({"body": name, "value": rate if dim == 2 else [rate * x for x in unit_vector(rng, 3)]})

    for k in range(rng.choice([0, 1, 1, 2])):
        n = [0.0] * (dim - 1) + [1.0]
        if k > 0 or rng.random() < 0.4:
            n = unit_vector(rng, dim)
        low = min(sum(x * c for x, c in zip(n, s.center)) - s.support([-x for x in n]) for s in shapes)
        low -= dhat * log_uniform(rng, 0.05, 20)
        geometry.append({"name": f"plane{k}", "type": "plane", "is_obstacle": True, "point": [low * x for x in n],
                         "normal": n})

    contact = {"enabled": True, "dhat": dhat}
    solver = {"contact": {}, "nonlinear": {}, "advanced": {}}
    if rng.random() < 0.6:
        contact["friction_coefficient"] = rng.choice([0.1, 0.5, 1, round(rng.random(), 3)])
        solver["contact"]["friction_iterations"] = rng.choice([0, 1, 1, 3, -1])
        if rng.random() < 0.2:
            contact["friction_pairs"] = [{"bodies": ["body0", "body1"], "coefficient": round(rng.random(), 3)}]
        if rng.random() < 0.2:
            contact["epsv"] = log_uniform(rng, 1e-5, 1e-1)
    if rng.random() < 0.15:
        contact.update(use_convergent_formulation=True, use_improved_max_operator=rng.random() < 0.5)
    if rng.random() < 0.2:  # a barrier force K dhat^3 that is comparable with E h^2
        hardest = max(m.get("E", m.get("k", 0)) for m in materials)
        smallest = min(s.radius for s in shapes)
        solver["contact"]["barrier_stiffness"] = log_uniform(rng, 1e-2, 1e2) * hardest * smallest**2 / dhat**3
        if rng.random() < 0.1:
            solver["contact"]["barrier_stiffness"] = log_uniform(rng, 1, 1e12)
    if rng.random() < 0.15:
        solver["nonlinear"]["stop"] = "step"
    scene = {"geometry": geometry, "materials": materials, "contact": contact,
             "time": {"dt": dt, "time_steps": STEPS, "integrator": rng.choice(["BDF1", "BDF1", "BDF2"])}}
    if rng.random() < 0.2:
        scene["space"] = {"discr_order": 2}
    elif rng.random() < 0.2:
        solver["advanced"]["lump_mass_matrix"] = True
    if rng.random() < 0.05:
        scene["time"]["quasistatic"] = True
        del scene["time"]["integrator"]
    if rng.random() < 0.8:
        scene["gravity"] = [0] * (dim - 1) + [-9.81]
    if rng.random() < 0.5:
        scene["output"] = {"fields": ["contact_force", "friction_force"]}
    initial = {key: value for key, value in (("velocity", velocities), ("angular_velocity", spins)) if value}
    if initial and not scene["time"].get("quasistatic"):
        scene["initial_conditions"] = initial
    conditions = {key: value for key, value in (("dirichlet_boundary", dirichlet),
                                                ("obstacle_displacements", obstacle_motions)) if value}
    if conditions:
        scene["boundary_conditions"] = conditions
    if any(solver.values()):
        scene["solver"] = {key: value for key, value in solver.items() if value}
    return scene


# Runs -----------------------------------------------------------------------------------------------------------------


def execute(options, ranks, arguments, limit):
    """Exit code (None: killed after `limit` CPU seconds of a rank, or much more on the clock) and what was printed."""
    command = [options.recoil, "simulate", "-v", *arguments]
    if ranks > 1:
        command = options.mpirun.split() + ["-n", str(ranks), *command]
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    if os.geteuid() == 0:
        environment.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryFile("w+", errors="replace") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=subprocess.STDOUT,
                                   start_new_session=True, preexec_fn=lambda: resource.setrlimit(
                                       resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5)))
        try:
            code = process.wait(timeout=CLOCK_FACTOR * limit)
            if code in (-signal.SIGXCPU, 128 + signal.SIGXCPU, -signal.SIGKILL):
                code = None
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        log.seek(0)
        return code, log.read()


def numbers_of(summary):
    for key in ("energies", "momentum", "err_l2", "err_h1", "err_linf", "err_lp", "time"):
        stack = [summary.get(key)]
        while stack:
            value = stack.pop()
            if isinstance(value, dict):
                stack.extend(value.values())
            elif isinstance(value, list):
                stack.extend(value)
            else:
                yield value


def judge(code, text, folder, options):
    """Class and message of a finished run."""
    if code is None:
        lines = [line for line in text.splitlines() if re.match("newton |step ", line)]
        return "timeout", "at " + lines[-1] if lines else "no output"
    lines = [line for line in text.splitlines() if line.strip()]
    last = lines[-1] if lines else ""
    if code == 2:
        return "refused", next((line for line in lines if "error" in line.lower()), last)
    if code not in (0, 3):
        return f"exit_{code}", last
    try:
        summary = json.loads((folder / "summary.json").read_text())
    except (OSError, ValueError) as error:
        return "incomplete", str(error)
    if summary.get("intersections"):
        return "intersects", f"{summary['intersections']} intersections"
    if any(not isinstance(x, (int, float)) or not math.isfinite(x) for x in numbers_of(summary)):
        return "not_finite", "null or NaN in the summary"
    if code == 3:
        message = summary.get("message", "")
        if not message or message not in text:
            return "silent", "exit 3 without a message"
        return "gave_up", message
    wanted = json.loads((folder / "scene.json").read_text()).get("time", {}).get("time_steps", 1)
    if summary["status"] != "done" or summary["steps"] != wanted:
        return "incomplete", f"{summary['status']} after {summary['steps']} steps"
    if options.check:
        found = check_states(folder)
        if found:
            return "intersects", found
    return "valid", ""


def run(options, scene, ranks, restart_ranks=None):
    """Runs the scene; a dictionary of what happened."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=options.scratch, prefix="fuzz_"))
    try:
        path, out = folder / "scene.json", folder / "run"
        path.write_text(json.dumps(scene))
        began = time.monotonic()
        code, text = execute(options, ranks, [str(path), "-o", str(out)] + (["--steps", str(STEPS // 2)]
                                                                              if restart_ranks else []), options.limit)
        if restart_ranks and code == 0:
            left = max(1.0, options.limit - (time.monotonic() - began))
            code, more = execute(options, restart_ranks, ["--restart", str(out)], left)
            text += more
        seconds = time.monotonic() - began
        kind, message = judge(code, text, out, options)
        result = {"class": kind, "message": message, "ranks": ranks, "restart_ranks": restart_ranks,
                  "seconds": round(seconds, 2), "log": text}
        log = text
        per_step = [int(n) for n in re.findall(r"t = .*newton (\d+)", log)]
        steps = [float(x) for x in re.findall(r"^newton .* step=(\S+)", log, re.MULTILINE)]
        result["newton_all"] = len(steps)
        result["tiny_steps"] = sum(x < 1e-12 for x in steps)
        result["newton_max"] = max(per_step, default=0)
        result["newton"] = per_step
        result["sub_steps"] = max([int(n) for n in re.findall(r"(\d+) sub-steps", log)], default=1)
        if result["class"] in ("valid", "gave_up") and re.search(r"^newton .* value=(inf|-inf|nan)", log, re.MULTILINE):
            result["class"], result["message"] = "infeasible", "Newton accepted an iterate of infinite value; " + message
        result["warnings"] = [line for line in text.splitlines() if "warning" in line.lower()][:3]
        if result["class"] in ("valid", "gave_up", "infeasible"):
            summary = json.loads((out / "summary.json").read_text())
            for key in ("retried_steps", "newton_iterations", "min_distance", "max_active_pairs", "steps"):
                result[key] = summary.get(key)
        return result
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def is_failure(kind):
    return kind.startswith(FAILURES)


# A second opinion -----------------------------------------------------------------------------------------------------


def check_states(folder):
    """Searches all stored states for edges through faces (3D) or edges (2D) that share no vertex; "" if there are none."""
    import check_states as second  # needs a shared library of HDF5
    return second.check(folder)


# Reduction ------------------------------------------------------------------------------------------------------------


def smaller(scene):
    """Scenes with one thing less."""
    def copy():
        return json.loads(json.dumps(scene))

    bodies = scene["geometry"]
    for k, body in enumerate(bodies):
        s, name = copy(), body["name"]
        del s["geometry"][k]
        s["materials"] = [m for m in s["materials"] if m["body"] != name]
        for entries in s.get("initial_conditions", {}).values():
            entries[:] = [e for e in entries if e["body"] != name]
        ids = {i for g in s["geometry"] for i in ids_of(g)}
        for entries in s.get("boundary_conditions", {}).values():
            entries[:] = [e for e in entries if e["id"] in ids]
        if any(name in p["bodies"] for p in s["contact"].get("friction_pairs", [])):
            del s["contact"]["friction_pairs"]
        if s["materials"]:
            yield s
    for key in ("initial_conditions", "boundary_conditions"):
        for name, entries in scene.get(key, {}).items():
            for k in range(len(entries)):
                s = copy()
                del s[key][name][k]
                yield s
    for key in ("gravity", "space", "output", "solver", "initial_conditions"):
        if key in scene:
            s = copy()
            del s[key]
            yield s
    for outer in ("solver",):
        for key in scene.get(outer, {}):
            for name in scene[outer][key]:
                s = copy()
                del s[outer][key][name]
                yield s
    for key in scene["contact"]:  # one at a time
        if key not in ("enabled", "dhat"):
            s = copy()
            del s["contact"][key]
            yield s
    for k, m in enumerate(scene["materials"]):
        for key in ("phi", "psi"):
            if key in m:
                s = copy()
                del s["materials"][k][key]
                yield s
        if m["type"] != "NeoHookean" and "E" in m:
            s = copy()
            s["materials"][k]["type"] = "NeoHookean"
            yield s
    for k, body in enumerate(bodies):
        divisions = body.get("generator", {}).get("divisions")
        if divisions is not None and divisions != 1 and divisions != [1] * len(divisions or []):
            s = copy()
            s["geometry"][k]["generator"]["divisions"] = 1 if isinstance(divisions, int) else [1] * len(divisions)
            yield s
    if scene["time"].get("integrator", "BDF1") != "BDF1":
        s = copy()
        s["time"]["integrator"] = "BDF1"
        yield s
    if scene["time"]["time_steps"] > 1:
        for steps in {scene["time"]["time_steps"] // 2, scene["time"]["time_steps"] - 1}:
            s = copy()
            s["time"]["time_steps"] = steps
            yield s


def ids_of(entry):
    selection = entry.get("surface_selection", [])
    return [selection] if isinstance(selection, int) else [s["id"] for s in selection]


def reduce_scene(options, scene):
    wanted = run(options, scene, options.np[0])
    print(f"{wanted['class']}: {wanted['message']}", file=sys.stderr)
    kind = re.sub(r"[\d.e+-]+", "#", wanted["message"]) if wanted["class"] != "timeout" else ""
    changed = True
    while changed:
        changed = False
        for candidate in smaller(scene):
            found = run(options, candidate, options.np[0])
            if found["class"] == wanted["class"] and (not kind or re.sub(r"[\d.e+-]+", "#", found["message"]) == kind):
                scene, changed = candidate, True
                print(f"{len(json.dumps(scene))} characters", file=sys.stderr)
                break
    return scene


# Main -----------------------------------------------------------------------------------------------------------------


def of_seed(options, seed):
    ranks = options.np[seed % len(options.np)]
    rng = random.Random(seed + 1_000_003)
    restart = rng.choice([n for n in (1, 2, 3) if n != ranks and n <= max(2, max(options.np))] or [1])
    return ranks, restart if options.restarts and rng.random() < 1 / 8 else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0, help="the first of `count` seeds")
    parser.add_argument("--np", type=int, nargs="+", default=[1], help="rank counts, taken in turn")
    parser.add_argument("--limit", type=float, default=60, help="CPU seconds per scene and rank")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for scenes that fail")
    parser.add_argument("--json", type=pathlib.Path, help="all results")
    parser.add_argument("--scratch", help="folder for runs")
    parser.add_argument("--check", action="store_true", help="search the stored states again")
    parser.add_argument("--restarts", action=argparse.BooleanOptionalAction, default=True)
    parser.add_argument("--show", type=int, metavar="SEED", help="print a scene and end")
    parser.add_argument("--reduce", type=pathlib.Path, metavar="SCENE", help="print a smaller scene and end")
    options = parser.parse_args()
    sys.path.insert(0, str(pathlib.Path(__file__).parent))
    if options.show is not None:
        print(json.dumps(make_scene(options.show), indent=1))
        return 0
    if options.reduce:
        print(json.dumps(reduce_scene(options, json.loads(options.reduce.read_text())), indent=1))
        return 0

    results = []
    for seed in range(options.seed, options.seed + options.count):
        scene = make_scene(seed)
        result = run(options, scene, *of_seed(options, seed))
        result["seed"] = seed
        log = result.pop("log")
        results.append(result)
        ranks = f"{result['ranks']}>{result['restart_ranks']}" if result["restart_ranks"] else result["ranks"]
        print(f"{seed:6} np {ranks:>3} {result['class']:10} {result['seconds']:6.1f} s  newton <= {result['newton_max']:4} "
              f" sub-steps {result['sub_steps']:2}  {result['message'][:150]}", flush=True)
        if is_failure(result["class"]) and options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            (options.keep / f"{seed}.json").write_text(json.dumps(scene, indent=1))
            (options.keep / f"{seed}.log").write_text(log)
        if options.json:
            options.json.write_text(json.dumps(results))

    counts = collections.Counter(result["class"] for result in results)
    print(f"\nseeds {options.seed} to {options.seed + options.count - 1}")
    for kind, count in counts.most_common():
        seconds = sum(r["seconds"] for r in results if r["class"] == kind)
        seeds = " ".join(str(r["seed"]) for r in results if r["class"] == kind) if kind != "valid" else ""
        print(f"{kind:12} {count:5}  {100 * count / len(results):5.1f} %  {seconds:8.1f} s  {seeds}")
    reasons = collections.Counter(re.sub(r"\d[\d.e+-]*", "#", r["message"]) for r in results if r["class"] == "gave_up")
    for reason, count in reasons.most_common():
        print(f"{count:5} gave up: {reason}")
    hard = sorted((r for r in results if r["newton_max"] > 100), key=lambda r: -r["newton_max"])
    print(f"{len(hard)} with more than 100 Newton iterations in a step: " +
          " ".join(f"{r['seed']}({r['newton_max']})" for r in hard[:20]))
    print(f"{sum(r['sub_steps'] > 1 for r in results)} with sub-steps; "
          f"{sum((r.get('max_active_pairs') or 0) > 0 for r in results)} of {len(results)} with contact")
    return 1 if any(is_failure(kind) for kind in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
