"""What the fits have found beside what the paper reports, as text and as the table of the README."""
import os

import numpy as np

TABLE_BEGINS, TABLE_ENDS = "<!-- table: run.py --record -->", "<!-- end -->"


def judged(expected, found):
    """(text, holds) of every parameter, every measure and the number of iterations."""
    limits, at_least, paper = expected.get("limits", {}), expected.get("at_least", {}), expected["paper"]
    parts = [("%s %.1e" % (name, error), error <= expected["tolerance"]) for name, error in found["errors"].items()]
    parts += [("%s %.3g" % (name, value), at_least.get(name, -np.inf) <= value <= limits.get(name, np.inf))
              for name, value in found["measures"].items()]
    return parts + [("%d iterations" % found["iterations"], found["iterations"] <= paper.get("iterations", np.inf))]


def passed(expected, found):
    return all(holds for _, holds in judged(expected, found)) and found.get("rest_shapes", (0, 0))[1] == 0


def beside(ours, of_paper):
    return str(ours) if of_paper is None else "%s (%s)" % (ours, of_paper)


def written(value):
    return "(%s)" % ", ".join("%.6g" % entry for entry in value) if isinstance(value, list) else "%.6g" % value


def outcome(expected, found):
    """Values and measures, with what was missed."""
    texts = ["%s = %s" % (name, written(value)) for name, value in found["values"].items()]
    texts += ["%s %.3g" % (name, value) for name, value in found["measures"].items()]
    missed = [text for text, holds in judged(expected, found) if not holds]
    return "; ".join(texts) + ("; MISSED: " + ", ".join(missed) if missed else "")


def of_estimation(name, expected):
    found, paper = expected["ours"], expected["paper"]
    errors = found["errors"].values()
    return ("`%s`" % name, str(expected["figure"]), beside(found["dofs"], paper.get("dofs")),
            beside(found["iterations"], paper.get("iterations")), str(found.get("recovered_after", "")), str(found["evaluations"]),
            paper["result"], outcome(expected, found), "%.0e" % max(errors) if errors else "", expected.get("differs", ""))


def of_design(name, expected):
    found, paper = expected["ours"], expected["paper"]
    asked = ["%s >= %g" % entry for entry in expected.get("at_least", {}).items()]
    asked += ["%s <= %g" % entry for entry in expected.get("limits", {}).items()]
    return ("`%s`" % name, str(expected["figure"]), beside(found["dofs"], paper.get("dofs")),
            beside(found["iterations"], paper.get("iterations")), str(found["evaluations"]),
            beside(found["newton_iterations_of_fit"], paper.get("newton_iterations")), "%.0f" % found["wall_s"], paper["result"],
            outcome(expected, found), "; ".join(asked), expected.get("differs", ""))


# Header and row of the tables of the two kinds of jobs.
ESTIMATION = (("job", "figure", "dofs (paper)", "iterations (paper)", "within 1e-3 after", "runs", "the paper finds", "found here",
               "largest error", "other than in the paper"), of_estimation)
DESIGN = (("job", "figure", "dofs (paper)", "iterations (paper)", "runs", "Newton iterations (paper)", "wall [s]", "the paper finds",
           "found here", "asked for", "other than in the paper"), of_design)


def table(kind, results):
    """The table of results (name, expected); empty without one."""
    header, row = kind
    return markdown([header] + [row(*result) for result in results]) if results else ""


def markdown(rows):
    return "\n".join("| " + " | ".join(line) + " |" for line in [rows[0], ("---",) * len(rows[0]), *rows[1:]])


def put_into(readme, text):
    """Replaces what stands between the two marks."""
    with open(readme) as file:
        before, rest = file.read().split(TABLE_BEGINS)
    with open(readme, "w") as file:
        file.write(before + TABLE_BEGINS + "\n\n" + text + "\n\n" + TABLE_ENDS + rest.split(TABLE_ENDS)[1])
