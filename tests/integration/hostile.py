"""The drawing scripts on folders that somebody else made to do harm: names that lead out of the folder, links, formulas that are programs,
texts that are too deep. Nothing beside the folder changes, and refusals say why."""
import json
import os
import shutil
import subprocess
import sys
import zlib

import h5py

import runs
from pieces import box, material

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts")


def tree(folder):
    """Everything below a folder: contents of files, targets of links."""
    found = {}
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(at, name)
            if os.path.islink(path):
                found[path] = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[path] = file.read()
            else:
                found[path] = None
    return found


def read(path):
    with open(path) as file:
        return json.load(file)


def write(path, content):
    with open(path, "w") as file:
        file.write(content if isinstance(content, str) else json.dumps(content, indent=1))


def change(path, act):
    content = read(path)
    act(content)
    write(path, content)


def change_manifest(folder, act):
    """With a checksum that holds."""
    path = os.path.join(folder, "trajectory", "manifest.json")
    content = read(path)
    del content["crc32"]
    act(content)
    text = json.dumps(content)[1:]
    write(path, '{"crc32": "%08x",\n%s' % (zlib.crc32(text.encode()), text))


def bar(**more):
    return dict({"geometry": [box("bar", [1, 0.5], [2, 1], [0, 0], surface_selection=[{"id": 1, "axis": "-x", "position": -0.499}])],
                 "materials": material(1e5, 0.3, 1000),
                 "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}]}, "gravity": [0, -9.81],
                 "time": {"dt": 0.01, "time_steps": 3}}, **more)


def study(recoil, name="bar"):
    return recoil.write_scene("study", {
        "experiments": [{"name": name, "scene": recoil.write_scene("scene", bar())}],
        "parameters": [{"name": "E$x$_{", "quantity": "young_modulus", "initial": 1e5, "bounds": [1e4, 1e6], "scale": "log"}],
        "objectives": [{"name": "sink", "type": "center_of_mass", "body": "bar", "target": recoil.path("seen.csv")}],
        "optimizer": {"max_iterations": 1}, "uncertainty": {"intervals": False}})


class Canary:
    """A folder beside those that are attacked."""

    def __init__(self, recoil, like):
        self.recoil, self.folder = recoil, recoil.path("canary")
        shutil.copytree(like, self.folder)
        write(os.path.join(self.folder, "file.txt"), "mine\n")
        self.before = tree(self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def lives(self, what):
        now = tree(self.folder)
        changed = sorted(path for path in now.keys() | self.before.keys() if now.get(path) != self.before.get(path))
        runs.check(not changed, "%s: nothing beside the folder changes%s" % (what, "".join(" " + path for path in changed[:3])))
        if changed:
            raise SystemExit("the canary is dead")


def script(recoil, name, *arguments):
    done = subprocess.run([sys.executable, os.path.join(SCRIPTS, name), *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120,
                          env=runs.ENVIRONMENT)
    return done.returncode, done.stdout.decode(errors="replace")


def copy(recoil, folder):
    target = recoil.path("victim")
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(folder, target, symlinks=True)
    return target


def replace(path, target):
    """A link in the place of a file or folder."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.remove(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def renamed(name):
    def act(folder):
        os.remove(os.path.join(folder, "inputs.json"))
        change(os.path.join(folder, "study.json"), lambda content: content["experiments"][0].update(name=name, scene=name + "/scene.json"))
    return act


def linked(name, target):
    return lambda folder: replace(os.path.join(folder, name), target)


def reports(recoil, fit, canary):
    attacks = [("an absolute name", renamed(canary.folder), True), ("a name with ..", renamed("../canary"), True),
               ("report, a link", linked("report", canary.folder), True), ("report/fitted, a link", linked("report/fitted", canary.folder), True),
               ("report/start, a link", linked("report/start", canary.folder), False), ("report/fitted/bar, a link", linked("report/fitted/bar", canary.folder), False),
               ("report.html, a link", linked("report.html", canary.path("file.txt")), False)]
    if not recoil.arguments.all:
        attacks = [attack for attack in attacks if attack[0] != "report/start, a link"]
    for what, attack, refused in attacks:
        victim = copy(recoil, fit)
        attack(victim)
        code, text = script(recoil, "report.py", victim, "--recoil", recoil.program)
        runs.check((code != 0) == refused and "Traceback" not in text, "report.py, %s: exit %d: %s" % (what, code, text.strip()[-150:]))
        canary.lives("report.py, " + what)
    with open(os.path.join(victim, "report.html")) as file:
        runs.check("E$x$_{" in file.read() and not os.path.islink(os.path.join(victim, "report.html")), "names with dollars are drawn as they are")


def pictures(recoil, run, canary):
    program = "[c for c in ().__class__.__base__.__subclasses__() if c.__name__ == 'catch_warnings'][0]()._module.__builtins__['open'](%r, 'w')" % canary.path("shot.txt")
    obstacle = {"is_obstacle": True, "enabled": True, "generator": {"type": "rectangle", "size": [1, 1]}, "surface_selection": 9}

    def armed(folder):
        def act(scene):
            scene["geometry"].append(obstacle)
            scene["boundary_conditions"]["obstacle_displacements"] = [{"id": 9, "value": [program, "9^9^9^9^9"]}]
        change(os.path.join(folder, "scene.json"), act)

    def elsewhere(folder):
        with h5py.File(os.path.join(folder, "trajectory", "mesh.h5"), "r+") as file:
            del file["coordinates"]
            file["coordinates"] = h5py.ExternalLink(canary.path("bar", "trajectory", "mesh.h5"), "/coordinates")

    def digest(folder):
        path = os.path.join(folder, "trajectory", "mesh.h5")
        with open(path, "rb") as file:
            content = file.read()
        change_manifest(folder, lambda content_: content_["mesh"].update(bytes=len(content), crc32="%08x" % zlib.crc32(content)))

    def external(folder):
        elsewhere(folder)
        digest(folder)

    def misnamed(folder):
        change_manifest(folder, lambda content: content["mesh"].update(name="../../canary/bar/trajectory/mesh.h5"))

    def deep(folder):
        write(os.path.join(folder, "summary.json"), "[" * 100000 + "]" * 100000)

    for what, attack, refused in (("a formula that is a program", armed, False), ("picture.png, a link", linked("picture.png", canary.path("file.txt")), False),
                                  ("a mesh by an external link", external, True), ("a mesh named with ..", misnamed, True), ("a deep summary", deep, True)):
        victim = copy(recoil, run)
        attack(victim)
        code, text = script(recoil, "render.py", victim, "--width", "300")
        runs.check((code != 0) == refused and "Traceback" not in text, "render.py, %s: exit %d: %s" % (what, code, text.strip()[-150:]))
        canary.lives("render.py, " + what)


with runs.Recoil(("--all", int, 0)) as recoil:
    write(recoil.path("seen.csv"), "time,x,y\n0,0,0\n0.03,0,-0.003\n")
    document = study(recoil)
    fit, run = recoil.path("fit"), recoil.path("run")
    recoil.run(1, "optimize", document, "-o", fit, "-q")
    recoil.run(1, "simulate", recoil.path("scene.json"), "-o", run, "-q")
    canary = Canary(recoil, fit)
    pictures(recoil, run, canary)
    reports(recoil, fit, canary)
