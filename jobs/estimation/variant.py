"""Scenes with the values of a study in place of the true ones, to simulate and draw them."""
import json
import os

MATERIAL = {"young_modulus": "E", "poisson_ratio": "nu", "lambda": "lambda", "mu_lame": "mu",
            "damping_shear": "psi", "damping_bulk": "phi"}


def entries(value):
    return value if isinstance(value, list) else [value]


def acts_on(parameter, entry):
    return "body" not in parameter or "body" not in entry or entry["body"] in entries(parameter["body"])


def put(scene, parameter, value):
    """Writes the value of one parameter into the scene; initial velocities and frictions must have an entry there."""
    quantity = parameter["quantity"]
    if quantity in MATERIAL:
        for material in filter(lambda entry: acts_on(parameter, entry), entries(scene["materials"])):
            material[MATERIAL[quantity]] = value
    elif quantity == "friction":
        for pair in entries(scene["contact"]["friction_pairs"]):
            if set(pair["bodies"]) == set(parameter["bodies"]):
                pair["coefficient"] = value
    elif quantity == "initial_velocity":
        for entry in filter(lambda entry: acts_on(parameter, entry), entries(scene["initial_conditions"]["velocity"])):
            entry["value"] = value
    else:
        raise SystemExit("no place in a scene is known for the quantity " + quantity)


def with_values(scene, study, values, folder):
    """Changes the scene, whose files lie in the folder, to the values {parameter: value}; those of shapes are in its meshes."""
    for parameter in (entry for entry in study["parameters"] if entry["quantity"] != "shape"):
        put(scene, parameter, values[parameter["name"]])
    return dict(scene, root_path=os.path.abspath(folder))


def start_values(study):
    return {parameter["name"]: parameter.get("initial") for parameter in study["parameters"]}


def fitted_scene(scene, study, experiment, fit, folder, job):
    """The scene of an experiment with the last values of the fit in its folder, a shape as the mesh that the fit has written."""
    if any(parameter["quantity"] == "shape" for parameter in study["parameters"]):
        with open(os.path.join(folder, "scenes", experiment + ".json")) as file:
            return dict(json.load(file), output=scene["output"])
    return with_values(scene, study, fitted_values(fit, folder), job)


def fitted_values(fit, folder):
    """Fields are read from the file of the fit, which is in the folder."""
    return {name: entry["value"] if "value" in entry else
            {"file": os.path.abspath(os.path.join(folder, entry["file"])), "dataset": "/" + entry["dataset"]}
            for name, entry in fit["parameters"].items()}
