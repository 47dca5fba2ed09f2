"""The picture of a job: states of the runs with the first and with the last values, and below them how the fit went."""
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
from make_data import ROOT, bodies_of, load, runs, states
from PIL import Image, ImageDraw, ImageFont
from tools import Bodies, plt

sys.path.insert(0, os.path.join(ROOT, "scripts"))
from recoil_run import Fit, read_table  # noqa: E402

WIDTH = 900
COLOURS = 96
TITLE_HEIGHT = 26


def strip(run, path, options=()):
    """States of a run side by side; a run that cannot be drawn ends the program."""
    script = os.path.join(ROOT, "scripts", "render.py")
    command = [sys.executable, script, run, "--times", "4", "--width", str(WIDTH), "-o", path, *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(done.stdout)
    return path


def titled(image, title):
    font = ImageFont.truetype(os.path.join(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), 15)
    result = Image.new("RGB", (image.width, image.height + TITLE_HEIGHT), "white")
    result.paste(image, (0, TITLE_HEIGHT))
    ImageDraw.Draw(result).text((10, 5), title, fill=(60, 64, 72), font=font)
    return result


def stack(parts, path):
    """Writes pictures {title: file} below each other, with few colours: they are stored in the repository."""
    images = [titled(Image.open(file).convert("RGB"), title) for title, file in parts.items()]
    whole = Image.new("RGB", (max(image.width for image in images), sum(image.height for image in images)), "white")
    above = 0
    for image in images:
        whole.paste(image, (0, above))
        above += image.height
    whole.quantize(COLOURS).save(path, optimize=True)


def labelled(area, x, y):
    area.set_xlabel(x)
    area.set_ylabel(y)
    if area.get_legend_handles_labels()[1]:
        area.legend(frameon=False, fontsize=8)


def draw_convergence(job, history, area):
    area.semilogy(history["iteration"], np.maximum(history["objective"] / history["objective"][0], 1e-24), "o-", ms=3, label="this fit")
    if "iterations" in job.expected["paper"]:
        area.axvline(job.expected["paper"]["iterations"], color="0.5", ls="--", label="iterations of the paper")
    labelled(area, "iteration", "objective / first objective")


def values_in(history, name):
    """Values of a parameter at every iteration, a row per component."""
    if name in history:
        return np.array([history[name]])
    return np.array([history[column] for column in history if column.startswith(name + "[")])


def draw_errors(job, history, area):
    for name, true in job.expected["parameters"].items():
        true = np.atleast_1d(true)[:, None]
        errors = np.linalg.norm(values_in(history, name) - true, axis=0) / np.linalg.norm(true)
        area.semilogy(history["iteration"], np.maximum(errors, 1e-16), "o-", ms=3, label=name)
    area.axhline(job.expected["tolerance"], color="0.5", ls="--")
    labelled(area, "iteration", "relative error")


def draw_path(job, area):
    """Centres of the observed body with the first and the last values, and what was observed."""
    objective = next(o for o in job.study["objectives"] if o["type"] == "center_of_mass")
    scene = load(job.folder, job.study["experiments"][0]["scene"])
    body = bodies_of(scene).index(objective["body"])
    observed = read_table(Path(job.folder) / objective["target"])
    for label, style in (("start", "--"), ("fitted", "-")):
        run = os.path.join(job.out, label, job.study["experiments"][0]["name"], "run")
        bodies = Bodies(run)
        path = np.array([(time, *bodies.centres(u)[body]) for time, u in states(run)])
        for k in range(1, path.shape[1]):
            area.plot(path[:, 0], path[:, k], style, color="C%d" % k, lw=1, label="xyz"[k - 1] + ", " + label)
    rows = slice(-1, None) if objective.get("time") == "final" else slice(None, None, 5)
    for k, axis in enumerate("xyz"[:path.shape[1] - 1], 1):
        area.plot(np.array(observed["time"])[rows], np.array(observed[axis])[rows], "o", mfc="none", ms=4, color="C%d" % k)
    labelled(area, "time [s]", "centre of %s [m]" % objective["body"])


def draw_pattern(job, name, area, logarithmic):
    run = os.path.join(job.out, "fitted", job.study["experiments"][0]["name"], "run")
    rest, cells = runs.coordinates(run)[:, :2], Bodies(run).cells[0]
    values = Fit(os.path.join(job.out, "fit")).fields[name].ravel()
    norm = matplotlib.colors.LogNorm() if logarithmic else None
    drawn = area.tripcolor(rest[:, 0], rest[:, 1], cells, values, cmap="Spectral_r", norm=norm)
    area.set_aspect("equal")
    area.set_axis_off()
    area.set_title(name, fontsize=9)
    area.figure.colorbar(drawn, ax=area, orientation="horizontal", shrink=0.7, aspect=40)


def draw_patterns(job, area):
    """The fitted fields over the body at rest, in place of one area."""
    area.set_axis_off()
    names = [parameter["name"] for parameter in job.study["parameters"]]
    for k, parameter in enumerate(job.study["parameters"]):
        inset = area.inset_axes([0, 1 - (k + 1) / len(names), 1, 1 / len(names)])
        draw_pattern(job, parameter["name"], inset, parameter.get("scale") == "log")


def draw_thickness(job, area):
    curves = load(job.out, "thickness.json")
    area.plot(curves["strain"], curves["analytic"], color="0.5", label="uniaxial Neo-Hookean")
    area.plot(curves["strain"], curves["free"], "o", mfc="none", label="ends free to thin")
    area.plot(curves["clamped strain"], curves["clamped"], "s", ms=4, label="ends clamped")
    labelled(area, "strain [%]", "thickness [%]")


def chart(job):
    """Convergence beside what is special to the job; the file."""
    history = Fit(os.path.join(job.out, "fit")).history
    drawers = [lambda area: draw_convergence(job, history, area)]
    if job.expected["parameters"]:
        drawers.append(lambda area: draw_errors(job, history, area))
    if any(objective["type"] == "center_of_mass" for objective in job.study["objectives"]):
        drawers.append(lambda area: draw_path(job, area))
    if job.name == "sine":
        drawers.append(lambda area: draw_patterns(job, area))
    if job.name == "tensile":
        drawers.append(lambda area: draw_thickness(job, area))
    figure, areas = plt.subplots(1, len(drawers), figsize=(WIDTH / 100, 3), dpi=100, constrained_layout=True)
    for draw, area in zip(drawers, np.atleast_1d(areas)):
        draw(area)
    path = os.path.join(job.out, "chart.png")
    figure.savefig(path)
    plt.close(figure)
    return path


def draw(job):
    """Writes picture.png of a conducted job beside its runs; the file."""
    parts, experiments = {}, job.study["experiments"]
    for label, title in (("start", "first values"), ("fitted", "last values")):
        for experiment in experiments:
            path = os.path.join(job.out, "%s-%s.png" % (label, experiment["name"]))
            parts[title if len(experiments) == 1 else "%s, %s" % (title, experiment["name"])] = strip(os.path.join(job.out, label, experiment["name"], "run"), path, job.expected.get("view", ()))
    parts["the fit"] = chart(job)
    path = os.path.join(job.out, "picture.png")
    stack(parts, path)
    return path


def draw_checks(cases, path):
    """Relative errors over the steps of central differences; cases {name: (results of gradient --check, paper's error)}."""
    figure, area = plt.subplots(figsize=(WIDTH / 100, 4), dpi=100, constrained_layout=True)
    for k, (name, (found, of_paper)) in enumerate(cases.items()):
        for direction, check in found["check"].items():
            area.loglog(check["steps"], check["relative_errors"], "o-", color="C%d" % k, ms=4,
                        label=name if direction == next(iter(found["check"])) else None)
        area.axhline(float(of_paper), color="C%d" % k, ls="--", lw=1)
    labelled(area, "relative size of the difference", "relative error (dashed: the paper's)")
    figure.savefig(path)
    plt.close(figure)
    stack({"adjoint derivative against central differences": path}, path)
