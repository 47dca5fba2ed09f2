"""What run.py found, kept in measured.json, and the tables of the README made from it."""
import json
import os

FOLDER = os.path.dirname(os.path.abspath(__file__))
MEASURED, README = (os.path.join(FOLDER, name) for name in ("measured.json", "README.md"))
ENDS = "<!-- end -->"
# Of the paper, s per frame: explicit, implicit.
TABLE_1 = {"stretch": (34.6, 3.52), "twist": (34.6, 14.76), "drape_64k": (2230.9, 711.7), "drape_124k": (255.2, 121.9),
           "chocolate": (857.8, 343.8), "plate": (4564.6, 1911.8), "cloth": (1299.6, 394.2)}
# Of the paper: s per frame, frame of the first fracture.
TABLE_2 = {"bending_low": (0.9, 23), "bending_middle": (7.3, 25), "bending_high": (137.1, 25)}


def markdown(rows):
    return "\n".join("| " + " | ".join(line) + " |" for line in [rows[0], ("---",) * len(rows[0]), *rows[1:]])


def with_paper(ours, theirs, form="%.3g"):
    return "%s (%s)" % (form % ours if ours is not None else "-", theirs)


def frames(found):
    return "%.3g of %d" % (found["frames"], found["of_frames"])


def whole_run(found):
    """Minutes that a whole run takes, which the frames run are extrapolated to."""
    minutes = "%.3g" % (found["seconds_per_frame"] * found["of_frames"] / 60)
    return minutes if found["frames"] >= found["of_frames"] else minutes + ", extrapolated"


def speed_ups(measured):
    rows = [("scene", "particles", "dt / T", "frames run, implicit", "explicit", "s per frame, implicit (paper)", "explicit (paper)",
             "explicit over implicit (paper)", "minutes of a whole run, implicit", "explicit", "Newton iterations per step", "linear ones per Newton iteration", "bonds broken, implicit",
             "explicit", "difference of places")]
    for name, (paper_explicit, paper_implicit) in TABLE_1.items():
        found = measured.get(name, {})
        if not {"implicit", "explicit"} <= set(found):
            continue
        implicit, explicit = found["implicit"], found["explicit"]
        ours = [way["seconds_per_frame"] for way in (implicit, explicit)]
        broken = [str(way.get("broken_bonds", "")) for way in (implicit, explicit)]
        rows.append(("`%s`" % name, str(implicit["particles"]), "%.3g" % implicit["dt_over_T"], frames(implicit), frames(explicit),
                     with_paper(ours[0], paper_implicit), with_paper(ours[1], paper_explicit),
                     with_paper(ours[1] / ours[0], "%.1f" % (paper_explicit / paper_implicit), "%.2g"), whole_run(implicit), whole_run(explicit),
                     "%.1f" % implicit["newton_per_step"], "%.1f" % implicit["linear_per_newton"], *broken,
                     "%.1e" % found["difference"] if "difference" in found else ""))
    return markdown(rows)


def bending(measured):
    rows = [("scene", "particles", "first break in frame, explicit (paper)", "implicit", "load [N], explicit", "implicit",
             "way of the roller [mm], explicit", "implicit", "s per frame, explicit (paper)", "implicit")]
    for name, (paper_seconds, paper_frame) in TABLE_2.items():
        found = measured.get(name, {})
        if not {"implicit", "explicit"} <= set(found):
            continue
        implicit, explicit = found["implicit"], found["explicit"]
        rows.append(("`%s`" % name, str(explicit["particles"]), with_paper(explicit["first_break_frame"], paper_frame, "%.1f"),
                     "%.1f" % implicit["first_break_frame"], *("%.3g" % way["load"] for way in (explicit, implicit)),
                     *("%.3g" % (1000 * way["way"]) for way in (explicit, implicit)),
                     with_paper(explicit["seconds_per_frame"], paper_seconds), "%.3g" % implicit["seconds_per_frame"]))
    return markdown(rows)


def put_into(readme, mark, text):
    """Replaces what stands between a mark and the next end of a table."""
    with open(readme) as file:
        before, rest = file.read().split(mark)
    with open(readme, "w") as file:
        file.write(before + mark + "\n\n" + text + "\n\n" + ENDS + rest.split(ENDS, 1)[1])


def record(name, found):
    """Adds what was found of an example; what was found of its other way before stays."""
    measured = {}
    if os.path.exists(MEASURED):
        with open(MEASURED) as file:
            measured = json.load(file)
    measured[name] = {**measured.get(name, {}), **found}
    with open(MEASURED, "w") as file:
        json.dump(measured, file, indent=2)
        file.write("\n")
    put_into(README, "<!-- table 1: run.py --record -->", speed_ups(measured))
    put_into(README, "<!-- table 2: run.py --record -->", bending(measured))
