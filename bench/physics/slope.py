"""A block on a plane of tangent 0.5: above the friction cone it creeps slower than epsv, below it slides as implicit Euler
says."""
import numpy as np
from tools import G, Bodies, barrier_force, box, material, plane, states

TANGENT, DHAT, EPSV, T = 0.5, 1e-3, 1e-4, 0.5
ANGLE = np.arctan(TANGENT)
LENGTH, HEIGHT, RHO = 0.3, 0.05, 1000


def balance(cells, weight, mu):
    """Barrier stiffness, gap of the middle and tilt (uphill side up) at which the pairs carry the block's weight and the
    moment of its friction; without the tilt it starts to rock, and its lower face slips one way and the other."""
    along = np.linspace(-LENGTH / 2, LENGTH / 2, cells[0] + 1)
    lines = np.prod([c + 1 for c in cells[1:-1]])
    press, pull = weight * np.cos(ANGLE), weight * min(mu * np.cos(ANGLE), np.sin(ANGLE))
    stiffness = press / len(along) / lines / barrier_force(0.5 * DHAT, DHAT)

    def excess(gap, tilt):
        forces = stiffness * lines * barrier_force(gap + tilt * along, DHAT)
        return np.array([forces.sum() - press, -forces @ along - pull * (HEIGHT / 2 + gap)])

    q, h = np.array([0.5 * DHAT, 0.0]), 1e-9 * np.eye(2)
    for _ in range(50):
        slopes = np.transpose([excess(*(q + e)) - excess(*(q - e)) for e in h]) / 2e-9
        # Half steps: the barrier's force is far from linear over the first of them.
        q = q - 0.5 * np.linalg.solve(slopes, excess(*q))
    return stiffness, *q


def scene(dim, mu, dt):
    """Starts in balance across the slope, so that what moves is the sliding alone."""
    cells = {2: [6, 1], 3: [4, 4, 1]}[dim]
    normal = [-np.sin(ANGLE)] + [0] * (dim - 2) + [np.cos(ANGLE)]
    size = [LENGTH] * (dim - 1) + [HEIGHT]
    stiffness, gap, tilt = balance(cells, RHO * G * np.prod(size), mu)
    block = box("block", size, cells, [(HEIGHT / 2 + gap) * n for n in normal])
    degrees = float(np.degrees(ANGLE + tilt))
    block["transformation"]["rotation"] = degrees if dim == 2 else [0, -degrees, 0]
    return {
        "geometry": [block, plane("slope", normal)],
        "materials": material(1e9, 0.3, RHO), "gravity": [0] * (dim - 1) + [-G],
        "contact": {"enabled": True, "dhat": DHAT, "epsv": EPSV,
                    "friction_pairs": [{"bodies": ["block", "slope"], "coefficient": mu}]},
        "solver": {"contact": {"barrier_stiffness": stiffness}},
        "time": {"dt": dt, "time_steps": round(T / dt)},
        "output": {"every": round(0.1 / dt)},
    }


def path(folder, dim):
    """Times and distances down the slope."""
    bodies = Bodies(folder)
    down = -np.array([np.cos(ANGLE)] + [0] * (dim - 2) + [np.sin(ANGLE)])
    first = bodies.centres(0 * bodies.rest)[0]
    found = [(t, (bodies.centres(u)[0] - first) @ down) for t, u in states(folder)]
    return np.array(found).T


def sticks(study, dim):
    mu = 0.51
    folder = study.done("%dd-stick" % dim, scene(dim, mu, 0.01))
    t, moved = path(folder, dim)
    after = t >= 0.2 - 1e-9
    t, moved = t[after], moved[after]
    speed = (moved[-1] - moved[0]) / (t[-1] - t[0]) / EPSV
    # Smoothed friction carries the weight at the speed where 2 s - s^2 = tangent/mu, s = v/epsv.
    expected = 1 - np.sqrt(1 - TANGENT / mu)
    study.expect(0 <= speed < 1, "%dD, mu %g: creeps %.3e m in %.1f s after settling, epsv t = %.1e m" %
                 (dim, mu, moved[-1] - moved[0], t[-1] - t[0], EPSV * (t[-1] - t[0])), **{"%dd creep/epsv" % dim: speed})
    study.expect(abs(speed / expected - 1) < 0.02, "%dD, mu %g: creeps at %.4f epsv, smoothed friction says %.4f" %
                 (dim, mu, speed, expected))
    study.picture(folder)


def slides(study, dim):
    mu, errors = 0.49, []
    a = G * (np.sin(ANGLE) - mu * np.cos(ANGLE))
    for dt in (0.02, 0.01, 0.005):
        t, moved = path(study.done("%dd-slide-%g" % (dim, dt), scene(dim, mu, dt)), dim)
        expected = a * t[-1] * (t[-1] + dt) / 2
        error = moved[-1] / expected - 1
        errors.append(moved[-1] / (a * t[-1] ** 2 / 2) - 1)
        study.expect(abs(error) < 0.01, "%dD, mu %g, dt %g: slides %.6f m, implicit Euler says %.6f m (%+.2e); off "
                     "Coulomb's a t^2/2 by %+.4f" % (dim, mu, dt, moved[-1], expected, error, errors[-1]),
                     **{"%dd slide error dt %g" % (dim, dt): error})
    order = np.log2(np.abs(np.array(errors[:-1]) / np.array(errors[1:])))
    study.expect((abs(order - 1) < 0.3).all(), "%dD: tends to a t^2/2 with order %s" %
                 (dim, ", ".join("%.2f" % o for o in order)), **{"%dd slide order" % dim: order[-1]})


def slope(study):
    for dim in (2, 3):
        sticks(study, dim)
        slides(study, dim)
