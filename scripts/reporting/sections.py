"""Sections of the report that need no runs: outcome, convergence, parameters, what is tied together, cost, provenance."""

import numpy as np

from reporting import page, plots, verdict
from recoil_run import FolderError, as_list, file_crc32

MOST_CURVES, MOST_ROWS, MOST_NAMES, MOST_MEMBERS, MOST_WORST = 12, 30, 40, 6, 10


def _counted(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def outcome(fit):
    result, study = fit.result, fit.study
    parts = [verdict.headline(fit), f"<h1>Fit of {page.escape(', '.join(entry['name'] for entry in study['parameters']))}</h1>"]
    text = (f"{_counted(len(study['parameters']), 'parameter')} from {_counted(len(study['experiments']), 'experiment')} and "
            f"{_counted(len(study['objectives']), 'objective')}: {result.get('status', 'no result yet')}")
    if result.get("reason"):
        text += f" - {result['reason']}"
    parts.append(page.paragraph(text + ".", "lead" if result.get("status") == "done" else "lead warn"))
    if "objective" in result:
        text = (f"The objective went from {page.number(result['initial_objective'])} to {page.number(result['objective'])} in "
                f"{_counted(result['iterations'], 'iteration')}: {_counted(result['evaluations'], 'evaluation')} and "
                f"{_counted(result['gradient_evaluations'], 'gradient')} in {page.number(result['wall_s'], 4)} s on "
                f"{_counted(result['ranks'], 'rank')}.")
        if "chi_squared" in result:
            text += f" Chi squared is {page.number(result['chi_squared'])} for {result.get('data', 'an unknown number of')} data"
            judged = (result.get("verdict") or {}).get("judged", {})
            if judged.get("left_to_losses"):
                text += f", {page.number(judged['chi_squared'])} for the {judged['data']} that are not left to a loss"
            if result.get("p_value") is not None:
                text += f"; noise as given leaves it that far or farther from what is expected in {100 * result['p_value']:.3g} % of all fits"
            text += "."
        parts.append(page.paragraph(text))
    return parts + verdict.warnings(fit)


def convergence(fit):
    try:
        history = fit.history
    except FolderError as error:
        return [page.heading("Convergence"), page.paragraph(str(error), "soft")]
    meshes = fit.result.get("meshes", [])
    marks = [entry["iteration"] for entry in meshes]
    parts = [page.figure(plots.history_curve(history, name, title, marks), "", title) for name, title in
             (("objective", "objective"), ("gradient_norm", "gradient norm, as the optimiser sees it")) if name in history]
    specs = {entry["name"]: entry for entry in fit.study["parameters"]}
    columns = [name for name in list(history)[list(history).index("sweep_s") + 1:] if not isinstance(history[name], list)]
    for column in columns[:MOST_CURVES]:
        name = column if column in specs else column.rpartition("[")[0]
        spec = specs.get(name, {})
        unit = fit.result.get("parameters", {}).get(name, {}).get("unit", "1")
        uri = plots.parameter_curve(history, column, column, unit, spec.get("bounds"), spec.get("scale") == "log")
        parts.append(page.figure(uri, "", column))
    note = [page.paragraph(f"{len(columns) - MOST_CURVES} more values are in history.csv.", "soft")] if len(columns) > MOST_CURVES else []
    if meshes:
        note.append(page.paragraph("Dotted: where the insides of bodies got better elements (scaled Jacobian of the worst one, before and after)."))
        note.append(page.table(["iteration", "meshes", "before", "after"], [[entry[key] for key in ("iteration", "how", "quality_before", "quality")] for entry in meshes]))
    return [page.heading("Convergence"), page.figures(parts), *note]


def _rows(name, entry):
    """A row per value: [name, start, value, unit, sd, low, high, at bound]."""
    values, count = as_list(entry["value"]), len(as_list(entry["value"]))

    def of(key):
        given = entry.get(key)
        return as_list(given) if given is not None else [None] * count

    intervals = entry.get("interval")
    intervals = [None] * count if intervals is None else [intervals] if count == 1 and not isinstance(intervals[0], list) else intervals
    labels = entry.get("bodies") or range(count)
    for label, value, start, sd, interval, bound in zip(labels, values, of("initial"), of("sd"), intervals, of("at_bound")):
        low, high = interval or (None, None)
        rounded = None if sd is None else float(f"{sd:.3g}")
        yield [name if count == 1 else f"{name}[{label}]", start, value, "" if entry["unit"] == "1" else entry["unit"], rounded, low, high,
               "yes" if bound else ""]


def _shown(row, entry_cut):
    """A row of _rows() as the table has it: numbers to the place of the standard deviation, ends of intervals that bounds have cut marked."""
    name, start, value, unit, sd, low, high, bound = row
    place = verdict.place_of(sd)
    ends = [f"{page.number(end)} (bound)" if entry_cut in (side, "both") else verdict.rounded(end, place) for side, end in (("low", low), ("high", high))]
    text = verdict.rounded(value, place)
    return [name, start, f"{text} ± {verdict.rounded(sd, place)}" if place is not None else text, unit, *ends, bound]


def parameters(fit):
    entries = fit.result.get("parameters", {})
    rows = []
    for name, entry in entries.items():
        if "value" in entry:
            of_entry = list(_rows(name, entry))
            cuts = as_list(entry.get("interval_cut", [""] * len(of_entry)))
            rows += [_shown(row, cut) for row, cut in zip(of_entry, cuts)]
    parts = [page.heading("Parameters")]
    header = ["parameter", "start", "value ± sd", "unit", "95 % low", "95 % high", "at bound"]
    kept = [j for j in range(len(header)) if j < 4 or any(row[j] not in (None, "") for row in rows)]
    if rows:
        table = page.table([header[j] for j in kept], [[row[j] for j in kept] for row in rows],
                           marked=[i for i, row in enumerate(rows) if row[-1]])
        summary = f"{len(rows)} values, {sum(bool(row[-1]) for row in rows)} of them at a bound"
        parts.append(table if len(rows) <= MOST_ROWS else page.folded(summary, table))
        if any(row[-1] for row in rows):
            parts.append(page.paragraph("A value at a bound is where the bound holds it: the data would move it further.", "soft"))
    if not any("sd" in entry for entry in entries.values()):
        parts.append(page.paragraph("fit.json holds no standard deviations: how well the values are known is not told here.", "soft"))
    fields = [name for name, entry in entries.items() if "value" not in entry]
    if fields:
        parts.append(page.paragraph(f"Fields, shown below: {', '.join(fields)}."))
    return parts


def sd_factors(fit):
    """Factors of standard deviations that were estimated along."""
    found = fit.result.get("sd_factors")
    if not found:
        return []
    rows = []
    for name, entry in found.items():
        _, _, value, _, low, high, _ = _shown([name, None, entry["value"], "", float(f"{entry['sd']:.3g}"), *entry["interval"], ""], "")
        rows.append([name, value, low, high, entry["data"], page.number(entry["degrees_of_freedom"], 4), ", ".join(entry["objectives"])])
    return [page.heading("Standard deviations of the data"),
            page.paragraph("Estimated with the parameters: what the standard deviations stated in the files have to be multiplied by. Everything else on this page counts with the product.", "soft"),
            page.table(["factor", "value ± sd", "95 % low", "95 % high", "data", "degrees of freedom", "objectives"], rows)]


def _end_in_words(entry, side):
    if entry["interval"][side] is not None:
        return page.number(entry["interval"][side])
    return "open at the bound" if entry["at_bound"][side] else "open: the data set no limit"


def profiles(fit):
    """Intervals by the profile likelihood, and what they are like beside those of the linear model."""
    found = fit.result.get("profile")
    if not found:
        return []
    values = {}  # value, interval of the linear model and unit by the names of `profile`
    for name, entry in fit.result["parameters"].items():
        if "value" not in entry:
            continue
        rows = [(row[2], [row[5], row[6]]) for row in _rows(name, entry)]
        values |= {name if len(rows) == 1 else f"{name}[{i}]": (*row, entry["unit"]) for i, row in enumerate(rows)}
    rows = [[name, values[name][0], _end_in_words(entry, 0), _end_in_words(entry, 1), *values[name][1]] for name, entry in found.items()]
    items = [page.figure(plots.profile(entry, *values[name][:2], name, values[name][2]), "", f"profile of {name}") for name, entry in found.items()]
    return [page.heading("Profiles"),
            page.paragraph("How far chi squared rises where one value is held and all others are fitted again. The 95 % interval ends where it meets "
                           "the line; where the curves differ, the model is not linear and the interval of the profile is the one to quote.", "soft"),
            page.table(["value", "fit", "profile low", "profile high", "linear low", "linear high"], rows), page.figures(items)]


def _in_words(entry):
    """A direction as a sentence: who grows, who falls."""
    shares = sorted(entry["direction"].items(), key=lambda item: -abs(item[1]))
    shares = [(name, share) for name, share in shares if abs(share) > 0.05 * abs(shares[0][1])]
    sign = np.sign(shares[0][1])
    up = [f"{name} ({abs(share):.2g})" for name, share in shares[:MOST_MEMBERS] if share * sign > 0]
    down = [f"{name} ({abs(share):.2g})" for name, share in shares[:MOST_MEMBERS] if share * sign < 0]
    text = "raising " + ", ".join(up) + (" while lowering " + ", ".join(down) if down else "")
    more = f" and {len(shares) - MOST_MEMBERS} more" if len(shares) > MOST_MEMBERS else ""
    ratio = f"; ratio of the standard deviations {page.number(entry['sd_ratio'], 3)}" if entry.get("sd_ratio") is not None and entry["sd_ratio"] > 1 else ""
    if entry.get("sd_to_range") is not None:
        ratio += f"; the standard deviation is {page.number(entry['sd_to_range'], 3)} times what is known of it without data"
    return f"{text}{more}: hardly changes what the experiments show{ratio}."


def ties(fit):
    """Correlations, and the combinations of parameters that the data leave open."""
    parts = []
    found = fit.result.get("correlations") or {"names": [], "matrix": []}
    matrix = np.array(found["matrix"], dtype=float)
    # Values at their bounds have none.
    free = [i for i in range(len(found["names"])) if np.isfinite(matrix[i, i])]
    names, matrix = [found["names"][i] for i in free], matrix[np.ix_(free, free)] if free else matrix
    if len(names) > 1:
        parts.append(page.heading("Correlations"))
        if len(names) > MOST_NAMES:
            parts.append(page.paragraph(f"The first {MOST_NAMES} of {len(names)}.", "soft"))
        uri = plots.correlations(names[:MOST_NAMES], matrix[:MOST_NAMES, :MOST_NAMES])
        parts.append(page.figures([page.figure(uri, "Near 1 or -1, the data know two parameters only together.")]))
    if "unidentifiable" in fit.result:
        parts.append(page.heading("What the data leave open"))
        directions = as_list(fit.result["unidentifiable"])
        parts.append(page.bullets(map(_in_words, directions)) if directions else
                     page.paragraph("Nothing: of every combination of the parameters the data say more than its bounds, prior and size do."))
    return parts


def _place(entry):
    return ", ".join(filter(None, (entry.get("point"), entry["component"])))


def residuals(fit):
    """What is left of the observations: misfit and order of signs by objective, the numbers that are farthest off."""
    found = fit.result.get("residuals")
    if not found:
        return []
    rows = [[name, entry["experiment"], entry["chi_squared"], entry["data"], entry["chi_squared"] / max(entry["data"], 1), entry["runs_p"],
             _place(entry["runs_of"]) if "runs_of" in entry else ""] for name, entry in found.items()]
    worst = [[name, entry["experiment"], _place(one), one["time"], float(f"{one['residual']:.3g}")] for name, entry in found.items() for one in entry["worst"]]
    worst = sorted(worst, key=lambda row: -abs(row[-1]))[:MOST_WORST]
    parts = [page.heading("What is left of the data"),
             page.paragraph("Runs p: how often independent noise has signs in an order as unusual as in the series named, once the number of series is "
                            "counted. Below 0.01 the model lacks something there, or the noise is correlated in time.", "soft"),
             page.table(["objective", "experiment", "chi squared", "data", "per datum", "runs p", "of"], rows,
                        marked=[i for i, row in enumerate(rows) if row[5] is not None and row[5] < 0.01])]
    if worst:
        parts.append(page.table(["objective", "experiment", "farthest off", "time [s]", "residual"], worst))
    return parts


def starts(fit):
    found = fit.result.get("starts")
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return []
    header = list(dict.fromkeys(key for entry in found for key in entry if not isinstance(entry[key], (dict, list))))
    return [page.heading("Starts"), page.table(header, [[entry.get(key) for key in header] for entry in found])]


def cost(fit):
    names, result = [entry["name"] for entry in fit.study["experiments"]], fit.result
    rows = []
    for number, name in enumerate(names):
        of_value, of_gradient = ([entry["seconds"] for entry in fit.evaluations if entry["experiment"] == number and entry["what"] in what]
                                 for what in (("value",), ("gradient", "factor", "product")))
        rows.append([name, result.get("per_experiment", {}).get(name), len(of_value), sum(of_value), len(of_gradient), sum(of_gradient)])
    parts = [page.heading("Experiments and cost"),
             page.table(["experiment", "objective", "runs", "runs [s]", "gradients", "sweeps [s]"], rows)]
    terms = result.get("per_objective", {})
    if len(terms) > 1:
        parts.append(page.table(["objective", "value"], list(terms.items())))
    return parts


def _scenes(lines):
    """Where the scenes came from; restarts log the copies in the folder."""
    found = {}
    for line in lines:
        name, separator, path = line.partition("info: experiment ")[2].partition(": ")
        if separator:
            found.setdefault(name.strip("'"), path)
    return [[f"scene of {name}", path] for name, path in found.items()]


def provenance(fit):
    result, log = fit.result, fit.folder / "log.txt"
    lines = log.read_text(errors="replace").splitlines() if log.is_file() else []
    begun = [line for line in lines if " info: recoil " in line]
    rows = [["program", begun[-1].partition("info: ")[2] if begun else f"recoil {result.get('version', '')}"],
            ["command", f"recoil optimize, in {_counted(max(len(begun), 1), 'session')}"],
            ["ranks, groups", f"{result.get('ranks', '?')}, {result.get('groups', '?')}"]]
    if lines:
        rows += [["begun", lines[0][:19]], ["last line of the log", lines[-1][:19]]]
    rows += _scenes(lines)
    sums = [["study.json", fit.inputs.get("study")]] + [[f"{name}/scene.json", crc] for name, crc in fit.inputs.get("scenes", {}).items()]
    sums += [[name, crc] for name, crc in fit.inputs.get("files", {}).items()]
    for objective in fit.study["objectives"]:
        target = objective.get("target")
        if isinstance(target, str) and (fit.folder / target).is_file():
            sums.append([f"{target} (now)", file_crc32(fit.folder / target)])
    return [page.heading("Provenance"), page.table(["", ""], rows, texts=(1,)),
            page.table(["input", "CRC-32"], [[name, f"{crc:08x}" if isinstance(crc, int) else "not noted"] for name, crc in sums], texts=(0,))]
