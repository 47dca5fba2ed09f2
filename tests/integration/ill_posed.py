"""Static bodies that nothing holds end at once and say why; linear elements that lock, and thin bodies of them, are warned of."""
import runs
from pieces import box, cube, square, static, tractions

def loose(recoil, name, scene, ranks, *parts):
    for n in ranks:
        code, text = recoil.run(n, "simulate", recoil.write_scene(name, scene), "-o", recoil.path("%s-%d" % (name, n)), expect=None)
        missing = [part for part in ("nothing holds ", "dirichlet_boundary", *parts) if part not in text]
        runs.check(code == 3 and not missing, "%s on %d ranks ends with %d, without %s" % (name, n, code, missing))
        runs.check("max_iterations" not in text and "repetition" not in text, "%s on %d ranks: no solve is tried" % (name, n))


def done(recoil, name, scene, n=1):
    return recoil.run(n, "simulate", recoil.write_scene(name, scene), "-o", recoil.path("%s-%d" % (name, n)))[1]


def unbalanced(recoil):
    everything = "body 'b' against translation along x, y and z and rotation about x, y and z"
    loose(recoil, "falls", static([cube()], gravity=[0, 0, -9.81]), (1, 2, 3), everything, "force (0, 0, -9810)")
    loose(recoil, "falls-nh", static([cube()], "NeoHookean", gravity=[0, 0, -9.81]), (1,), "translation along x, y and z", "force (0, 0, -9810)")
    loose(recoil, "turns", static([cube()], boundary_conditions=tractions([0, -10, 0], [0, 10, 0])), (1, 2, 3), everything, "torque (0, 0, 10)")
    loose(recoil, "falls-2d", static([square()], gravity=[0, -9.81]), (1, 2, 3), "translation along x and y and rotation", "force (0, -9810)")
    loose(recoil, "turns-2d", static([square()], boundary_conditions=tractions([0, -10], [0, 10])), (1, 2), "torque (10)")
    hinge = {"dirichlet_boundary": [{"id": 7, "value": [0, 0, 0]}]}
    hung = cube()
    hung["point_selection"] = [{"id": 7, "box": [[-0.51, -0.51, -0.51], [-0.49, 0.51, -0.49]]}]
    loose(recoil, "hinge", static([hung], gravity=[0, 0, -9.81], boundary_conditions=hinge), (1, 2), "body 'b' against rotation about y,")
    pair = static([cube("held"), cube("free", (3, 0, 0))], gravity=[0, 0, -9.81])
    pair["geometry"][1]["surface_selection"] = 5
    pair["boundary_conditions"] = {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]}
    loose(recoil, "pair", pair, (1, 3), "body 'free'")


def supported(recoil):
    held = static([cube()], gravity=[0, 0, -9.81], boundary_conditions={"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]})
    runs.check("nothing holds" not in done(recoil, "held", held), "a body that is held is not warned of")


def locking(recoil):
    beam = box("c", [10, 1], [20, 2], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -4.999}])
    held = {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]}
    laws = {"lame": {"type": "LinearElasticity", "E": 1e6, "nu": 0.499, "plane": "strain"}, "mooney": {"type": "MooneyRivlin", "c1": 1e5, "c2": 0, "k": 1e8},
            "ogden": {"type": "UnconstrainedOgden", "mus": [2e5], "alphas": [2], "Ds": [2e-8]}}
    for name, law in laws.items():
        for order, nu in ((1, None), (2, None), (1, 0.3)) if name == "lame" else ((1, None),):
            scene = {"geometry": [beam], "materials": dict(law, rho=1), "space": {"discr_order": order}, "boundary_conditions": held}
            if nu:
                scene["materials"] = {"type": "LinearElasticity", "E": 1e6, "nu": nu, "rho": 1}
            text = done(recoil, "%s-%d-%s" % (name, order, nu), scene)
            lines = [line for line in text.splitlines() if "body 'c' is nearly incompressible" in line]
            told = len(lines)
            runs.check(told == (order == 1 and not nu) and all("discr_order" in line for line in lines), "%s, order %d%s: %d warning(s)" % (name, order, ", nu 0.3" if nu else "", told))


def thin(recoil):
    """A cantilever ten times as long as thick: what P1 gives of its deflection, and that it is warned of while that is little."""
    def beam(dim, across, order, **more):
        size, divisions = [10, 1, 1][:dim], [10 * across, across, across][:dim]
        sides = [{"id": 1, "axis": "-x", "position": -4.999}, {"id": 2, "axis": "x", "position": 4.999}]
        load = {"dirichlet_boundary": [{"id": 1, "value": [0] * dim}], "neumann_boundary": [{"id": 2, "value": [0] * (dim - 1) + [-10]}]}
        return static([dict(box("c", size, divisions, [0] * dim, surface_selection=sides), **more)], space={"discr_order": order}, boundary_conditions=load)

    def told(name, scene, n=1):
        text = done(recoil, name, scene, n)
        return [line for line in text.splitlines() if "across its thickness" in line]

    exact = {}
    for dim, across, share in ((2, 1, 0.232), (2, 2, 0.539), (2, 3, 0.723), (2, 4, 0.822), (3, 1, 0.225), (3, 2, 0.509)):
        name = "beam-%d-%d" % (dim, across)
        for n in ((1, 2, 3) if across == 2 else (1,)):
            lines = told(name, beam(dim, across, 1), n)
            number = {1: "one element", 2: "2 elements", 3: "3 elements"}.get(across)
            right = len(lines) == 1 and "body 'c' is 10 times as long as thick and has %s of order 1" % number in lines[0] and '"discr_order": 2' in lines[0]
            runs.check(right if across < 4 else not lines, "%s, %d ranks: %s" % (name, n, lines))
        if dim not in exact:
            runs.check(not told("beam-p2-%d" % dim, beam(dim, 2, 2)), "%dD: order 2 is not warned of" % dim)
            exact[dim] = abs(runs.state(recoil.path("beam-p2-%d-1" % dim))[:, dim - 1]).max()
        found = abs(runs.state(recoil.path(name + "-1"))[:, dim - 1]).max() / exact[dim]
        runs.check(abs(found - share) < 0.01, "%s gives %.3f of the deflection" % (name, found))
    many = beam(3, 1, 1)
    many["geometry"] = [box("c", [1, 1, 1], [1, 1, 1], [0, 0, 0], array={"size": [12, 1, 1], "offset": 2}, type="mesh_array")]
    del many["boundary_conditions"]
    runs.check(not told("row", many), "a row of cubes is no beam")


with runs.Recoil() as recoil:
    unbalanced(recoil)
    supported(recoil)
    locking(recoil)
    thin(recoil)
