"""Analytic cases: cantilever against beam theory, free flight and free rotation, patch test, uniaxial stretch."""
import numpy as np
import runs


def cantilever(recoil):
    """A slender P2 beam under its own weight, small deflection: w = q L^4 / (8 E I) + shear w = q L^2 / (2 k G A)."""
    length, side, E, nu, rho, g = 10.0, 0.5, 1e9, 0.0, 1000.0, 0.1
    scene = {
        "geometry": {"generator": {"type": "box", "size": [length, side, side], "divisions": [20, 2, 2]},
                     "surface_selection": [{"id": 1, "axis": "-x", "position": -length / 2 + 1e-6}]},
        "materials": {"type": "NeoHookean", "E": E, "nu": nu, "rho": rho},
        "gravity": [0, 0, -g], "space": {"discr_order": 2},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
    }
    folder = recoil.simulate(2, recoil.write_scene("cantilever", scene), "cantilever")
    X, u = runs.coordinates(folder), runs.state(folder)
    tip = -u[np.abs(X[:, 0] - length / 2) < 1e-9, 2].mean()
    q, inertia, area = rho * g * side**2, side**4 / 12, side**2
    beam = q * length**4 / (8 * E * inertia) + q * length**2 / (2 * 5 / 6 * E / 2 * area)
    runs.check(abs(tip / beam - 1) <= 0.01, "cantilever: tip %.6e m, beam theory %.6e m (%.2f %%)" %
               (tip, beam, 100 * (tip / beam - 1)))


def free_body(recoil, name, initial, integrator, gravity=None):
    scene = {
        "geometry": {"name": "brick", "generator": {"type": "box", "size": [1, 0.6, 0.3], "divisions": [4, 3, 2]}},
        "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000},
        "initial_conditions": initial,
        "time": {"dt": 0.01, "time_steps": 50, "integrator": integrator},
        "solver": {"nonlinear": {"grad_norm_tol": 1e-16, "rel_grad_norm_tol": 1e-15}},
    }
    if gravity:
        scene["gravity"] = gravity
    path = recoil.write_scene(name, scene)
    return recoil.simulate(2, path, name), recoil.simulate(2, path, name + "-start", "--steps", 0)


def momenta(recoil):
    spin = {"angular_velocity": [{"body": "brick", "value": [0.5, 2, 1]}],
            "velocity": [{"id": 0, "value": [3, 1, -2]}]}
    for integrator in ("BDF1", "BDF2"):
        end, start = (runs.summary(f) for f in free_body(recoil, "spin-" + integrator, spin, integrator))
        p0, p1 = (np.array(s["momentum"]["linear"]) for s in (start, end))
        error = np.abs(p1 - p0).max() / np.abs(p0).max()
        runs.check(error < 1e-10, "%s: linear momentum of a free rotating brick kept to %.1e" % (integrator, error))
    mass = 1000 * 1 * 0.6 * 0.3
    # Without rotation the body stays rigid: the flight is exact for each scheme, and keeps angular momentum as well.
    flight = {"velocity": [{"id": 0, "value": [3, 1, -2]}]}
    end, start = (runs.summary(f) for f in free_body(recoil, "flight", flight, "BDF2"))
    for kind in ("linear", "angular"):
        a, b = (np.array(s["momentum"][kind]) for s in (start, end))
        error = np.abs(a - b).max() / (mass * np.sqrt(14))
        runs.check(error < 1e-10, "free flight: %s momentum kept to %.1e" % (kind, error))
    fall, start = free_body(recoil, "fall", {}, "BDF1", [0, 0, -10])
    p = runs.summary(fall)["momentum"]["linear"][2]
    runs.check(abs(p / (-mass * 10 * 0.5) - 1) < 1e-10, "fall: momentum is weight times time")


def angular_momentum_converges(recoil):
    """BDF keeps angular momentum only in the limit dt -> 0: the defect must fall with the order of the scheme."""
    defects = []
    for steps in (50, 100):
        scene = {
            "geometry": {"name": "brick", "generator": {"type": "box", "size": [1, 0.6, 0.3], "divisions": [4, 3, 2]}},
            "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3, "rho": 1000},
            "initial_conditions": {"angular_velocity": [{"body": "brick", "value": [0, 0, 1]}]},
            "time": {"dt": 0.5 / steps, "time_steps": steps, "integrator": "BDF2"},
        }
        path = recoil.write_scene("spin-%d" % steps, scene)
        end, start = (runs.summary(recoil.simulate(1, path, "spin-%d-%s" % (steps, k), *k)) for k in ((), ("--steps", 0)))
        a, b = (s["momentum"]["angular"][2] for s in (start, end))
        defects.append(abs(b / a - 1))
    runs.check(defects[1] < defects[0] / 2.5, "free rotation: defect of angular momentum %.1e -> %.1e with dt halved" %
               tuple(defects))


def ledger(recoil):
    """Energies, work and dissipation, each computed from its own forces, balance up to Newton's residual."""
    for integrator in ("BDF1", "BDF2", "BDF3"):
        scene = recoil.write_scene("ledger", runs.bar([6, 2, 2], 20, integrator))
        start, end = (runs.summary(recoil.simulate(2, scene, "ledger-" + integrator, *k))["energies"]
                      for k in (("--steps", 0), ()))
        gained = sum(end[k] - start[k] for k in ("kinetic", "elastic"))
        spent = end["external_work"] - end["dissipated_damping"] - end["dissipated_integrator"]
        turnover = abs(end["external_work"]) + start["kinetic"]
        runs.check(abs(gained - spent) < 1e-8 * turnover, "%s: energy ledger closes to %.1e of the work done" %
                   (integrator, abs(gained - spent) / turnover))
        runs.check(end["dissipated_damping"] > 0, "%s: damping takes energy" % integrator)


def patch(recoil):
    """A linear displacement prescribed all around is taken up inside exactly."""
    for order in (1, 2, 3):
        scene = {
            "geometry": {"generator": {"type": "ball", "radius": 1, "divisions": 3}, "surface_selection": 1},
            "materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.35},
            "space": {"discr_order": order},
            "boundary_conditions": {"dirichlet_boundary": [
                {"id": 1, "value": ["0.1*x+0.05*y-0.02*z", "-0.03*x+0.08*y+0.04*z", "0.02*x-0.06*y+0.12*z"]}]},
        }
        folder = recoil.simulate(2, recoil.write_scene("patch%d" % order, scene), "patch%d" % order)
        X, u = runs.coordinates(folder), runs.state(folder)
        A = np.array([[0.1, 0.05, -0.02], [-0.03, 0.08, 0.04], [0.02, -0.06, 0.12]])
        error = np.abs(u - X @ A.T).max()
        runs.check(error < 1e-12, "patch test P%d: largest error %.1e m" % (order, error))


def uniaxial(recoil):
    """Neo-Hookean bar drawn to three times its length with free sides: lateral stretch from P_22 = 0, force from P_11."""
    E, nu = 1e5, 0.3
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    scene = {
        "geometry": {"generator": {"type": "box", "size": [1, 1, 1], "divisions": [2, 2, 2]},
                     "transformation": {"translation": [0.5, 0.5, 0.5]},
                     "surface_selection": [{"id": 1, "axis": "-x", "position": 1e-9}, {"id": 2, "axis": "x", "position": 1 - 1e-9},
                                           {"id": 3, "axis": "-y", "position": 1e-9}, {"id": 4, "axis": "-z", "position": 1e-9}]},
        "materials": {"type": "NeoHookean", "E": E, "nu": nu},
        "boundary_conditions": {"dirichlet_boundary": [
            {"id": 1, "value": [0, 0, 0], "dimension": [True, False, False]},
            {"id": 2, "value": ["2*t", 0, 0], "dimension": [True, False, False]},
            {"id": 3, "value": [0, 0, 0], "dimension": [False, True, False]},
            {"id": 4, "value": [0, 0, 0], "dimension": [False, False, True]}]},
        "time": {"tend": 1, "time_steps": 8, "quasistatic": True},
        "output": {"fields": ["stress"]},
    }
    folder = recoil.simulate(1, recoil.write_scene("uniaxial", scene), "uniaxial")
    worst = 0.0
    for step in range(1, 9):
        stretch = 1 + 2 * step / 8
        # Solve mu (b - 1/b) + lam ln(a b^2) / b = 0 for the lateral stretch b by Newton's method.
        b = stretch ** -nu
        for _ in range(100):
            f = mu * (b - 1 / b) + lam * np.log(stretch * b * b) / b
            df = mu * (1 + 1 / b**2) + lam * (2 - np.log(stretch * b * b)) / b**2
            b -= f / df
        J = stretch * b * b
        cauchy = (mu * (stretch - 1 / stretch) + lam * np.log(J) / stretch) * stretch / J
        stress = runs.state(folder, step, "stress")[:, 0]
        X, u = runs.coordinates(folder), runs.state(folder, step)
        lateral = (X[:, 1] + u[:, 1])[np.abs(X[:, 1] - 1) < 1e-9]
        worst = max(worst, np.abs(stress / cauchy - 1).max(), np.abs(lateral / b - 1).max())
    runs.check(worst < 1e-6, "uniaxial stretch to 300 %%: stress and lateral stretch within %.1e of the analytic curve" % worst)


with runs.Recoil() as recoil:
    cantilever(recoil)
    momenta(recoil)
    angular_momentum_converges(recoil)
    ledger(recoil)
    patch(recoil)
    uniaxial(recoil)
