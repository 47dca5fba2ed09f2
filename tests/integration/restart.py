"""A BDF3 run continued from any step: same bits on the same number of ranks, 1e-8 on another one; also where only every
third state is stored, and where multigrid's hierarchy lasts."""
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


def swinging_block(divisions, steps, gravity, dt):
    """Large enough for multigrid on any number of ranks."""
    scene = runs.bar(divisions, steps, integrator="BDF2")
    scene["geometry"]["generator"]["size"] = [2, 2, 2]
    scene["gravity"] = [0, 0, -gravity]
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = [0, 0, 0]
    scene["time"]["dt"] = dt
    scene["materials"]["E"] = 1e6
    return scene


def knocking_block(divisions, steps):
    """Turns about its axis while one end is led along a floor, which its edges meet with friction in some steps."""
    scene = swinging_block(divisions, steps, 1, 0.02)
    scene["geometry"] = [scene["geometry"], {"name": "floor", "type": "plane", "is_obstacle": True, "point": [0, 0, -1.025], "normal": [0, 0, 1]}]
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = ["0.1*t", 0, 0]
    scene["contact"] = {"enabled": True, "dhat": 0.005, "epsv": 0.01, "friction_coefficient": 0.3}
    return scene


def of_order_two(scene):
    scene["space"] = {"discr_order": 2}
    return scene


def bonded_bar(steps):
    """1400 particles; 100 critical time steps, where the blocks of the particles are no preconditioner."""
    return {
        "solver": {"type": "bonded_particles", "bonded_particles": {"integrator": "be_reflect"}},
        "geometry": [{"name": "bar", "generator": {"type": "box", "size": [0.356, 0.178, 0.178], "divisions": 1},
                      "particles": {"packing": "hcp", "radius": 0.01},
                      "point_selection": [{"id": 1, "axis": "-x", "position": -0.148}]}],
        "materials": {"type": "BondedParticles", "E": 1e7, "nu": 0.3, "rho": 1000}, "gravity": [0, 0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": 0.009, "time_steps": steps},
    }


def breaking_bar(steps):
    """The bar meets a floor in its second step, aslant, and breaks there."""
    scene = bonded_bar(steps)
    scene["solver"]["bonded_particles"]["sudden_breaking"] = "shorter_steps"
    scene["geometry"][0].pop("point_selection")
    scene["geometry"][0]["transformation"] = {"rotation": [0, 10, 0], "translation": [0, 0, 0.112]}
    scene["geometry"].append({"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]})
    scene["materials"].update(tensile_strength=1e5, shear_strength=1e5)
    scene["contact"] = {"enabled": True, "dhat": 0.001, "friction_coefficient": 0.4, "epsv": 0.05}
    scene["boundary_conditions"] = {}
    scene["initial_conditions"] = {"velocity": [{"body": "bar", "value": [0, 0, -2]}]}
    scene["time"]["dt"] = 0.0018
    return scene


def flat_block(divisions, steps):
    """Cells a hundred times wider than high: conjugate gradients take hundreds of iterations with multigrid."""
    scene = swinging_block(divisions, steps, 1, 0.1)
    scene["geometry"]["generator"]["size"] = [2, 0.02, 2]
    return scene


def restart_data(folder):
    return [record["extra"] for entry in runs.manifest(folder)["files"] for record in entry["states"]]


def renewals(folder):
    """What every step of a run has left as the renewal of later ones: 1 none, 2 operators, 3 everything."""
    return [state["hierarchy_renewal"] for state in restart_data(folder) if "hierarchy_renewal" in state]


def check_lasting(recoil, name, scene, ranks, expected):
    """A run taken one step at a time, every step a restart; `expected` renewals must occur."""
    path = recoil.write_scene(name, scene)
    whole = recoil.simulate(ranks, path, name + "-whole")
    seen = renewals(whole)
    runs.check(set(expected) <= set(seen), "%s: renewals %s on %d rank(s)" % (name, seen, ranks))
    folder = recoil.simulate(ranks, path, name + "-steps", "--steps", 1)
    for step in range(2, scene["time"]["time_steps"] + 1):
        recoil.run(ranks, "simulate", "--restart", folder, "--steps", step, "-q")
        same = all((runs.state(folder, step, field) == runs.state(whole, step, field)).all() for field in "uv")
        runs.check(same, "%s: step %d after a restart on %d rank(s) is bitwise" % (name, step, ranks))
    runs.check(renewals(folder) == seen, "%s: renewals after restarts" % name)
    return whole


def check_factors(recoil, ranks):
    """A run that finds multigrid slow goes on with factorisations, after restarts too."""
    whole = check_lasting(recoil, "flat-%d" % ranks, flat_block([12, 12, 12], 3), ranks, [])
    chosen = ["hierarchy_factors" in state for state in restart_data(whole)[1:]]
    runs.check(all(chosen), "flat: factorisations are chosen in steps %s on %d rank(s)" % (chosen, ranks))
    solver = runs.summary(whole)["linear_solver"]
    runs.check("Cholesky" in solver, "flat: " + solver)


with runs.Recoil() as recoil:
    check_restarts(recoil, "every-step", runs.bar([6, 2, 2], STEPS), 2, range(0, STEPS))
    check_restarts(recoil, "every-third", runs.bar([6, 2, 2], STEPS, every=3, chunk=2), 1, (1, 2, 3, 5))
    check_lasting(recoil, "lasting", swinging_block([12, 12, 12], 5, 1, 0.1), 2, [1])
    check_lasting(recoil, "lasting-in-contact", knocking_block([12, 12, 12], 6), 2, [1])
    check_lasting(recoil, "renewed", swinging_block([12, 12, 12], 6, 200, 0.05), 3, [1, 2, 3])
    check_lasting(recoil, "lasting-alone", swinging_block([18, 18, 18], 3, 1, 0.1), 1, [1])
    check_lasting(recoil, "quadratic", of_order_two(swinging_block([6, 6, 6], 3, 200, 0.05)), 3, [1])
    for ranks in (1, 2):
        check_factors(recoil, ranks)
    check_lasting(recoil, "bonded", bonded_bar(4), 2, [1])
    check_lasting(recoil, "bonded-breaking", breaking_bar(4), 2, [1])
