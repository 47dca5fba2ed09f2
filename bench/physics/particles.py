"""Bonded particles against waves, moduli, beams, energies and themselves at other sizes and time steps."""
import numpy as np
from particle_pieces import (CELL, E_X, E_Z, LAYER, ROW, above, body, bonds_of, broken, column, critical_step, done, hcp, material, mesh_field,
                           overlaps, places_of, solver, table)
from tools import G, ledger, plane, states
import runs

SPAN = 0.048  # of three-point bending [m]


def chain(study, count, r):
    """Particles in a row, whose ends have the ids 1 and 2."""
    places = np.column_stack([2 * r * np.arange(count), np.zeros((count, 2))])
    last = 2 * r * (count - 1)
    return body(study, "chain", places, r, point_selection=[above("-x", r, 1), above("x", last - r, 2)])


def wave(study):
    """A chain is a row of masses m and springs E S / l: c = l sqrt(k / m), w = 2 sqrt(k / m) sin(k l / 2)."""
    count, r, E, rho = 401, 0.001, 1e7, 1000
    k, m = E * np.pi * r**2 / (2 * r), rho * CELL * r**3
    speed = 2 * r * np.sqrt(k / m)
    middle, width = 400 * r, 40 * r
    dt = critical_step(E, rho, r)
    pulse = {
        "geometry": [chain(study, count, r)],
        "materials": material(E, rho),
        "initial_conditions": {"velocity": [{"body": "chain", "value": ["0.01*exp(0-((x-%r)/%r)^2)" % (middle, width), 0, 0]}]},
        "time": {"dt": dt, "time_steps": int(250 * r / speed / dt)},
        "solver": solver(integrator="mid_reflectT", tolerance=1e-8),
    }
    folder = done(study, "pulse", pulse)
    velocity, x = runs.state(folder, field="v")[:, 0], mesh_field(folder, "coordinates")[:, 0]
    right = (x > middle) * velocity
    centre = (right * x).sum() / right.sum()
    way = speed * dt * pulse["time"]["time_steps"]
    study.expect(abs(centre - middle - way) < 0.01 * way, "a pulse arrives %.2g of its way from where c = sqrt(E A l / m) puts it" %
                 (abs(centre - middle - way) / way), pulse=abs(centre - middle - way) / way)
    study.plot("pulse", 1000 * x, {"at the start": 0.01 * np.exp(-((x - middle) / width) ** 2), "later": velocity}, ("x [mm]", "velocity [m/s]"))
    for mode in (10, 100, 250):
        angle = np.pi * mode / (count - 1)
        expected = 2 * np.sqrt(k / m) * np.sin(angle / 2)
        step = 0.05 / expected
        scene = dict(pulse, initial_conditions={"velocity": [{"body": "chain", "value": ["0.001*sin(%r*x)" % (angle / (2 * r)), 0, 0]}]},
                     boundary_conditions={"dirichlet_boundary": [{"id": [1, 2], "value": [0, 0, 0]}]},
                     time={"dt": step, "time_steps": 400})
        folder = done(study, "mode %d" % mode, scene)
        shape = np.sin(angle * np.arange(count))
        times, amplitude = zip(*((time, shape @ u[:, 0] - shape @ x) for time, u in states(folder)))
        found = frequency(np.array(times), np.array(amplitude), expected)
        # The midpoint rule slows oscillations by (w dt)^2 / 12.
        error = abs(found * (1 + (found * step) ** 2 / 12) / expected - 1)
        study.expect(error < 1e-3, "k l = %.2f: frequency off by %.1e of 2 sqrt(k / m) sin(k l / 2)" % (angle, error), **{"mode %d" % mode: error})


def frequency(times, values, guess):
    """Of A sin(w t), by its zero crossings."""
    at = np.nonzero(np.diff(np.sign(values[1:])))[0] + 1
    zeros = times[at] - values[at] * (times[at + 1] - times[at]) / (values[at + 1] - values[at])
    count = np.rint(zeros * guess / np.pi)
    return np.pi * (count @ count) / (count @ zeros)


def block(study):
    """Pulled blocks: stress over strain of their middle against the modulus of the lattice across its layers. Particles of the
    sides lack bonds, which softens a block by a share that falls as one over its width; without it E_z is left."""
    r, E, found = 0.001, 1e7, []
    for name, cells in (("3x3x8", (3, 6, 16)), ("6x6x16", (6, 12, 32)), ("12x12x32", (12, 24, 64))):
        places = hcp(cells, r)
        top = places[:, 2].max()
        scene = {
            "geometry": [body(study, name, places, r, point_selection=[above("-z", -top + 0.1 * r, 1), above("z", top - 0.1 * r, 2)])],
            "materials": material(E),
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": [0, 0, 1e-3 * top]}]},
            "time": {"dt": 1, "time_steps": 1, "quasistatic": True},
            "solver": solver(tolerance=1e-8),
        }
        folder = done(study, name, scene)
        force = column(table(folder, "reactions.csv"), "force_z", 1)[-1]
        z, uz = places[:, 2], places_of(folder)[:, 2] - places[:, 2]
        inner = abs(z) < 0.5 * top
        strain = np.polyfit(z[inner], uz[inner], 1)[0]
        area = cells[0] * cells[1] * 2 * ROW * r**2
        found.append(force / area / strain / E)
        study.figures[name] = found[-1] / E_Z - 1
    error = (2 * found[2] - found[1]) / E_Z - 1
    study.expect(abs(error) < 0.005, "blocks of %s E (%s %% of E_z); extrapolated to wide ones %+.2f %%" %
                 (", ".join("%.3f" % E for E in found), ", ".join("%+.1f" % (100 * (E / E_Z - 1)) for E in found), 100 * error), extrapolated=error)


def beam(cells, study, r, E):
    """A cantilever of hcp rows along x whose particles share its weight, and the deflection of its tip after Timoshenko."""
    places = hcp(cells, r)
    end = places[:, 0].min() + 1.5 * r
    loose = places[:, 0] > end
    length = places[:, 0].max() - end
    b, h = cells[1] * ROW * r, cells[2] * LAYER * r
    weight = 1000 * G * b * h
    shear = 0.4 * E  # between the layers, about; a part in a hundred of the deflection
    tip = weight * length**4 / (8 * E_X * E * b * h**3 / 12) + weight * length**2 / (2 * 5 / 6 * shear * b * h)
    return {
        "geometry": [body(study, "beam", places, r, point_selection=[above("-x", end, 1), above("x", end, 2)])],
        "materials": material(E),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}],
                                "particle_forces": [{"id": 2, "value": [0, 0, -1000 * G * CELL * r**3 * int(loose.sum())]}]},
    }, tip


def tip_of(folder):
    rest = mesh_field(folder, "coordinates")
    last = rest[:, 0] > rest[:, 0].max() - 0.5 * mesh_field(folder, "radius").max()
    return -(places_of(folder) - rest)[last, 2].mean()


def drape(study):
    """A beam by its own weight: at rest against Timoshenko's, and the same however long the time steps were in which the weight
    was put on, slowly. Sides soften it by a share that falls as one over the number of layers, as in `block`."""
    r, E, found = 0.001, 1e7, []
    still = {"time": {"dt": 1, "time_steps": 1, "quasistatic": True}, "solver": solver(tolerance=1e-8)}
    for cells in ((80, 8, 8), (160, 16, 16)):
        scene, expected = beam(cells, study, r, E)
        found.append(tip_of(done(study, "at rest %dx%dx%d" % cells, dict(scene, **still))) / expected - 1)
    error = 2 * found[1] - found[0]
    study.expect(abs(found[1]) < 0.05 and abs(error) < 0.01, "tips at rest %+.1f and %+.1f %% from Timoshenko's with 8 and 16 layers; extrapolated %+.1f %%" %
                 (100 * found[0], 100 * found[1], 100 * error), layers_8=found[0], layers_16=found[1], extrapolated=error)
    scene, _ = beam((32, 8, 8), study, r, E)
    tips = [tip_of(done(study, "at rest", dict(scene, **still)))]
    T, duration = critical_step(E, 1000, r), 7600  # about four periods of the beam, in T
    ramp = "(%s)^3*(10-15*%s+6*(%s)^2)" % (("t/%r" % (duration * T),) * 3)
    weight = scene["boundary_conditions"]["particle_forces"][0]["value"][2]
    scene["boundary_conditions"]["particle_forces"][0]["value"] = [0, 0, "%r*%s" % (weight, ramp)]
    for steps in (5, 20, 100):
        folder = done(study, "settled at %d T" % steps, dict(scene, time={"dt": steps * T, "time_steps": duration // steps}, solver=solver(), output={"every": 50}))
        tips.append(tip_of(folder))
    spread = np.ptp(tips) / tips[0]
    study.expect(spread < 0.01, "tips at rest and settled with dt = 5, 20, 100 T: %s m" % ", ".join("%.5g" % tip for tip in tips), spread=spread)


def stretch(study):
    """A bar that is stretched and twisted: implicit steps of many T against explicit ones of 0.2 T."""
    r, E = 0.001, 1e7
    cells = (50, 7, 6)
    places = hcp(cells, r)
    end = places[:, 0].max() - 1.5 * r
    T = critical_step(E, 1000, r)
    duration = 2000 * T
    ramp = "(t/%r)^2*(3-2*t/%r)" % (duration, duration)
    scene = {
        "geometry": [body(study, "bar", places, r, point_selection=[above("-x", -end, 1), above("x", end, 2)])],
        "materials": material(E),
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]},
                                                       {"id": 2, "value": ["%r*%s" % (0.1 * 2 * end, ramp), 0, 0]}]},
    }
    # The held end turns as one body about the axis of the bar.
    turned = "%r*%s" % (np.pi / 2, ramp)
    twisted = dict(scene, boundary_conditions={"dirichlet_boundary": [
        {"id": 1, "value": [0, 0, 0]},
        {"id": 2, "value": [0, "y*(cos(%s)-1)-z*sin(%s)" % (turned, turned), "y*sin(%s)+z*(cos(%s)-1)" % (turned, turned)], "rotation": [turned, 0, 0]}]})
    for name, given in (("stretch", scene), ("twist", twisted)):
        explicit = done(study, name + " explicit", dict(given, time={"dt": 20 * T, "time_steps": 100}, solver=solver(integrator="leapfrog", explicit_share=0.2)))
        for share in (5, 20):
            implicit = done(study, "%s at %d T" % (name, share), dict(given, time={"dt": share * T, "time_steps": 2000 // share}, solver=solver()))
            rest = mesh_field(implicit, "coordinates")
            error = np.sqrt(((places_of(implicit) - places_of(explicit)) ** 2).sum(axis=1).mean()) / np.linalg.norm(places_of(explicit) - rest, axis=1).max()
            ratio = study.figures[name + " explicit wall_s"] / study.figures["%s at %d T wall_s" % (name, share)]
            study.expect(error < 0.01, "%s at %d T: RMS difference %.2g of the largest displacement, %.2f times as fast" % (name, share, error, ratio),
                         **{"%s at %d T" % (name, share): error})


def energy(study):
    """A free block that is twisted and let go: the energy of 2000 steps of 2 T."""
    r, E = 0.001, 1e7
    places = hcp((6, 6, 6), r)
    T = critical_step(E, 1000, r)
    spin = 60
    scene = {
        "geometry": [body(study, "block", places, r)],
        "materials": material(E),
        "initial_conditions": {"velocity": [{"body": "block", "value": ["%r*y*z" % (-spin / r), "%r*x*z" % (spin / r), 0]}]},
        "time": {"dt": 2 * T, "time_steps": 2000},
        "output": {"every": 500},
    }
    for name in ("del_exact", "be_reflect"):
        folder = done(study, name, dict(scene, solver=solver(integrator=name, tolerance=1e-9)))
        rows = ledger(folder)
        total = rows["kinetic"] + rows["elastic"]
        if name == "be_reflect":
            study.expect((np.diff(total) <= 1e-12 * total[0]).all(), "be_reflect: the energy falls in every step, to %.2g of the first" % (total[-1] / total[0]))
            continue
        times = rows["time"]
        slope = np.polyfit(times - times.mean(), total / total.mean() - 1, 1)[0] * times[-1]
        band = np.ptp(total) / total.mean() / 2
        study.expect(band < 1e-3 and abs(slope) < 2e-4, "del_exact: energy within +-%.2g, drift %.2g in 2000 steps; share of elastic energy up to %.2f" %
                     (band, slope, (rows["elastic"] / total).max()), band=band, drift=slope)
    study.plot("energy", np.arange(len(total)), {"be_reflect": total}, ("step", "energy [J]"))


def bending(study, cells, r, label, steps, speed=0.02, strength=3e4, E=1e7):
    """Three-point bending of a hcp bar of about 60 x 12 x 12 mm between rollers of 6 mm, span 48 mm."""
    places = hcp(cells, r)
    roller, dhat = 0.003, 0.02 * r

    def cylinder(name, x, z, number):
        return {"name": name, "is_obstacle": True, "generator": {"type": "cylinder", "radius": roller, "height": 0.02, "divisions": [24, 1]},
                "transformation": {"rotation": [90, 0, 0], "translation": [x, 0, z]}, "surface_selection": number}

    reach = places[:, 2].max() + r + roller + 0.9 * dhat
    return {
        "geometry": [body(study, label, places, r), cylinder("left", -SPAN / 2, -reach, 1), cylinder("right", SPAN / 2, -reach, 2),
                     cylinder("middle", 0, reach, 3)],
        "materials": material(E, tensile_strength=strength, shear_strength=strength),
        "contact": {"enabled": True, "dhat": dhat},
        "boundary_conditions": {"obstacle_displacements": [{"id": 3, "value": [0, 0, "%r*t" % -speed]}]},
        "time": {"dt": 2 * critical_step(E, 1000, r), "time_steps": steps},
        "solver": solver(tolerance=1e-6),
    }


def deflections(folder):
    """Times and how far the middle of a bar has come down against its places over the rollers, of stored states; by particles of
    its middle layers, so that what gives way in contacts does not count."""
    rest, r = mesh_field(folder, "coordinates"), mesh_field(folder, "radius").max()
    inner = abs(rest[:, 2]) < 1.1 * LAYER * r / 2
    middle, ends = inner & (abs(rest[:, 0]) < 1.5 * r), inner & (abs(abs(rest[:, 0]) - SPAN / 2) < 1.5 * r)
    rows = [(time, (u - rest)[ends, 2].mean() - (u - rest)[middle, 2].mean()) for time, u in ((t, u[:, :3]) for t, u in states(folder))]
    return np.array(rows).T


def three_point(study):
    """Loads and deflections at the first break of bars of three sizes of particles, and the slope of the curve against a
    Timoshenko beam. Radii give each bar the section modulus of 12 x 12 mm."""
    E, loads, ways = 1e7, [], []
    for count, cells, steps, share in (("500", (21, 5, 5), 420, 0.15), ("1.8K", (32, 7, 8), 560, 0.08)):
        r = (0.012**3 / (cells[1] * ROW * (cells[2] * LAYER) ** 2)) ** (1 / 3)
        folder = done(study, count, bending(study, cells, r, "bar " + count, steps))
        rows, breaks = table(folder, "obstacle_forces.csv"), broken(folder)
        times, force, way = column(rows, "time", "middle"), column(rows, "force_z", "middle"), -column(rows, "displacement_z", "middle")
        study.plot("curve " + count, 1000 * way, {count: force}, ("way of the roller [mm]", "force [N]"))
        study.picture(folder)
        if not breaks:
            study.expect(False, count + ": nothing broke; force up to %.3g N" % force.max())
            continue
        first = min(float(row[1]) for row in breaks)
        at, bent = deflections(folder)
        chosen = at < first
        slope = bent[chosen] @ np.interp(at[chosen], times, force) / (bent[chosen] @ bent[chosen])
        b, h = cells[1] * ROW * r, cells[2] * LAYER * r
        stiffness = 1 / (SPAN**3 / (48 * E_X * E * b * h**3 / 12) + SPAN / (4 * 5 / 6 * 0.4 * E * b * h))
        loads.append(force[times < first * (1 + 1e-9)].max())
        ways.append(np.interp(first, at, bent))
        study.expect(abs(slope / stiffness - 1) < share, "%s: first break in step %d of %d (%s) at %.3g N, %.3g mm; slope %.4g N/m, Timoshenko %.4g (%+.0f %%)" %
                     (count, np.searchsorted(times, first * (1 - 1e-9)) + 1, steps, breaks[0][5], loads[-1], 1000 * ways[-1], slope, stiffness, 100 * (slope / stiffness - 1)),
                     **{count + " load": loads[-1], count + " slope": slope / stiffness - 1})
    for name, values in (("loads", loads), ("deflections", ways)):
        spread = np.ptp(values) / np.mean(values)
        study.expect(spread < 0.1, "%s at the first break: %s, spread %.2g" % (name, ", ".join("%.3g" % value for value in values), spread), **{name: spread})


def notch(study):
    """Toughness of a lattice by the size of its particles. With one strength of bonds K_Ic grows as sqrt(r), since the stress of
    the bond at the tip is that of the field at a distance of about r; with the strength of a `strength_radius` it stays."""
    sizes, E, strength, middle = (0.001, 0.0005, 0.00025), 1e7, 1e4, 0.0005
    tough = {"one strength": [], "strength_radius": []}
    for r in sizes:
        cells = (int(0.02 / (2 * r)), 2 * int(0.02 / (2 * ROW * r)), 2)
        places = hcp(cells, r)
        bonds = bonds_of(places, r)
        # The notch runs between two rows, from the left side over a quarter of the width.
        cut = np.unique(places[:, 1].round(9))
        cut = (cut[len(cut) // 2 - 1] + cut[len(cut) // 2]) / 2
        ends = places[bonds]
        crossing = (ends[:, :, 1] > cut).sum(axis=1) == 1
        bonds = bonds[~(crossing & (ends[:, :, 0].mean(axis=1) < places[:, 0].min() + 0.005))]
        top = places[:, 1].max()

        def pulled(label, way, steps, **more):
            scene = {
                "geometry": [body(study, "plate %g" % r, places, r, bonds, point_selection=[above("-y", -top + 1.5 * r, 1), above("y", top - 1.5 * r, 2)])],
                "materials": material(E, **more),
                "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}, {"id": 2, "value": [0, way, 0]}]},
                "time": {"dt": 1, "time_steps": steps, "quasistatic": True},
                "solver": solver(tolerance=1e-6, cascade_share=0.01),
            }
            return done(study, "r = %g, %s" % (r, label), scene)

        whole, way = pulled("whole", 2e-5, 1), 2e-5
        inside = (abs(ends_of(whole)[:, :, 1]) < 0.5 * top).all(axis=1)
        worst = runs.state(whole, field="sigma").ravel()[inside].max()
        for name, factor, more in (("one strength", 1, {}), ("strength_radius", np.sqrt(middle / r), {"strength_radius": middle})):
            reach = way * strength * factor / worst
            # 2 % before the bond at the tip should break, and 2 % after.
            folder = pulled(name, "%r*(0.94+0.04*t)" % reach, 2, tensile_strength=strength, **more)
            times = {float(row[1]) for row in broken(folder)}
            study.expect(times == {2.0}, "r = %g, %s: bonds break in step 2 alone, in %s" % (r, name, sorted(times)))
            force = column(table(folder, "reactions.csv"), "force_y", 1)[0] / 0.98
            # Stress on the plate at the first break; K_Ic is this times Y sqrt(pi a), the same for all.
            tough[name].append(force / (cells[0] * 2 * r * cells[2] * LAYER * r))
    for (name, values), expected in zip(tough.items(), (0.5, 0)):
        exponent = np.polyfit(np.log(sizes), np.log(values), 1)[0]
        study.expect(abs(exponent - expected) < 0.15, "%s: K_Ic grows as r^%.2f (%s Pa on the plate at the first break)" %
                     (name, exponent, ", ".join("%.3g" % value for value in values)), **{name: exponent})


def ends_of(folder):
    return mesh_field(folder, "coordinates")[mesh_field(folder, "connectivity").reshape(-1, 2)]


def plate(study):
    """A plate that falls on a ridge at 5 m/s: the ledger, pieces, momentum and the same bonds on 1 and 2 ranks."""
    r, E = 0.001, 1e8
    places = hcp((38, 40, 2), r)
    dhat = 0.1 * r
    ridge = {"name": "ridge", "is_obstacle": True, "generator": {"type": "box", "size": [0.02, 0.12, 0.02], "divisions": [1, 1, 1]},
             "transformation": {"rotation": [0, 45, 0], "translation": [0.004, 0, -0.01 * np.sqrt(2) - places[:, 2].max() - r - 1.5 * dhat]}}
    T = critical_step(E, 1000, r)
    scene = {
        "geometry": [body(study, "plate", places, r), ridge],
        "materials": material(E, tensile_strength=3e5, shear_strength=3e5),
        "contact": {"enabled": True, "dhat": dhat, "friction_coefficient": 0.3},
        "initial_conditions": {"velocity": [{"body": "plate", "value": [0, 0, -5]}]},
        "time": {"dt": 10 * T, "time_steps": 20},
        "output": {"every": 5},
        "solver": solver(tolerance=1e-10),
    }
    folders = [done(study, "plate on %d" % ranks, scene, ranks) for ranks in (1, 2)]
    folder, rows = folders[0], ledger(folders[0])
    total = rows["kinetic"] + rows["elastic"] + rows["barrier"]
    lost = rows["broken"] + rows["dissipated_friction"] + rows["dissipated_integrator"]
    initial = 0.5 * len(places) * 1000 * CELL * r**3 * 25
    error = np.abs(total + lost - initial).max() / initial
    study.expect(error < 0.01, "the ledger closes to %.1e of the kinetic energy of the fall" % error, ledger=error)
    fragments = table(folder, "fragments.csv")
    last = fragments[fragments["step"] == 20]
    large = int((last["particles"] >= 0.05 * len(places)).sum())
    mass = last["mass"].sum() / (len(places) * 1000 * CELL * r**3) - 1
    study.expect(large >= 3 and last["particles"].sum() == len(places) and abs(mass) < 1e-8, "%d fragments, %d of at least 5 %% of the mass; no particle is lost, masses of the table add up to %.0e" %
                 (runs.summary(folder)["fragments"], large, abs(mass)))
    names = [[row[:2] for row in broken(one)] for one in folders]
    study.expect(names[0] == names[1] and len(names[0]) > 0, "%d bonds break, the same at the same times on 1 and 2 ranks" % len(names[0]))
    found, count = overlaps(folder, dhat)
    study.expect(found == 0, "%d overlaps in %d states" % (found, count))
    momentum = np.stack([rows["linear_" + c] for c in "xyz"], axis=-1)
    force = np.stack([column(table(folder, "obstacle_forces.csv"), "force_" + c, "ridge") for c in "xyz"], axis=-1)
    error = np.abs(np.diff(momentum, axis=0) + force[1:] * 10 * T).max() / np.abs(momentum[0]).max()
    study.expect(error < 1e-6, "forces on the ridge are the change of momentum to %.1e" % error)
    study.picture(folder)


def drops(study):
    """A hundred small blocks that hit a floor or each other at up to 50 m/s, with friction up to 1 and strengths of any size."""
    random = np.random.default_rng(1)
    r, E, dhat = 0.001, 1e8, 1e-4
    T, bad, broke, states_seen, slowest = critical_step(E, 1000, r), [], 0, 0, 0
    for number in range(100):
        places = hcp((4, 4, 3), r)
        reach = np.linalg.norm(places, axis=1).max() + r
        turn = [float(x) for x in random.uniform(-180, 180, 3)]
        speed, friction, strength = random.uniform(1, 50), random.uniform(0, 1), 10 ** random.uniform(5, 7.5)
        bodies = [body(study, "block", places, r, transformation={"rotation": turn, "translation": [0, 0, reach + 2 * dhat]})]
        velocities = [{"body": "block", "value": [float(random.uniform(-0.5, 0.5) * speed), 0, -speed]}]
        if number % 2:
            bodies.append(body(study, "other", places, r, transformation={"rotation": turn[::-1], "translation": [reach / 2, 0, 3 * reach + 4 * dhat]}))
            velocities.append({"body": "other", "value": [0, 0, -2 * speed]})
        scene = {
            "geometry": bodies + [plane("floor", [0, 0, 1])],
            "materials": material(E, tensile_strength=strength, shear_strength=strength),
            "contact": {"enabled": True, "dhat": dhat, "friction_coefficient": friction},
            "initial_conditions": {"velocity": velocities},
            "time": {"dt": 5 * T, "time_steps": 20},
            "solver": solver(max_iterations=1000, cascade_share=0.3),
        }
        label = "drop %d" % number
        folder = study.simulate(study.ranks, study.write_scene(label, scene), label)
        found, count = overlaps(folder, dhat)
        low = min(places_of(folder, step)[:, 2].min() for step in range(21))
        if runs.summary(folder)["status"] != "done" or found or low < r:
            bad.append(number)
        broke += len(broken(folder))
        states_seen += count
        slowest = max(slowest, runs.summary(folder)["wall_s"])
    study.expect(not bad, "100 drops, %d states, %d bonds broke: overlaps or failures in %s; slowest %.1f s" % (states_seen, broke, bad or "none", slowest))
