"""Folders and files that somebody else made to do harm: names that lead out of the folder, links, formulas that are programs, texts that
are too deep, too large or without end, a Gmsh that hangs. Nothing beside the folder changes, and refusals say why."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
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
        "optimizer": {"max_iterations": 1, "starts": 1}, "uncertainty": {"intervals": False}})


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
        if refused and what != "a deep summary":
            for command in (("info", victim), ("simulate", "--restart", victim, "-q")):
                code, text = recoil.run(1, *command, expect=None)
                unread = command[0] == "info" and what == "a mesh by an external link"  # info reads no meshes
                runs.check(code in (2, 4) or (unread and code == 0), "recoil %s, %s: exit %d: %s" % (command[0], what, code, text.strip()[-200:]))
                canary.lives("recoil %s, %s" % (command[0], what))


def commands(recoil, run, gradient, fit, canary):
    for what, attack in (("trajectory, a link", linked("trajectory", canary.path("bar", "trajectory"))), ("log.txt, a link", linked("log.txt", canary.path("file.txt"))),
                         ("ledger.csv, a link", linked("ledger.csv", canary.path("file.txt"))), ("summary.json, a link", linked("summary.json", canary.path("file.txt")))):
        victim = copy(recoil, run)
        attack(victim)
        for command in (("simulate", "--restart", victim, "-q"), ("info", victim)):
            code, text = recoil.run(1, *command, expect=None)
            runs.check(code in (0, 2, 4), "recoil %s, %s: exit %d" % (command[0], what, code))
            canary.lives("recoil %s, %s" % (command[0], what))
    for command, folder in (("gradient", gradient), ("optimize", fit)):
        for what, attack in (("the experiment, a link", linked("bar", canary.path("bar"))), ("its trajectory, a link", linked("bar/trajectory", canary.path("bar", "trajectory"))),
                             ("evaluations, a link", linked("evaluations", canary.folder)), ("stages, a link", linked("stages", canary.folder)),
                             ("study.json, a link", linked("study.json", canary.path("study.json"))), ("an absolute name", renamed(canary.folder)),
                             ("a name with ..", renamed("../canary"))):
            victim = copy(recoil, folder)
            attack(victim)
            code, text = recoil.run(1, command, "--restart", victim, "-q", expect=None)
            ends = code in (0, 2, 4) or (code == 3 and "verdict: not_converged" in text)  # as the fit did before
            runs.check(ends, "recoil %s --restart, %s: exit %d: %s" % (command, what, code, text.strip()[-150:]))
            canary.lives("recoil %s --restart, %s" % (command, what))


def limits(recoil):
    """Each is refused at once, with exit 2 and the reason."""
    def refuse(what, document, part, command="validate"):
        before = os.times()
        code, text = recoil.run(1, command, document, expect=None)
        after = os.times()
        spent = after.children_user + after.children_system - before.children_user - before.children_system
        runs.check(code == 2 and part in text, "%s: exit %d, %.1f s: %s" % (what, code, spent, text.strip()[-160:]))

    for k in range(3000):
        write(recoil.path("chain-%d.json" % k), {"common": "chain-%d.json" % (k + 1)})
    refuse("a chain of `common`", recoil.path("chain-0.json"), "more than 32 files")
    write(recoil.path("deep.json"), '{"geometry": ' + "[" * 100000 + "]" * 100000 + "}")
    refuse("deep arrays", recoil.path("deep.json"), "nested deeper than any scene")
    write(recoil.path("deep.json"), '{"a": ' * 100000 + "1" + "}" * 100000)
    refuse("deep objects", recoil.path("deep.json"), "nested deeper than any scene")
    write(recoil.path("many.json"), '{"unknown": [' + "1," * 5000000 + "1]}")
    refuse("many values", recoil.path("many.json"), "more than 1000000 values")
    with open(recoil.path("large.json"), "w") as file:
        file.truncate(100 << 20)
    refuse("100 MiB", recoil.path("large.json"), "MiB")
    scene = bar()
    for formula in ("(" * 100000 + "x" + ")" * 100000, "sin " * 100000 + "x"):
        scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = [formula, 0]
        refuse("a deep formula", recoil.write_scene("formula", scene), "deep")
    os.mkdir(recoil.path("near"))
    os.mkfifo(recoil.path("near/fifo"))
    write(recoil.path("near/fifo.obj"), "")
    scene = bar(geometry=[{"name": "bar", "mesh": "near/fifi"}])
    code, text = recoil.run(1, "validate", recoil.write_scene("missing", scene), expect=None)
    runs.check(code == 2 and "'fifo'" not in text, "a pipe is no suggestion: %s" % text.strip()[-160:])


def hanging_gmsh(recoil):
    """Signals and the time limit end it with what it has started."""
    program, marker = recoil.path("gmsh-that-hangs"), recoil.path("gmsh.pids")
    write(program, "#!/bin/sh\nsleep 300 &\necho $$ $! > %s\nwait\n" % marker)
    os.chmod(program, stat.S_IRWXU)
    sides = [{"id": k, "axis": axis, "position": at} for k, axis, at in ((1, "-x", -0.999), (2, "x", 0.999), (3, "-y", -0.299), (4, "y", 0.299))]
    scene = {"geometry": [box("bar", [2, 0.6], [8, 3], [0, 0], surface_selection=sides)], "materials": material(1e6, 0.3, 1000),
             "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0]}], "neumann_boundary": [{"id": 2, "value": [0, -3000]}]}}

    def document(**optimizer):
        return recoil.write_scene("shape", {
            "experiments": [{"name": "bend", "scene": recoil.write_scene("bend", scene)}],
            "parameters": [{"name": "shape", "quantity": "shape", "basis": {"extension": "elastic", "boundary": [2, 3, 4]}}],
            "objectives": [{"name": "energy", "type": "elastic_energy"}, {"name": "volume", "type": "volume_bound", "body": "bar", "limit": 1.2, "weight": 1e4}],
            "optimizer": dict({"renew_quality": 0.9, "min_quality": 0.001, "max_iterations": 40, "gmsh": program}, **optimizer)})

    def alive():
        with open(marker) as file:
            found = []
            for pid in map(int, file.read().split()):
                try:
                    with open("/proc/%d/stat" % pid) as status:
                        found += [pid] if status.read().rsplit(")", 1)[1].split()[0] != "Z" else []
                except OSError:
                    pass
            return found

    for number in (signal.SIGTERM, signal.SIGUSR1):
        folder = recoil.path("shape-%d" % number)
        process = subprocess.Popen(recoil.command(1, "optimize", document(), "-o", folder, "-q"), env=runs.ENVIRONMENT, stderr=subprocess.PIPE)
        waited = time.monotonic()
        while not os.path.exists(marker) and process.poll() is None and time.monotonic() < waited + 120:
            time.sleep(0.05)
        runs.check(process.poll() is None, "Gmsh has begun")
        time.sleep(0.2)
        process.send_signal(number)
        begun = time.monotonic()
        code = process.wait(timeout=60)
        runs.check(code == 75 and time.monotonic() - begun < 20, "signal %d while Gmsh works: exit %d after %.1f s" % (number, code, time.monotonic() - begun))
        runs.check(not alive(), "Gmsh and what it has started are ended")
        os.remove(marker)
    code, text = recoil.run(1, "optimize", document(gmsh_time_limit=0.5), "-o", recoil.path("limited"), "-q", expect=None)
    runs.check(code == 2 and "optimizer/gmsh_time_limit" in text and not alive(), "the time limit: exit %d: %s" % (code, text.strip()[-200:]))
    write(program, "#!/bin/sh\nfor a; do case $a in *.msh) echo garbage > $a;; esac; done\n")
    code, text = recoil.run(1, "optimize", document(max_iterations=12), "-o", recoil.path("garbage"), expect=None)
    runs.check(code in (0, 3) and "Gmsh wrote a mesh that cannot be read" in text, "a garbage mesh: exit %d" % code)


with runs.Recoil(("--all", int, 0)) as recoil:
    write(recoil.path("seen.csv"), "time,x,y\n0,0,0\n0.03,0,-0.003\n")
    document = study(recoil)
    fit, gradient, run = recoil.path("fit"), recoil.path("gradient"), recoil.path("run")
    recoil.run(1, "optimize", document, "-o", fit, "-q", expect=3)  # one iteration does not converge
    recoil.run(1, "gradient", document, "-o", gradient, "-q")
    recoil.run(1, "simulate", recoil.path("scene.json"), "-o", run, "-q")
    canary = Canary(recoil, fit)
    limits(recoil)
    hanging_gmsh(recoil)
    commands(recoil, run, gradient, fit, canary)
    pictures(recoil, run, canary)
    reports(recoil, fit, canary)
