#!/usr/bin/env python3
"""One self-contained HTML page about a fit: how it went, what it found and how sure that is, what was observed against what runs show
before and after, what it cost and where it comes from.

  report.py fit/                                   to fit/report.html
  report.py fit/ -o report.html --recoil build/release/recoil
  report.py fit/ --recoil "mpirun -n 4 recoil"

Curves and pictures need runs. Those of the start values are made by `recoil gradient` on the study of the folder, the fitted ones by
`recoil simulate` on scenes/<experiment>.json, all in fit/report/, once; where forces are observed, both by `recoil gradient` on studies that
ask for the force at every state. What cannot be made is named in the page. Needs numpy, h5py and matplotlib.
"""

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))
import own_files
from reporting import bodies, forces, observations, page, plots, sections
from reporting.elements import Unknown
from recoil_run import Fit, FolderError, Gradient, Run, path_inside

MOST_SERIES = 18


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("fit", type=Path, help="folder that recoil optimize wrote")
    parser.add_argument("-o", "--output", type=Path, help="page (default: report.html in the folder)")
    parser.add_argument("--recoil", default="recoil", help="program for the runs that are missing, with a launcher if need be")
    return parser.parse_args()


class Runs:
    """The runs of the start values and of the fitted scenes, made where they are missing, and why some are not there."""

    def __init__(self, fit, recoil):
        self.fit, self.recoil, self.missing = fit, shlex.split(recoil), []
        self.folder = own_files.make_folder(fit.folder, "report")
        self.names = [entry["name"] for entry in fit.study["experiments"]]
        self._of, self.forces = {name: {} for name in self.names}, {}
        if forces.observed(fit.study):
            self._with_forces("start", False)
            if fit.result.get("parameters"):
                self._with_forces("fit", True)
            return
        start = self._made(self.folder / "start", "gradient", fit.folder / "study.json", Gradient)
        for name in self.names:
            if start:
                self._of[name]["start"] = self._read(self.folder / "start" / name, Run)
            fitted = self._fitted(name)
            if fitted:
                self._of[name]["fit"] = fitted

    def of(self, experiment):
        """{"start" or "fit": Run}."""
        return {which: run for which, run in self._of[experiment].items() if run}

    def _with_forces(self, which, fitted):
        study = self.folder / f"{which}.json"
        forces.write_study(self.fit, study, fitted)
        made = self._made(self.folder / ("fitted" if fitted else which), "gradient", study, Gradient,
                          *([self.fit.folder / "fit.json"] if fitted else []))
        if made:
            self.forces[which] = forces.read(made, self.fit)
            for name in self.names:
                self._of[name][which] = self._read(made.folder / name, Run)

    def _fitted(self, name):
        scene = path_inside(self.fit.folder, f"scenes/{name}.json", self.fit.folder / "study.json")
        if not scene.is_file():
            self.missing.append(f"The fitted run of {name} is not shown: there is no {scene}.")
            return None
        return self._made(self.folder / "fitted" / name, "simulate", scene, Run)

    def _made(self, folder, command, source, kind, *further):
        """What is in the folder, after a run if it does not hold a finished one that is newer than its source, and `further` files."""
        own_files.make_folder(self.folder, *folder.parent.relative_to(self.folder).parts)
        if folder.is_symlink():
            own_files.remove_folder(folder)
        newest = max((file.stat().st_mtime for file in folder.glob("*.json")), default=0)
        if newest < max(file.stat().st_mtime for file in (source, *further)) or not self._is_finished(folder, kind):
            own_files.remove_folder(folder)
            print(f"recoil {command} {source} -o {folder}", flush=True)
            try:
                done = subprocess.run([*self.recoil, command, source, "-o", folder, "-q"], capture_output=True, text=True)
            except OSError as error:
                self.missing.append(f"{folder} could not be made: {self.recoil[0]}: {error.strerror}. Give the program with --recoil.")
                return None
            if done.returncode:
                self.missing.append(f"{folder} could not be made: recoil {command} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
                return None
        return self._read(folder, kind)

    def _read(self, folder, kind):
        try:
            return kind(folder)
        except FolderError as error:
            self.missing.append(str(error))
            return None

    @staticmethod
    def _is_finished(folder, kind):
        try:
            kind(folder)
            return True
        except FolderError:
            return False


def observed_section(fit, runs):
    parts = []
    single = []  # curves of objectives that have one only, side by side
    for objective in observations.with_observations(fit.study):
        name, experiment = objective["name"], observations.experiment_of(objective, fit.study)
        if objective["type"] in ("reaction_force", "strain_at"):
            series, missing = observations.series_of(objective, fit.study, fit.observed[name], runs.of(experiment), runs.forces)
            parts += [page.paragraph(f"{name}: {text}", "warn") for text in missing]
            single += [curve_of(one, f"{name} ({objective['type']}, experiment {experiment})") for one in series]
            continue
        parts.append(page.subheading(f"{name} ({objective['type']}, experiment {experiment})"))
        if objective["type"] == "displacement_field":
            parts += field_parts(*observations.field_of(objective, fit.observed[name], runs.of(experiment)))
            continue
        series, missing = observations.series_of(objective, fit.study, fit.observed[name], runs.of(experiment))
        parts += [page.paragraph(text, "warn") for text in missing]
        shown = sorted(series, key=lambda one: -misfit(one))[:MOST_SERIES] if len(series) > MOST_SERIES else series
        if len(shown) < len(series):
            parts.append(page.paragraph(f"The {len(shown)} of {len(series)} curves that are farthest off; the others fit better.", "soft"))
        parts.append(page.figures([curve_of(one, one.label) for one in shown]))
    if single:
        parts.insert(0, page.figures(single))
    if not parts:
        return []
    note = "Residuals are simulated minus observed; the grey band is two standard deviations of the observations where those are given."
    return [page.heading("Observed and simulated"), page.paragraph(note, "soft"), *parts]


def curve_of(series, title):
    return page.figure(plots.observed_against_simulated(series, title), fit_in_words(series), series.label)


def field_parts(field, missing):
    """What was seen and what was not, a map per component, the distribution of the residuals."""
    frames, points, components = field.observed.shape
    lost = int(np.isnan(field.observed).sum())
    text = f"{points} points in {frames} frames, of whose {field.observed.size} numbers {lost} are missing (crosses)."
    for which, label in (("start", "at the start"), ("fit", "fitted")):
        if which in field.simulated:
            size = np.sqrt(np.nanmean(field.residuals(which) ** 2))
            text += f" Rms residual {label}: {size:.3g} {'sd' if field.has_sd else 'm'}."
    maps = [page.figure(plots.displacement_maps(field, i), f"Displacement along {'xyz'[i]}") for i in range(components)]
    histograms = [page.figure(plots.residual_histogram(field, "fit"), "")] if "fit" in field.simulated and field.has_sd else []
    return [*(page.paragraph(one, "warn") for one in missing), page.paragraph(text), page.figures(maps, "full"),
            page.figures(histograms)]


def rms(series, which):
    """Of the residuals by their standard deviations, or in the unit of the series."""
    times, differences = series.residuals(which)
    if series.sd is not None:
        differences = differences / np.interp(times, series.abscissae, series.sd)
    return float(np.sqrt(np.mean(differences ** 2))) if len(times) else 0.0


def misfit(series):
    return max((rms(series, which) for which in series.simulated if which == "fit" or "fit" not in series.simulated), default=0.0)


def fit_in_words(series):
    unit = " sd" if series.sd is not None else "" if series.unit == "1" else f" {series.unit}"
    return ", ".join(f"rms residual {label} {rms(series, which):.3g}{unit}" for which, label in
                     (("start", "at the start"), ("fit", "fitted")) if which in series.simulated)


def bodies_section(runs):
    parts = []
    for name in runs.names:
        of_experiment = runs.of(name)
        if of_experiment:
            pictures = bodies.motion({which: run.folder for which, run in of_experiment.items()})
            parts.append(page.figures([page.figure(uri, f"{name}, {plots.LABELS[which]}") for which, uri in pictures.items()], "wide"))
    return [page.heading("Bodies before and after"), *parts] if parts else []


def fields_section(fit, runs):
    parts = []
    specs = {entry["name"]: entry for entry in fit.study["parameters"]}
    arrays = fit.fields
    for name, entry in fit.result.get("parameters", {}).items():
        values = arrays.get(entry.get("dataset"))
        if values is None:
            continue
        values = values.reshape(len(values), -1)
        sizes = values[:, 0] if values.shape[1] == 1 else np.linalg.norm(values, axis=1)
        known = sizes[~np.isnan(sizes)]
        unit = "" if entry["unit"] == "1" else f" {entry['unit']}"
        what = "values" if values.shape[1] == 1 else "vectors, shown by their length"
        parts += [page.subheading(name), page.paragraph(f"{len(known)} {what}: from {known.min():.6g} to {known.max():.6g}{unit}, "
                                                        f"mean {known.mean():.6g}, standard deviation {known.std():.3g}.")]
        items = [page.figure(plots.histogram(known, entry["unit"]), "", f"histogram of {name}")]
        experiments = specs[name].get("experiment") or runs.names
        experiment = experiments if isinstance(experiments, str) else experiments[0]
        run = next(iter(runs.of(experiment).values()), None)
        picture = bodies.field(run.folder, sizes, name + (f" [{entry['unit']}]" if unit else "")) if run else None
        if picture:
            items.append(page.figure(picture, f"{name} on the bodies of {experiment}, at rest"))
        parts.append(page.figures(items))
    return [page.heading("Fields"), *parts] if parts else []


def missing_section(runs):
    return [page.heading("Missing"), page.bullets(runs.missing)] if runs.missing else []


def report(fit, runs):
    parts = [*sections.outcome(fit), *sections.parameters(fit), *sections.sd_factors(fit), *sections.profiles(fit), *sections.ties(fit), *sections.residuals(fit), *observed_section(fit, runs), *bodies_section(runs),
             *fields_section(fit, runs), *sections.convergence(fit), *sections.starts(fit), *sections.cost(fit), *missing_section(runs),
             *sections.provenance(fit)]
    return page.document(f"Fit {fit.folder.resolve().name}", parts)


def main():
    arguments = parse_arguments()
    fit = Fit(arguments.fit, unfinished=True)
    content = report(fit, Runs(fit, arguments.recoil))
    output = arguments.output or arguments.fit / "report.html"
    if arguments.output:
        output.write_text(content)
    else:
        own_files.write_file(output, content)
    print(f"written: {output}")


if __name__ == "__main__":
    try:
        main()
    except (FolderError, Unknown) as error:
        sys.exit(str(error))
