#!/usr/bin/env python3
"""A frictionless block at rest on a clamped slab, both of finite elements, should stay where it is, whatever their triangles.

    bench/physics/slab.py --recoil build/release/recoil             # plain form and geometric contact potential; minutes
    bench/physics/slab.py --recoil build/release/recoil --finest 1  # coarse meshes alone
    bench/physics/slab.py --recoil build/release/recoil --slabs 1   # a block and a cylinder on slabs of ten triangulations

Bodies are grids of tetrahedra, "aligned", or with the vertices of each layer moved at random along it, "random". The drift is
the displacement of the mean of the block's nodes along the slab, for several places of the block. With `alpha_t` 0.1 the
geometric contact potential must leave a tenth of the plain form's in the first 0.2 s, and less, the less the finer the mesh, in 2 s.
"""
import os
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import flat  # noqa: E402
import runs  # noqa: E402
from pieces import material  # noqa: E402

DHAT, G, PUSH = 1e-3, 9.81, 4
PLACES = [(0.02, 0), (0.0173, 0.0091), (-0.011, 0.037), (0.041, -0.023)]
FORMS = {"plain": {},
         "gcp": {"use_gcp_formulation": True},
         "gcp_narrow": {"use_gcp_formulation": True, "alpha_t": 0.1}}


def grid(size, cells, seed, turned):
    """Points and tetrahedra of a box about the origin; a seed moves the inner vertices of each layer alike. `turned`: cubes cut
    along the other diagonal."""
    axes = [np.linspace(-s / 2, s / 2, n + 1) for s, n in zip(size, cells)]
    shift = np.zeros((cells[0] + 1, cells[1] + 1, 2))
    if seed:
        rng = np.random.default_rng(seed)
        shift[1:-1, 1:-1] = rng.uniform(-0.3, 0.3, (cells[0] - 1, cells[1] - 1, 2)) * [size[0] / cells[0], size[1] / cells[1]]
    points = [(axes[0][i] + shift[i, j, 0], axes[1][j] + shift[i, j, 1], axes[2][k]) for i, j, k in np.ndindex(*(n + 1 for n in cells))]
    number = lambda i, j, k: (i * (cells[1] + 1) + j) * (cells[2] + 1) + k
    tets = []
    for cell in np.ndindex(*cells):
        for order in ((0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)):
            at = np.array([0, 0, 0])
            tet = []
            for axis in (None, *order):
                if axis is not None:
                    at[axis] += 1
                x = 1 - at[0] if turned else at[0]
                tet.append(number(cell[0] + x, cell[1] + at[1], cell[2] + at[2]))
            tets.append(tet)
    return np.array(points), tets


def write_mesh(path, points, tets):
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n%d\n" % len(points))
        file.writelines("%d %.17g %.17g %.17g\n" % (n + 1, *p) for n, p in enumerate(points))
        file.write("$EndNodes\n$Elements\n%d\n" % len(tets))
        for n, tet in enumerate(tets):
            p = points[tet]
            if np.linalg.det(p[1:] - p[0]) < 0:
                tet = [tet[0], tet[1], tet[3], tet[2]]
            file.write("%d 4 2 1 1 %d %d %d %d\n" % (n + 1, *(v + 1 for v in tet)))
        file.write("$EndElements\n")
    return path


def extruded(sheet, width, height):
    """Points and tetrahedra of a layer below a triangulation of the square [-1, 1]^2: three to a triangle."""
    flat_points, triangles = sheet
    n, tets = len(flat_points), []
    points = np.array([(x * width / 2, y * width / 2, z) for z in (-height / 2, height / 2) for x, y in flat_points])
    for a, b, c in (sorted(triangle) for triangle in triangles):
        tets += [[a, b, c, n + c], [a, b, n + b, n + c], [a, n + a, n + b, n + c]]
    return points, tets


# Of bench/physics/flat.py what bounds a solid, too.
SLABS = {name: sheet for name, sheet in flat.SHEETS.items() if name not in ("mixed", "twins", "hanging")} | {"coarse": lambda: flat.shaken(6, 11)}


def on_slab(body, slab, contact, steps):
    return {"geometry": [body, {"name": "slab", "mesh": slab, "transformation": {"translation": [0, 0, -0.05]},
                                "surface_selection": [{"id": 1, "axis": "-z", "position": -0.0999}]}],
            "materials": material(1e6, 0.3, 1000), "gravity": [0, 0, -G],
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
            "contact": dict({"enabled": True, "dhat": DHAT}, **contact),
            "time": {"dt": 0.05, "time_steps": steps}, "output": {"every": PUSH}}


def refined(recoil, name, triangles, refinement, place, contact, steps):
    """A block whose centre is at `place` on a slab, both grids."""
    seed = 0 if triangles == "aligned" else 7
    r = refinement
    block = write_mesh(recoil.path(name + "-block.msh"), *grid((0.1, 0.1, 0.1), (2 * r, 2 * r, r), seed and seed + 1, bool(seed)))
    slab = write_mesh(recoil.path(name + "-slab.msh"), *grid((0.6, 0.6, 0.1), (6 * r, 6 * r, r), seed, False))
    body = {"name": "block", "mesh": block, "transformation": {"translation": [*place, 0.05 + DHAT / 2]}}
    return on_slab(body, slab, contact, steps)


def measure(recoil, name, scene):
    """Drift of the body along the slab [m]: after four steps, and the largest of all."""
    folder = recoil.simulate(1, recoil.write_scene(name, scene), name)
    found = runs.summary(folder)
    if found["status"] != "done" or found["intersections"] != 0:
        raise SystemExit("%s: %s, %d intersections" % (name, found["status"], found["intersections"]))
    count, drifts = flat.body_nodes(folder), {}
    for entry in runs.manifest(folder)["files"]:
        for record in entry["states"]:
            if record["kept"] == "stored" and "step" in record:
                u = runs.state(folder, record["step"])[:count]
                drifts[record["step"]] = float(np.linalg.norm(u.mean(axis=0)[:2]))
    return drifts[PUSH], max(drifts.values())


def compare_refinements(recoil, triangles, steps, refinements):
    means = {}
    for form in FORMS:
        for r in refinements:
            name = "-".join((triangles, str(r), form))
            found = np.array([measure(recoil, name, refined(recoil, name, triangles, r, place, FORMS[form], steps)) for place in PLACES])
            means[form, r] = found.mean(axis=0)
            print("      %-8s refined %d times, %-10s after 0.2 s mean %.1e m, largest: %s, mean %.1e m"
                  % (triangles, r, form, means[form, r][0], " ".join("%.1e" % d for d in found[:, 1]), means[form, r][1]), flush=True)
    for r in refinements:
        runs.check(10 * means["gcp_narrow", r][0] < means["plain", r][0],
                   "%s, refined %d times: the push from rest is %.0f times smaller" % (triangles, r, means["plain", r][0] / means["gcp_narrow", r][0]))
    first, last = refinements[0], refinements[-1]
    runs.check(means["gcp_narrow", first][1] < means["plain", first][1], "%s: less drift than in the plain form" % triangles)
    if first != last:
        runs.check(means["gcp_narrow", last][1] < means["gcp_narrow", first][1], "%s: falls with refinement" % triangles)


def compare_slabs(recoil, steps):
    """A block and a cylinder on a slab of each triangulation; medians over these are compared."""
    slabs = {sheet: write_mesh(recoil.path(sheet + ".msh"), *extruded(make(), 0.6, 0.1)) for sheet, make in SLABS.items()}
    for kind in ("block", "cylinder"):
        found = {form: [] for form in FORMS}
        for sheet, slab in slabs.items():
            for form in FORMS:
                body = flat.body(kind, np.eye(3), (0, 0))
                found[form].append(measure(recoil, "-".join((sheet, kind, form)), on_slab(body, slab, FORMS[form], steps)))
            print("      %-8s on %-11s" % (kind, sheet) + ";".join(" %s %.1e m after 0.2 s, largest %.1e m" % (form, *found[form][-1]) for form in FORMS), flush=True)
        median = {form: np.median(found[form], axis=0) for form in FORMS}
        print("      %-8s medians: " % kind + ";".join(" %s %.1e m, %.1e m" % (form, *median[form]) for form in FORMS), flush=True)
        runs.check(median["gcp_narrow"][0] < median["plain"][0], "%s: the median push from rest is %.1f times smaller"
                   % (kind, median["plain"][0] / median["gcp_narrow"][0]))


def main():
    with runs.Recoil(("--steps", int, 40), ("--finest", int, 2), ("--slabs", int, 0)) as recoil:
        steps = recoil.arguments.steps
        if recoil.arguments.slabs:
            return compare_slabs(recoil, steps)
        for triangles in ("aligned", "random"):
            compare_refinements(recoil, triangles, steps, range(1, recoil.arguments.finest + 1))


if __name__ == "__main__":
    main()
