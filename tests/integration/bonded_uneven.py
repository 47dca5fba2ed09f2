"""Two bodies of which one bursts between a floor and a platen: particles are dealt out again, which nobody sees in the results. The same bits twice and
after stops, signals and kills before, at and after that step; other numbers of ranks; ranks that own nothing; the key."""
import os
import re
import signal

import h5py
import moments as faults
import numpy as np
import runs
from pieces import ledger

STEPS, EVERY = 8, 3
FIELDS = ("u", "v", "broken", "broken_at", "broken_by", "least_distance", "fragment", "sigma", "rank")
TABLES = ("ledger.csv", "broken_bonds.csv", "reactions.csv", "obstacle_forces.csv", "fragments.csv")


def block(name, x, **more):
    return dict({"name": name, "generator": {"type": "box", "size": [0.02, 0.02, 0.024], "divisions": 1},
                 "transformation": {"translation": [x, 0, 0.0121]}, "particles": {"radius": 0.002}}, **more)


def scene(**solver):
    """A weak block that bursts between a floor and a platen, and a strong one far away whose upper end is moved and turned."""
    weak = {"type": "BondedParticles", "body": "weak", "E": 1e7, "nu": 0.3, "rho": 1000, "tensile_strength": 2e4, "shear_strength": 2e4}
    return {
        "geometry": [{"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]},
                     block("weak", 0),
                     block("strong", 0.2, point_selection=[{"id": 1, "axis": "z", "position": 0.02}]),
                     {"name": "platen", "is_obstacle": True, "generator": {"type": "box", "size": [0.06, 0.06, 0.004], "divisions": 1},
                      "transformation": {"translation": [0, 0, 0.0267]}, "surface_selection": 3}],
        "materials": [weak, dict(weak, body="strong", tensile_strength=1e6, shear_strength=1e6)],
        "boundary_conditions": {"obstacle_displacements": [{"id": 3, "value": [0, 0, "-t"]}],
                                "dirichlet_boundary": [{"id": 1, "value": ["0.5*t", 0, 0], "rotation": [0, 0, "20*t"]}]},
        "initial_conditions": {"velocity": [{"body": "weak", "value": ["500*x", "500*y", "100*(z-0.0123)"]}]},
        "contact": {"enabled": True, "dhat": 2e-4, "friction_coefficient": 0.3, "epsv": 0.1},
        "time": {"dt": 0.0001, "time_steps": STEPS},
        "output": {"every": EVERY, "chunk": 1},
        "solver": {"type": "bonded_particles", "bonded_particles": dict({"cascade_share": 0.01, "max_imbalance": 1.2}, **solver)},
    }


def text(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def same_bits(folder, whole):
    return all(np.array_equal(runs.state(folder, field=field), runs.state(whole, field=field), equal_nan=True) for field in FIELDS) and \
        all(text(folder, name) == text(whole, name) for name in TABLES)


def broken(folder):
    return sorted(line.split(",")[0] + " at " + line.split(",")[1] for line in text(folder, "broken_bonds.csv").splitlines()[1:])


def repartitions(folder):
    """(step after which, imbalance after, imbalance before) by the log of a run that was not continued."""
    found, step = [], 0
    for line in text(folder, "log.txt").splitlines():
        told = re.search(r"dealt out again.* ([0-9.]+) times the mean, was ([0-9.]+)$", line)
        if told:
            found.append((step, float(told[1]), float(told[2])))
        reached = re.search(r"step (\d+)/", line)
        step = int(reached[1]) if reached else step
    return found


def stored_steps(folder):
    return [record["step"] for entry in runs.manifest(folder)["files"] for record in entry["states"] if record["kept"] == "stored" and "step" in record]


def check_agreement(folder, plain, what, tolerance=1e-8):
    """The same results as of a run on other ranks or of which nothing was dealt out again."""
    error = runs.difference(runs.state(folder), runs.state(plain))
    same = all((runs.state(folder, field=field) == runs.state(plain, field=field)).all() for field in ("broken", "fragment"))
    runs.check(broken(folder) == broken(plain) and same and error < tolerance, "%s: the same bonds and fragments, positions to %.1e" % (what, error))
    for name in ("reactions.csv", "obstacle_forces.csv", "fragments.csv"):
        a, b = (np.genfromtxt(os.path.join(f, name), delimiter=",", skip_header=1) for f in (folder, plain))
        runs.check(a.shape == b.shape and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True), "%s: %s is the same" % (what, name))


def check_moved(recoil, whole, plain):
    moved = repartitions(whole)
    runs.check(len(moved) == runs.summary(whole)["repartitions"] >= 1 and runs.summary(plain)["repartitions"] == 0, "dealt out again: %s" % moved)
    runs.check(all(before > 1.2 and after < 1.1 for _, after, before in moved), "the work is even afterwards")
    owners = runs.state(whole, field="rank").ravel()
    runs.check((owners != runs.state(plain, field="rank").ravel()).any() and set(owners) == {0, 1}, "trajectories tell who has which particle")
    check_agreement(whole, plain, "dealt out again")
    runs.check(stored_steps(whole) == stored_steps(plain), "the same states are stored")
    for folder in (whole, plain):
        runs.check(ledger(folder)["newton"].sum() == runs.summary(folder)["newton_iterations"], "the summary counts the iterations of all steps")
    return moved[0][0]


def check_stops(recoil, path, whole, moved_after):
    first, *others = sorted({0, moved_after - 1, moved_after, moved_after + 1, STEPS - 1})
    folder = recoil.simulate(2, path, "stopped", "--steps", first)
    for step in (*others, STEPS):
        recoil.run(2, "simulate", "--restart", folder, "-q", "--steps", step)
    runs.check(same_bits(folder, whole) and runs.summary(folder)["repartitions"] == runs.summary(whole)["repartitions"],
               "stopped after steps %s and continued: the same bits" % [first, *others])


class UnevenJob(faults.Job):
    def is_same(self):
        return same_bits(self.folder, self.whole)


def check_signals(recoil, path):
    job = UnevenJob(faults.Moments(recoil, recoil.arguments.moments), "uneven", 2, "simulate", path)
    for number, share in enumerate(np.linspace(0.1, 0.95, recoil.arguments.signals)):
        at, rank = int(share * job.reductions[0]), number % 2
        ended = job.disturb("reduction", signal.SIGUSR1, count=at, rank=rank)
        runs.check(ended.sent and ended.code in (0, 75), "signal at reduction %d: exit %d" % (at, ended.code))
        recoil.run(2, *job.again())
        runs.check(job.is_same(), "signal at reduction %d: continued to the same bits" % at)
        job.check_kill("killed at reduction %d" % at, job.disturb("reduction", signal.SIGKILL, count=at, rank=rank), by_restart=True)


def check_ranks(recoil, path, whole, plain, moved_after):
    check_agreement(recoil.simulate(1, path, "one"), plain, "1 rank")
    for ranks in (3, 4):
        folder = recoil.simulate(ranks, path, "ranks%d" % ranks)
        moved = runs.summary(folder)["repartitions"]
        check_agreement(folder, plain, "%d ranks, dealt out again %d times" % (ranks, moved))
        runs.check(moved > 0, "%d ranks: dealt out again" % ranks)
    runs.check(same_bits(recoil.simulate(3, path, "again"), recoil.path("ranks3")), "3 ranks: the same bits twice")
    folder = recoil.simulate(2, path, "others", "--steps", moved_after)
    for ranks, step in ((3, moved_after + 1), (2, moved_after + 2), (3, STEPS)):
        recoil.run(ranks, "simulate", "--restart", folder, "-q", "--steps", step)
    check_agreement(folder, plain, "from step %d to %d on 3, 2 and 3 ranks in turn" % (moved_after, STEPS))


def check_leapfrog(recoil):
    path = recoil.write_scene("leapfrog", scene(integrator="leapfrog", max_imbalance=1.1))
    whole = recoil.simulate(2, path, "leapfrog")
    plain = recoil.simulate(2, recoil.write_scene("leapfrog plain", scene(integrator="leapfrog", max_imbalance=2)), "leapfrog plain")
    moved = repartitions(whole)
    runs.check(len(moved) > 0, "leapfrog is dealt out again: %s" % moved)
    error = runs.difference(runs.state(whole), runs.state(plain))
    runs.check(broken(whole) == broken(plain) and error < 1e-6, "leapfrog: the same bonds, positions to %.1e" % error)
    folder = recoil.simulate(2, path, "leapfrog stopped", "--steps", moved[0][0] + 1)
    recoil.run(2, "simulate", "--restart", folder, "-q")
    runs.check(same_bits(folder, whole), "leapfrog: stopped and continued to the same bits")


def check_softening(recoil):
    """What softened bonds have seen moves along with their particles, and is there after a restart."""
    def softening(max_imbalance):
        softens = scene(damage_width=0.3, max_imbalance=max_imbalance)
        softens["materials"][0].update(tensile_strength=1e5, shear_strength=1e5, weibull_modulus=2)
        return softens

    path = recoil.write_scene("softening", softening(1.05))
    whole = recoil.simulate(2, path, "softening")
    plain = recoil.simulate(2, recoil.write_scene("softening plain", softening(2)), "softening plain")
    moved = repartitions(whole)
    runs.check(len(moved) > 0 and runs.summary(plain)["repartitions"] == 0, "softening is dealt out again: %s" % moved)
    kappa = runs.state(plain, field="stress_ratio").ravel()
    in_between = ((kappa > 0.1) & (kappa < 1)).sum()
    error = np.abs(runs.state(whole, field="stress_ratio").ravel() - kappa).max() / kappa.max()
    runs.check(error < 1e-8 and in_between > 100, "softening: the same stress ratios to %.1e, %d of them of bonds that soften and hold" % (error, in_between))
    check_agreement(whole, plain, "softening, dealt out again")
    energies = ledger(whole)
    lost = energies["broken"] + energies["dissipated_friction"] + energies["dissipated_integrator"]
    left = energies["kinetic"] + energies["elastic"] + energies["barrier"] + lost - energies["external_work"]
    runs.check(np.ptp(left) < 1e-6 * left[0], "softening: energies add up to %.1e" % (np.ptp(left) / left[0]))
    folder = recoil.simulate(2, path, "softening stopped", "--steps", moved[0][0] + 1)
    recoil.run(2, "simulate", "--restart", folder, "-q")
    runs.check(same_bits(folder, whole), "softening: stopped and continued to the same bits")


def check_strengths_of_bonds(recoil, whole):
    """The weak block with a strength of each bond from a file, which its bonds keep where they are dealt out again."""
    with h5py.File(os.path.join(whole, "trajectory", "mesh.h5"), "r") as file:
        places, bonds = file["coordinates"][:], file["connectivity"][:].reshape(-1, 2)
        radii = file["radius"][:].ravel()
    count = int((places[:, 0] < 0.1).sum())  # the weak block comes first
    with open(recoil.path("weak.csv"), "w") as file:
        file.write("x,y,z,radius\n" + "".join("%r,%r,%r,%r\n" % (*map(float, place), float(r)) for place, r in zip(places[:count], radii)))
    with open(recoil.path("weak-bonds.csv"), "w") as file:
        file.write("i,j,tensile_strength,shear_strength\n")
        file.writelines("%d,%d,%r,%r\n" % (i, j, float(2e4 * 9 ** np.sin(k)), float(2e4 * 9 ** np.cos(k)))
                        for k, (i, j) in enumerate(bonds.tolist()) if j < count)

    def from_file(max_imbalance):
        document = scene(max_imbalance=max_imbalance)
        document["geometry"][1] = {"name": "weak", "particles": {"file": "weak.csv", "bonds": "weak-bonds.csv"}}
        document["materials"][0].update(tensile_strength=1e6, shear_strength=1e6)
        return document

    path = recoil.write_scene("strengths", from_file(1.2))
    folder = recoil.simulate(2, path, "strengths")
    plain = recoil.simulate(2, recoil.write_scene("strengths plain", from_file(2)), "strengths plain")
    moved = repartitions(folder)
    late = [row for row in broken(plain) if moved and float(row.split(" at ")[1]) > (moved[0][0] + 0.5) * 1e-4]
    runs.check(len(moved) > 0 and len(late) >= 3, "strengths of bonds are dealt out again: %s, %d bonds break later" % (moved, len(late)))
    check_agreement(folder, plain, "strengths of bonds, dealt out again")
    stopped = recoil.simulate(2, path, "strengths stopped", "--steps", moved[0][0] + 1)
    recoil.run(2, "simulate", "--restart", stopped, "-q")
    runs.check(same_bits(stopped, folder), "strengths of bonds: stopped and continued to the same bits")


def check_few(recoil):
    """Three particles on four ranks, of which METIS can make nothing better."""
    with open(recoil.path("few.csv"), "w") as file:
        file.write("x,y,z,radius\n0,0,0,0.01\n0.02,0,0,0.01\n0.04,0,0,0.01\n")
    few = dict(scene(max_imbalance=1), geometry=[{"name": "few", "particles": {"file": "few.csv"}}], contact={"enabled": False},
               boundary_conditions={}, initial_conditions={}, materials=dict(scene()["materials"][0], body="few"), gravity=[0, 0, -9.81])
    path = recoil.write_scene("few", few)
    folder, plain = (recoil.simulate(ranks, path, "few%d" % ranks) for ranks in (4, 1))
    error = runs.difference(runs.state(folder), runs.state(plain))
    runs.check(error < 1e-8 and runs.summary(folder)["repartitions"] <= 1, "three particles on four ranks: to %.1e" % error)


def check_wrong(recoil):
    for value in (0.9, -1, "much", True, None):
        code, output = recoil.run(2, "simulate", recoil.write_scene("wrong", scene(max_imbalance=value)), "-o", recoil.path("wrong"), expect=None)
        runs.check(code == 2 and "/solver/bonded_particles/max_imbalance" in output and not os.path.exists(recoil.path("wrong")),
                   "max_imbalance %r: %d, %s" % (value, code, output[output.find("recoil: "):].strip()[:200]))


with runs.Recoil(("--moments", str), ("--signals", int, 2)) as recoil:
    path = recoil.write_scene("uneven", scene())
    whole = recoil.simulate(2, path, "whole")
    plain = recoil.simulate(2, recoil.write_scene("plain", scene(max_imbalance=2)), "plain")
    moved_after = check_moved(recoil, whole, plain)
    runs.check(same_bits(recoil.simulate(2, path, "twice"), whole), "the same bits twice")
    check_stops(recoil, path, whole, moved_after)
    check_signals(recoil, path)
    check_ranks(recoil, path, whole, plain, moved_after)
    check_leapfrog(recoil)
    check_softening(recoil)
    check_strengths_of_bonds(recoil, whole)
    check_few(recoil)
    check_wrong(recoil)
