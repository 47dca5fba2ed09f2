#!/usr/bin/env python3
"""Seconds from counts: a model of time fitted to measured runs, and what it says of machines that nobody here has.

    bench/scaling/model.py --counts counts_before.json --seconds seconds_before.json --predict counts.json --picture scaling.png

Seconds of linear solves on p ranks are taken to be

    t = a F_solve + b F_setup + c [p > 1] F_setup + l (M + C log2 p) + B / w

with the operations F of solves and of set-ups of the rank that has most, its messages M, bytes B and collectives C, as
`counts.py` counts them. a and b are seconds per operation (sparse products: what memory gives), c what a triple product of distributed matrices costs more
than one on a single rank, l is a latency (and what ranks wait for each other) and w a bandwidth. The five are fitted to the seconds of --seconds by least squares of
relative errors, none below zero; where these tell how much of them set-ups took, by PETSc's log, this is a row of its own. Rows of more than --fitted ranks are
left out of the fit and predicted.

--predict takes other counts, of a program or of sizes that were not measured, and draws their weak rows on: beyond the ranks that were counted, messages and
collectives grow with log2 p as they did from the third of the counted ranks on (a level of multigrid more for every factor of eight), all else stays.
"""
import argparse
import json
import pathlib

import matplotlib
import numpy as np
from scipy.optimize import nnls

matplotlib.use("Agg")
import matplotlib.pyplot as plt

NAMES = ("s per operation of solves", "s per operation of set-ups", "more of that on several ranks", "s of latency", "s per byte")
OF_SET_UPS = np.array([0, 1, 1, 0, 0])


def terms(row, steps):
    """What the five constants are multiplied with, of a run of so many steps."""
    step, start, ranks = row["step"], row["start"], row["ranks"]
    solve = steps * step["solve_flops"] + max(0, start["solve_flops"])
    set_up = steps * step["set_up_flops"] + max(0, start["set_up_flops"])
    waits = steps * (step["messages"] + step["collectives"] * np.log2(ranks))
    return np.array([solve, set_up, set_up if ranks > 1 else 0, waits, steps * step["bytes"]])


def key(row):
    return row["problem"], row["kind"], row["ranks"]


def fit(rows, seconds, steps, most_ranks):
    """The constants, from the rows that have seconds."""
    lines = []
    for row in rows:
        if key(row) not in seconds or row["ranks"] > most_ranks:
            continue
        measured = seconds[key(row)]
        lines.append(terms(row, steps) / measured["seconds"])
        if "set_up_seconds" in measured:
            lines.append(terms(row, steps) * OF_SET_UPS / measured["set_up_seconds"])
    scale = np.abs(lines).max(axis=0)
    return nnls(lines / scale, np.ones(len(lines)))[0] / scale


def extended(rows, ranks):
    """A weak row of that many ranks: counts of the largest row, messages and collectives drawn on along log2 of the ranks."""
    rows = sorted(rows, key=lambda row: row["ranks"])
    largest, tail = rows[-1], rows[2:] if len(rows) > 3 else rows
    row = {**largest, "ranks": ranks, "step": dict(largest["step"])}
    for name in ("messages", "collectives"):
        slope = np.polyfit([np.log2(r["ranks"]) for r in tail], [r["step"][name] for r in tail], 1)[0]
        row["step"][name] += max(0.0, slope) * np.log2(ranks / largest["ranks"])
    return row


def print_fit(rows, seconds, constants, options):
    for name, value in zip(NAMES, constants):
        print(f"{value:.3g} {name}")
    print("\n| | | ranks | measured s | model s | solves | set-ups | latency | bandwidth |")
    print("|---" * 9 + "|")
    for row in rows:
        if key(row) not in seconds:
            continue
        parts = constants * terms(row, options.steps)
        print(f"| {row['problem']} | {row['kind']} | {row['ranks']}{'' if row['ranks'] <= options.fitted else ' (predicted)'} "
              f"| {seconds[key(row)]['seconds']:.2f} | {parts.sum():.2f} | {parts[0]:.2f} | {parts[1] + parts[2]:.2f} | {parts[3]:.2f} | {parts[4]:.2f} |")


def draw(rows, constants, options):
    """Seconds of a step along the ranks, by what they are spent on, and the table behind it."""
    weak = [row for row in rows if row["kind"] == "weak" and row["problem"] == options.problem]
    counted = max(row["ranks"] for row in weak)
    beyond = [2**k for k in range(1, 20) if counted < 2**k <= options.up_to]
    line = weak + [extended(weak, ranks) for ranks in beyond]
    grow = options.unknowns / (weak[-1]["unknowns"] / weak[-1]["ranks"]) if options.unknowns else 1.0
    # Operations grow with the unknowns of a rank, bytes with its surface; messages and collectives do not.
    factors = np.array([grow, grow, grow, 1.0, grow ** (2 / 3)])
    parts = np.array([constants * factors * (terms(row, 2) - terms(row, 1)) for row in line])
    total = parts.sum(axis=1)
    print("\n| ranks | unknowns | s a step | solves | set-ups | latency | bandwidth | efficiency |")
    print("|---" * 8 + "|")
    for row, part, all_parts in zip(line, parts, total):
        print(f"| {row['ranks']} | {row['ranks'] * grow * weak[-1]['unknowns'] / weak[-1]['ranks']:.3g} | {all_parts:.3g} | {part[0]:.3g} "
              f"| {part[1] + part[2]:.3g} | {part[3]:.3g} | {part[4]:.3g} | {total[0] / all_parts:.2f} |")
    figure, axes = plt.subplots(figsize=(7, 4))
    ranks = [row["ranks"] for row in line]
    stack = np.array([parts[:, 0], parts[:, 1] + parts[:, 2], parts[:, 4], parts[:, 3]])
    axes.stackplot(ranks, stack, labels=("products of solves", "set-ups", "bytes", "latency"), colors=("#4878a8", "#8fb3d3", "#e8a33d", "#b5493b"))
    axes.axvline(counted, color="black", linewidth=0.8, linestyle=":")
    axes.text(counted * 0.93, 1.12 * total.max(), "counted", ha="right", va="top", fontsize=9)
    axes.text(counted * 1.07, 1.12 * total.max(), "drawn on", ha="left", va="top", fontsize=9)
    axes.set(xscale="log", xlabel="ranks", ylabel="seconds of linear solves a step", xlim=(ranks[0], ranks[-1]), ylim=(0, 1.15 * total.max()))
    axes.legend(loc="lower right", fontsize=9)
    figure.tight_layout()
    figure.savefig(options.picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    here = pathlib.Path(__file__).parent
    parser.add_argument("--counts", type=pathlib.Path, default=here / "counts_before.json", help="counts of the runs that were timed")
    parser.add_argument("--seconds", type=pathlib.Path, default=here / "seconds_before.json", help="their seconds of linear solves")
    parser.add_argument("--steps", type=int, default=4, help="of the runs that were timed")
    parser.add_argument("--fitted", type=int, default=8, help="most ranks of a row that counts in the fit")
    parser.add_argument("--predict", type=pathlib.Path, help="counts of other runs")
    parser.add_argument("--problem", default="box", help="the one of them to draw")
    parser.add_argument("--unknowns", type=float, help="of a rank in what is drawn, if other than was counted")
    parser.add_argument("--up-to", type=int, default=16384, help="ranks of the last row that is drawn on")
    parser.add_argument("--picture", type=pathlib.Path, default=pathlib.Path("scaling.png"))
    options = parser.parse_args()
    rows = json.loads(options.counts.read_text())
    seconds = {key(row): row for row in json.loads(options.seconds.read_text())}
    constants = fit(rows, seconds, options.steps, options.fitted)
    print_fit(rows, seconds, constants, options)
    if options.predict:
        draw(json.loads(options.predict.read_text()), constants, options)


if __name__ == "__main__":
    main()
