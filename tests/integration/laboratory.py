"""Tests of jobs/laboratory with few grains: the cell holds its pressure, both ends of a specimen and both halves of a box bear the same, energies add up,
strength grows with pressure, and the stiffness of cemented grains does not."""
import os
import sys

import numpy as np
import runs

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "laboratory"))
import cell  # noqa: E402
import shear_box  # noqa: E402
import triaxial  # noqa: E402


def run_test(recoil, name, pressure, strain):
    run, seconds = cell.simulate(recoil.program, recoil.folder, "%s %g" % (name, pressure),
                                 triaxial.scene(pressure, [0.0055, 0.0065], strain, **triaxial.SERIES[name]))
    table = triaxial.curve(run)
    gap = cell.energy_gap(run)
    runs.check(gap < 1e-3, "%s grains under %g Pa: energies add up to %.2g, %.3g s" % (name, pressure, gap, seconds))
    return run, table


def check_triaxial(recoil):
    _, dry = run_test(recoil, "dry", 1e5, 0.05)
    held = [abs(dry[name] / 1e5 - 1).max() for name in ("side_stress_x", "side_stress_y")]
    runs.check(max(held) < 0.03, "side stresses are within %.2g and %.2g of the cell pressure" % tuple(held))
    top, bottom = dry["axial_stress"], dry["axial_stress_at_base"]
    runs.check(abs(top / bottom - 1).max() < 0.05, "top and base differ by %.2g at most" % abs(top / bottom - 1).max())
    at, one, three = triaxial.strength(dry)
    runs.check(1.5 < one / three < 4 and at > 0.005, "dry grains bear %.3g times the side stress, at a strain of %.3g" % (one / three, at))
    strengths, moduli = [], []
    for pressure in (0, 5e5):
        run, table = run_test(recoil, "cemented", pressure, 0.012)
        strengths.append(triaxial.strength(table)[1:])
        moduli.append(triaxial.modulus(run, table))
        runs.check(run.summary["broken_bonds"] > 0, "%d of %d bonds break" % (run.summary["broken_bonds"], run.summary["bonds"]))
    phi, c = triaxial.mohr_coulomb(*np.transpose(strengths))
    runs.check(10 < phi < 60 and c > 5e4, "cemented grains: friction angle %.3g degrees, cohesion %.3g Pa" % (phi, c))
    runs.check(abs(moduli[1] / moduli[0] - 1) < 0.2, "modulus alone %.4g Pa, under pressure %.4g Pa" % tuple(moduli))


def check_shear_box(recoil):
    size, pressure = [0.03, 0.02, 0.024], 1e5
    run, seconds = cell.simulate(recoil.program, recoil.folder, "shear", shear_box.scene(recoil.folder, pressure, size, 0.0015, 0.5, [0.003, 0.0035]))
    table = shear_box.curve(run, size)
    gap, apart = cell.energy_gap(run), abs(table["shear_stress"] - table["shear_stress_below"]).max() / table["shear_stress"].max()
    runs.check(gap < 1e-3 and apart < 0.1, "shear box: energies add up to %.2g, halves differ by %.2g of the peak, %.3g s" % (gap, apart, seconds))
    _, normal, shear = shear_box.strength(table)
    runs.check(abs(table["lid_stress"] / pressure - 1).max() < 1e-3 and 0.3 < shear / normal < 2, "under %.4g Pa %.4g Pa, ratio %.3g" % (normal, shear, shear / normal))


def check_formulas():
    """Circles of a known envelope."""
    side = np.array([0, 1e5, 3e5])
    N = np.tan(np.radians(45 + 35 / 2))**2
    phi, c = triaxial.mohr_coulomb(N * side + 2 * 4e4 * np.sqrt(N), side)
    runs.check(abs(phi - 35) < 1e-9 and abs(c - 4e4) < 1e-6, "of circles of 35 degrees and 40 kPa: %.6g degrees, %.6g Pa" % (phi, c))


with runs.Recoil() as recoil:
    check_formulas()
    check_triaxial(recoil)
    check_shear_box(recoil)
