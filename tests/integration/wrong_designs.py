"""Thirty wrong studies of designs: exit 2, and a message that names the place and how to fix it; no folder is left."""
import os

import runs
from pieces import box, material


def scene(recoil):
    """A bar with an id per side above a block, and a knife."""
    sides = [{"id": number, "axis": axis, "position": at} for number, axis, at in
             ((1, "-x", -0.999), (2, "x", 0.999), (3, "y", 0.299), (4, "-y", -0.299))]
    return recoil.write_scene("scene", {
        "geometry": [box("bar", [2, 0.6], [8, 3], [0, 0], surface_selection=sides), box("block", [2, 0.6], [3, 2], [0, -1]),
                     box("knife", [0.1, 0.1], [1, 1], [0, 1], is_obstacle=True)],
        "materials": material(1e6, 0.3, 1000), "contact": {"enabled": True, "dhat": 0.01}, "solver": {"contact": {"barrier_stiffness": 1e6}},
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]}, "time": {"dt": 0.01, "time_steps": 2}})


def shape(basis, **more):
    return dict({"name": "s", "quantity": "shape", "body": "bar", "basis": basis}, **more)


def extension(**more):
    return shape(dict({"extension": "harmonic"}, **more))


FINE = {"name": "o", "type": "stress_norm", "p": 8, "body": "bar"}


def objective(**entry):
    return {"objectives": [dict({"name": "o"}, **entry)]}


def optimizer(**settings):
    return {"optimizer": settings}


WRONG = [
    ("unknown extension", {"parameters": [extension(extension="harmonics")]}, ["/parameters/0/basis/extension", "did you mean 'harmonic'"]),
    ("two forms of a basis", {"parameters": [extension(box=[2, 2])]}, ["/parameters/0/basis", "needs one of"]),
    ("no form of a basis", {"parameters": [shape({"boundary": 3})]}, ["/parameters/0/basis", "needs one of", "\"extension\""]),
    ("surfaces of a lattice", {"parameters": [shape({"box": [2, 2], "boundary": 3})]}, ["/parameters/0/basis/boundary", "goes with `extension`"]),
    ("surface that is not there", {"parameters": [extension(boundary=[3, 9])]}, ["/parameters/0/basis", "no surface", "id 9", "`surface_selection`"]),
    ("surface 0", {"parameters": [extension(boundary=[0])]}, ["/parameters/0/basis/boundary/0", "start at 1", "is 0"]),
    ("surface by name", {"parameters": [extension(boundary="top")]}, ["/parameters/0/basis/boundary", "integer"]),
    ("surfaces without end", {"parameters": [extension(boundary=[])]}, ["/parameters/0/basis/boundary", "at least 1"]),
    ("period along z", {"parameters": [extension(periodic="z")]}, ["/parameters/0/basis", "no z axis in 2D"]),
    ("period twice", {"parameters": [extension(periodic=["x", "x"])]}, ["/parameters/0/basis/periodic/1", "stands here twice"]),
    ("period of one side", {"parameters": [extension(boundary=3, periodic="y")]}, ["/parameters/0/basis", "no partner across the period along y", "`boundary`"]),
    ("start of a shape", {"parameters": [dict(extension(), initial=0.1)]}, ["/parameters/0/initial", "starts from the meshes"]),
    ("shape of an obstacle", {"parameters": [dict(extension(), body="knife")]}, ["/parameters/0/body", "'knife' is an obstacle"]),
    ("shape of nobody", {"parameters": [dict(extension(), body="beam")]}, ["/parameters/0/body", "'beam'"]),
    ("tied shapes", {"parameters": [extension(), dict(extension(), name="t", body="block", tie="s")]}, ["/parameters/1/tie", "cannot be tied"]),
    ("basis of a modulus", {"parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1e6, "basis": {"extension": "elastic"}}]},
     ["/parameters/0/basis", "does not go with young_modulus"]),
    ("exponent of a maximum", objective(type="max_stress"), ["/objectives/0", "max_stress needs `p`"]),
    ("flat maximum", objective(type="max_stress", p=1), ["/objectives/0/p", "> 1"]),
    ("stress of nobody", objective(type="max_stress", p=8, body="beam"), ["/objectives/0/body", "'beam'"]),
    ("axis of a moment", objective(type="position_integral", axis="z"), ["/objectives/0/axis", "no z axis in 2D"]),
    ("no axis", objective(type="position_integral"), ["/objectives/0", "position_integral needs `axis`"]),
    ("no distance", objective(type="rest_separation"), ["/objectives/0", "rest_separation needs `distance`"]),
    ("negative distance", objective(type="rest_separation", distance=-1), ["/objectives/0/distance", "> 0"]),
    ("one body alone", objective(type="min_distance", bodies=["bar"], p=4, limit=0.1), ["/objectives/0/bodies", "2"]),
    ("a body from itself", objective(type="min_distance", bodies=["bar", "bar"], p=4, limit=0.1), ["/objectives/0/bodies", "no distance from itself", "rest_separation"]),
    ("a body that is not there", objective(type="min_distance", bodies=["bar", "beam"], p=4, limit=0.1), ["/objectives/0/bodies", "'beam'", "did you mean 'bar'"]),
    ("quality above one", optimizer(min_quality=1.5), ["/optimizer/min_quality", "0 to 1", "is 1.5"]),
    ("negative quality", optimizer(renew_quality=-0.1), ["/optimizer/renew_quality", "0 to 1", "is -0.1"]),
    ("a Gmsh that is a number", optimizer(gmsh=4), ["/optimizer/gmsh", "text"]),
    ("a setting of meshes", optimizer(remesh=True), ["/optimizer/remesh", "unknown key", "renew_quality"]),
]

with runs.Recoil() as recoil:
    path = scene(recoil)
    for number, (name, change, parts) in enumerate(WRONG, 1):
        study = dict({"experiments": [{"name": "run", "scene": path}], "parameters": [extension()], "objectives": [FINE]}, **change)
        folder = recoil.path("fit")
        code, text = recoil.run(1, "optimize", recoil.write_scene("study", study), "-o", folder, expect=None)
        message = text[text.find("recoil: "):].strip()
        missing = [part for part in parts if part not in message]
        runs.check(code == 2 and not missing and not os.path.exists(folder), "%2d %s: %d, %s%s" % (number, name, code, message, " MISSING %s" % missing if missing else ""))
