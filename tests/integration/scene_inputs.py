"""What scenes take: physical groups of Gmsh files by name, elements of second order, units, repair of surfaces, states of other runs."""
import csv
import itertools
import json
import os
import shutil

import numpy as np
import runs
from pieces import box, ledger, material
from runs import check


def kuhn(divisions, size):
    """A box of tetrahedra from the origin: vertices and cells."""
    nx, ny, nz = divisions
    grid = [(i, j, k) for k in range(nz + 1) for j in range(ny + 1) for i in range(nx + 1)]
    number = {place: n for n, place in enumerate(grid)}
    cells = []
    for i, j, k in itertools.product(range(nx), range(ny), range(nz)):
        for order in itertools.permutations(range(3)):
            place, corners = [i, j, k], [number[i, j, k]]
            for axis in order:
                place[axis] += 1
                corners.append(number[tuple(place)])
            cells.append(corners)
    return np.array(grid, float) / divisions * size, cells


def sides(vertices, cells, axis, at):
    """Facets of cells in a plane."""
    found = []
    for cell in cells:
        for left_out in range(4):
            facet = [v for k, v in enumerate(cell) if k != left_out]
            if np.abs(vertices[facet, axis] - at).max() < 1e-12:
                found.append(facet)
    return found


NAMES = {(3, 4): "steel", (2, 7): "clamp", (2, 9): "pulled end"}


def write_gmsh(path, vertices, cells, facets, order=1, bend=0.0):
    """A file of format 2.2 with the groups of NAMES; of second order with middles of edges moved by bend times their length."""
    nodes, middle = [tuple(v) for v in vertices], {}

    def with_middles(corners):
        pairs = [(0, 1), (1, 2), (0, 2), (0, 3), (2, 3), (1, 3)][:3 if len(corners) == 3 else 6]
        result = list(corners)
        for a, b in pairs:
            edge = tuple(sorted((corners[a], corners[b])))
            if edge not in middle:
                p, q = vertices[edge[0]], vertices[edge[1]]
                middle[edge] = len(nodes)
                nodes.append(tuple(0.5 * (p + q) + bend * np.linalg.norm(q - p) * np.array([0, 1, 0])))
            result.append(middle[edge])
        return result

    lines = []
    for dim, (group, items) in [(2, entry) for entry in facets.values()] + [(3, (4, cells))]:
        for corners in items:
            listed = corners if order == 1 else with_middles(corners)
            kind = {(2, 1): 2, (3, 1): 4, (2, 2): 9, (3, 2): 11}[dim, order]
            lines.append("%d %d 2 %d %d %s" % (len(lines) + 1, kind, group, group, " ".join(str(v + 1) for v in listed)))
    with open(path, "w") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n%d\n" % len(NAMES))
        file.write("".join('%d %d "%s"\n' % (dim, tag, name) for (dim, tag), name in NAMES.items()))
        file.write("$EndPhysicalNames\n$Nodes\n%d\n" % len(nodes))
        file.write("".join("%d %.17g %.17g %.17g\n" % (n + 1, *p) for n, p in enumerate(nodes)))
        file.write("$EndNodes\n$Elements\n%d\n%s\n$EndElements\n" % (len(lines), "\n".join(lines)))


def pulled(mesh, **more):
    return dict({
        "geometry": [{"name": "bar", "mesh": mesh}],
        "materials": [{"id": "steel", "type": "LinearElasticity", "E": 1e6, "nu": 0, "rho": 1000}],
        "boundary_conditions": {"dirichlet_boundary": [{"id": "clamp", "value": [0, 0, 0]}],
                                "neumann_boundary": [{"id": ["pulled end"], "value": [1000, 0, 0]}]},
    }, **more)


def physical_groups(recoil):
    vertices, cells = kuhn((4, 2, 2), (1, 0.25, 0.25))
    ends = {7: (7, sides(vertices, cells, 0, 0.0)), 9: (9, sides(vertices, cells, 0, 1.0))}
    mesh = recoil.path("bar.msh")
    write_gmsh(mesh, vertices, cells, ends)
    way = 1000 / 1e6

    def stretch(folder):
        X, u = runs.coordinates(folder), runs.state(folder)
        return np.abs(u - np.outer(X[:, 0] * way, [1, 0, 0])).max()

    for ranks in (1, 2):
        folder = recoil.simulate(ranks, recoil.write_scene("groups", pulled(mesh)), "groups-%d" % ranks)
        check(stretch(folder) < 1e-9 * way, "groups by name on %d ranks: u = t x / E" % ranks)
    with open(os.path.join(folder, "scene.json")) as file:
        scene = json.load(file)
    check(scene["materials"][0]["id"] == [4] and scene["boundary_conditions"]["neumann_boundary"][0]["id"] == [9],
          "the scene of the run folder has their numbers")
    with open(os.path.join(folder, "reactions.csv")) as file:
        row = next(row for row in csv.DictReader(file) if row["kind"] == "boundary")
    check(row["name"] == "7" and abs(float(row["force_x"]) / (-1000 * 0.0625) - 1) < 1e-9, "the clamp bears the load")
    numbers = pulled(mesh)
    numbers["materials"][0]["id"] = 4
    numbers["boundary_conditions"] = {"dirichlet_boundary": [{"id": 7, "value": [0, 0, 0]}],
                                      "neumann_boundary": [{"id": 9, "value": [1000, 0, 0]}]}
    check(stretch(recoil.simulate(1, recoil.write_scene("numbers", numbers), "numbers")) < 1e-9 * way, "groups by number")
    refined = pulled(mesh)
    refined["geometry"][0]["n_refs"] = 1
    check(stretch(recoil.simulate(1, recoil.write_scene("refined", refined), "refined")) < 1e-9 * way, "facets keep their group when refined")
    offset = pulled(mesh)
    offset["geometry"][0].update(surface_selection=[{"id_offset": 10}], volume_selection=[{"id_offset": 20}])
    folder = recoil.simulate(1, recoil.write_scene("offset", offset), "offset")
    with open(os.path.join(folder, "scene.json")) as file:
        scene = json.load(file)
    check(stretch(folder) < 1e-9 * way and scene["materials"][0]["id"] == [24] and
          scene["boundary_conditions"]["dirichlet_boundary"][0]["id"] == 17, "names follow an id_offset")
    chosen = pulled(mesh)
    chosen["geometry"][0]["surface_selection"] = [{"group": "clamp", "id": 1}, {"id": 2, "axis": "x", "position": 1 - 1e-9}]
    chosen["boundary_conditions"]["dirichlet_boundary"][0]["id"] = 1
    chosen["boundary_conditions"]["neumann_boundary"][0]["id"] = 2
    check(stretch(recoil.simulate(1, recoil.write_scene("chosen", chosen), "chosen")) < 1e-9 * way, "a group in a selection")

    def refuse(name, words, change):
        recoil.refuses(pulled(mesh), change, *words, what=name)

    def set_id(scene):
        scene["boundary_conditions"]["dirichlet_boundary"][0]["id"] = "clamb"

    def set_volume(scene):
        scene["materials"][0]["id"] = "clamp"

    refuse("unknown name", ["/boundary_conditions/dirichlet_boundary/0/id", "clamb", "did you mean 'clamp'"], set_id)
    refuse("facets for elements", ["/materials/0/id", "elements called 'clamp'", "steel"], set_volume)
    refuse("replaced groups", ["'clamp'", "surface_selection", "\"group\": \"clamp\""],
           lambda scene: scene["geometry"][0].update(surface_selection=[{"id": 2, "axis": "x", "position": 1}]))
    refuse("group of vertices", ["point_selection/0/group", "have no physical groups"],
           lambda scene: scene["geometry"][0].update(point_selection=[{"group": "clamp", "id": 2}]))
    refuse("a name of two lines", ["/geometry/0", "control characters"], lambda scene: scene["geometry"][0].update(name="b\nar"))
    absent = pulled(mesh)
    absent["geometry"].append({"enabled": False, "mesh": recoil.path("absent.msh"), "surface_selection": [{"group": "clamp", "id": 1}]})
    recoil.run(1, "validate", recoil.write_scene("absent", absent))
    refuse("group in selection", ["surface_selection/0/group", "did you mean 'clamp'"],
           lambda scene: scene["geometry"][0].update(surface_selection=[{"group": "clam", "id": 2}]))

    straight, curved = recoil.path("straight.msh"), recoil.path("curved.msh")
    write_gmsh(straight, vertices, cells, ends, 2)
    write_gmsh(curved, vertices, cells, ends, 2, 0.05)
    for path, told in ((straight, False), (curved, True)):
        code, text = recoil.run(1, "validate", recoil.write_scene("second", pulled(path)))
        check(("second order are curved, by up to 5" in text) == told, "%s: %s" % (os.path.basename(path), "a warning" if told else "no warning"))
        folder = recoil.simulate(1, recoil.write_scene("second", pulled(path)), "second")
        check(stretch(folder) < 1e-9 * way and len(runs.coordinates(folder)) == len(vertices), "elements of second order are read by their corners")


def with_unit(value, unit):
    return {"value": value, "unit": unit}


def drop(length=1.0, mass=1.0, time=1.0, **more):
    """A block that falls on a table; sizes of m, kg, s in other units."""
    return dict({
        "geometry": [box("block", [0.1 * length] * 3, [2, 2, 2], [0, 0.0505 * length, 0]),
                     {"name": "table", "type": "plane", "is_obstacle": True, "point": [0, 0, 0], "normal": [0, 1, 0]}],
        "materials": material(1e5 * mass / length / time**2, 0.3, 1000 * mass / length**3),
        "gravity": [0, -10 * length / time**2, 0], "contact": {"enabled": True, "friction_coefficient": 0.2},
        "solver": {"contact": {"barrier_stiffness": 1e6 * mass / time**2 / length**2}},
        "initial_conditions": {"velocity": [{"body": "block", "value": [0.3 * length / time, 0, 0]}]},
        "time": {"dt": 0.005 * time, "time_steps": 12},
    }, **more)


def units(recoil):
    plain = recoil.simulate(1, recoil.write_scene("si", drop()), "si")
    u, energy = runs.state(plain), ledger(plain)
    with open(os.path.join(plain, "reactions.csv")) as file:
        force = [float(row["force_y"]) for row in csv.DictReader(file) if row["kind"] == "obstacle"]
    for name, given, sizes in (("mm-g-ms", {"length": "mm", "mass": "g", "time": "ms"}, (1e3, 1e3, 1e3)),
                               ("mm-t-s", {"length": "mm", "mass": "t", "time": "s"}, (1e3, 1e-3, 1.0))):
        folder = recoil.simulate(2, recoil.write_scene(name, drop(*sizes, units=given)), name)
        length, mass, time = sizes
        check(runs.difference(runs.state(folder) / length, u) < 1e-5, "%s: displacements in mm, with defaults that are converted" % name)
        unit = mass * length**2 / time**2
        check(runs.difference(ledger(folder)["elastic"] / unit, energy["elastic"]) < 1e-4, "%s: energies in mJ" % name)
        with open(os.path.join(folder, "reactions.csv")) as file:
            found = [float(row["force_y"]) for row in csv.DictReader(file) if row["kind"] == "obstacle"]
        check(runs.difference(np.array(found), np.array(force)) < 1e-4, "%s: forces in N" % name)
        mixed = drop(*sizes, units=given)
        mixed["materials"].update(E=with_unit(100, "kPa"), rho=with_unit(1, "kg/dm^3"))
        mixed["time"]["dt"] = with_unit(5, "ms")
        mixed["gravity"][1] = with_unit(-10, "m/s^2")
        again = recoil.simulate(2, recoil.write_scene(name + "-mixed", mixed), name + "-mixed")
        check(runs.difference(runs.state(again), runs.state(folder)) < 1e-9, "%s: numbers with units of their own" % name)
    vertices, cells = kuhn((2, 1, 1), (1, 0.5, 0.5))
    for size, name in ((1.0, "metres.msh"), (1000.0, "millimetres.msh")):
        write_gmsh(recoil.path(name), vertices * size, cells, {7: (7, sides(vertices, cells, 0, 0.0)), 9: (9, sides(vertices, cells, 0, 1.0))})
    scene = pulled(recoil.path("millimetres.msh"))
    scene["geometry"][0]["unit"] = "mm"
    a = recoil.simulate(1, recoil.write_scene("in-mm", scene), "in-mm")
    b = recoil.simulate(1, recoil.write_scene("in-m", pulled(recoil.path("metres.msh"))), "in-m")
    check(np.abs(runs.coordinates(a) - runs.coordinates(b)).max() < 1e-12 and runs.difference(runs.state(a), runs.state(b)) < 1e-9,
          "a mesh file in millimetres in a scene in metres")
    scene["geometry"][0]["unit"] = "N"
    _, text = recoil.run(1, "validate", recoil.write_scene("in-N", scene), expect=2)
    check("/geometry/0/unit" in text and "no unit of length" in text, "a unit of a mesh file that is none of length is refused")
    _, text = recoil.run(1, "validate", recoil.write_scene("mixed", drop(units={"length": "mm", "mass": "m"})), expect=2)
    check("/units/mass" in text and "no unit of mass" in text, "units of another kind are refused")

    # What gives the mass of a body is told from the default of `rho`, which is 1e-12 t/mm^3.
    rolling = {"geometry": [{"name": "balls", "spheres": {"centers": [[0, 0, 0]], "radius": 5}}], "units": {"length": "mm", "mass": "t"},
               "materials": {"type": "Spheres", "mass": 1e-6}, "solver": {"type": "asynchronous", "asynchronous": {"gravity_step": 1e-3}}, "time": {"dt": 0.01, "time_steps": 1}}
    recoil.run(1, "validate", recoil.write_scene("rolling", rolling))
    rolling["materials"]["rho"] = 1
    _, text = recoil.run(1, "validate", recoil.write_scene("rolling", rolling), expect=2)
    check("/materials/mass" in text and "by `rho` already" in text, "mass and density are refused")

    # A study in the units of its scene: forces in N, moduli in MPa, columns with units converted.
    bar = {"geometry": {"name": "bar", "generator": {"type": "rectangle", "size": [100, 20], "divisions": [4, 1]},
                        "surface_selection": [{"id": 1, "axis": "-x", "position": -49.9}, {"id": 2, "axis": "x", "position": 49.9}]},
           "materials": {"type": "LinearElasticity", "E": 200, "nu": 0}, "units": {"length": "mm", "mass": "t", "time": "s"},
           "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}, {"id": 2, "value": ["0.1*t", 0]}]},
           "time": {"dt": 0.5, "time_steps": 2, "quasistatic": True}}
    recoil.write_scene("bar-mm", bar)
    with open(recoil.path("force.csv"), "w") as file:
        file.write("displacement [m],force [kN],sd [kN]\n%r,%r,1e-5\n%r,%r,1e-5\n" % (5e-5, 1.5e-3, 1e-4, 3e-3))  # E = 150 MPa
    fit = {"units": bar["units"], "experiments": [{"name": "pull", "scene": recoil.path("bar-mm.json")}],
           "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 200}],
           "objectives": [{"name": "R", "type": "reaction_force", "experiment": "pull", "boundary": 2, "direction": [1, 0],
                           "target": "force.csv", "time": {"steps": [1, 2]}}]}
    recoil.run(1, "optimize", recoil.write_scene("fit-mm", fit), "-o", recoil.path("fit-mm"), "-q", expect=None)
    with open(os.path.join(recoil.path("fit-mm"), "fit.json")) as file:
        E = json.load(file)["parameters"]["E"]
    check(abs(E["value"] / 150 - 1) < 1e-6 and E["unit"] == "MPa", "a study in mm, t, s: E is %r %s" % (E["value"], E["unit"]))
    del fit["units"]
    _, text = recoil.run(1, "validate", recoil.write_scene("fit-m", fit), expect=2)
    check("/experiments/0/scene" in text and "mm, t, s" in text, "a study in other units than its scene is refused")


def write_stl(path, triangles):
    with open(path, "w") as file:
        file.write("solid s\n")
        for triangle in triangles:
            file.write("facet normal 0 0 0\nouter loop\n%sendloop\nendfacet\n" % "".join("vertex %.12g %.12g %.12g\n" % tuple(p) for p in triangle))
        file.write("endsolid s\n")


def cube_triangles(size, centre, inwards=False):
    corners = np.array(list(itertools.product((-0.5, 0.5), repeat=3))) * size + centre
    triangles = []
    for axis, side in itertools.product(range(3), (0, 1)):
        quad = [v for v in range(8) if (v >> (2 - axis)) & 1 == side]
        a, b, c, d = (corners[v] for v in quad)
        normal = np.cross(b - a, c - a)
        outside = (normal[axis] > 0) == (side == 1)
        first = [(a, b, d), (a, d, c)] if outside else [(a, d, b), (a, c, d)]
        triangles += [t[::-1] for t in first] if inwards else first
    return triangles


def repair(recoil):
    rng = np.random.default_rng(1)
    sound = cube_triangles(0.02, np.zeros(3)) + cube_triangles(0.008, np.zeros(3), inwards=True)
    broken, known = [], set()
    for k, triangle in enumerate(sound):
        # What is merged goes to where the first one is; a lattice is another one in a box that is no box to the last digit.
        moved = [p + (1e-9 * rng.normal(size=3) if tuple(p) in known else 0) for p in triangle]
        known.update(tuple(p) for p in triangle)
        broken.append(moved[::-1] if k in (1, 4, 7, 14) else moved)
    broken.append([broken[0][0], broken[0][1], broken[0][0] + 1e-9])
    broken.append(broken[2])

    def particles(path, **more):
        return {"geometry": [dict({"name": "shell", "mesh": path, "particles": {"radius": 0.00093}}, **more)],
                "materials": [{"type": "BondedParticles", "body": "shell", "E": 1e6, "nu": 0.2, "rho": 1000}],
                "solver": {"type": "bonded_particles"}, "time": {"dt": 1e-4, "time_steps": 1}}

    write_stl(recoil.path("sound.stl"), sound)
    write_stl(recoil.path("broken.stl"), broken)
    _, good = recoil.run(1, "validate", recoil.write_scene("sound", particles(recoil.path("sound.stl"))))
    _, bad = recoil.run(1, "validate", recoil.write_scene("broken", particles(recoil.path("broken.stl"))), expect=2)
    for value in (True, 1e-5):
        _, mended = recoil.run(1, "validate", recoil.write_scene("mended", particles(recoil.path("broken.stl"), repair=value)))
        count = [next(word for word in text.split("shell:")[1].split() if word.isdigit()) for text in (good, mended)]
        check(count[0] == count[1], "repair: as many particles as in the sound surface, %s and %s, the cavity left out" % tuple(count))
        check("4 triangles turned" in mended and "1 triangles without area" in mended and "1 repeated triangles" in mended and
              "the surface is closed" in mended, "repair: says what was done")
    write_stl(recoil.path("open.stl"), broken[1:])
    code, text = recoil.run(1, "validate", recoil.write_scene("open", particles(recoil.path("open.stl"), repair=True)), expect=2)
    check("3 edges are open" in text, "repair: tells of holes, which stay")
    scene = {"geometry": [box("b", [1, 1, 1], [1, 1, 1], [0, 0, 0])], "materials": material(1e6, 0.3, 1000)}
    scene["geometry"][0]["repair"] = True
    _, text = recoil.run(1, "validate", recoil.write_scene("repaired-box", scene), expect=2)
    check("/geometry/0" in text and "repair mends surfaces" in text, "repair of a mesh of elements is refused")


def stored_states(recoil):
    """A bar that swings, on a coarse mesh, goes on on a finer one, of other orders, and with another law."""
    def swinging(divisions, order=1, law="LinearElasticity", **more):
        return dict({
            "geometry": {"name": "bar", "generator": {"type": "box", "size": [2, 0.5, 0.5], "divisions": divisions}},
            "materials": {"type": law, "E": 1e5, "nu": 0.3, "rho": 1000}, "space": {"discr_order": order},
            "initial_conditions": {"velocity": [{"body": "bar", "value": ["0.2*x", "0.1+0.05*y", "0.3*x-0.1*z"]}]},
            "time": {"dt": 0.01, "time_steps": 6}, "output": {"every": 2},
        }, **more)
    coarse = recoil.simulate(2, recoil.write_scene("coarse", swinging([4, 1, 1])), "coarse")
    X, u, v = runs.coordinates(coarse), runs.state(coarse), runs.state(coarse, field="v")
    start = {"state": {"run": coarse, "time": 0.06}}
    for name, ranks, scene in (("finer", 2, swinging([8, 2, 2])), ("second", 3, swinging([4, 1, 1], 2)),
                               ("law", 1, swinging([4, 1, 1], 1, "NeoHookean"))):
        scene.update(initial_conditions=start)
        scene["time"] = {"t0": 0.06, "dt": 0.01, "time_steps": 4}
        folder = recoil.simulate(ranks, recoil.write_scene(name, scene), name)
        Y, w, wv = runs.coordinates(folder), runs.state(folder, 0), runs.state(folder, 0, field="v")
        nearest = np.array([np.abs(Y - x).sum(axis=1).argmin() for x in X])
        check(np.abs(Y[nearest] - X).max() < 1e-12 and np.abs(w[nearest] - u).max() < 1e-12 and np.abs(wv[nearest] - v).max() < 1e-12,
              "%s: starts with displacements and velocities of the state" % name)
        before, after = runs.summary(coarse), ledger(folder)
        mass = 2 * 0.25 * 1000
        error = np.abs(np.array([after["linear_" + axis][-1] for axis in "xyz"]) - before["momentum"]["linear"]).max()
        check(error < 1e-9 * mass, "%s: the momentum goes on, to %.1e" % (name, error / mass))
    whole = recoil.simulate(1, recoil.write_scene("whole", swinging([4, 1, 1], time={"dt": 0.01, "time_steps": 10})), "whole")
    same = swinging([4, 1, 1], initial_conditions=start, time={"t0": 0.06, "dt": 0.01, "time_steps": 4})
    again = recoil.simulate(2, recoil.write_scene("same", same), "same")
    check(runs.difference(runs.state(again), runs.state(whole)) < 1e-8, "on the same mesh it is the run that was never left")
    stopped = recoil.simulate(2, recoil.path("same.json"), "same-stopped", "--steps", 2)
    recoil.run(1, "simulate", "--restart", stopped, "-q")
    check(runs.difference(runs.state(stopped), runs.state(again)) < 1e-8, "such a run can be continued")

    def refuse(name, words, change, **more):
        scene = swinging([4, 1, 1], initial_conditions={"state": dict({"run": coarse}, **change)}, **more)
        _, text = recoil.run(2, "validate", recoil.write_scene("refused", scene), expect=2)
        check("/initial_conditions/state" in text and words in text, "refused with place and cure: %s" % name)

    refuse("a time between", "the nearest is at", {"time": 0.051})
    refuse("no run", "no folder of recoil simulate", {"run": recoil.folder})
    refuse("another body", "has no body of the name", {}, geometry=dict(swinging([4, 1, 1])["geometry"], name="beam"))
    refuse("another shape", "outside of the body of then", {}, geometry=dict(swinging([4, 1, 1])["geometry"], generator={
        "type": "box", "size": [3, 0.5, 0.5], "divisions": [4, 1, 1]}))
    refuse("other units", "write the same `units`", {}, units={"length": "mm"})
    damaged = recoil.path("damaged")
    shutil.copytree(coarse, damaged)
    with open(os.path.join(damaged, "scene.json"), "w") as file:
        json.dump({"geometry": 3}, file)
    refuse("a damaged scene", "no scene as recoil simulate writes it", {"run": damaged})

    # A shape moves the places at which the state is taken.
    recoil.write_scene("from-state", swinging([4, 1, 1], initial_conditions=start))
    study = {"experiments": [{"name": "swing", "scene": recoil.path("from-state.json")}],
             "parameters": [{"name": "form", "quantity": "shape", "body": "bar", "basis": "affine"}],
             "objectives": [{"name": "v", "type": "velocity", "target": [0, 0, 0]}]}
    _, text = recoil.run(1, "validate", recoil.write_scene("form", study), expect=2)
    check("/initial_conditions/state" in text and "no derivative" in text, "a shape and a stored state are refused: " + text.strip()[-200:])
    scene = swinging([4, 1, 1], initial_conditions=start)
    scene.pop("time")
    _, text = recoil.run(1, "validate", recoil.write_scene("static", scene), expect=2)
    check("/initial_conditions/state" in text and "`time`" in text, "refused in statics")


def main():
    with runs.Recoil(("--only", str, "")) as recoil:
        for test in (physical_groups, units, repair, stored_states):
            if recoil.arguments.only in ("", test.__name__):
                test(recoil)


if __name__ == "__main__":
    main()
