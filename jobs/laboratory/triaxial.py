#!/usr/bin/env python3
"""Triaxial tests of dry and of cemented grains: curves, Mohr's circles, friction angle and cohesion.

    jobs/laboratory/triaxial.py --recoil build/release/recoil -o triaxial            # the figures of README.md
    jobs/laboratory/triaxial.py --recoil build/release/recoil -o triaxial --quick    # larger grains, fewer pressures

Grains stand in a cell of six planes without friction. Three hold the cell pressure on sides and top (`servo_planes`), with forces that follow
the area; a seventh, the ram, comes down at a constant rate of strain and bears the deviator, as in a cell of a laboratory. Each test leaves
a scene, a run and a CSV file of its curve in the output folder, all of them `strengths.csv` and `triaxial.png`.
"""
import os

import cell
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

WIDTH, HEIGHT = 0.04, 0.08  # [m]
GAP = 1e-5  # at which contact begins [m]
FOUND = ("porosity", "strain_at_peak", "axial_stress", "side_stress", "friction_angle", "friction_angle_in_second_half", "modulus")

# Rate of strain [1/s], strain per step, and time for the cell pressure alone [s].
SERIES = {
    "dry": dict(rate=0.2, step=5e-4, wait=0.05, friction=0.5, law="hertz", particles={"bonded": False},
                material={"E": 1e9, "nu": 0.2, "rho": 2600}),
    "cemented": dict(rate=0.2, step=1e-4, wait=0.01, friction=0.5, law="hertz", particles={"bond_tolerance": 0.05},
                     material={"E": 1e9, "nu": 0.2, "rho": 2600, "tensile_strength": 1e6, "shear_strength": 1e6, "friction_angle": 30}),
}
SERIES["smooth"] = dict(SERIES["dry"], friction=0, rate=0.02, wait=0.5)  # of which rates of strain count more


def scene(pressure, radius, strain, rate, step, wait, friction, law, particles, material):
    """A test; without pressure nothing but ram and base touch the specimen."""
    eps = "max(0, %g*(t - %g))" % (rate, wait)
    ramp = "min(1, 0.1 + t/%g)" % (wait / 2)
    geometry = [dict(name="grains", generator={"type": "box", "size": [WIDTH, WIDTH, HEIGHT], "divisions": 1},
                     particles={"packing": "random", "radius": radius, "seed": 1, **particles}),
                cell.plane("base", 2, -1, HEIGHT / 2 + GAP), cell.plane("ram", 2, 1, HEIGHT / 2 + GAP, 4)]
    servos = []
    if pressure > 0:
        geometry += [cell.plane("side -" + cell.AXES[axis], axis, -1, WIDTH / 2 + GAP) for axis in (0, 1)]
        geometry += [cell.plane("cell " + cell.AXES[axis], axis, 1, (WIDTH, WIDTH, HEIGHT)[axis] / 2 + GAP, axis + 1) for axis in range(3)]
        # Forces of areas that change as they do at constant volume.
        side, top = "%g*%s*sqrt(1 - %s)" % (pressure * WIDTH * HEIGHT, ramp, eps), "%g*%s/(1 - %s)" % (pressure * WIDTH**2, ramp, eps)
        servos = [{"id": axis + 1, "force": (side, side, top)[axis], "max_speed": 0.1} for axis in range(3)]
    return {
        "geometry": geometry, "materials": {"type": "BondedParticles", **material},
        "boundary_conditions": {"servo_planes": servos, "obstacle_displacements": [{"id": 4, "value": [0, 0, "-%g*%s" % (HEIGHT, eps)]}]},
        "contact": {"enabled": True, "dhat": GAP, "friction_coefficient": friction, "epsv": 3e-4,
                    "friction_pairs": [{"bodies": ["grains", entry["name"]], "coefficient": 0} for entry in geometry[1:]]},
        "time": {"dt": step / rate, "time_steps": round((wait * rate + strain) / step)},
        "output": {"every": 4},
        "solver": {"type": "bonded_particles", "bonded_particles": {"contact_law": law}},
    }


def curve(run):
    """Stresses [Pa] and strains from the step on in which the ram meets the specimen; contraction is positive."""
    planes = cell.forces(run)
    (ram, ram_way), base = planes["ram"], planes["base"][0]
    zero = np.zeros(len(ram))
    way = lambda axis: planes["cell " + axis][1][:, "xyz".index(axis)] if "cell x" in planes else zero
    force = lambda axis: planes["cell " + axis][0][:, "xyz".index(axis)] if "cell x" in planes else zero
    x, y, z = WIDTH + way("x"), WIDTH + way("y"), HEIGHT + (way("z") if "cell x" in planes else ram_way[:, 2])
    before = np.flatnonzero(ram[:ram[:, 2].argmax(), 2] <= 1e-3 * ram[:, 2].max())
    first = before[-1] if len(before) else 0
    volume = x * y * z if "cell x" in planes else np.full(len(z), np.nan)  # sides are not measured without planes
    table = {"time": run.ledger["time"], "axial_strain": 1 - z / z[first], "deviator": ram[:, 2] / (x * y), "volumetric_strain": 1 - volume / volume[first], "porosity": cell.porosity(run, volume),
             "axial_stress": (ram[:, 2] + force("z")) / (x * y), "axial_stress_at_base": -base[:, 2] / (x * y),
             "side_stress_x": force("x") / (y * z), "side_stress_y": force("y") / (x * z)}
    return {name: values[first:] for name, values in table.items()}


def strength(table):
    """Where the deviator is largest: axial strain, axial stress, mean side stress."""
    peak = int(table["deviator"].argmax())
    return table["axial_strain"][peak], table["axial_stress"][peak], (table["side_stress_x"][peak] + table["side_stress_y"][peak]) / 2


def modulus(run, table):
    """Deviator over axial strain [Pa] up to a third of the peak, by the grains in the middle half of the height, as gauges on a specimen measure it: ends
    where few grains touch the platens do not count. nan where fewer than three states are stored there."""
    q, z = table["deviator"], run.mesh.points[:, 2]
    middle = np.abs(z) < HEIGHT / 4
    strains, stresses = [], []
    for state in run:
        if state.time >= table["time"][0]:
            stress = np.interp(state.time, table["time"], q)
            if state.time > table["time"][q.argmax()] or stress > q.max() / 3:
                break
            strains.append(-np.polyfit(z[middle], state["displacement"][middle, 2], 1)[0])
            stresses.append(stress)
    return np.polyfit(strains, stresses, 1)[0] if len(strains) > 2 else np.nan


def mohr_coulomb(sigma_1, sigma_3):
    """Friction angle and cohesion of the line s1 = N s3 + 2 c sqrt(N), N = tan^2(45 + phi/2), by least squares."""
    N, C = np.polyfit(sigma_3, sigma_1, 1)
    return np.degrees(np.arcsin((N - 1) / (N + 1))), C / (2 * np.sqrt(N))


def angle(sigma_1, sigma_3):
    """Mobilised friction angle of grains without cohesion [degrees]."""
    return np.degrees(np.arcsin((sigma_1 - sigma_3) / (sigma_1 + sigma_3)))


def report(test, run, table, seconds, has_sides):
    """Prints what a test has found; returns the values FOUND."""
    at, top, side = strength(table)
    half = slice(len(table["deviator"]) // 2, None)
    later = angle(table["axial_stress"][half].mean(), (table["side_stress_x"] + table["side_stress_y"])[half].mean() / 2)
    apart = np.abs(table["axial_stress"] - table["axial_stress_at_base"])[:table["deviator"].argmax() + 1].max() / top
    porosity, stiffness = table["porosity"][0], modulus(run, table)
    print("%s: %d grains, peak %.4g kPa over %.4g kPa at strain %.3g %%%s" % (test, len(run.mesh.points), top / 1e3, side / 1e3, 100 * at,
                                                                           ", where the test ends" if at == table["axial_strain"][-1] else ""))
    if has_sides:
        print("  %.1f degrees, in the second half of the test %.1f degrees; porosity %.3f, at the end contraction %.3g %%"
              % (angle(top, side), later, porosity, 100 * table["volumetric_strain"][-1]))
    if np.isfinite(stiffness):
        print("  modulus %.4g MPa" % (stiffness / 1e6))
    print("  base off by %.2g, energies by %.2g, %d of %d bonds broken, %.3g s"
          % (apart, cell.energy_gap(run), run.summary["broken_bonds"], run.summary["bonds"], seconds), flush=True)
    return porosity, at, top, side, angle(top, side), later, stiffness


def draw(results, path):
    figure, axes = plt.subplots(2, 3, figsize=(12, 6.6), constrained_layout=True)
    for row, name in zip(axes, ("dry", "cemented")):
        circles = []
        for index, (pressure, table) in enumerate(results[name].items()):
            label = "%g kPa" % (pressure / 1e3) if pressure else "uniaxial"
            for axis, column, scale in ((row[0], "deviator", 1e-3), (row[1], "volumetric_strain", 100)):
                axis.plot(100 * table["axial_strain"], scale * table[column], "C%d" % index, label=label)
            _, top, side = strength(table)
            circles.append((top, side))
            along = np.linspace(0, np.pi, 200)
            row[2].plot(((top + side) / 2 + (top - side) / 2 * np.cos(along)) / 1e3, (top - side) / 2 * np.sin(along) / 1e3, "C%d" % index)
        if len(circles) > 1:
            phi, c = mohr_coulomb(*np.transpose(circles))
            ends = np.array([0, max(top for top, _ in circles)])
            row[2].plot(ends / 1e3, (c + ends * np.tan(np.radians(phi))) / 1e3, "k--", lw=1, label="$\\varphi$ = %.1f°, c = %.3g kPa" % (phi, c / 1e3))
            row[2].legend(frameon=False, loc="upper left")
        if name == "dry":
            for pressure, table in results["smooth"].items():
                for axis, column, scale in ((row[0], "deviator", 1e-3), (row[1], "volumetric_strain", 100)):
                    axis.plot(100 * table["axial_strain"], scale * table[column], "0.6", label="%g kPa, no friction" % (pressure / 1e3))
        row[2].set_aspect("equal")
        row[2].set_ylim(bottom=0)
        row[1].legend(frameon=False)
        for axis, x, y in zip(row, ("axial strain [%]", "axial strain [%]", "normal stress [kPa]"), ("deviator [kPa]", "contraction [%]", "shear stress [kPa]")):
            axis.set_xlabel(x)
            axis.set_ylabel(y)
        row[0].set_title(name + " grains")
    figure.savefig(path, dpi=90)


def main():
    parser = cell.parser(__doc__)
    parser.add_argument("--strain", type=float, help="end of the tests of dry grains; the cemented ones end at a quarter of it")
    parser.add_argument("--radius", type=float, nargs=2, help="smallest and largest radius of the grains [m]")
    arguments = parser.parse_args()
    strain = arguments.strain or (0.06 if arguments.quick else 0.08)
    radius = arguments.radius or ([0.004, 0.005] if arguments.quick else [0.003, 0.004])
    tests = {"cemented": [0, 2.5e5, 5e5], "dry": [5e4, 2e5] if arguments.quick else [5e4, 1e5, 2e5], "smooth": [1e5] if arguments.smooth else []}
    results, rows = {}, []
    for name, pressures in tests.items():
        results[name] = {}
        for pressure in pressures:
            test = "%s_%g_kPa" % (name, pressure / 1e3)
            run, seconds = cell.simulate(arguments.recoil, arguments.output, test, scene(pressure, radius, strain / (4 if name == "cemented" else 1), **SERIES[name]))
            table = results[name][pressure] = curve(run)
            cell.write_table(os.path.join(arguments.output, test + ".csv"), table)
            rows.append([pressure, *report(test, run, table, seconds, pressure > 0)])
        if len(pressures) > 1:
            phi, c = mohr_coulomb(*np.array(rows)[-len(pressures):, 3:5].T)
            print("%s: friction angle %.2f degrees, cohesion %.4g kPa" % (name, phi, c / 1e3), flush=True)
    cell.write_table(os.path.join(arguments.output, "strengths.csv"), dict(zip(("cell_pressure", *FOUND), np.transpose(rows))))
    draw(results, os.path.join(arguments.output, "triaxial.png"))


if __name__ == "__main__":
    main()
