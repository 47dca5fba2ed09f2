"""What a run says of its work: every Newton iteration with -v, for each solver; the split of its wall time in summary.json and in
the log; PETSc's own log."""
import copy
import os
import re

import runs

PHASES = ("start_up", "set_up", "assembly", "preconditioner", "krylov", "contact", "line_search", "output", "other")
ITERATION = re.compile(r"^newton (\d+) ", re.MULTILINE)

BLOCK = {
    "geometry": [{"name": "block", "generator": {"type": "box", "size": [1, 1, 1], "divisions": [3, 3, 3]},
                  "transformation": {"translation": [0, 0, 0.501]}},
                 {"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}],
    "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3, "rho": 1000},
    "gravity": [0, 0, -9.81],
    "contact": {"enabled": True, "dhat": 0.01},
    "time": {"dt": 0.02, "time_steps": 3},
}
BAR = {
    "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.03, 0.012, 0.012], "divisions": [1, 1, 1]},
                  "particles": {"radius": 0.0015},
                  "point_selection": [{"id": 1, "axis": "-x", "position": -0.011}, {"id": 2, "axis": "x", "position": 0.011}]}],
    "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": ["0.2*t", 0, 0]}]},
    "time": {"dt": 0.001, "time_steps": 3},
    "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": "be_reflect"}},
}
STUDY = {
    "experiments": [{"name": "block", "scene": "block.json"}],
    "parameters": [{"name": "E", "quantity": "young_modulus", "body": "block", "initial": 1e5}],
    "objectives": [{"name": "energy", "type": "elastic_energy", "time": "final"}],
}


def check_times(what, folder, output):
    found = runs.summary(folder)
    times, wall = found["times"], found["wall_s"]
    runs.check(tuple(times) == PHASES and min(times.values()) >= 0, "%s: all phases in summary.json" % what)
    # The age of the process: wall_s does not have its start-up.
    total = sum(times.values())
    runs.check(wall <= total <= wall + times["start_up"] + 2, "%s: phases sum to the wall time, %.2f of %.2f s" % (what, total, wall))
    line = re.search(r"^time ([0-9.]+) s: .*krylov|^time ([0-9.]+) s: ", output, re.MULTILINE)
    runs.check(line is not None, "%s: the log has the split" % what)
    return times


def check_iterations(what, folder, output):
    counted = sum(int(number) > 0 for number in ITERATION.findall(output))
    said = runs.summary(folder)["newton_iterations"]
    runs.check(said > 0 and counted == said, "%s: -v shows all %d Newton iterations (%d)" % (what, said, counted))


def elements(recoil, scene):
    folder, log = recoil.path("block"), recoil.path("petsc.txt")
    output = recoil.run(2, "simulate", scene, "-o", folder, "-v", "--petsc", "-log_view :" + log)[1]
    check_iterations("elements", folder, output)
    times = check_times("elements", folder, output)
    runs.check(min(times[name] for name in ("start_up", "set_up", "assembly", "preconditioner", "krylov", "contact", "line_search",
                                            "output")) > 0, "elements: each phase took time")
    with open(log) as file:
        events = file.read()
    runs.check("MatMult" in events and "KSPSolve" in events, "PETSc's log of events is written where --petsc says")
    with open(os.path.join(folder, "log.txt")) as file:
        runs.check("info: time " in file.read(), "the split is in log.txt, too")


def particles(recoil, integrator):
    scene = copy.deepcopy(BAR)
    scene["solver"]["bonded_particles"]["integrator"] = integrator
    folder = recoil.path(integrator)
    output = recoil.run(1, "simulate", recoil.write_scene(integrator, scene), "-o", folder, "-v")[1]
    times = check_times(integrator, folder, output)
    if integrator == "leapfrog":
        runs.check(times["assembly"] > 0 and times["krylov"] == 0, "leapfrog: forces, no linear solves")
    else:
        check_iterations(integrator, folder, output)


def study(recoil):
    output = recoil.run(1, "gradient", recoil.write_scene("study", STUDY), "-o", recoil.path("gradient"), "-v")[1]
    runs.check(len(ITERATION.findall(output)) > 3 and "\ntime " in output, "gradient: iterations and the split of time")


with runs.Recoil() as test:
    elements(test, test.write_scene("block", BLOCK))
    for chosen in ("be_reflect", "mid_reflectT", "del_exact", "leapfrog"):
        particles(test, chosen)
    study(test)
