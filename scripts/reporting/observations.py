"""What was observed against what runs show: the objectives that have a CSV file."""

from dataclasses import dataclass, field

import numpy as np

from reporting import elements
from reporting.elements import Unknown, elements_of


@dataclass
class Series:
    """One number over time: observed with its standard deviation (None: not given), simulated by the name of a run.

    simulated: {"start" or "fit": (times, values)}."""

    label: str
    unit: str
    times: np.ndarray
    observed: np.ndarray
    sd: np.ndarray
    simulated: dict = field(default_factory=dict)

    def residuals(self, which):
        """Simulated minus observed at the observed times that the run covers, and these times; in between linear in time."""
        times, values = self.simulated[which]
        covered = (self.times >= times[0] - 1e-9) & (self.times <= times[-1] + 1e-9)
        return self.times[covered], np.interp(self.times[covered], times, values) - self.observed[covered]

    def deviations(self):
        return np.ones(len(self.times)) if self.sd is None else self.sd


def with_observations(study):
    return [entry for entry in study["objectives"] if isinstance(entry.get("target"), str)]


def experiment_of(objective, study):
    return objective.get("experiment", study["experiments"][0]["name"])


def series_of(objective, study, table, runs):
    """All Series of an objective. runs: {"start" or "fit": Run}. Returns them and what could not be evaluated."""
    columns = [name for name in ("x", "y", "z", "strain") if name in table]
    markers = list(dict.fromkeys(table["marker"])) if "marker" in table else [None]
    unit = "1" if columns == ["strain"] else "m"
    series = {}
    for marker in markers:
        rows = np.array([name == marker for name in table["marker"]]) if marker is not None else np.ones(len(table["time"]), bool)
        for column in columns:
            label = column if marker is None else f"{marker}: {column}"
            series[marker, column] = Series(label, unit, table["time"][rows], table[column][rows], table["sd"][rows] if "sd" in table else None)
    missing = []
    for which, run in runs.items():
        try:
            times, curves = _simulate(objective, study, markers, run, runs.get("start", run))
        except Unknown as error:
            missing.append(f"{which}: cannot evaluate {error}")
            continue
        for marker, values in curves.items():
            for i, column in enumerate(columns):
                series[marker, column].simulated[which] = (times, values[:, i])
    return list(series.values()), missing


def _simulate(objective, study, markers, run, reference):
    """Times and {marker: values (times, components)}. `reference`: the run with the meshes that rest positions refer to."""
    probes = {marker: _probe(objective, study, marker, run, reference) for marker in markers}
    states = [state for state in run if state.step is not None]
    values = {marker: [] for marker in markers}
    for state in states:
        positions = run.mesh.points + state.u
        for marker, probe in probes.items():
            values[marker].append(np.atleast_1d(probe(positions)))
    return np.array([state.time for state in states]), {marker: np.array(rows) for marker, rows in values.items()}


def _probe(objective, study, marker, run, reference):
    kind = objective["type"]
    if kind == "center_of_mass":
        return elements.center_of_mass(run.scene, run.mesh, objective.get("body"))
    if kind == "markers":
        entry = next((entry for entry in study["markers"] if entry["name"] == marker), None)
        if entry is None:
            raise Unknown(f"the marker '{marker}': the study does not name it")
        there, element, bary = _place(entry, run, reference)
        return there.at(element, bary)
    if kind == "strain_at":
        direction = np.array(objective["direction"], float)
        there, element, bary = _place({"rest": objective["rest"], "body": objective["body"]}, run, reference)
        along = there.derivative(element, bary, direction / np.linalg.norm(direction))
        return lambda positions: np.linalg.norm(along(positions)) - 1
    raise Unknown(f"an objective of type {kind}")


def _place(entry, run, reference):
    """A point that a shape takes along stays at its place inside its element, which `rest` tells on the meshes at the start."""
    body = elements.bodies_of(run.mesh, entry["body"])[0]
    found = elements_of(reference.mesh, body)
    element, bary = found.locate(entry["rest"])
    return elements_of(run.mesh, body), element, bary
