"""What was observed against what runs show: the objectives that have a CSV file."""

from dataclasses import dataclass, field

import numpy as np

from recoil_run import unit_name
from reporting import elements
from reporting.elements import Unknown, elements_of


@dataclass
class Series:
    """One number over time, or over a displacement: observed with its standard deviation (None: not given), simulated by the name of a run.

    simulated: {"start" or "fit": (abscissae, values)}."""

    label: str
    unit: str
    abscissae: np.ndarray
    observed: np.ndarray
    sd: np.ndarray
    axis: str = "time [s]"
    simulated: dict = field(default_factory=dict)

    def residuals(self, which):
        """Simulated minus observed at the observed abscissae that the run covers, and these; linear in between."""
        at, values = self.simulated[which]
        order, slack = np.argsort(at), 1e-9 * np.abs(at).max()
        covered = (self.abscissae >= at.min() - slack) & (self.abscissae <= at.max() + slack)
        return self.abscissae[covered], np.interp(self.abscissae[covered], at[order], values[order]) - self.observed[covered]

    def deviations(self):
        return np.ones(len(self.abscissae)) if self.sd is None else self.sd


@dataclass
class Field:
    """Displacements of points in frames: observed and their standard deviations (frames, points, components), nan where they are missing.

    points: at rest. simulated: {"start" or "fit": (frames, points, components)}, nan where the run has no state."""

    points: np.ndarray
    times: np.ndarray
    observed: np.ndarray
    sd: np.ndarray
    has_sd: bool
    simulated: dict = field(default_factory=dict)

    def residuals(self, which):
        """Simulated minus observed, by the standard deviations."""
        return (self.simulated[which] - self.observed) / self.sd


def with_observations(study):
    return [entry for entry in study["objectives"] if isinstance(entry.get("target"), str)]


def experiment_of(objective, study):
    return objective.get("experiment", study["experiments"][0]["name"])


def series_of(objective, study, table, runs, forces=None):
    """All Series of an objective. runs: {"start" or "fit": Run}; forces: {the same: {objective: (abscissae, forces)}}. Returns them and what could
    not be evaluated."""
    if objective["type"] == "reaction_force":
        return [_force_series(objective, study, table, forces or {})], []
    columns = [name for name in ("x", "y", "z", "strain") if name in table]
    markers = list(dict.fromkeys(table["marker"])) if "marker" in table else [None]
    units = study.get("units", {})
    unit = "1" if columns == ["strain"] else unit_name("length", units)
    series = {}
    for marker in markers:
        rows = np.array([name == marker for name in table["marker"]]) if marker is not None else np.ones(len(table["time"]), bool)
        for column in columns:
            label = column if marker is None else f"{marker}: {column}"
            series[marker, column] = _series(label, unit, table, "time", column, rows, units)
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
    return [one for one in series.values() if len(one.observed)], missing


def _deviations(table, column):
    return table.get(f"sd_{column}", table.get("sd"))


def _series(label, unit, table, abscissa, column, rows, units):
    """The rows of a column in which something was observed, by ascending abscissa."""
    rows = np.flatnonzero(rows & ~np.isnan(table[column]))
    rows = rows[np.argsort(table[abscissa][rows], kind="stable")]
    sd = _deviations(table, column)
    axis = f"{abscissa} [{unit_name('time' if abscissa == 'time' else 'length', units)}]"
    return Series(label, unit, table[abscissa][rows], table[column][rows], None if sd is None else sd[rows], axis)


def _force_series(objective, study, table, forces):
    abscissa, units = "displacement" if "displacement" in table else "time", study.get("units", {})
    series = _series("force", unit_name("force", units), table, abscissa, "force", np.ones(len(table["force"]), bool), units)
    series.simulated = {which: of_run[objective["name"]] for which, of_run in forces.items()}
    return series


def field_of(objective, table, runs, most_points=4000):
    """The Field of a `displacement_field`, of at most so many points, and what could not be evaluated."""
    axes = [name for name in "xyz" if name in table]
    points, number = np.unique(np.stack([table[name] for name in axes], axis=1), axis=0, return_inverse=True)
    times, frame = np.unique(table["time"], return_inverse=True)
    observed = np.full((len(times), len(points), len(axes)), np.nan)
    sd = np.ones_like(observed)
    for i, name in enumerate(axes):
        observed[frame, number.ravel(), i] = table["u" + name]
        given = _deviations(table, "u" + name)
        if given is not None:
            sd[frame, number.ravel(), i] = given
    kept = np.unique(np.linspace(0, len(points) - 1, min(most_points, len(points))).round().astype(int))
    found = Field(points[kept], times, observed[:, kept], sd[:, kept], _deviations(table, "ux") is not None)
    missing = []
    for which, run in runs.items():
        try:
            found.simulated[which] = _at_frames(objective["body"], found, run, runs.get("start", run))
        except Unknown as error:
            missing.append(f"{which}: cannot evaluate {error}")
    return found, missing


def _at_frames(body, observed, run, reference):
    """Displacements of the points at the times of the frames, linear in time between states; nan outside of the body and of the run."""
    places = [_place({"rest": point, "body": body}, run, reference) for point in observed.points]
    probes = [there.at(element, bary) for there, element, bary in places]
    nodes, weights = np.array([probe.nodes for probe in probes]), np.array([probe.weights for probe in probes])
    outside = [min(bary.min(), 1 - bary.sum()) < -1e-6 for _, _, bary in places]
    states = [state for state in run if state.step is not None]
    if not run.scene.get("time"):
        states = states[-1:]  # in statics all observations belong to the only solution
    moved = np.array([np.einsum("pk,pki->pi", weights, state.u[nodes]) for state in states])
    moved[:, outside] = np.nan
    if not run.scene.get("time"):
        return np.repeat(moved, len(observed.times), axis=0)
    return _linear_in_time(np.array([state.time for state in states]), moved, observed.times)


def _linear_in_time(at, values, times):
    """Values at other times than `at`, nan outside."""
    slack = 1e-9 * np.abs(at).max()
    after = np.clip(np.searchsorted(at, times - slack), 1, len(at) - 1)
    share = (times - at[after - 1]) / (at[after] - at[after - 1])
    found = values[after - 1] + share[:, None, None] * (values[after] - values[after - 1])
    found[(times < at[0] - slack) | (times > at[-1] + slack)] = np.nan
    return found


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
