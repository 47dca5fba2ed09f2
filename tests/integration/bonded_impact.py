"""A tile of few particles that bursts on a floor: by default steps that motion breaks are handed over to leapfrog and agree with it, as leapfrog with either
law of contact does with itself; the breaking cascade alone takes few Newton iterations, and its passes are told."""
import csv
import importlib.util
import math
import os
import re
import statistics

import runs

BENCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench", "bonds", "impact.py")
RADIUS = 0.0028  # 174 particles, 537 bonds
TILTS = 5
# Student's t of 2 (TILTS - 1) degrees of freedom that equal means exceed once in a thousand comparisons, times sqrt(2 / TILTS).
DOUBT = 5.041 * math.sqrt(2 / TILTS)
MUCH = 1e-4  # share of the energies in play that an implicit step may take once bonds are broken (docs/bonded_particles.md, Impacts)


def study():
    spec = importlib.util.spec_from_file_location("impact", BENCH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


impact = study()


def scene(tilt, keys, longer=1):
    made = impact.tile(RADIUS, impact.STRIDE * tilt, keys, longer * impact.DT * RADIUS / 0.0017)
    made["output"]["every"] = 1000
    return made


def energies(summary):
    of = summary["energies"]
    return {"bonds": of["broken"], "friction": of["dissipated_friction"], "kinetic": of["kinetic"]}


def same_mean(some, others):
    """Whether two samples of one size may have one mean, and what their means are."""
    a, b = statistics.mean(some), statistics.mean(others)
    deviation = math.sqrt((statistics.variance(some) + statistics.variance(others)) / 2)
    return abs(a - b) <= DOUBT * deviation, "%.4g and %.4g, each +- %.2g" % (a, b, deviation)


def logged_passes(folder):
    """Of every step."""
    with open(os.path.join(folder, "log.txt")) as file:
        return [int((re.search(r"  passes (\d+)", line) or ["", 0])[1]) for line in file if re.search(r" step \d+/", line)]


def check_cascade(recoil):
    """What converges between all passes takes 713 and 1247 iterations, 155 of them in a step."""
    for integrator, limit, most in (("be_reflect", 650, 110), ("mid_reflectT", 850, 110)):
        folder = recoil.simulate(1, recoil.write_scene(integrator, scene(0, dict(impact.CASCADE, integrator=integrator))), integrator)
        summary = runs.summary(folder)
        with open(os.path.join(folder, "ledger.csv")) as file:
            rows = list(csv.DictReader(file))
        newton, passes = ([int(row[name]) for row in rows] for name in ("newton", "breaking_passes"))
        runs.check(sum(newton) == summary["newton_iterations"] < limit and max(newton) < most,
                   "%s: %d Newton iterations, at most %d in a step" % (integrator, summary["newton_iterations"], max(newton)))
        runs.check(passes == logged_passes(folder) and sum(passes) == summary["breaking_passes"] > 10,
                   "%s: %d passes in the log, the ledger and the summary" % (integrator, summary["breaking_passes"]))
        runs.check(summary["broken_bonds"] > 150 and "steps_of_leapfrog" not in summary, "%s: %d bonds break" % (integrator, summary["broken_bonds"]))


def check_long_steps(recoil):
    """Steps of 61 T, whose sub-steps would cost more than a quiet implicit one, are not handed over."""
    summary = runs.summary(recoil.simulate(1, recoil.write_scene("long", scene(0, {}, 5)), "long"))
    runs.check(summary["broken_bonds"] > 50 and "steps_of_leapfrog" not in summary, "long steps: %d bonds break in the cascade" % summary["broken_bonds"])


def check_agreement(recoil):
    found = {}
    for name in ("leapfrog", "leapfrog, barrier", "be_reflect", "mid_reflectT"):
        found[name] = []
        for tilt in range(TILTS):
            called = re.sub("[^a-zT]", "_", name) + str(tilt)
            folder = recoil.simulate(1, recoil.write_scene(called, scene(tilt, impact.WAYS[name])), called)
            found[name].append(runs.summary(folder))
    values = {"broken": lambda s: s["broken_bonds"], "largest": lambda s: s["largest_fragment_share"]}
    values.update({key: lambda s, key=key: energies(s)[key] for key in ("bonds", "friction", "kinetic")})
    for name in ("be_reflect", "mid_reflectT"):
        for key, value in values.items():
            agrees, text = same_mean([value(s) for s in found[name]], [value(s) for s in found["leapfrog, barrier"]])
            runs.check(agrees, "%s and leapfrog, %s: %s" % (name, key, text))
        for summary in found[name]:
            steps = summary["steps"] if "steps" in summary else 73
            of = summary["energies"]
            in_play = of["kinetic"] + of["broken"] + of["dissipated_friction"] + of["dissipated_integrator"]
            # Leapfrog's own loss of this size, and that of the step in which the tile meets the floor before a bond breaks.
            runs.check(abs(of["dissipated_integrator"]) < steps * MUCH * in_play, "%s: the integrator takes %.2g J of %.3g J" % (name, of["dissipated_integrator"], in_play))
        runs.check(all(0 < s["steps_of_leapfrog"] < 60 and s["newton_iterations"] < 150 for s in found[name]),
                   "%s: %s of 73 steps are leapfrog's, the others take %s Newton iterations" %
                   (name, [s["steps_of_leapfrog"] for s in found[name]], [s["newton_iterations"] for s in found[name]]))
    agrees, text = same_mean(*([s["broken_bonds"] for s in found[name]] for name in ("leapfrog", "leapfrog, barrier")))
    runs.check(agrees, "laws of contact by leapfrog, broken bonds: " + text)


with runs.Recoil() as recoil:
    check_cascade(recoil)
    check_long_steps(recoil)
    check_agreement(recoil)
