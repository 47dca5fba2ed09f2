"""1, 2, 3 and 4 ranks give the same displacement; 3 and 4 ranks give the same bits twice; ranks without cells work."""
import runs


def compare(recoil, name, scene, ranks=(1, 2, 3, 4), tolerance=1e-8, repeat=(3, 4)):
    path = recoil.write_scene(name, scene)
    states = {n: runs.state(recoil.simulate(n, path, "%s-%d" % (name, n))) for n in ranks}
    for n in ranks[1:]:
        error = runs.difference(states[n], states[ranks[0]])
        runs.check(error < tolerance, "%s: %d ranks differ from %d by %.1e" % (name, n, ranks[0], error))
    for n in repeat:
        again = runs.state(recoil.simulate(n, path, "%s-%d-again" % (name, n)))
        runs.check((again == states[n]).all(), "%s: %d ranks repeat bitwise" % (name, n))


with runs.Recoil() as recoil:
    compare(recoil, "direct", runs.bar([8, 3, 3], 8))
    compare(recoil, "quadratic", runs.bar([6, 2, 2], 4, order=2))
    compare(recoil, "multigrid", runs.bar([32, 12, 12], 3))
    # Two triangles on four ranks: at least two ranks own nothing.
    tiny = {
        "geometry": {"generator": {"type": "rectangle", "size": [1, 1], "divisions": [1, 1]},
                     "surface_selection": [{"id": 1, "axis": "-x", "position": -0.499}]},
        "materials": {"type": "NeoHookean", "E": 1e4, "nu": 0.3, "rho": 100},
        "gravity": [0, -9.81],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]},
        "time": {"dt": 0.05, "time_steps": 5},
    }
    compare(recoil, "empty-ranks", tiny)
    # A bare file name, from the scene's own folder.
    recoil.run(2, "simulate", "empty-ranks.json", "-o", "here", "-q", folder=recoil.folder)
