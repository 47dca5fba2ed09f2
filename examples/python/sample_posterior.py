"""Samples the posterior of a modulus and a Poisson's ratio of a pressed block with an affine-invariant ensemble of walkers [Goodman and Weare
2010, Comm. App. Math. Comp. Sci. 5, 65], as emcee does it, and compares with the normal distribution at its maximum.

    python3 sample_posterior.py          # a few seconds; on several ranks: mpirun -n 2 python3 -m mpi4py sample_posterior.py
"""
import os
import tempfile

import numpy as np
import recoil

PRESS = {
    "geometry": {
        "name": "block", "generator": {"type": "rectangle", "size": [0.04, 0.03], "divisions": [3, 2]},
        "surface_selection": [{"id": 1, "axis": "-y", "position": -0.0149}, {"id": 2, "axis": "y", "position": 0.0149}],
    },
    "materials": {"type": "NeoHookean", "E": 5e5, "nu": 0.4, "rho": 1000, "plane": "strain"},
    "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}, {"id": 2, "value": [0, "-0.003*t"]}]},
    "time": {"tend": 1, "time_steps": 2, "quasistatic": True},
    "space": {"discr_order": 2},
}
# Force of the plate per width, and where a marker on the side goes: "measured" at E = 0.8 MPa, nu = 0.45.
FORCE = "displacement [mm],force [N],sd [N]\n1.5,2995,30\n3.0,6385,30\n"
BULGE = "time,marker,x,y,sd\n0.5,side,0.02105,-0.00074,4e-5\n1.0,side,0.02208,-0.00149,4e-5\n"

STUDY = {
    "experiments": [{"name": "press", "scene": PRESS}],
    "parameters": [
        {"name": "E", "quantity": "young_modulus", "initial": 8e5, "bounds": [1e5, 5e6], "scale": "log"},
        {"name": "nu", "quantity": "poisson_ratio", "initial": 0.44, "bounds": [0.2, 0.49]},
    ],
    "markers": [{"name": "side", "body": "block", "rest": [0.02, 0]}],
    "objectives": [
        {"name": "force", "type": "reaction_force", "boundary": 2, "direction": [0, -1], "target": "force.csv", "time": {"steps": [1, 2]}},
        {"name": "bulge", "type": "markers", "target": "bulge.csv", "time": {"times": "data"}},
    ],
}


def log_posterior(f, x):
    """-chi^2 / 2 between the bounds: the logarithm of the density, up to a constant. What has no solution has no probability."""
    if np.any(x <= f.lower) or np.any(x >= f.upper):
        return -np.inf
    return -0.5 * f.value(x)


def sample(log_density, walkers, steps, random):
    """Stretch moves: each walker in turn jumps along the line through a random one of the others. Returns (steps, walkers, n)."""
    walkers, (count, n) = walkers.copy(), walkers.shape
    logs = np.array([log_density(x) for x in walkers])
    chain = np.empty((steps, count, n))
    for step in range(steps):
        for k in range(count):
            other = walkers[(k + random.integers(1, count)) % count]
            z = (1 + random.random()) ** 2 / 2  # density 1/sqrt(z) between 1/2 and 2
            x = other + z * (walkers[k] - other)
            at = log_density(x)
            if np.log(random.random()) < (n - 1) * np.log(z) + at - logs[k]:
                walkers[k], logs[k] = x, at
        chain[step] = walkers
    return chain


def main():
    random = np.random.default_rng(1)  # the same on all ranks, as all evaluate the same x together
    with recoil.ReducedObjective(STUDY) as f:
        assert f.is_chi_squared
        # Gauss-Newton to the maximum.
        x = f.x0
        for _ in range(8):
            x = x - np.linalg.lstsq(f.jacobian(x), f.residuals(x), rcond=None)[0]
        J = f.jacobian(x)
        normal = np.sqrt(np.diag(np.linalg.inv(J.T @ J)))
        values = f.values(x)
        print(f"maximum: E = {values['E']:.5g} Pa, nu = {values['nu']:.4f}; deviations there: {normal[0]:.4f} of log E, {normal[1]:.4f} of nu")
        chain = sample(lambda at: log_posterior(f, at), x + 0.5 * normal * random.standard_normal((8, 2)), 200, random)[50:].reshape(-1, 2)
        mean, deviation = chain.mean(axis=0), chain.std(axis=0)
        print(f"samples: E = {np.exp(mean[0]):.5g} Pa, nu = {mean[1]:.4f}; deviations: {deviation[0]:.4f} of log E, {deviation[1]:.4f} of nu")
    # 1200 samples that hang together tell a deviation to about 15 %.
    assert np.all(np.abs(deviation / normal - 1) < 0.4), deviation / normal
    assert np.all(np.abs(mean - x) < 0.5 * normal), (mean - x) / normal


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # relative paths of a dictionary start from here
        for name, text in (("force.csv", FORCE), ("bulge.csv", BULGE)):
            with open(name, "w") as file:
                file.write(text)
        main()
        os.chdir("/")
