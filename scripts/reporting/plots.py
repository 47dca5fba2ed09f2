"""Pictures of a fit as data URIs: SVG for curves, PNG for bodies."""

import base64
import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "grid.alpha": 0.25,
                     "legend.frameon": False, "svg.fonttype": "path", "svg.hashsalt": "recoil"})
COLOURS = {"observed": "#1b1f24", "start": "#b0793a", "fit": "#1d6fb8"}
SIZE = (5.2, 3.6)


def as_uri(figure, kind="svg"):
    file = io.BytesIO()
    options = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 110}
    figure.savefig(file, format=kind, facecolor="white", **options)
    plt.close(figure)
    return f"data:image/{'svg+xml' if kind == 'svg' else kind};base64,{base64.b64encode(file.getvalue()).decode()}"


def _panel(height=SIZE[1]):
    return plt.subplots(figsize=(SIZE[0], height), constrained_layout=True)


def history_curve(history, column, title):
    figure, area = _panel(2.9)
    values = history[column]
    area.plot(history["iteration"], values, "o-", ms=3, color=COLOURS["fit"])
    if (values > 0).all() and values.max() > 5 * values.min():
        area.set_yscale("log")
    area.xaxis.get_major_locator().set_params(integer=True)
    area.set(xlabel="iteration", title=title)
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
    area.set(xlabel="iteration", title=title, ylabel="" if unit == "1" else unit)
    return as_uri(figure)


def correlations(names, matrix):
    size = float(np.clip(1.4 + 0.5 * len(names), 3.4, 9))
    figure, area = plt.subplots(figsize=(size + 0.6, size), constrained_layout=True)
    image = area.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
    area.grid(False)
    area.set_xticks(range(len(names)), names, rotation=60, ha="right")
    area.set_yticks(range(len(names)), names)
    if len(names) <= 12:
        for i, row in enumerate(matrix):
            for j, value in enumerate(row):
                area.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="white" if abs(value) > 0.6 else "black")
    figure.colorbar(image, ax=area, shrink=0.8)
    return as_uri(figure)


def observed_against_simulated(series):
    """Curves with deviations of the observations; residuals below, by their standard deviation where there is one."""
    figure, (curves, residuals) = plt.subplots(2, 1, figsize=(SIZE[0], 4.6), sharex=True, height_ratios=(2, 1), constrained_layout=True)
    curves.errorbar(series.times, series.observed, series.sd, fmt="o", ms=3, mfc="none", lw=0.8, color=COLOURS["observed"], label="observed")
    for which, label in (("start", "start values"), ("fit", "fitted")):
        if which in series.simulated:
            curves.plot(*series.simulated[which], color=COLOURS[which], lw=1.4, label=label)
            times, differences = series.residuals(which)
            scale = np.ones(len(times)) if series.sd is None else np.interp(times, series.times, series.sd)
            residuals.plot(times, differences / scale, "o-", ms=2.5, lw=0.8, color=COLOURS[which])
    unit = "" if series.unit == "1" else f" [{series.unit}]"
    curves.set(title=series.label, ylabel=series.label.split(": ")[-1] + unit)
    curves.legend(fontsize=8)
    residuals.axhline(0, color="0.5", lw=0.8)
    residuals.set(xlabel="time [s]", ylabel="residual" + unit if series.sd is None else "residual / sd")
    if series.sd is not None:
        residuals.axhspan(-2, 2, color="0.5", alpha=0.12, lw=0)
        # The start is often a hundred deviations off; what is left at the end is what counts.
        if "fit" in series.simulated:
            last = series.residuals("fit")
            scale = np.interp(last[0], series.times, series.sd)
            reach = 1.4 * max(3, np.abs(last[1] / scale).max(initial=0))
            residuals.set_ylim(-reach, reach)
    return as_uri(figure)


def histogram(values, unit):
    figure, area = _panel(2.9)
    area.hist(values, bins=min(60, max(5, int(np.sqrt(len(values))))), color=COLOURS["fit"])
    area.set(xlabel="value" if unit == "1" else f"value [{unit}]", ylabel="number")
    return as_uri(figure)
