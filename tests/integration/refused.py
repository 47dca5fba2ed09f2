"""Wrong scenes that only the meshes or the initial state show: exit 2 on any rank count, the same message from validate and
simulate, and no run folder left."""
import os

import runs
from pieces import box, material, plane


def block(**more):
    return dict({
        "geometry": [box("block", [1, 1, 1], [2, 2, 2], [0, 0, 0],
                         surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}])],
        "materials": material(1e5, 0.3, 1000),
        "time": {"dt": 0.01, "time_steps": 4},
    }, **more)


def told(text):
    """What the program says of the error, without warnings before and mpirun's remarks after."""
    return text[text.index("recoil: "):]


def refuse(recoil, name, scene, *parts, ranks=(1, 3)):
    """Expects exit 2 with `parts` in the message; returns the path of the scene."""
    path, folder = recoil.write_scene(name, scene), recoil.path(name + "-run")
    code, text = recoil.run(1, "validate", path, expect=None)
    runs.check(code == 2 and all(part in text for part in parts), "%s: validate ends with %d: %s" % (name, code, text.strip()))
    for n in ranks:
        code, again = recoil.run(n, "simulate", path, "-o", folder, "-q", expect=None)
        runs.check(code == 2 and all(part in again for part in parts), "%s: simulate on %d ranks ends with %d" % (name, n, code))
        runs.check(n > 1 or told(again) == told(text), "%s: simulate says what validate says" % name)
        runs.check(not os.path.exists(folder), "%s: no folder is left by %d ranks" % (name, n))
    return path


def starts(recoil):
    boxes = [box("lower", [1, 1, 1], [1, 1, 1], [0, 0, 0]), box("upper", [1, 1, 1], [1, 1, 1], [0.1, 0.2, 0.9])]
    scene = block(geometry=boxes, contact={"enabled": True, "dhat": 1e-3})
    path = refuse(recoil, "overlap", scene, "intersections", "'lower'", "'upper'", "overlap.json")
    folder = recoil.path("given")
    os.mkdir(folder)
    recoil.run(1, "simulate", path, "-o", folder, "-q", expect=2)
    runs.check(os.listdir(folder) == [], "a folder that was there stays, empty")
    boxes[1]["transformation"]["translation"][2] = 1.1
    recoil.run(1, "simulate", recoil.write_scene("overlap", scene), "-o", folder, "-q")
    runs.check(runs.summary(folder)["status"] == "done", "the mended scene runs in the same folder")
    boxes[1].update(is_obstacle=True, transformation={"translation": [0, 0, 1]})
    scene["geometry"] = boxes
    refuse(recoil, "touching", scene, "contacts at distance zero at the start", "'lower'", "'upper'", ranks=(2,))
    refuse(recoil, "inverted", block(initial_conditions={"solution": [{"body": "block", "value": ["-2*x", 0, 0]}]}), "is inverted")


def problems(recoil):
    refuse(recoil, "forces", block(output={"fields": ["contact_force"]}), "/output/fields", "contact/enabled", ranks=(1,))
    refuse(recoil, "pressure", block(boundary_conditions={"pressure_boundary": [{"id": 1, "value": "1+y"}]}),
           "(/boundary_conditions/pressure_boundary/0)", "depends on position")
    open_side = block(boundary_conditions={"pressure_boundary": [{"id": 2, "value": -10}]})
    recoil.run(1, "validate", recoil.write_scene("open-in-steps", open_side))
    del open_side["time"]
    refuse(recoil, "open", open_side, "(/boundary_conditions/pressure_boundary/0)", "its rim is free to move, for example at (0.5", "no steps",
           "/time/quasistatic", "/boundary_conditions/rest_pressure_boundary")
    refuse(recoil, "half", block(materials=material(1e5, 0.5, 1000)), "half.json:1 (/materials)", "below 0.5 in 3D", "mean_dilatation")
    flat = block(geometry=[box("block", [1, 1], [2, 2], [0, 0])], materials=dict(material(1e5, 0.5, 1000), plane="strain"))
    refuse(recoil, "half-in-plane-strain", flat, "(/materials/nu)", "below 0.5 in plane strain", '"plane": "stress"')
    half_in_studies(recoil)
    refuse(recoil, "flat", block(geometry=[box("block", [1, 1], [2, 2], [0, 0]), plane("floor", [0, 1, 1])],
                                 contact={"enabled": True, "dhat": 1e-3}), "(/geometry/1)", "no z component")


def half_in_studies(recoil):
    """Parameters that start at nu = 1/2, or may come to it, where only plane stress has a stiffness there."""
    scene = recoil.write_scene("block", block())
    for name, more, place in (("start", {"initial": 0.5}, "(/parameters/0/initial)"), ("bounds", {"initial": 0.4, "bounds": [0.1, 0.5]}, "(/parameters/0/bounds)")):
        study = {"experiments": [{"name": "block", "scene": scene}], "parameters": [dict(more, name="nu", quantity="poisson_ratio")],
                 "objectives": [{"name": "stress", "type": "stress_norm", "p": 2}]}
        text = recoil.run(1, "gradient", recoil.write_scene("study-" + name, study), "-o", recoil.path("study"), expect=2)[1]
        runs.check(place in text and "not of plane stress" in text and "take 0.499" in text, "a ratio of 1/2: %s" % told(text).strip())


def not_finite(recoil):
    def conditions(kind, value, id=2):
        return {"boundary_conditions": {kind: [{"id": id, "value": value}]}}

    nan, somewhere = ["sqrt(-1-t)", 0, 0], ["sqrt(y-0.3)", 0, 0]
    closed = [box("block", [1, 1, 1], [2, 2, 2], [0, 0, 0], surface_selection=1)]
    for name, more, what, place in (
            ("prescribed", conditions("dirichlet_boundary", nan), "displacement along x", "dirichlet_boundary/0"),
            ("prescribed-part", conditions("dirichlet_boundary", somewhere), "displacement along x", "dirichlet_boundary/0"),
            ("traction", conditions("neumann_boundary", [0, "1/(t-t)", 0]), "traction along y", "neumann_boundary/0"),
            ("traction-part", conditions("neumann_boundary", somewhere), "traction along x", "neumann_boundary/0"),
            ("normal", conditions("normal_aligned_neumann_boundary", "sqrt(y-0.3)"), "pressure", "normal_aligned_neumann_boundary/0"),
            ("follower", dict(conditions("pressure_boundary", "sqrt(-t)", 1), geometry=closed), "pressure", "pressure_boundary/0"),
            ("rhs", {"boundary_conditions": {"rhs": somewhere}}, "acceleration along x", "/boundary_conditions/rhs"),
            ("velocity", {"initial_conditions": {"velocity": [{"body": "block", "value": somewhere}]}},
             "initial value along x", "initial_conditions/velocity/0"),
            ("solution", {"initial_conditions": {"solution": [{"body": "block", "value": somewhere}]}},
             "initial value along x", "initial_conditions/solution/0")):
        refuse(recoil, name, block(**more), "the ", what, place, "finite value")
    refuse(recoil, "static", {k: v for k, v in block(**conditions("dirichlet_boundary", nan)).items() if k != "time"},
           "displacement along x", "t = 1")

    late = recoil.write_scene("late", block(**conditions("dirichlet_boundary", ["0.01*sqrt(0.025-t)", 0, 0])))
    recoil.run(1, "validate", late)
    for n in (1, 3):
        folder = recoil.path("late-%d" % n)
        code, text = recoil.run(n, "simulate", late, "-o", folder, "-q", expect=None)
        runs.check(code == 2 and "t = 0.03" in text, "no value from the third step on, %d ranks: exit %d" % (n, code))
        runs.check(os.path.exists(os.path.join(folder, "trajectory")), "what was written before stays")


def places(recoil):
    with open(recoil.path("base.json"), "w") as file:
        file.write('{"materials": {"type": "NeoHookean", "E": 1e5, "nu": 0.3},\n\n'
                   ' "boundary_conditions": {\n'
                   '  "neumann_boundary": {"id": 7, "value": [0, 0, 1]}}}\n')
    scene = block(common="base.json")
    del scene["materials"]
    refuse(recoil, "places", scene, "base.json:4 (/boundary_conditions/neumann_boundary)", "surface id 7")


with runs.Recoil() as recoil:
    starts(recoil)
    problems(recoil)
    not_finite(recoil)
    places(recoil)
