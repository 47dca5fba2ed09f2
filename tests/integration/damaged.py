"""Folders that are not as a run has left them: another scene or other input files, a ledger that lacks rows, folders and links in the
place of files, trajectories of other versions. Refusals name what is wrong; `recoil info` ends with 4; ledgers come back whole."""
import os
import re
import shutil
import subprocess
import zlib

import h5py

import inputs
import runs
from studies import gradient, torn


def read(path, *parts):
    with open(os.path.join(path, *parts)) as file:
        return file.read()


def write(text, path, *parts):
    with open(os.path.join(path, *parts), "w") as file:
        file.write(text)


def copy(recoil, folder, name="copy"):
    target = recoil.path(name)
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target)
    return target


def refuse(recoil, folder, code, *parts, what, ranks=1):
    found, text = recoil.run(ranks, "simulate", "--restart", folder, "-q", expect=None)
    runs.check(found == code and all(part in text for part in parts), "%s: exit %d: %s" % (what, found, text.strip()[:250]))


def another_scene(recoil, stopped):
    """A value of the resolved scene that differs in one digit."""
    for before, after in ((r'"nu": 0.3\b', '"nu": 0.35'), (r'"dhat": 0.01\b', '"dhat": 0.02'), (r'-3\b', '-4')):
        folder = copy(recoil, stopped)
        text = read(folder, "scene.json")
        changed = re.sub(before, after, text, count=1)
        assert changed != text
        write(changed, folder, "scene.json")
        for ranks in (1, 3):
            refuse(recoil, folder, 4, os.path.join(folder, "scene.json"), what="scene.json with %s on %d ranks" % (after, ranks), ranks=ranks)
    folder = copy(recoil, stopped)
    write(read(folder, "scene.json")[:-20], folder, "scene.json")
    refuse(recoil, folder, 4, os.path.join(folder, "scene.json"), what="scene.json cut short")


def other_inputs(recoil, stopped):
    """Node coordinates stay as they are: cells, volume ids, selected sides and data of elements do not."""
    mesh, sides, young = (recoil.path(name) for name in ("plate.msh", "sides.txt", "young.h5"))
    elements = read(mesh).index("$Elements")

    def other_cells():
        nodes, cells = read(mesh)[:elements], read(mesh)[elements:]
        # The other diagonal of the last square.
        a, b = re.findall(r"\n(1[56] 2 2 2 1 [\d ]+)", cells)
        write(nodes + cells.replace(a, "15 2 2 2 1 11 14 12").replace(b, "16 2 2 2 1 12 14 15"), mesh)

    def other_ids():
        write(read(mesh)[:elements] + read(mesh)[elements:].replace(" 2 2 1 1 ", " 2 2 2 1 ", 1), mesh)

    def other_sides():
        write("".join(read(sides).splitlines(True)[:-1]), sides)

    def other_modulus():
        with h5py.File(young, "r+") as file:
            file["E"][3] *= 1.1

    for file, change in ((mesh, other_cells), (mesh, other_ids), (sides, other_sides), (young, other_modulus), (mesh, lambda: os.remove(mesh))):
        shutil.copy(file, recoil.path("kept"))
        change()
        refuse(recoil, copy(recoil, stopped), 2, file, "put the file of then back", what="another " + os.path.basename(file))
        shutil.move(recoil.path("kept"), file)


def ledgers(recoil):
    """Lost, cut, changed, and a killed run's, whose last rows are missing; with repeated steps, too."""
    for name, scene, stop in (("torn", torn(), 3), ("fall", inputs.scene(recoil), 5)):
        path = recoil.write_scene(name, scene)
        whole = read(recoil.simulate(1, path, name + "-whole"), "ledger.csv")
        stopped = recoil.simulate(1, path, name + "-stopped", "--steps", stop)
        rows = read(stopped, "ledger.csv")
        runs.check(whole.startswith(rows) and rows.count("\n") == stop + 1, "%s: %d rows" % (name, stop))
        for what, text in (("lost", None), ("of a killed run", "".join(rows.splitlines(True)[:-2])), ("cut", rows[:len(rows) // 2]),
                           ("changed", rows.replace("1", "7"))):
            folder = copy(recoil, stopped)
            os.remove(os.path.join(folder, "ledger.csv"))
            if text is not None:
                write(text, folder, "ledger.csv")
            recoil.run(1, "simulate", "--restart", folder, "-q")
            runs.check(read(folder, "ledger.csv") == whole, "%s: a ledger that was %s is whole after a restart" % (name, what))


def folder_for_file(recoil, command, whole, names):
    """Rank 0 alone meets the folder; all three ranks end with 4."""
    for name in names:
        folder = copy(recoil, whole)
        path = os.path.join(folder, name)
        if os.path.exists(path):
            os.remove(path)
        os.makedirs(os.path.join(path, "not empty"))
        try:
            done = subprocess.run(recoil.command(3, command, "--restart", folder, "-q"), env=runs.ENVIRONMENT, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, timeout=30)
            runs.check(done.returncode == 4 and path.encode() in done.stdout, "%s, %s is a folder: exit %d" % (command, name, done.returncode))
        except subprocess.TimeoutExpired:
            runs.check(False, "%s, %s is a folder: the ranks wait for ever" % (command, name))


def not_a_file(recoil, stopped):
    """Folders and links where files are expected."""
    folder_for_file(recoil, "simulate", stopped, ("log.txt", "recoil.lock", "scene.json", "ledger.csv", "summary.json", "trajectory/manifest.json",
                                                  "trajectory/states_00001.h5", "trajectory/trajectory.xdmf"))
    scene = recoil.path("scene.json")
    study = recoil.write_scene("study", inputs.study(recoil, {"fall": scene}, recoil.simulate(1, scene, "reference")))
    whole = gradient(recoil, 1, study, "gradient")
    for left in ("gradient.json", "gradient.h5", "fall/sweep.json"):
        os.remove(os.path.join(whole, left))
    folder_for_file(recoil, "gradient", whole, ("log.txt", "study.json", "inputs.json", "gradient.json", "gradient.h5", "check.json", "fall/scene.json",
                                                "fall/summary.json", "fall/sweep.json"))
    link = recoil.path("link")
    os.symlink(recoil.path("nowhere"), link)
    code, text = recoil.run(1, "simulate", scene, "-o", link, "-q", expect=None)
    runs.check(code == 4 and "is a link to '" + recoil.path("nowhere") in text, "-o is a dangling link: exit %d: %s" % (code, text.strip()[:200]))
    folder = copy(recoil, stopped)
    victim = recoil.path("victim")
    write("of somebody else", victim)
    for name in ("summary.json.part", "trajectory/states_00004.h5.part", "trajectory/manifest.json.part"):
        os.symlink(victim, os.path.join(folder, name))
    recoil.run(1, "simulate", "--restart", folder, "-q")
    runs.check(read(victim) == "of somebody else", "links in the place of temporary files are not followed")


def info(recoil, stopped):
    runs.check(recoil.run(1, "info", stopped, expect=None)[0] == 0, "info of a sound run: exit 0")
    for name, damage in (("scene.json", lambda p: write(read(p).replace("0.3", "0.4"), p)), ("trajectory/states_00001.h5", lambda p: os.truncate(p, 100)),
                         ("trajectory/mesh.h5", os.remove), ("trajectory/manifest.json", lambda p: (os.remove(p), os.mkdir(p))), ("trajectory/manifest.json", lambda p: os.truncate(p, 50)),
                         ("summary.json", lambda p: os.truncate(p, 50)), ("summary.json", lambda p: (os.remove(p), os.mkdir(p)))):
        folder = copy(recoil, stopped)
        damage(os.path.join(folder, name))
        for ranks in (1, 3):
            code, text = recoil.run(ranks, "info", folder, expect=None)
            runs.check(code == 4 and os.path.basename(name) in text, "info with damaged %s on %d ranks: exit %d" % (name, ranks, code))


def other_version(recoil, stopped):
    folder = copy(recoil, stopped)
    rest = read(folder, "trajectory", "manifest.json").split("\n", 1)[1].replace('"version": 2', '"version": 1', 1)
    write('{"crc32": "%08x",\n' % zlib.crc32(rest.encode()) + rest, folder, "trajectory", "manifest.json")
    refuse(recoil, folder, 4, "another version of recoil (format 1, this one reads 2)", what="a trajectory of an earlier version")


with runs.Recoil() as recoil:
    stopped = recoil.simulate(1, recoil.write_scene("scene", inputs.scene(recoil)), "stopped", "--steps", 3)
    files = runs.manifest(stopped)["metadata"]["inputs"]["files"]
    runs.check(sorted(map(os.path.basename, files)) == ["plate.msh", "sides.txt", "young.h5"], "the manifest names the files that were read")
    for test in (another_scene, other_inputs, not_a_file, info, other_version):
        test(recoil, stopped)
    ledgers(recoil)
