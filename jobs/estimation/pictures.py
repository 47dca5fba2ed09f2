"""The picture of a job: states of the runs with the first and with the last values, and below them how the fit went."""
import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
from make_data import ROOT, bodies_of, load, runs, states
from PIL import Image, ImageDraw, ImageFont
from recoil_run import Fit, read_table
from tools import Bodies, plt


WIDTH = 900
COLOURS = 160
TITLE_HEIGHT = 26
# Share of the largest stress at the start at which the colours end: peaks are small.
SATURATED = 0.6


def strip(run, path, options=(), width=WIDTH):
    """States of a run side by side, or those of the options; a run that cannot be drawn ends the program."""
    script = os.path.join(ROOT, "scripts", "render.py")
    which = [] if "--step" in options or "--times" in options else ["--times", "4"]
    command = [sys.executable, script, run, *which, "--width", str(width), "-o", path, *options]
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


def joined(images, along):
    """Pictures below (1) or beside (0) each other."""
    sizes = np.array([image.size for image in images])
    whole = Image.new("RGB", tuple(int(sizes[:, k].sum() if k == along else sizes[:, k].max()) for k in (0, 1)), "white")
    for image, at in zip(images, sizes[:, along].cumsum() - sizes[:, along]):
        whole.paste(image, (int(at), 0) if along == 0 else (0, int(at)))
    return whole


def stack(parts, path):
    """Writes pictures {title: file} below each other, narrow ones beside the next, with few colours: they are stored in the repository."""
    rows = []
    for title, file in parts.items():
        image = titled(Image.open(file).convert("RGB"), title)
        if rows and rows[-1].width + image.width <= WIDTH:
            rows[-1] = joined([rows[-1], image], 0)
        else:
            rows.append(image)
    joined(rows, 1).quantize(COLOURS).save(path, optimize=True)


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


def view_of(job):
    """Options of the pictures of the runs: those of expected.json, and colours by the stress where that is what is looked at."""
    options = list(job.expected.get("view", ()))
    if "stress" in job.expected:
        options += ["--field", "stress", "--range", "0", str(SATURATED * job.expected["ours"]["measures"]["max stress before"])]
    return options


def draw(job):
    """Writes picture.png of a conducted job beside its runs; the file."""
    parts, experiments, options = {}, job.study["experiments"], view_of(job)
    for label, title in (("start", "first values"), ("fitted", "last values")):
        for experiment in experiments:
            path = os.path.join(job.out, "%s-%s.png" % (label, experiment["name"]))
            run = os.path.join(job.out, label, experiment["name"], "run")
            named = title if len(experiments) == 1 else "%s, %s" % (title, experiment["name"])
            parts[named] = strip(run, path, options, job.expected.get("width", WIDTH))
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
