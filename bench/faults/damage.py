#!/usr/bin/env python3
"""Digits changed, bits flipped, cuts, deletions and swaps over all files of run folders and of folders of gradients, and over the files
that their runs read: --restart refuses with 2 or 4 and names the file, or comes to the answer of the undamaged folder, bit by bit.

    bench/faults/damage.py --recoil build/release/recoil [--trials 1000 --seed 0]

The folders: a run ended in its set-up, one stopped half-way and a finished one; a gradient of two experiments with an adaptive stiffness, finished with its
check, stopped before its sweeps, and stopped before its second experiment. One line per failure, counts at the end; the exit code is
1 if any answer was wrong or any refusal hid the file's name.
"""
import argparse
import collections
import json
import os
import random
import re
import shutil
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "integration"))
import inputs  # noqa: E402
import runs  # noqa: E402
import studies  # noqa: E402

PARSER = argparse.ArgumentParser()
PARSER.add_argument("--trials", type=int, default=1000)
PARSER.add_argument("--seed", type=int, default=0)
NOT_READ = ("log.txt", "recoil.lock")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def files_below(folder):
    """Relative paths."""
    found = [os.path.relpath(os.path.join(place, name), folder) for place, _, names in os.walk(folder) for name in names]
    return sorted(name for name in found if os.path.basename(name) not in NOT_READ)


# Each damage changes the file at a path, and returns what it did and the relative paths that a refusal may name.
def digit(rng, folder, name, others):
    content = bytearray(read(os.path.join(folder, name)))
    places = [match.start() for match in re.finditer(rb"\d", content)]
    if not places:
        return bit(rng, folder, name, others)
    place = rng.choice(places)
    content[place] = rng.choice([c for c in b"0123456789" if c != content[place]])
    write(os.path.join(folder, name), content)
    return "digit at %d" % place, [name]


def bit(rng, folder, name, _):
    content = bytearray(read(os.path.join(folder, name)))
    place = rng.randrange(len(content))
    content[place] ^= 1 << rng.randrange(8)
    write(os.path.join(folder, name), content)
    return "bit at %d" % place, [name]


def cut(rng, folder, name, _):
    length = rng.choice([0, rng.randrange(os.path.getsize(os.path.join(folder, name)))])
    os.truncate(os.path.join(folder, name), length)
    return "cut to %d" % length, [name]


def lose(_, folder, name, __):
    os.remove(os.path.join(folder, name))
    return "deleted", [name]


def swap(rng, folder, name, _):
    """With another file of the folder, of the same kind where there is one."""
    kind = os.path.splitext(name)[1]
    names = [other for other in files_below(folder) if other != name]
    other = rng.choice([o for o in names if o.endswith(kind)] or names)
    a, b = os.path.join(folder, name), os.path.join(folder, other)
    content = read(a)
    write(a, read(b))
    write(b, content)
    return "swapped with " + other, [name, other]


def replace(_, folder, name, other_folder):
    """By the file of the same name of a sister folder, which is sound but for another scene."""
    other = os.path.join(other_folder, name)
    if not os.path.exists(other) or read(other) == read(os.path.join(folder, name)):
        return cut(_, folder, name, other_folder)
    shutil.copy(other, os.path.join(folder, name))
    return "replaced by that of another folder", [name]


DAMAGES = (digit, digit, digit, bit, cut, lose, swap, swap, replace)


class Run:
    """A run folder and what its restart comes to."""

    def __init__(self, recoil, name, folder, sister):
        self.name, self.folder, self.sister, self.command = name, folder, sister, "simulate"
        self.answer = self.answer_of(restarted(recoil, self))

    def answer_of(self, folder):
        fields = [runs.state(folder, field=field).tobytes() for field in ("u", "v")]
        # Which file holds a state depends on where the run went on from.
        times = re.findall(rb'Time Value="[^"]*"', read(os.path.join(folder, "trajectory", "trajectory.xdmf")))
        return [*fields, read(os.path.join(folder, "ledger.csv")), times]

    def run_folders(self, folder):
        return [folder]


class Gradient:
    """A folder of a gradient and what its restart comes to."""

    def __init__(self, recoil, name, folder, sister):
        self.name, self.folder, self.sister, self.command = name, folder, sister, "gradient"
        self.answer = self.answer_of(restarted(recoil, self))

    def answer_of(self, folder):
        found = studies.result(folder)
        arrays = {name: array.tobytes() for name, array in studies.fields(folder).items()}
        return [json.dumps([found[key] for key in ("objective", "per_objective", "parameters")]), arrays]

    def run_folders(self, folder):
        return [os.path.join(folder, name) for name in ("one", "two")]


def restarted(recoil, case):
    folder = recoil.path("restarted")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(case.folder, folder)
    recoil.run(1, case.command, "--restart", folder, "-q")
    return folder


def without(recoil, folder, name, *lost):
    copy = recoil.path(name)
    shutil.copytree(folder, copy)
    for path in lost:
        path = os.path.join(copy, path)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)
    return copy


def ended_in_setup(recoil, folder, name):
    """As if the run in `folder` had been killed after mesh.h5 was written."""
    states = [file for file in files_below(folder) if "trajectory/" in file and not file.endswith("mesh.h5")]
    copy = without(recoil, folder, name, "ledger.csv", "summary.json", *states)
    write(os.path.join(copy, "trajectory", "scene.crc32"), b"%d\n" % zlib.crc32(read(os.path.join(copy, "scene.json"))))
    return copy


def make_cases(recoil):
    scene, softer = inputs.scene(recoil), inputs.scene(recoil)
    softer["materials"][1]["E"] = 9e4
    scene, softer = recoil.write_scene("scene", scene), recoil.write_scene("softer", softer)
    whole, other = recoil.simulate(1, scene, "whole"), recoil.simulate(1, softer, "whole-softer")
    cases = [Run(recoil, "run ended in its set-up", ended_in_setup(recoil, whole, "setup"), ended_in_setup(recoil, other, "setup-softer")),
             Run(recoil, "stopped run", recoil.simulate(1, scene, "stopped", "--steps", 3), recoil.simulate(1, softer, "stopped-softer", "--steps", 3)),
             Run(recoil, "finished run", whole, other)]
    adaptive = []
    for number, velocity in enumerate((-3, -2)):
        scene = inputs.scene(recoil, steps=4)
        del scene["solver"]["contact"]
        scene["initial_conditions"]["velocity"][0]["value"] = [0.4, velocity]
        adaptive.append(recoil.write_scene("adaptive-%d" % number, scene))
    gradients = []
    for name, weight in (("gradient", 1), ("heavier", 2)):
        study = inputs.study(recoil, {"one": adaptive[0], "two": adaptive[1]}, whole)
        study["objectives"][0]["weight"] = weight
        gradients.append(recoil.path(name))
        recoil.run(1, "gradient", recoil.write_scene(name + "-study", study), "-o", gradients[-1], "--check", "-q", expect=None)
    done, sister = gradients
    results = ["gradient.json", "gradient.h5", "check.json"]
    swept = [e + "/" + name for e in ("one", "two") for name in ("sweep.json", "sweep_done.h5")]
    run = ["two/" + name for name in ("trajectory", "ledger.csv", "summary.json")]
    return cases + [Gradient(recoil, "finished gradient", done, sister),
                    Gradient(recoil, "gradient before its sweeps", without(recoil, done, "unswept", *results, *swept), sister),
                    Gradient(recoil, "gradient before its second run", without(recoil, done, "begun", *results, *swept[2:], *run), sister)]


def content_of(folder, names):
    paths = [os.path.join(folder, name) for name in names]
    return [read(path) if os.path.exists(path) else None for path in paths]


def judge(recoil, case, folder, names):
    """How a restart of a damaged folder ends, and what is wrong with that; empty if nothing is."""
    damaged = content_of(folder, names)
    code, text = recoil.run(1, case.command, "--restart", folder, "-q", expect=None)
    if code in (2, 4):
        named = any(os.path.join(folder, name) in text or (folder in text and "no " + name in text) for name in names)
        return "refused", "" if named else "exit %d does not name it: %s" % (code, text)
    if code != 0:
        return "wrong", "exit %d: %s" % (code, text)
    if case.answer_of(folder) != case.answer:
        return "wrong", "ANOTHER ANSWER " + text
    # Old states may stay damaged behind a right answer; info tells.
    for name, before, now in zip(names, damaged, content_of(folder, names)):
        path = os.path.join(folder, name)
        if "trajectory/" not in name or name.endswith((".xdmf", ".crc32")) or now != before:
            continue
        run = next(run for run in case.run_folders(folder) if path.startswith(run + os.sep))
        code, text = recoil.run(1, "info", run, expect=None)
        if code != 4 or os.path.basename(name) not in text:
            return "wrong", "info ends with %d: %s" % (code, text)
        return "right, and info tells", ""
    return "right", ""


def trial(recoil, rng, cases):
    """Damages one file of one folder."""
    case = rng.choice(cases)
    folder = recoil.path("damaged")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(case.folder, folder)
    # Files of all kinds alike, however many states there are.
    groups = collections.defaultdict(list)
    for name in files_below(folder):
        groups[re.sub(r"\d+", "", name)].append(name)
    name = rng.choice(groups[rng.choice(sorted(groups))])
    what, names = rng.choice(DAMAGES)(rng, folder, name, case.sister)
    end, wrong = judge(recoil, case, folder, names)
    return end, wrong and "%s, %s %s: %s" % (case.name, name, what, wrong)


def change_input(recoil, rng, cases):
    """Damages one of the files outside that the runs read: nothing goes on with it."""
    case = rng.choice(cases[1:])  # the first begins anew
    folder = recoil.path("damaged")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(case.folder, folder)
    name = rng.choice(["plate.msh", "sides.txt", "young.h5"] + ["modes.h5"] * (case.command == "gradient"))
    sound = read(recoil.path(name))
    what, _ = rng.choice((digit, digit, bit, cut, lose))(rng, recoil.folder, name, None)
    code, text = recoil.run(1, case.command, "--restart", folder, "-q", expect=None)
    write(recoil.path(name), sound)
    right = code == 2 and recoil.path(name) in text and "put the file of then back" in text
    return "input refused" if right else "wrong", "" if right else "%s, %s %s: exit %d %s" % (case.name, name, what, code, text)


with runs.Recoil() as recoil:
    arguments = PARSER.parse_args(recoil.rest)
    rng = random.Random(arguments.seed)
    cases = make_cases(recoil)
    ends = collections.Counter()
    for number in range(arguments.trials):
        end, wrong = (change_input if number % 8 == 7 else trial)(recoil, rng, cases)
        ends[end] += 1
        if wrong:
            runs.check(False, "trial %d: %s" % (number, wrong))
    runs.check(ends["refused"] > arguments.trials // 4 and ends["right"] > 0, "%d damages: %s" % (arguments.trials, dict(ends)))
