#!/usr/bin/env python3
"""Any scene twice, with recoil's contact preconditioner (the sandwich) and with plain multigrid of the assembled K + C.

    bench/scaling/plain_amg.py bench/press/press.json --recoil build/release/recoil --ranks 2 --steps 1 --json plain.json

Newton iterations, CG iterations and seconds of linear solves of both from summary.json, and their ratios plain / sandwich.
Only multigrid knows the difference: scenes that recoil solves by a factorisation give the same figures twice, and a line
says so. No scene key or option forces the sandwich; the size of the scene, of its factor and the number of ranks decide
(docs/performance.md, "Direct or multigrid"), so refine the bodies (--refine) or take more ranks. `--petsc "-recoil_pc_type
gamg"` does not help: in place of a factorisation it is plain multigrid, in both runs.

Plain multigrid may take thousands of CG iterations: after --limit seconds a run is told to end after its step, after twice
as many it is killed. Ratios are per Newton iteration too, for runs that have come to different steps.
"""
import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tempfile

import boxes

CONTACT = {"sandwich": "", "plain": "-recoil_contact_plain"}
KEYS = ("status", "message", "steps", "dofs", "ranks", "newton_iterations", "projected_iterations", "retried_steps",
        "linear_iterations", "linear_solve_s", "wall_s", "max_active_pairs", "linear_solver")
RATIOS = ("newton_iterations", "linear_iterations", "cg_per_newton", "linear_solve_s", "solve_s_per_newton", "wall_s")


def refined(path, levels, folder):
    """A scene that inherits the given one and refines its bodies further."""
    scene = json.loads(path.read_text())
    if "geometry" not in scene:
        sys.exit(f"{path} has no `geometry` of its own: refine the scene that it inherits")
    single = isinstance(scene["geometry"], dict)
    patch = []
    for number, entry in enumerate([scene["geometry"]] if single else scene["geometry"]):
        if not entry.get("is_obstacle"):
            place = "/geometry" if single else f"/geometry/{number}"
            patch.append({"op": "add", "path": place + "/n_refs", "value": entry.get("n_refs", 0) + levels})
    result = folder / path.name
    # Relative paths start from the folder of the scene that is run, which is another one here.
    root = path.parent / scene.get("root_path", "")
    result.write_text(json.dumps({"common": str(path), "root_path": str(root), "patch": patch}))
    return result


def wait(process, limit):
    """Ends the run where it takes too long; its output. mpirun passes SIGUSR1 on to the ranks, which finish their step."""
    for stop in (lambda: process.send_signal(signal.SIGUSR1), process.terminate):
        try:
            return process.communicate(timeout=limit)[0]
        except subprocess.TimeoutExpired:
            stop()
    return process.communicate()[0]


def simulate(options, scene, contact, ranks, folder):
    """One run; what its summary says, or only a status where it has none."""
    output = folder / f"{contact}-{ranks}"
    command = options.mpirun.split() + ["-n", str(ranks), options.recoil, "simulate", "-q", str(scene), "-o", str(output)]
    if options.steps is not None:
        command += ["--steps", str(options.steps)]
    petsc = " ".join(filter(None, (options.petsc, CONTACT[contact])))
    if petsc:
        command += ["--petsc", petsc]
    process = subprocess.Popen(command, env=boxes.environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    text = wait(process, options.limit)
    if not (output / "summary.json").exists():
        print(f"{' '.join(command)}\nended with {process.returncode}\n{text}", file=sys.stderr)
        return {"ranks": ranks, "status": "no summary"}
    summary = json.loads((output / "summary.json").read_text())
    row = {key: summary[key] for key in KEYS if key in summary}
    newton = max(1, row["newton_iterations"])
    row["cg_per_newton"] = row["linear_iterations"] / newton
    row["solve_s_per_newton"] = row["linear_solve_s"] / newton
    return row


def ratios(plain, sandwich):
    return {key: plain[key] / sandwich[key] if key in plain and sandwich.get(key) else None for key in RATIOS}


def print_row(name, row, digits):
    cells = " ".join(f"{'-':>11}" if row.get(key) is None else f"{row[key]:11.{places}f}" for key, places in
                     zip(RATIOS, digits))
    print(f"{name:16} {row.get('status', ''):>12} {row.get('steps', ''):>5} {row.get('dofs', ''):>9} {cells}")


def print_comparison(row):
    print(f"\n{row['ranks']} rank(s)")
    print(f"{'':16} {'status':>12} {'steps':>5} {'dofs':>9} {'newton':>11} {'cg':>11} {'cg/newton':>11} {'solve s':>11} "
          f"{'s/newton':>11} {'wall s':>11}")
    for contact in CONTACT:
        print_row(contact, row[contact], (0, 0, 1, 2, 3, 2))
    print_row("plain / sandwich", row["plain_to_sandwich"], (2,) * len(RATIOS))
    if "linear_solver" in row["sandwich"] and not row["multigrid"]:
        print("No multigrid with the sandwich at the end of the first run, so the choice made little or no difference: "
              "refine (--refine 1) or take more ranks.")


def compare(options, scene, ranks, folder):
    row = {"scene": str(options.scene), "refine": options.refine, "ranks": ranks}
    for contact in CONTACT:
        row[contact] = simulate(options, scene, contact, ranks, folder)
    row["plain_to_sandwich"] = ratios(row["plain"], row["sandwich"])
    solver = row["sandwich"].get("linear_solver", "")
    row["multigrid"] = "multigrid" in solver and "exact solves on contact nodes" in solver
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scene", type=pathlib.Path)
    parser.add_argument("--recoil", default="build/release/recoil")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--steps", type=int, help="of the scene, all by default")
    parser.add_argument("--refine", type=int, default=0, help="levels of uniform refinement of all bodies")
    parser.add_argument("--limit", type=float, default=3600, help="seconds of a run")
    parser.add_argument("--petsc", default="", help="handed to both runs")
    parser.add_argument("--mpirun", default="mpirun --oversubscribe --bind-to none")
    parser.add_argument("--scratch", help="folder for the runs")
    parser.add_argument("--json", type=pathlib.Path, help="file for all figures")
    options = parser.parse_args()

    rows = []
    with tempfile.TemporaryDirectory(dir=options.scratch) as scratch:
        folder = pathlib.Path(scratch)
        scene = options.scene.resolve()
        if options.refine:
            scene = refined(scene, options.refine, folder)
        for ranks in options.ranks:
            rows.append(compare(options, scene, ranks, folder))
            print_comparison(rows[-1])
            sys.stdout.flush()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
