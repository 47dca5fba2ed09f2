"""Exports of image correlations, in the layouts of their programs, fitted end to end with a camera whose pose is not known."""
import json

import numpy as np

import runs
from studies import exact

SIZE, TRUTH, SD = [0.1, 0.04], {"E": 2.1e9, "nu": 0.35}, 2e-7
# Where the camera stood at rest, and how far it, or the specimen as a whole, has moved since.
ANGLE, SHIFT, MOVED_ANGLE, MOVED_SHIFT = 0.3, np.array([0.02, -0.01]), 0.011, np.array([3e-4, -2e-4])


def turn(angle):
    return np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


def pulled(time=None, E=TRUTH["E"], nu=TRUTH["nu"]):
    scene = {"geometry": {"name": "strip", "generator": {"type": "rectangle", "size": SIZE, "divisions": [20, 8]},
                          "surface_selection": [{"id": 1, "axis": "-x", "position": -0.0499}, {"id": 2, "axis": "x", "position": 0.0499}]},
             "materials": {"type": "NeoHookean", "E": E, "nu": nu, "rho": 1200}, "solver": {"nonlinear": exact()},
             "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [2e7, 0]}]}}
    if time:
        scene["time"] = time
        scene["boundary_conditions"]["neumann_boundary"][0]["value"] = ["2e7*t", 0]
    return scene


def seen(folder, step=None, moved=1.0, seed=1):
    """Positions at rest and displacements [mm] of the vertices, in the axes of the camera, with noise."""
    rest, u = runs.coordinates(folder), runs.state(folder, step)
    rest, u = rest[:, :2], u[:, :2]
    at_rest = rest @ turn(ANGLE).T + SHIFT
    now = (rest + u) @ turn(ANGLE + moved * MOVED_ANGLE).T + SHIFT + moved * MOVED_SHIFT
    noise = np.random.default_rng(seed).normal(0, SD, u.shape)
    return 1e3 * at_rest, 1e3 * (now - at_rest + noise)


def rows(head, table, separator=",", comma=False):
    lines = [separator.join("%.9f" % v for v in row) for row in table]
    return head + "\n" + "\n".join(line.replace(".", ",") if comma else line for line in lines) + "\n"


def exports(x, u):
    """{program: (text of its file, keys of the objective)}. Columns that are not read hold what they would hold, or zero."""
    nothing = np.zeros((len(x), 1))
    pixels = np.column_stack([1000 + 20 * x, 20 * u])
    return {
        "vic3d": (rows('"x","y","u","v","sigma","X","Y","Z","U","V","W","exx","eyy","exy"',
                       np.column_stack([pixels, nothing + 0.01, x, nothing + 5, u, nothing, nothing, nothing, nothing])), {"unit": "mm"}),
        "gom": (rows("coor.X [mm];coor.Y [mm];coor.Z [mm];disp.X [mm];disp.Y [mm];disp.Z [mm];epsX [%]",
                     np.column_stack([x, nothing, u, nothing, nothing]), ";", comma=True), {}),
        "matchid": (rows("Coordinates.Image X [Pixel],Coordinates.Image Y [Pixel],coor.X [mm],coor.Y [mm],"
                         "disp.Horizontal Displacement U [mm],disp.Vertical Displacement V [mm],strain.Strain-global frame: Exx [ ]",
                         np.column_stack([pixels[:, :2], x, u, nothing])), {}),
        "ncorr": (rows("x,y,u,v,exx,exy,eyy", np.column_stack([x, u, nothing, nothing, nothing])), {"unit": "mm"}),
        "davis": (rows("x [mm];y [mm];z [mm];Vx [mm];Vy [mm];Vz [mm];isValid", np.column_stack([x, nothing, u, nothing, nothing + 1]), ";", comma=True), {}),
    }


def field(**more):
    return dict({"name": "dic", "type": "displacement_field", "body": "strip", "sd": SD, "pose": "fitted", "camera_rotation": ANGLE,
                 "camera_translation": list(SHIFT)}, **more)


def study(recoil, name, scene, objective):
    return recoil.write_scene(name, {
        "experiments": [{"name": "pulled", "scene": scene}],
        "parameters": [{"name": "E", "quantity": "young_modulus", "initial": 1.2e9, "bounds": [1e8, 1e11]},
                       {"name": "nu", "quantity": "poisson_ratio", "initial": 0.25, "bounds": [0.05, 0.48]}],
        "objectives": [objective], "optimizer": {"starts": 1}})


def fit(recoil, name, scene, objective, ranks=1):
    recoil.run(ranks, "optimize", study(recoil, "study-" + name, scene, objective), "-o", recoil.path("fit-" + name), "-q")
    with open(recoil.path("fit-" + name) + "/fit.json") as file:
        return json.load(file)


def off(fitted):
    """How far off the values are, in their standard deviations."""
    return {name: (fitted["parameters"][name]["value"] - TRUTH[name]) / fitted["parameters"][name]["sd"] for name in TRUTH}


def vendors(recoil):
    scene = recoil.write_scene("pulled", pulled())
    x, u = seen(recoil.simulate(1, scene, "truth"))
    for program, (text, keys) in exports(x, u).items():
        with open(recoil.path(program + ".csv"), "w") as file:
            file.write(text)
        fitted = fit(recoil, program, scene, field(target=program + ".csv", **keys), 2 if program == "gom" else 1)
        errors = off(fitted)
        runs.check(all(abs(e) < 4 for e in errors.values()), "%s: E %.5g, nu %.4f, off by %s standard deviations"
                   % (program, fitted["parameters"]["E"]["value"], fitted["parameters"]["nu"]["value"],
                      {k: round(e, 2) for k, e in errors.items()}))
        runs.check(abs(fitted["parameters"]["E"]["value"] / TRUTH["E"] - 1) < 0.01, "%s: E to a percent" % program)
    fitted = fit(recoil, "posed", scene, field(target="gom.csv"))
    still = fit(recoil, "still", scene, field(target="gom.csv", pose="fixed"))
    runs.check(fitted["data"] == 2 * len(x) - 3 and fitted["information"]["data"] == fitted["data"] and still["data"] == 2 * len(x),
               "a pose takes three degrees of freedom from %d data: %d are left" % (still["data"], fitted["data"]))
    robust = fit(recoil, "robust", scene, field(target="gom.csv", loss={"type": "soft_l1"}))
    runs.check(robust["data"] == fitted["data"], "with a loss, too")
    factor = fit(recoil, "factor", scene, field(target="gom.csv", sd_factor="camera"), 3)["sd_factors"]["camera"]
    expected = np.sqrt(fitted["chi_squared"] / (2 * len(x) - 3 - 2))
    runs.check(factor["data"] == 2 * len(x) - 3 and abs(factor["value"] / expected - 1) < 1e-4,
               "and from those of a factor of their standard deviations, %.5f, by hand %.5f" % (factor["value"], expected))
    objective = still["objective"]
    runs.check(objective > 1e3 * fitted["objective"], "a pose that has moved and is not fitted shows in chi^2: %.3g instead of %.3g"
               % (objective, fitted["objective"]))
    recoil.run(1, "gradient", "--check", study(recoil, "checked", scene, field(target="ncorr.csv", unit="mm")), "-o", recoil.path("checked"), "-q")
    with open(recoil.path("checked") + "/gradient.json") as file:
        check = json.load(file)["check"]
    runs.check(all(c["verdict"].startswith("agrees") for c in check.values()), "the gradient with a fitted pose agrees with differences: %s"
               % {k: c["relative_error"] for k, c in check.items()})


def stages(recoil):
    """A file for each time, between which the camera moves."""
    scene = recoil.write_scene("stages", pulled({"dt": 0.5, "time_steps": 2, "quasistatic": True}))
    truth = recoil.simulate(1, scene, "truth-stages")
    for step in (1, 2):
        with open(recoil.path("stage%d.csv" % step), "w") as file:
            file.write(exports(*seen(truth, step, moved=step, seed=step))["vic3d"][0])
    fitted = fit(recoil, "stages", scene, field(stages=["stage1.csv", "stage2.csv"], times=[0.5, 1], unit="mm"))
    numbers = 2 * len(seen(truth, 1)[0]) * 2
    runs.check(fitted["data"] == numbers - 6, "two poses take six degrees of freedom from %d data: %d" % (numbers, fitted["data"]))
    runs.check(all(abs(e) < 4 for e in off(fitted).values()), "a file per stage: off by %s standard deviations" % off(fitted))


def wrong(recoil):
    scene = recoil.write_scene("pulled", pulled())
    recoil.write_scene("moving", pulled({"dt": 0.5, "time_steps": 2, "quasistatic": True}))
    files = {"good": "X,Y,U,V\n0,0,0,0\n10,5,0,0\n", "twice": "X,Y,U,V\n0,0,0,0\n0,0,0,0\n", "px": "X [mm],Y [mm],U [px],V [px]\n0,0,0,0\n",
             "one": "X,Y,U,V\n0,0,0,0\n", "far": "X,Y,U,V\n0,0,0,0\n1e6,0,0,0\n", "names": "X,Y,dX,dY\n0,0,0,0\n",
             "comma": "X;Y;U;V\n1.000,5;0;0;0\n"}
    for name, text in files.items():
        with open(recoil.path(name + ".csv"), "w") as file:
            file.write(text)
    good = dict(target="good.csv", unit="mm", camera_rotation=0, camera_translation=[0, 0])
    for number, (objective, where, *parts) in enumerate((
            (field(**dict(good, target="twice.csv")), scene, "twice.csv:3: this point is there a second time; keep one row for each"),
            (field(**dict(good, target="px.csv")), scene, "px.csv:1: 'px' is no unit of column 'ux'"),
            (field(**dict(good, target="names.csv")), scene, "names.csv:1: no columns of positions at rest and displacements", "VIC-3D (X, U)"),
            (field(**dict(good, target="comma.csv")), scene, "comma.csv:2: '1.000,5' in column 'x'", "nothing between thousands"),
            (field(**dict(good, target="one.csv")), scene, "too little was observed", "it takes two points"),
            (field(**dict(good, target="far.csv")), scene, "1 of 2 points lie outside of body 'strip'", "\"outside\": \"drop\""),
            (field(**good), "moving.json", "good.csv:1: column 'time' is missing", "`stages` and their `times`"),
            (field(stages=["good.csv"], times=[0.5, 1], unit="mm"), "moving.json", "(/objectives/0/times)", "there are 2 times for 1 files in `stages`"),
            (field(stages=["good.csv", "good.csv"], times=[1, 0.5]), "moving.json", "(/objectives/0/times)", "must increase"),
            (field(stages=["good.csv"]), "moving.json", "(/objectives/0/stages)", "need `times`"),
            (field(), scene, "(/objectives/0)", "needs one of `target` (a CSV file) and `stages`"),
            (field(**dict(good, times=[1])), scene, "(/objectives/0/times)", "in a `target` the column `time` says"),
            (field(**dict(good, unit="furlong")), scene, "(/objectives/0/unit)", "must be one of"),
            (field(**dict(good, camera_rotation=[0, 0, 1])), scene, "(/objectives/0/camera_rotation)", "one angle [rad], a number"),
            (field(**dict(good, camera_translation=[0, 0, 1])), scene, "(/objectives/0/camera_translation)"),
            ({k: v for k, v in field(**good).items() if k != "pose"}, scene, "(/objectives/0/camera_rotation)", "\"pose\": \"fixed\""))):
        path = study(recoil, "wrong", recoil.path("moving.json") if where == "moving.json" else where, objective)
        text = recoil.run(1, "gradient", path, "-o", recoil.path("wrong-%d" % number), expect=2)[1]
        missing = [part for part in parts if part not in text]
        runs.check(not missing, "%s%s" % (parts[0], ": not in %s" % text if missing else ""))


with runs.Recoil() as recoil:
    for part in (vendors, stages, wrong):
        part(recoil)
