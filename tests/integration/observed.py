"""Data as laboratories have them: observations with units, gaps and frames of their own, displacement fields, start values from
files; gradients through them, and wrong files with what is said of them before anything is solved."""
import json
import os

import h5py
import numpy as np

import runs
from studies import distance, exact, fit, gradient, result
from pieces import box, material

FRAMES = (0.0, 3.1, 8.0, 12.7, 16.0)  # ms; steps end every 4 ms


def swing(steps=4):
    """A block that is held at one end, pulled at the other, and swings."""
    return {"geometry": [box("block", [1, 0.5], [3, 2], [0, 0],
                             surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}, {"id": 2, "axis": "x", "position": 0.499}])],
            "materials": material(1e6, 0.3, 1000), "gravity": [0, -9.81],
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [5e4, 2e4]}]},
            "solver": {"nonlinear": exact()}, "time": {"dt": 0.016 / steps, "time_steps": steps, "integrator": "BDF2"}}


PARAMETERS = [{"name": "E", "quantity": "young_modulus", "per": "element", "initial": 1e6, "scale": "log"},
              {"name": "v0", "quantity": "initial_velocity", "initial": [0.4, 1.0]},
              {"name": "rho", "quantity": "density", "initial": 900}]
TRACK = {"name": "o", "type": "center_of_mass", "target": "track.csv"}
MARKERS = {"name": "o", "type": "markers", "target": "markers.csv"}
FIELD = {"name": "o", "type": "displacement_field", "target": "field.csv", "body": "block"}
GAUGE = {"name": "o", "type": "strain_at", "target": "strain.csv", "body": "block", "rest": [0, 0], "direction": [1, 0]}


def study(recoil, name, objective, parameters=PARAMETERS, **more):
    return recoil.write_scene(name, dict({
        "experiments": [{"name": "fall", "scene": recoil.write_scene("fall", swing())}], "parameters": parameters, "objectives": [objective],
        "markers": [{"name": "left", "body": "block", "rest": [-0.4, 0.1]}, {"name": "right", "body": "block", "rest": [0.4, 0.1]}],
        "sweep": {"tolerance": 1e-13}}, **more))


def put(recoil, name, text):
    with open(recoil.path(name), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())


def files(recoil):
    put(recoil, "track.csv", "time [ms];x [mm];y [mm];sd [mm]\r\n" + "".join("%g;%g;%g;5\r\n" % (t, 0.5 * t, t) for t in FRAMES + (20, 24)))
    put(recoil, "markers.csv", "# camera 2\ntime,marker,x,y,sd_x,sd_y\n0,left,-0.4,0.1,.01,.02\n0.0031,right,0.4,,.01,\n0.008,left,nan,0.11,,.02\n"
        "0.0081,right,0.41,0.12,.01,.02\n0.016,left,-0.39,0.12,.01,.02\n")
    grid = [(x, y) for x in np.linspace(-0.45, 0.45, 7) for y in np.linspace(-0.2, 0.2, 5)]
    put(recoil, "field.csv", "\ufefftime (ms)\tx (mm)\ty (mm)\tux (um)\tuy (um)\tsd (um)\n" + "".join(
        "%g\t%.10g\t%.10g\t%s\t%g\t2000\n" % (t, 1e3 * x, 1e3 * y, "" if (i + k) % 5 == 0 else "%g" % (1e3 * t * (0.5 - 2 * y)), 1e3 * t * (1 + x))
        for i, t in enumerate(FRAMES) for k, (x, y) in enumerate(grid)))
    put(recoil, "strain.csv", "time [ms],strain [um/m],sd [um/m]\n0,0,50\n8,200,50\n20,300,50\n")


def gradients(recoil):
    for name, objective in (("track", TRACK), ("markers", MARKERS), ("field", FIELD), ("gauge", GAUGE)):
        if name != "field":
            objective = dict(objective, time={"times": "data"})
        path = study(recoil, "once-" + name, objective, check={"directions": 1, "steps": [1e-3, 1e-4, 1e-5]})
        plain = gradient(recoil, 1, path, "once-%s-1" % name, "--check")
        shared = gradient(recoil, 3, path, "once-%s-3" % name)
        runs.check(distance(plain, shared) < 1e-8, "%s: 1 and 3 ranks have one gradient" % name)
        verdicts = {key: entry["verdict"] for key, entry in result(plain)["check"].items()}
        runs.check(all(verdict.startswith("agrees") for verdict in verdicts.values()), "%s: %s" % (name, verdicts))

    # In free flight steps of any length see the same of the observations, next to which they end.
    values, fast = {}, PARAMETERS[:1] + [dict(PARAMETERS[1], initial=[-3, 1])] + PARAMETERS[2:]
    for steps in (4, 8, 16, 160):
        path = study(recoil, "steps-%d" % steps, dict(TRACK, time={"times": "data"}), fast)
        recoil.write_scene("fall", dict(swing(steps), boundary_conditions={}))
        values[steps] = result(gradient(recoil, 1, path, "steps-%d" % steps))["objective"]
    # 9.81 m/s^2 over at most half a step of 4 ms is 20 um, of an sd of 5 mm.
    spread = max(abs(values[n] / values[160] - 1) for n in (4, 8, 16))
    runs.check(spread < 0.02, "five observations of %.6g count as much with any steps: %.1e" % (values[160], spread))


def starts(recoil):
    path = study(recoil, "from-numbers", TRACK)
    plain = gradient(recoil, 1, path, "from-numbers")
    entry = [{"name": "E", "quantity": "young_modulus", "per": "element", "scale": "log",
              "initial": {"file": os.path.join(plain, "gradient.h5"), "dataset": "fall/E/value"}}]
    for ranks in (1, 3):
        again = gradient(recoil, ranks, study(recoil, "from-field", TRACK, entry + PARAMETERS[1:]), "from-field-%d" % ranks)
        runs.check(distance(plain, again) < 1e-8, "E from gradient.h5 on %d ranks" % ranks)
    with open(recoil.path("fit.json"), "w") as file:
        json.dump({"parameters": {"v0": {"value": [0.4, 1.0], "unit": "m/s"}, "rho": {"value": 900, "unit": "kg/m^3"},
                                  "E": {"file": "fit.h5", "dataset": "E", "unit": "Pa"}}}, file)
    with h5py.File(recoil.path("fit.h5"), "w") as file:
        file["E"] = np.full(12, 1e6)
    fitted = [{k: v for k, v in parameter.items() if k != "initial"} | {"initial": {"file": "fit.json"}} for parameter in PARAMETERS]
    again = gradient(recoil, 3, study(recoil, "from-fit", TRACK, fitted), "from-fit")
    runs.check(distance(plain, again) < 1e-8, "all from fit.json and the fit.h5 beside it")
    folder = recoil.path("fit")
    few = study(recoil, "few", TRACK, [dict(PARAMETERS[0], per="global")], optimizer={"max_iterations": 2})
    recoil.run(1, "optimize", few, "-o", folder, "-q", expect=3)
    found = fit(folder)["parameters"]["E"]["value"]
    spread = [dict(PARAMETERS[0], initial={"file": os.path.join(folder, "fit.json")})]
    again = gradient(recoil, 1, study(recoil, "spread", TRACK, spread), "spread")
    with h5py.File(os.path.join(again, "gradient.h5")) as file:
        runs.check((file["fall/E/value"][:] == found).all(), "one fitted value starts all elements")


class Refusals:
    """Wrong files and studies, each told on 1 rank, every fifth one on 3."""

    def __init__(self, recoil):
        self.recoil, self.count = recoil, 0

    def expect(self, path, *parts):
        recoil, folder = self.recoil, self.recoil.path("refused")
        self.count += 1
        for ranks in (1, 3) if self.count % 5 == 0 else (1,):
            code, text = recoil.run(ranks, "gradient", path, "-o", folder, "-q", expect=None)
            runs.check(code == 2 and all(part in text for part in parts),
                       "refused on %d: %s%s" % (ranks, parts[-1], "" if code == 2 and all(part in text for part in parts) else ": " + text.strip()))
            runs.check(not os.path.exists(folder), "no folder is left")

    def data(self, objective, text, *parts):
        put(self.recoil, "wrong.csv", text)
        self.expect(study(self.recoil, "wrong", dict(objective, target="wrong.csv")), *parts)

    def start(self, entry, *parts, quantity="young_modulus", **more):
        entry = dict({"name": "E", "quantity": quantity, "initial": entry}, **more)
        self.expect(study(self.recoil, "wrong", TRACK, [entry]), "(/parameters/0/initial)", *parts)


def wrong_data(wrong):
    rows = "0,0,0\n0.016,0,0\n"
    for text, *parts in (
            ("", "wrong.csv:1: the file has no header"),
            ("0,0,0\n0.016,0,0\n", "wrong.csv:1: there are numbers where the header is expected"),
            ("# time,x,y\n" + rows, "wrong.csv:2: there are numbers where the header"),
            ("time,x,y,mood\n", "wrong.csv:1: there is no use for column 'mood'", "'time,x,y'"),
            ("time,x\n0,0\n", "wrong.csv:1: column 'y' is missing"),
            ("time,x,y,y\n", "column 'y' stands there twice"),
            ("time [ms],x [px],y [px]\n" + rows, "wrong.csv:1: 'px' is no unit of column 'x'; known here: m, cm, mm, um, nm, km and in"),
            ("time [h],x,y\n" + rows, "wrong.csv:1: 'h' is no unit of column 'time'; known here: s, ms, us, ns and min"),
            ("time,x [mm],y\n" + rows, "column 'x' has the unit 'mm' and column 'y' none"),
            ("time,x [mm],y [mm],sd\n0,0,0,1\n", "and column 'sd' none; write the unit of both"),
            ("time,x [mm,y\n" + rows, "'x [mm' is no column"),
            ("time;x;y\n0;1.000,5;0,5\n", "wrong.csv:2: '1.000,5' in column 'x' is not a finite number; write a decimal point"),
            ("time,x,y\n0,0,0\n0.016,0\n", "wrong.csv:3: the row has 2 columns, the header 3"),
            ("time,x,y\n0,0,5,0,5\n", "wrong.csv:2: the row has 5 columns", "numbers are written with a decimal point"),
            ("time,x,y\n# next\n\n0,0,lost\n", "wrong.csv:4: 'lost' in column 'y' is not a finite number"),
            ("time,x,y\n,0,0\n", "wrong.csv:2: '' in column 'time'", "only what is observed may be missing"),
            ("time,x,y\n0.016,0,0\n0,0,0\n", "wrong.csv:3: time 0 does not come after"),
            ("time,x,y,sd_x\n0,0,0,1\n", "column 'sd_y' is missing"),
            ("time,x,y,sd\n0,0,0,\n", "wrong.csv:2: '' in column 'sd'"),
            ("time,x,y,sd\n0,0,0,0\n", "wrong.csv:2: sd is 0; it must be positive"),
            ("time,x,y\n0,,\n0.016,nan,NaN\n", "no observation follows the header"),
            ("time,x,y\n0,0,0\n0.01,0,0\n", "(/objectives/0/target)", "no observation at time 0.016 s; they run from 0 s to 0.01 s"),
            (b"\xff\xfet\0i\0", "wrong.csv:1: the file is UTF-16")):
        wrong.data(TRACK, text, *parts)
    wrong.data(dict(TRACK, time={"times": "data"}), "time,x,y\n1,0,0\n2,0,0\n", "(/objectives/0/target)", "no observation lies within the run, 0 s to 0.016 s")
    wrong.data(MARKERS, "time,marker,x,y\n0,left,0,0\n0,rigth,0,0\n", "wrong.csv:3: marker 'rigth' is not defined; did you mean 'right'?")
    wrong.data(MARKERS, "time,marker,x,y\n0,left,0,0\n0,right,,\n", "no observation of marker 'right'")
    wrong.data(GAUGE, "time,strain [mm]\n0,0\n", "'mm' is no unit of column 'strain'")
    head = "time,x,y,ux,uy\n"
    wrong.data(FIELD, head + "0,0,0,0,0\n0,0,0.3,0,0\n0,2,0,0,0\n", "(/objectives/0/target)", "2 of 3 points lie outside of body 'block', the first one at (0, 0.3)", '"outside": "drop"')
    wrong.data(dict(FIELD, outside="drop"), head + "0,100,50,0,0\n", "1 of 1 points lie outside", "in metres unless the header has a unit")
    wrong.data(FIELD, head + "0,0,0,0,0\n0,0,0,0,0\n", "wrong.csv:3: time 0 does not come after the time before it of this point")
    wrong.expect(study(wrong.recoil, "wrong", {"name": "o", "type": "elastic_energy", "time": {"times": "data"}}), "elastic_energy is not compared with a CSV file")
    wrong.expect(study(wrong.recoil, "wrong", dict(TRACK, time={"times": "observations"})), "(/objectives/0/time/times)", '"data"')


def wrong_starts(wrong):
    recoil = wrong.recoil
    with h5py.File(recoil.path("start.h5"), "w") as file:
        file["E"] = np.r_[np.full(11, 1e4), -1]
        file["short"] = np.full(11, 1e4)
        file["holes"] = np.r_[1e4, np.nan, np.full(10, 1e4)]
        file["whole"] = np.full(12, 10000)
    put(recoil, "no.json", "{}")
    put(recoil, "old.json", json.dumps({"parameters": {"E": {"value": 1e4, "unit": "m"}, "F": {"value": [1, 2, 3], "unit": "Pa"}}}))

    def array(name):
        return {"file": "start.h5", "dataset": name}

    for name, *parts in (("e", "start.h5 has no array 'e'", "did you mean 'E'"), ("short", "'short' of", "is 11 x 1", "needs 12 x 1"),
                         ("whole", "integers"), ("E", "the value in row 11 of", "is -1", "young_modulus must be > 0"),
                         ("holes", "the value in row 1 of", "is nan", "a number is needed")):
        wrong.start(array(name), *parts, per="element")
    wrong.start({"file": "track.csv", "dataset": "E"}, "track.csv")
    wrong.start({"file": "no.json"}, "no.json is no fit.json of recoil optimize")
    wrong.start({"file": "old.json"}, "has the unit m, the parameter has Pa")
    wrong.start({"file": "old.json"}, "old.json has no parameter 'G'", name="G")
    wrong.start({"file": "old.json"}, "'F' of", "has 3 numbers, the parameter needs 1 or 12", name="F", per="element")
    put(recoil, "old.json", json.dumps({"parameters": {"E": {"value": 1e9, "unit": "Pa"}}}))
    wrong.start({"file": "old.json"}, "is 1000000000", "between the bounds 1 and 1000000; move them", bounds=[1, 1e6])


if __name__ == "__main__":
    with runs.Recoil() as recoil:
        files(recoil)
        gradients(recoil)
        starts(recoil)
        wrong = Refusals(recoil)
        wrong_data(wrong)
        wrong_starts(wrong)
        print("%d wrong files and studies" % wrong.count)
