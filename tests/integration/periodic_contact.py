"""Contact with the next cell: one material with a slit, cut into cells at different places, so that the slit closes inside of the cell, across its
sides, or at its corners: stresses, friction, gradients and gaps are those of any cut, on any number of ranks; wrong inputs."""
import csv
import itertools
import os

import numpy as np
import runs
from runs import check

WIDTH, SLIT, DHAT = 8, 0.02, 1e-3


def pattern(dim, depth=1):
    """Sizes of the grid of a cell along its axes and which of its boxes hold material: a flat slit, two rows high, right through along z."""
    heights = [(1 - SLIT) / 6] * 3 + [SLIT / 2] * 2 + [(1 - SLIT) / 6] * 3
    sizes = [[1 / WIDTH] * WIDTH, heights] + [[0.25 / depth] * depth] * (dim - 2)
    solid = np.ones([len(size) for size in sizes], bool)
    solid[1:6, 3:5] = False
    return sizes, solid


def cut(dim, shift, depth=1):
    """Vertices and simplices of the cell that begins at a box of the grid; boxes are split alike, so that cuts are of one mesh."""
    sizes, solid = pattern(dim, depth)
    for axis, by in enumerate(shift):
        sizes[axis] = list(np.roll(sizes[axis], -by))
        solid = np.roll(solid, -by, axis)
    lines = [np.concatenate([[0], np.cumsum(size)]) for size in sizes]
    numbers, vertices, simplices = {}, [], []

    def vertex(at):
        if at not in numbers:
            numbers[at] = len(vertices)
            vertices.append([line[k] for line, k in zip(lines, at)])
        return numbers[at]

    for box in zip(*np.nonzero(solid)):
        for order in itertools.permutations(range(dim)):
            corners = [np.array(box)]
            for axis in order:
                corners.append(corners[-1] + np.eye(dim, dtype=int)[axis])
            simplices.append([vertex(tuple(corner)) for corner in corners])
    vertices = np.array(vertices)
    for simplex in simplices:
        if np.linalg.det(vertices[simplex[1:]] - vertices[simplex[0]]) < 0:
            simplex[0], simplex[1] = simplex[1], simplex[0]
    return vertices, simplices


def write(path, vertices, simplices):
    dim = vertices.shape[1]
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(vertices))
        for k, x in enumerate(vertices):
            file.write("%d %.17g %.17g %.17g\n" % (k + 1, *x, *[0] * (3 - dim)))
        file.write("$EndNodes\n$Elements\n%d\n" % len(simplices))
        for k, simplex in enumerate(simplices):
            file.write("%d %d 2 0 1 %s\n" % (k + 1, 2 if dim == 2 else 4, " ".join(str(v + 1) for v in simplex)))
        file.write("$EndElements\n")


def scene(mesh, dim, **contact):
    squeeze = [[0, "0.008*t", 0], [0, "-0.05*t", 0], [0, 0, 0]]
    stiffness = 1e7 if contact.get("use_convergent_formulation") else 1e12 if dim == 2 else 1e13
    return {"geometry": {"mesh": mesh, "name": "matrix"}, "materials": {"type": "NeoHookean", "E": 1e6, "nu": 0.3},
            "boundary_conditions": {"periodic_boundary": {"enabled": True, "linear_displacement_offset": [row[:dim] for row in squeeze[:dim]]}},
            "contact": {"enabled": True, "dhat": DHAT, "periodic": True, **contact},
            "solver": {"contact": {"barrier_stiffness": stiffness}},
            "time": {"dt": 0.25, "time_steps": 4, "quasistatic": True}}


def last_row(folder):
    with open(os.path.join(folder, "homogenized.csv")) as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


def stress(folder, dim):
    row = last_row(folder)
    return np.array([row["P_" + i + j] for i in "xyz"[:dim] for j in "xyz"[:dim]])


def squeezed(recoil, dim, name, shift, ranks=1, depth=1, adaptive=False, **contact):
    mesh = recoil.path(name + ".msh")
    write(mesh, *cut(dim, shift, depth))
    cell = scene(mesh, dim, **contact)
    if adaptive:
        del cell["solver"]
        cell["materials"]["E"] = 4
    return recoil.simulate(ranks, recoil.write_scene(name, cell), "%s-%d" % (name, ranks))


def adaptive_stiffness(recoil):
    """A stiffness that is balanced with what presses a slit together is that of any cut."""
    found = {}
    for where, shift, ranks in (("inside", (0, 0), 1), ("across x", (4, 0), 1), ("across y", (0, 4), 2), ("at the corners", (4, 4), 3)):
        run = squeezed(recoil, 2, "adaptive-%d-%d" % shift, shift, ranks, adaptive=True)
        found[where] = np.append(stress(run, 2) / abs(stress(run, 2)).max(), runs.summary(run)["energies"]["barrier"] / runs.summary(run)["energies"]["elastic"])
        off = abs(found[where] - found["inside"]).max()
        check(off < 1e-6 and found[where][-1] > 0, "adaptive stiffness, slit %s: barrier %.6e of the elastic energy, off by %.1e" % (where, found[where][-1], off))


def cuts(recoil):
    for mu in (0, 0.4):
        inside = squeezed(recoil, 2, "inside-%g" % mu, (0, 0), friction_coefficient=mu, periodic=False)
        P = stress(inside, 2)
        work = runs.summary(inside)["energies"]
        check(work["barrier"] > 0 and (work["dissipated_friction"] > 1e-5 * work["elastic"]) == (mu > 0), "mu = %g: friction takes %.1e of what is stored" %
              (mu, work["dissipated_friction"] / work["elastic"]))
        open_slit = stress(squeezed(recoil, 2, "through-%g" % mu, (0, 4), friction_coefficient=mu, periodic=False), 2)
        check(abs(open_slit - P).max() > 0.05 * abs(P).max(), "a slit along a side stays open without: stress off by %.2f" %
              (abs(open_slit - P).max() / abs(P).max()))
        for where, shift in (("inside", (0, 0)), ("across x", (4, 0)), ("across y", (0, 4)), ("at the corners", (4, 4))):
            for ranks in (3,) if mu == 0 else (1, 3):
                other = squeezed(recoil, 2, "cut-%g-%d-%d" % (mu, *shift), shift, ranks, friction_coefficient=mu)
                off = abs(stress(other, 2) - P).max() / abs(P).max()
                energies = [runs.summary(run)["energies"] for run in (inside, other)]
                same = max(abs(energies[1][e] - energies[0][e]) for e in ("elastic", "barrier", "dissipated_friction")) / energies[0]["elastic"]
                check(off < 1e-6 and same < 1e-6, "mu = %g, slit %s, %d ranks: stress off by %.1e, energies by %.1e" % (mu, where, ranks, off, same))
    # Areas of what the sides cut are added up; surfaces that adhere reach across them.
    adhesion = {"adhesion_enabled": True, "adhesion_strength": 1e4, "dhat_p": 3 * DHAT, "dhat_a": 8 * DHAT, "tangential_adhesion_coefficient": 0.5}
    for what, more in (("convergent", {}), ("adhesion", {"adhesion": adhesion})):
        more.update(use_convergent_formulation=True, friction_coefficient=0.4)
        inside = squeezed(recoil, 2, "inside-" + what, (0, 0), periodic=False, **more)
        for shift, ranks in (((4, 0), 1), ((4, 4), 3)):
            other = squeezed(recoil, 2, "%s-%d-%d" % (what, *shift), shift, ranks, **more)
            energies = [runs.summary(run)["energies"] for run in (inside, other)]
            off = abs(stress(inside, 2) - stress(other, 2)).max() / abs(stress(inside, 2)).max()
            same = max(abs(energies[1][e] - energies[0][e]) for e in ("elastic", "barrier", "dissipated_friction")) / energies[0]["elastic"]
            check(off < 1e-6 and same < 1e-6 and energies[0]["dissipated_friction"] > 0, "%s form, moved by %s, %d ranks: stress off by %.1e, energies by %.1e, barrier %.2e" %
                  (what, shift, ranks, off, same, energies[0]["barrier"]))
    found = {}
    whole = {}
    for name, shift, ranks in (("one", (0, 0, 0), 1), ("corner", (4, 4, 1), 3)):
        whole[name] = stress(squeezed(recoil, 3, "convergent-" + name, shift, ranks, 2, use_convergent_formulation=True, friction_coefficient=0.4), 3)
    off = abs(whole["corner"] - whole["one"]).max() / abs(whole["one"]).max()
    check(off < 1e-6, "3D, convergent form, slit across the corner: stress off by %.1e" % off)
    for name, shift, depth, ranks in (("one", (0, 0, 0), 1, 2), ("two", (0, 0, 0), 2, 1), ("side", (0, 4, 0), 1, 3), ("corner", (4, 4, 1), 2, 2)):
        found[name] = stress(squeezed(recoil, 3, "solid-" + name, shift, ranks, depth, friction_coefficient=0.4), 3)
    for name in ("side", "corner"):
        reference = found["one" if name == "side" else "two"]
        off = abs(found[name] - reference).max() / abs(reference).max()
        check(off < 1e-6, "3D, slit across the %s: stress off by %.1e" % (name, off))


def gradients(recoil):
    mesh = recoil.path("cell.msh")
    write(mesh, *cut(2, (4, 4)))
    base = scene(mesh, 2, friction_coefficient=0.3)
    offset = base["boundary_conditions"]["periodic_boundary"]
    offset["linear_displacement_offset"] = [[0, 0.008], [0, -0.04]]
    for name, fixed, again in (("prescribed", None, 1), ("free", [1, 3], 1), ("again", None, -1)):
        base["solver"]["contact"]["friction_iterations"] = again
        if fixed:
            offset["fixed_macro_strain"] = fixed
        else:
            offset.pop("fixed_macro_strain", None)
        parameters = [{"name": "E", "quantity": "young_modulus", "initial": 1e6}, {"name": "mu", "quantity": "friction", "initial": 0.3, "bodies": ["matrix"] * 2}]
        if not fixed:
            parameters.append({"name": "H", "quantity": "macro_strain", "initial": [0, 0.008, 0, -0.04]})
        static = {key: value for key, value in base.items() if key != "time"}
        study = {"experiments": [{"name": "cell", "scene": recoil.write_scene("cell-" + name, static)}], "parameters": parameters,
                 "objectives": [{"experiment": "cell", "name": "P" + str(i), "type": "homogenized_stress", "component": [i, 1]} for i in (0, 1)]}
        path = recoil.write_scene("study-" + name, study)
        for ranks in {"prescribed": (1, 3), "free": (2,), "again": (2,)}[name]:
            code, said = recoil.run(ranks, "gradient", path, "-o", recoil.path("gradient-%s-%d" % (name, ranks)), "--check", expect=None)
            check(code == 0, "gradients of a cell that touches the next one, %s, on %d ranks: %s" % (name, ranks, said[-400:] if code else "differences agree"))


def wrong(recoil):
    mesh = recoil.path("cell.msh")
    good = scene(mesh, 2)

    def refused(change, *words):
        recoil.refuses(good, change, *words, ranks=2)

    refused(lambda s: s["boundary_conditions"].clear(), "contact/periodic", "periodic_boundary")
    refused(lambda s: s["boundary_conditions"]["periodic_boundary"].update(enabled=False), "contact/periodic", "periodic_boundary")
    for value in (1, "yes", ["x"]):
        refused(lambda s: s["contact"].update(periodic=value), "contact/periodic", "true or false")
    refused(lambda s: s["contact"].update(use_gcp_formulation=True), "contact/periodic", "use_gcp_formulation")
    refused(lambda s: s["boundary_conditions"].update(dirichlet_boundary={"id": 1, "value": [0, 0]}), "contact/periodic", "dirichlet_boundary")
    refused(lambda s: s["contact"].update(peridoic=True), "peridoic", "periodic")
    # A cube of five tetrahedra has crossed diagonals on opposite sides.
    cube = np.array(list(itertools.product((0, 1), repeat=3)))
    crossed = recoil.path("crossed.msh")
    write(crossed, cube, [[0, 6, 5, 3], [4, 0, 5, 6], [2, 0, 6, 3], [1, 0, 3, 5], [7, 3, 6, 5]])
    recoil.refuses(scene(crossed, 3), lambda s: None, "facets on opposite sides do not match", "periodic_boundary", command="simulate")
    for change, word in (({"parameters": [{"name": "s", "quantity": "shape", "basis": "affine"}]}, "shape"),
                         ({"objectives": [{"experiment": "cell", "name": "f", "type": "contact_force_norm"}]}, "contact_force_norm")):
        study = {"experiments": [{"name": "cell", "scene": recoil.write_scene("good", {key: v for key, v in good.items() if key != "time"})}],
                 "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e6}],
                 "objectives": [{"experiment": "cell", "name": "P", "type": "homogenized_stress", "component": [1, 1]}], **change}
        code, said = recoil.run(1, "gradient", recoil.write_scene("refused-" + word, study), "-o", recoil.path("refused"), expect=None)
        check(code == 2 and word in said and "contact/periodic" in said, "study with %s: %d, %s" % (word, code, said.strip()[-300:]))


with runs.Recoil() as recoil:
    cuts(recoil)
    adaptive_stiffness(recoil)
    gradients(recoil)
    wrong(recoil)
