"""A BDF3 run continued from any step: same bits on the same number of ranks, 1e-8 on another one; also where only every
third state is stored."""
import runs

STEPS = 7


def check_restarts(recoil, name, scene, ranks, steps):
    path = recoil.write_scene(name, scene)
    whole = recoil.simulate(ranks, path, name + "-whole")
    u, v = runs.state(whole), runs.state(whole, field="v")
    for step in steps:
        for other in (ranks, 1 if ranks > 1 else 3):
            folder = recoil.simulate(ranks, path, "%s-%d-%d" % (name, step, other), "--steps", step)
            runs.check(runs.summary(folder)["steps"] == step, "%s: stops after step %d" % (name, step))
            recoil.run(other, "simulate", "--restart", folder, "-q")
            if other == ranks:
                same = (runs.state(folder) == u).all() and (runs.state(folder, field="v") == v).all()
                runs.check(same, "%s: restart after step %d on %d rank(s) is bitwise" % (name, step, other))
            else:
                error = max(runs.difference(runs.state(folder), u), runs.difference(runs.state(folder, field="v"), v))
                runs.check(error < 1e-8, "%s: restart after step %d on %d rank(s): %.1e" % (name, step, other, error))
            for key in ("external_work", "dissipated_damping"):
                a, b = (runs.summary(f)["energies"][key] for f in (folder, whole))
                runs.check(abs(a - b) <= 1e-7 * abs(b), "%s: %s continues" % (name, key))


with runs.Recoil() as recoil:
    check_restarts(recoil, "every-step", runs.bar([6, 2, 2], STEPS), 2, range(0, STEPS))
    check_restarts(recoil, "every-third", runs.bar([6, 2, 2], STEPS, every=3, chunk=2), 1, (1, 2, 3, 5))
