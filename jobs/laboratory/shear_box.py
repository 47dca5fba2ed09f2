#!/usr/bin/env python3
"""Direct shear of dry grains in a box of two halves: shear stress over displacement, dilation, friction angle.

    jobs/laboratory/shear_box.py --recoil build/release/recoil -o shear            # the figures of README.md
    jobs/laboratory/shear_box.py --recoil build/release/recoil -o shear --quick    # a shorter way, fewer loads

Both halves are frames of triangles without friction, with a ledge each that closes the opening which the displacement makes; base and lid are
planes with the friction of the grains. The lid presses with a force (`servo_planes`), then the lower half moves along x with the base. Each test
leaves a scene, a run and a CSV file of its curve in the output folder, all of them `strengths.csv` and `shear_box.png`.
"""
import os

import cell
import matplotlib
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.collections import EllipseCollection  # noqa: E402
from runs import write_obj  # noqa: E402

GAP, SLIT = 1e-5, 5e-4  # at which contact begins, between the halves [m]
SPEED, STEP, WAIT = 0.01, 5e-5, 0.1  # of the lower half [m/s], its way per time step [m], time for the lid alone [s]
LOWER, LID = 1, 2
FOUND = ("porosity", "displacement_at_peak", "normal_stress", "shear_stress", "friction_angle", "friction_angle_in_second_half", "dilation_angle", "plane_strain_angle")


def frame(size, top, side):
    """Four walls of half of the box, from the slit to its height `side` * `top`, and a ledge at the slit, outwards at x = `side` * size / 2."""
    a, b = size[0] / 2 + GAP, size[1] / 2 + GAP
    at = side * SLIT / 2
    points = [(x, y, z) for z in (at, side * top) for x, y in ((-a, -b), (a, -b), (a, b), (-a, b))]
    faces = [face for i in range(4) for j in [(i + 1) % 4] for face in ((i, j, j + 4), (i, j + 4, i + 4))]
    edge, far = ((1, 2), a + size[0] / 2) if side > 0 else ((3, 0), -a - size[0] / 2)
    points += [(far, points[edge[0]][1], at), (far, points[edge[1]][1], at)]
    return points, faces + [(edge[0], edge[1], 9), (edge[0], 9, 8)]


def scene(folder, pressure, size, way, friction, radius):
    """A test; the frames are written to `folder`."""
    os.makedirs(folder, exist_ok=True)
    for name, side in (("upper", 1), ("lower", -1)):
        write_obj(os.path.join(folder, name + ".obj"), frame(size, size[2] * (1 if side > 0 else 0.5) + GAP, side))
    plane = lambda name, side, number: cell.plane(name, 2, side, size[2] / 2 + GAP, number)
    return {
        "geometry": [dict(name="grains", generator={"type": "box", "size": size, "divisions": 1},
                          particles={"packing": "random", "radius": radius, "seed": 1, "bonded": False}),
                     dict(name="upper", is_obstacle=True, mesh="upper.obj"), dict(name="lower", is_obstacle=True, mesh="lower.obj", surface_selection=LOWER),
                     plane("base", -1, LOWER), plane("lid", 1, LID)],
        "materials": {"type": "BondedParticles", "E": 1e9, "nu": 0.2, "rho": 2600},
        "boundary_conditions": {
            "servo_planes": {"id": LID, "force": "%g*min(1, 0.1 + t/%g)" % (pressure * size[0] * size[1], WAIT / 2), "max_speed": 0.1},
            "obstacle_displacements": [{"id": LOWER, "value": ["%g*max(0, t - %g)" % (SPEED, WAIT), 0, 0]}]},
        "contact": {"enabled": True, "dhat": GAP, "friction_coefficient": friction, "epsv": 3e-4,
                    "friction_pairs": [{"bodies": ["grains", name], "coefficient": 0} for name in ("upper", "lower")]},
        "time": {"dt": STEP / SPEED, "time_steps": round((WAIT * SPEED + way) / STEP)},
        "output": {"every": 20},
        "solver": {"type": "bonded_particles", "bonded_particles": {"contact_law": "hertz"}},
    }


def curve(run, size):
    """Stresses on the plane between the halves [Pa], by the area at the start, rise of the lid [m]; from where the lower half begins to move."""
    planes, area = cell.forces(run), size[0] * size[1]
    moved = planes["base"][1][:, 0]
    first = max(int(np.argmax(moved > 0)) - 1, 0)
    above, below = planes["upper"][0] + planes["lid"][0], planes["lower"][0] + planes["base"][0]
    rise = planes["lid"][1][:, 2]
    table = {"displacement": moved, "shear_stress": above[:, 0] / area, "shear_stress_below": -below[:, 0] / area, "normal_stress": -below[:, 2] / area,
             "lid_stress": planes["lid"][0][:, 2] / area, "lid_rise": rise - rise[first],
             "porosity": cell.porosity(run, area * (size[2] + rise))}
    return {name: values[first:] for name, values in table.items()}


def strength(table):
    """Where the shear stress is largest: row, normal and shear stress."""
    peak = int(table["shear_stress"].argmax())
    return peak, table["normal_stress"][peak], table["shear_stress"][peak]


def plane_strain_angle(table, peak):
    """Friction angle in plane strain where stresses and rates of strain have the same axes (Davis 1968), from the ratio on the plane and the dilation
    around the peak: tan psi = rise over way, t = sin phi cos psi / (1 - sin phi sin psi)."""
    near = slice(max(peak - 10, 0), peak + 11)
    psi = np.arctan(np.polyfit(table["displacement"][near], table["lid_rise"][near], 1)[0])
    ratio = table["shear_stress"][peak] / table["normal_stress"][peak]
    return np.degrees(psi), np.degrees(np.arcsin(ratio / (np.cos(psi) + ratio * np.sin(psi))))


def report(test, run, table, seconds):
    """Prints what a test has found; returns the values FOUND."""
    peak, normal, shear = strength(table)
    half = slice(len(table["displacement"]) // 2, None)
    mean = np.degrees(np.arctan(table["shear_stress"][half].mean() / table["normal_stress"][half].mean()))
    angles = np.degrees(np.arctan(shear / normal)), mean, *plane_strain_angle(table, peak)
    apart = np.abs(table["shear_stress"] - table["shear_stress_below"])[len(table["displacement"]) // 4:].max() / shear
    way, porosity = table["displacement"][peak], table["porosity"][0]
    print("%s: %d grains, porosity %.3f, peak %.4g kPa under %.4g kPa at %.2f mm%s" % (test, len(run.mesh.points), porosity, shear / 1e3, normal / 1e3, 1e3 * way,
                                                                                     ", where the test ends" if peak == len(table["displacement"]) - 1 else ""))
    print("  %.1f degrees, in the second half of the test %.1f degrees, dilation %.1f degrees, in plane strain %.1f degrees" % angles)
    print("  halves apart by %.2g, energies by %.2g, %.3g s" % (apart, cell.energy_gap(run), seconds), flush=True)
    return porosity, way, normal, shear, *angles


def draw_section(axis, figure, run, size, way):
    """Grains that the middle of the box cuts, in the last state."""
    *_, state = run
    place, radii = 1e3 * (run.mesh.points + state["displacement"]), 1e3 * run.mesh.radius
    cut = np.abs(place[:, 1]) < radii
    width = 2 * np.sqrt(radii[cut]**2 - place[cut, 1]**2)
    circles = EllipseCollection(width, width, np.zeros(len(width)), units="xy", offsets=place[cut][:, [0, 2]], offset_transform=axis.transData,
                                array=1e3 * state["displacement"][cut, 0], edgecolor="k", linewidth=0.3)
    axis.add_collection(circles)
    figure.colorbar(circles, ax=axis, label="displacement along x [mm]")
    for side, shift in ((1, 0), (-1, 1e3 * way)):
        half, slit, end = 500 * size[0], 500 * side * SLIT, 500 * side * size[2]
        for x in (-half + shift, half + shift):
            axis.plot([x, x], [slit, end], "k", linewidth=2)
        axis.plot([shift + side * half, shift + side * (half + 1.5e3 * way)], [slit, slit], "k", linewidth=2)
    axis.set_aspect("equal")


def draw(results, last, size, path):
    figure, axes = plt.subplots(2, 2, figsize=(10, 7), constrained_layout=True)
    curves = [(table, "C%d" % index, "%g kPa" % (pressure / 1e3)) for index, (pressure, table) in enumerate(results["rough"].items())]
    for table, colour, label in curves + [(table, "0.6", "%g kPa, no friction" % (pressure / 1e3)) for pressure, table in results["smooth"].items()]:
        axes[0, 0].plot(1e3 * table["displacement"], 1e-3 * table["shear_stress"], colour, label=label)
        axes[1, 0].plot(1e3 * table["displacement"], 1e3 * table["lid_rise"], colour, label=label)
    peaks = np.array([strength(table)[1:] for table, _, _ in curves])
    for (stress, shear), (_, colour, _) in zip(peaks / 1e3, curves):
        axes[0, 1].plot(stress, shear, "o", color=colour)
    slope, c = np.polyfit(*peaks.T, 1)
    ends = np.array([0, 1.05 * peaks[:, 0].max()])
    axes[0, 1].plot(ends / 1e3, (c + slope * ends) / 1e3, "k--", linewidth=1, label="$\\varphi$ = %.1f°, c = %.2g kPa" % (np.degrees(np.arctan(slope)), c / 1e3))
    axes[0, 1].set_xlim(left=0)
    axes[0, 1].set_ylim(bottom=0)
    axes[0, 1].legend(frameon=False)
    axes[1, 0].legend(frameon=False)
    draw_section(axes[1, 1], figure, last, size, curves[-1][0]["displacement"][-1])
    for axis, x, y in ((axes[0, 0], "displacement [mm]", "shear stress [kPa]"), (axes[1, 0], "displacement [mm]", "rise of the lid [mm]"),
                       (axes[0, 1], "normal stress [kPa]", "shear stress at the peak [kPa]"), (axes[1, 1], "x [mm]", "z [mm]")):
        axis.set_xlabel(x)
        axis.set_ylabel(y)
    figure.savefig(path, dpi=90)


def main():
    parser = cell.parser(__doc__)
    parser.add_argument("--way", type=float, help="of the lower half [m]")
    parser.add_argument("--size", type=float, nargs=3, help="of the box [m]")
    arguments = parser.parse_args()
    way = arguments.way or (0.002 if arguments.quick else 0.004)
    size = arguments.size or [0.05, 0.02, 0.035]
    results, rows = {"rough": {}, "smooth": {}}, []
    for name, friction, pressures in (("smooth", 0, [1e5] if arguments.smooth else []), ("rough", 0.5, [5e4, 2e5] if arguments.quick else [5e4, 1e5, 2e5])):
        for pressure in pressures:
            test = "%s_%g_kPa" % (name, pressure / 1e3)
            last, seconds = cell.simulate(arguments.recoil, arguments.output, test, scene(arguments.output, pressure, size, way, friction, [0.0022, 0.0028]))
            table = results[name][pressure] = curve(last, size)
            cell.write_table(os.path.join(arguments.output, test + ".csv"), table)
            rows.append([pressure, *report(test, last, table, seconds)])
    slope, c = np.polyfit(*np.array(rows)[-len(results["rough"]):, 3:5].T, 1)
    print("rough: friction angle %.2f degrees, cohesion %.3g kPa" % (np.degrees(np.arctan(slope)), c / 1e3))
    cell.write_table(os.path.join(arguments.output, "strengths.csv"), dict(zip(("lid_pressure", *FOUND), np.transpose(rows))))
    draw(results, last, size, os.path.join(arguments.output, "shear_box.png"))


if __name__ == "__main__":
    main()
