#!/usr/bin/env python3
"""What a gradient costs: time of the sweep against the forward run on five contact scenes, and its memory over long runs.

    bench/gradients/cost.py --recoil build/release/recoil --polyfem-data POLYFEM_DATA [ball discs ..]

The scenes are those of jobs/contact, polyfem-data and paper_cases.py with 5000 to 10 000 elements: `ball` bounces (3D), `discs` are stirred
by a paddle, `slope` has three blocks that slide, `golf` hits a wall, `lattice` is struck by a block. Each is run with one parameter (a
friction coefficient or gravity) and with one value of two or more constants in every element, 10 000 or more. Both
runs give, per step and per Newton iteration of the forward run, the time of the sweep; of `--repeat` runs the least forward and the
least sweep time count. Forward seconds are those of the run with its files; on a busy machine only ratios mean anything.

Memory: one block on the slope for 100 and for 1000 steps; what the peak of the process grew by in the sweep.
"""
import argparse
import json
import os
import shutil
import sys
import tempfile

import paper_cases
from table import Cell

ROOT = paper_cases.ROOT
MANY = 10000
# Constants of elements that count as parameters, in the order in which they are taken.
CONSTANTS = (("young_modulus", "E"), ("density", "rho"), ("poisson_ratio", "nu"))


def job(name):
    with open(os.path.join(ROOT, "jobs", "contact", name + ".json")) as file:
        return json.load(file)


def refined(scene, divisions):
    for body in scene["geometry"]:
        if "generator" in body and not body.get("is_obstacle"):
            body["generator"]["divisions"] = divisions
    return scene


def with_steps(scene, steps, dt=None):
    time = scene["time"]
    scene["time"] = {"dt": dt or time["dt"], "time_steps": steps, "integrator": time.get("integrator", "BDF1")}
    return scene


def ball(cell, data):
    # From just above the floor: all of the bounce and some flight.
    scene = refined(with_steps(job("bouncing_ball"), 50, 0.002), 5)
    scene["geometry"][0]["transformation"]["translation"][2] = 0.105
    scene["initial_conditions"]["velocity"][0]["value"] = [0.5, 0, -2.4]
    return scene, ["ball", "floor"]


def discs(cell, data):
    # At this dt a step takes more than 15 Newton iterations, the regime for which the paper gives its share of a few per cent.
    return refined(with_steps(job("paddle_2d"), 30, 0.02), 13), None


def slope(cell, data):
    return refined(with_steps(job("incline_2d"), 50), [36, 24]), ["slow", "slope"]


def golf(cell, data):
    path = os.path.join(data, "contact", "examples", "2D", "golf-ball.json")
    with open(path) as file:
        materials = json.load(file)["materials"]
    return {"common": os.path.abspath(path), "root_path": os.path.abspath(path), "materials": materials, "time": {"tend": 0.0016}}, None


def lattice(cell, data):
    scene, _ = paper_cases.lattice(cell)
    scene["space"]["discr_order"] = 1
    scene["geometry"][0]["n_refs"] = 2
    scene["geometry"][1]["generator"]["divisions"] = [50, 16]
    return with_steps(scene, 25), None


SCENES = {"ball": ball, "discs": discs, "slope": slope, "golf": golf, "lattice": lattice}


def per_element(scene, quantity, key):
    """Parameters with the values that a constant has in the scene, one per element of every material."""
    materials = scene["materials"]
    for k, material in enumerate(materials if isinstance(materials, list) else [materials]):
        where = {"body": material["body"]} if "body" in material else {"region": material["id"]} if "id" in material else {}
        yield {"name": "%s%d" % (key, k), "quantity": quantity, "per": "element", "initial": material[key], **where}


def without_tolerances(scene):
    """The solver as it is by default: what a forward run alone would be given."""
    scene.get("solver", {}).pop("nonlinear", None)
    return scene


class Bench:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder

    def gradient(self, cell, name, parameters, dim, sweep=None):
        """Contents of gradient.json and summary.json."""
        speed = {"name": "speed", "type": "velocity", "target": [0] * dim, "time": "integral"}
        cell.write(name + ".json", {"experiments": [{"name": "run", "scene": "scene.json"}], "parameters": parameters,
                                    "objectives": [speed], "sweep": sweep or {}})
        out = os.path.join(cell.folder, name)
        shutil.rmtree(out, ignore_errors=True)
        done = cell.call("gradient", name + ".json", "-o", name, "-q")
        if done.returncode:
            raise SystemExit("%s/%s failed:\n%s" % (cell.folder, name, done.stdout[-1000:]))
        with open(os.path.join(out, "gradient.json")) as one, open(os.path.join(out, "run", "summary.json")) as other:
            return json.load(one), json.load(other)

    def cheapest(self, *arguments):
        """Of repeated runs the least time of either part: what else the machine does only adds to them."""
        runs = [self.gradient(*arguments) for _ in range(self.arguments.repeat)]
        found, summary = runs[0]
        for key in ("forward_s", "sweep_s"):
            found[key] = min(run[0][key] for run in runs)
        return found, summary

    def scene(self, name):
        cell = Cell(os.path.abspath(self.arguments.recoil), self.folder, (name,))
        scene, pair = SCENES[name](cell, self.arguments.polyfem_data)
        cell.write("scene.json", without_tolerances(scene))
        dim = 3 if name == "ball" else 2
        if pair:
            one = [{"name": "friction", "quantity": "friction", "bodies": pair, "initial": 0.3}]
        else:
            one = [{"name": "gravity", "quantity": "body_force", "initial": scene.get("gravity", [0] * dim)}]
        result = {}
        self.measure(result, "one", *self.cheapest(cell, "one", one, dim))
        constants = CONSTANTS[:-(-MANY // result["elements"])]
        many = [parameter for constant in constants for parameter in per_element(scene, *constant)]
        self.measure(result, "many", *self.cheapest(cell, "many", many, dim))
        result["parameters"] = len(constants) * result["elements"]
        return result

    @staticmethod
    def measure(result, key, found, summary):
        newton = found["newton_iterations"]
        result.update({"elements": summary["elements"], "unknowns": summary["dofs"], "steps": summary["steps"]})
        result[key] = {"newton_per_step": newton / summary["steps"], "forward_s_per_newton": found["forward_s"] / newton,
                       "sweep_s_per_step": found["sweep_s"] / summary["steps"],
                       "sweep_step_per_newton": found["sweep_s"] / summary["steps"] * newton / found["forward_s"],
                       "sweep_over_forward": found["sweep_s"] / found["forward_s"], "forward_s": found["forward_s"],
                       "sweep_s": found["sweep_s"], "retried_steps": summary["retried_steps"],
                       "linear_iterations_per_solve": found["sweep_linear_iterations"] / summary["steps"],
                       "max_active_pairs": summary["max_active_pairs"]}

    def memory(self, steps, store_every):
        cell = Cell(os.path.abspath(self.arguments.recoil), self.folder, ("memory-%d-%d" % (steps, store_every),))
        scene = with_steps(job("incline_2d"), steps, 0.001)
        scene["geometry"] = scene["geometry"][1:2] + scene["geometry"][3:]
        scene["geometry"][0]["generator"]["divisions"] = [24, 16]
        scene["contact"]["friction_pairs"] = [{"bodies": ["slow", "slope"], "coefficient": 0.3}]
        cell.write("scene.json", scene)
        one = [{"name": "friction", "quantity": "friction", "bodies": ["slow", "slope"], "initial": 0.3}]
        found, summary = self.gradient(cell, "one", one, 2, {"store_every": store_every})
        folder = os.path.join(cell.folder, "one", "run", "trajectory")
        stored = sum(os.path.getsize(os.path.join(folder, name)) for name in os.listdir(folder)) / 1e6
        forward, everything = summary["peak_memory_mb"]["max"], found["peak_memory_mb"]["max"]
        return {"steps": steps, "store_every": store_every, "unknowns": summary["dofs"], "forward_mb": forward, "peak_mb": everything,
                "sweep_growth_mb": everything - forward, "stored_mb": stored,
                "states_mb": 2 * 8 * summary["dofs"] * (steps + 1) / 1e6, "sweep_over_forward": found["sweep_s"] / found["forward_s"]}


def show_times(results):
    print("%-9s %8s %8s %5s %7s | %11s %11s %9s %9s | %6s %11s %9s %9s" %
          ("scene", "elements", "unknowns", "steps", "Newton/", "s per", "sweep s per", "sweep st/", "sweep/", "para-", "sweep s per",
           "sweep st/", "sweep/"))
    print("%-9s %8s %8s %5s %7s | %11s %11s %9s %9s | %6s %11s %9s %9s" %
          ("", "", "", "", "step", "Newton it.", "step", "Newton it.", "forward %", "meters", "step", "Newton it.", "forward %"))
    for name, found in results.items():
        one, many = found["one"], found["many"]
        print("%-9s %8d %8d %5d %7.1f | %11.4f %11.4f %9.2f %9.1f | %6d %11.4f %9.2f %9.1f" %
              (name, found["elements"], found["unknowns"], found["steps"], one["newton_per_step"], one["forward_s_per_newton"],
               one["sweep_s_per_step"], one["sweep_step_per_newton"], 100 * one["sweep_over_forward"], found["parameters"],
               many["sweep_s_per_step"], many["sweep_step_per_newton"], 100 * many["sweep_over_forward"]))


def show_memory(rows):
    print("%6s %12s %12s %12s %14s %14s %14s" % ("steps", "store_every", "forward MB", "peak MB", "sweep grew MB", "all states MB",
                                                   "sweep/forward"))
    for row in rows:
        print("%6d %12d %12.1f %12.1f %14.1f %14.1f %12.0f %%" %
              (row["steps"], row["store_every"], row["forward_mb"], row["peak_mb"], row["sweep_growth_mb"], row["states_mb"],
               100 * row["sweep_over_forward"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--recoil", required=True)
    parser.add_argument("--polyfem-data", default=os.path.join(ROOT, "..", "shared", "scenes", "polyfem-data"))
    parser.add_argument("--repeat", type=int, default=1, help="runs of which the least times count (default: 1)")
    parser.add_argument("--keep", help="folder for scenes, studies and results")
    parser.add_argument("--json", help="all results")
    parser.add_argument("names", nargs="*", metavar="name", help="of %s, memory (default: all)" % ", ".join(SCENES))
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(SCENES) - {"memory"}
    if unknown:
        parser.error("no such scene: " + ", ".join(sorted(unknown)))
    folder = arguments.keep or tempfile.mkdtemp(prefix="recoil-gradient-cost-")
    chosen = arguments.names or [*SCENES, "memory"]
    for name in chosen:
        shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
    bench = Bench(arguments, folder)
    results = {name: bench.scene(name) for name in chosen if name != "memory"}
    if results:
        show_times(results)
    if "memory" in chosen:
        for name in os.listdir(folder):
            if name.startswith("memory-"):
                shutil.rmtree(os.path.join(folder, name))
        results["memory"] = [bench.memory(*case) for case in ((100, 1), (1000, 1), (100, 10), (1000, 10))]
        show_memory(results["memory"])
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(results, file, indent=1)
    if not arguments.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
