"""Pictures of a fit as data URIs: SVG for curves, PNG for bodies."""

import base64
import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from drawing.text import plain

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
                     "legend.frameon": False, "svg.fonttype": "path", "svg.hashsalt": "recoil"})
COLOURS = {"observed": "#1b1f24", "start": "#b0793a", "fit": "#1d6fb8"}
LABELS = {"start": "start values", "fit": "fitted"}
SIZE = (5.2, 3.6)


def as_uri(figure, kind="svg"):
    file = io.BytesIO()
    options = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 110}
    figure.savefig(file, format=kind, facecolor="white", **options)
    plt.close(figure)
    return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def _panel(height=SIZE[1]):
    return plt.subplots(figsize=(SIZE[0], height), constrained_layout=True)


def history_curve(history, column, title, marks=()):
    """`marks`: iterations to point out."""
    figure, area = _panel(2.9)
    values = history[column]
    for mark in marks:
        area.axvline(mark, lw=0.8, ls=":", color="#7f8c8d")
    area.plot(history["iteration"], values, "o-", ms=3, color=COLOURS["fit"])
    if (values > 0).all() and values.max() > 5 * values.min():
        area.set_yscale("log")
    area.xaxis.get_major_locator().set_params(integer=True)
    area.set(xlabel="iteration", title=plain(title))
    return as_uri(figure)


def parameter_curve(history, column, title, unit, bounds, logarithmic):
    figure, area = _panel(2.9)
    values = history[column]
    area.plot(history["iteration"], values, "o-", ms=3, color=COLOURS["fit"])
    low, high = values.min(), values.max()
    for bound in bounds or []:
        # Bounds far off would leave a flat line.
        if low - 0.5 * (high - low) <= bound <= high + 0.5 * (high - low):
            area.axhline(bound, ls="--", lw=1, color="#c0392b")
    if logarithmic and low > 0 and high > 5 * low:
        area.set_yscale("log")
    area.xaxis.get_major_locator().set_params(integer=True)
    area.set(xlabel="iteration", title=plain(title), ylabel="" if unit == "1" else plain(unit))
    return as_uri(figure)


def correlations(names, matrix):
    size = float(np.clip(1.4 + 0.5 * len(names), 3.4, 9))
    figure, area = plt.subplots(figsize=(size + 0.6, size), constrained_layout=True)
    image = area.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    area.grid(False)
    names = [plain(name) for name in names]
    area.set_xticks(range(len(names)), names, rotation=60, ha="right")
    area.set_yticks(range(len(names)), names)
    if len(names) <= 12:
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                area.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=9 if len(names) <= 6 else 7, color="white" if abs(value) > 0.6 else "black")
    figure.colorbar(image, ax=area, shrink=0.8)
    return as_uri(figure)


def observed_against_simulated(series, title):
    """Curves with deviations of the observations; residuals below, by their standard deviation where there is one."""
    figure, (curves, residuals) = plt.subplots(2, 1, figsize=(SIZE[0], 4.6), sharex=True, height_ratios=(2, 1), constrained_layout=True)
    factor, axis = _scaled(series.axis, series.abscissae)
    at = factor * series.abscissae
    curves.errorbar(at, series.observed, series.sd, fmt="o", ms=3, mfc="none", lw=0.8, color=COLOURS["observed"], label="observed")
    for which, label in LABELS.items():
        if which in series.simulated:
            abscissae, values = series.simulated[which]
            curves.plot(factor * abscissae, values, color=COLOURS[which], lw=1.4, label=label)
            times, differences = series.residuals(which)
            scale = np.ones(len(times)) if series.sd is None else np.interp(times, series.abscissae, series.sd)
            residuals.plot(factor * times, differences / scale, "o-", ms=2.5, lw=0.8, color=COLOURS[which])
    unit = "" if series.unit == "1" else f" [{series.unit}]"
    curves.set_title(plain(title), fontsize=9)
    curves.set(ylabel=plain(series.label.split(": ")[-1] + unit))
    curves.legend(fontsize=8)
    residuals.axhline(0, color="0.5", lw=0.8)
    residuals.set(xlabel=plain(axis), ylabel=plain("residual" + unit) if series.sd is None else "residual / sd")
    if series.sd is not None:
        residuals.axhspan(-2, 2, color="0.5", alpha=0.12, lw=0)
        # The start is often a hundred deviations off; what is left at the end is what counts.
        if "fit" in series.simulated:
            last = series.residuals("fit")
            scale = np.interp(last[0], series.abscissae, series.sd)
            reach = 1.4 * max(3, np.abs(last[1] / scale).max(initial=0))
            residuals.set_ylim(-reach, reach)
    return as_uri(figure)


def _scaled(axis, values):
    """Factor and label of an axis in metres that is better read in millimetres."""
    if axis.endswith("[m]") and np.abs(values).max() < 0.1:
        return 1e3, axis.replace("[m]", "[mm]")
    return 1, axis


def displacement_maps(field, component, most_frames=4):
    """A row per frame: a component of the displacement at the points at rest as it was observed and simulated, and what is left. Points that
    the frame lacks are crosses."""
    frames = np.unique(np.linspace(0, len(field.times) - 1, most_frames).round().astype(int))
    axes = np.sort(np.argsort(-np.ptp(field.points, axis=0), kind="stable")[:2])
    factor, unit = (1e3, "mm") if np.abs(field.points).max() < 1 else (1, "m")
    at = factor * field.points[:, axes].T
    which = [name for name in LABELS if name in field.simulated]
    height = 0.4 + np.clip(2.2 * np.ptp(at[1]) / max(np.ptp(at[0]), 1e-300), 0.6, 3)
    figure, areas = plt.subplots(len(frames), 1 + len(which) + bool(which), figsize=(11, 0.4 + height * len(frames)), sharex=True, sharey=True,
                                 squeeze=False, constrained_layout=True)
    for row, frame in zip(areas, frames):
        shown = {"observed": factor * field.observed[frame, :, component]}
        shown |= {LABELS[name]: factor * field.simulated[name][frame, :, component] for name in which}
        seen = shown["observed"][~np.isnan(shown["observed"])]
        norm = plt.Normalize(seen.min(initial=np.inf), seen.max(initial=-np.inf)) if len(seen) else plt.Normalize(0, 1)
        for area, (title, values) in zip(row, shown.items()):
            drawn = _points(area, at, values, norm, "viridis", f"{title}, t = {field.times[frame]:.4g} s")
        figure.colorbar(drawn, ax=row[:len(shown)], shrink=0.9, pad=0.01, extend="both", label=unit)
        if which:
            left = field.residuals(which[-1])[frame, :, component]
            drawn = _points(row[-1], at, left, plt.Normalize(-3, 3) if field.has_sd else None, "RdBu_r", f"residual, {LABELS[which[-1]]}")
            figure.colorbar(drawn, ax=row[-1], shrink=0.9, pad=0.02, extend="both", label="sd" if field.has_sd else "m")
    figure.supxlabel(f"{'xyz'[axes[0]]} [{unit}]", fontsize=9)
    figure.supylabel(f"{'xyz'[axes[1]]} [{unit}]", fontsize=9)
    return as_uri(figure, "png")


def _points(area, at, values, norm, cmap, title):
    """Dots, crosses where there is no value."""
    size, gaps = float(np.clip(6000 / len(values), 2, 60)), np.isnan(values)
    drawn = area.scatter(*at[:, ~gaps], size, values[~gaps], norm=norm, cmap=cmap, lw=0)
    area.scatter(*at[:, gaps], 0.5 * size, marker="x", color="0.55", lw=0.7)
    area.set_title(title, fontsize=9)
    area.set_aspect("equal")
    area.grid(False)
    area.tick_params(labelsize=7)
    return drawn


def residual_histogram(field, which):
    """All residuals of a field by their standard deviations, and the normal distribution that they should have."""
    figure, area = _panel()
    left = field.residuals(which)
    left = left[~np.isnan(left)]
    reach = max(4, min(10, np.abs(left).max()))
    area.hist(np.clip(left, -reach, reach), bins=41, range=(-reach, reach), density=True, color=COLOURS[which], alpha=0.6, label=LABELS[which])
    at = np.linspace(-reach, reach, 200)
    area.plot(at, np.exp(-0.5 * at ** 2) / np.sqrt(2 * np.pi), color=COLOURS["observed"], lw=1.2, label="normal distribution")
    area.set(xlabel="residual / sd", ylabel="density", title="all residuals")
    area.legend(fontsize=8)
    return as_uri(figure)


def histogram(values, unit):
    figure, area = _panel(2.9)
    area.hist(values, bins=min(60, max(5, int(np.sqrt(len(values))))), color=COLOURS["fit"])
    area.set(xlabel="value" if unit == "1" else plain(f"value [{unit}]"), ylabel="number")
    return as_uri(figure)


def profile(entry, value, interval, title, unit):
    """The rise of chi squared along a profile beside that of the linear model, whose interval is `interval`. Square roots are nearly linear in
    the value: they are what is interpolated."""
    figure, area = _panel(2.9)
    level = entry["level"]
    at, rises = np.array([point for point in entry["points"] if point[1] is not None], dtype=float).T
    roots = np.sqrt(np.maximum(rises, 0)) * np.sign(at - value)
    fine = np.linspace(at[0], at[-1], 400)
    area.plot(fine, np.interp(fine, at, roots) ** 2, lw=1.4, color=COLOURS["fit"], label="profile")
    area.plot(at, rises, "o", ms=3.5, color=COLOURS["fit"])
    if interval and None not in interval:
        low, high = interval
        fine = np.linspace(low, high, 200)
        area.plot(fine, level * np.interp(fine, [low, value, high], [-1, 0, 1]) ** 2, "--", lw=1.2, color=COLOURS["start"], label="linear model")
    area.axhline(level, lw=0.8, color="0.5")
    for end in entry["interval"]:
        if end is not None:
            area.axvline(end, lw=0.8, ls=":", color=COLOURS["fit"])
    area.set_ylim(-0.05 * level, min(2.5 * level, 1.1 * max(level, rises.max())))
    area.set(title=plain(title), xlabel="" if unit == "1" else plain(unit), ylabel="rise of $\\chi^2$")
    area.legend(fontsize=8)
    return as_uri(figure)
