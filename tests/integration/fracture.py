"""`recoil fracture`: the same modes on all numbers of ranks and after kills and signals between modes and inside of one, on other
numbers of ranks too; damaged and changed files, limits of files, folders of others; what ParaView opens."""
import json
import os
import resource
import shutil
import signal
import subprocess
import xml.etree.ElementTree

import h5py
import numpy as np

import moments as faults
import runs

CUBE = ("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\nv 0 1 1\nf 1 3 2\nf 1 4 3\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5\n"
        "f 2 3 7\nf 2 7 6\nf 3 4 8\nf 3 8 7\nf 4 1 5\nf 4 5 8\n")


def bar(count=3, divisions=(6, 2, 2), **more):
    return dict({"geometry": {"generator": {"type": "box", "size": [3, 1, 1], "divisions": list(divisions)}},
                 "modes": {"count": count}, "output": {"save_interval": 0}}, **more)


def fields(folder):
    with h5py.File(os.path.join(folder, "modes.h5"), "r") as file:
        count = len(file["modes/energies"])
        return file["modes/energies"][:].ravel(), np.array([file["modes/u_%d" % (k + 1)][:].ravel() for k in range(count)])


def is_same(folder, other):
    return all(np.array_equal(a, b) for a, b in zip(fields(folder), fields(other)))


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at if at >= 0 else os.path.getsize(path) + at)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 255]))


def check_ranks(recoil, whole, shape):
    for ranks in (2, 3):
        folder = recoil.path("ranks-%d" % ranks)
        recoil.run(ranks, "fracture", shape, "-o", folder, "-q")
        runs.check(is_same(folder, whole), "the same modes on %d ranks, bit by bit" % ranks)
        with open(os.path.join(folder, "modes.json")) as file:
            memory = json.load(file)["content"]["memory_mb"]
        runs.check(len(memory) == ranks and min(memory) > 10, "memory of %d ranks: %s" % (ranks, memory))
    left = sorted(os.listdir(whole))
    runs.check(left == ["fracture.json", "inputs.json", "log.txt", "modes.h5", "modes.json", "modes.xdmf"], "files: %s" % left)


def check_kills(recoil, moments, whole, shape):
    folder = recoil.path("killed")
    shutil.rmtree(folder, ignore_errors=True)
    states = moments.count(folder, 2, "file:state.json", "fracture", shape, "-o", folder, "-q")
    runs.check(states > 8, "%d states" % states)
    found = set()
    for count, ranks in ((1, 1), (3, 1), (states // 2, 3), (states, 1)):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 2, "file:state.json", signal.SIGKILL, "fracture", shape, "-o", folder, "-q", count=count)
        runs.check(ended.sent and ended.code == signal.SIGKILL, "killed after state %d: exit %d" % (count, ended.code))
        with open(os.path.join(folder, "state.json")) as file:
            state = json.load(file)["content"]["state"]
        if state:
            found.add((state["counts"]["modes"], state["counts"]["descents"] > 0))
        code, text = recoil.run(1, "info", folder)
        runs.check("not at its end" in text and "sound" in text and "--restart" in text, "info tells of the search")
        recoil.run(ranks, "fracture", "--restart", folder, "-q")
        runs.check(is_same(folder, whole), "killed after state %d of %d, continued on %d ranks: the same modes" % (count, states, ranks))
        left = [name for name in os.listdir(folder) if name.startswith("state") or name.endswith(".part")]
        runs.check(not left, "nothing of the search is left: %s" % left)
    runs.check({inside for _, inside in found} == {False, True}, "between modes and inside of one: %s" % sorted(found))
    for name in ("inputs.json", "fracture.json", "modes.h5"):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 1, "file:" + name, signal.SIGKILL, "fracture", shape, "-o", folder, "-q")
        again = ("--restart", folder) if os.path.exists(os.path.join(folder, "fracture.json")) else (shape, "-o", folder)
        if again[0] == shape:
            shutil.rmtree(folder)
        recoil.run(1, "fracture", *again, "-q")
        runs.check(ended.sent and is_same(folder, whole), "killed after %s: the same modes" % name)


def check_signals(recoil, moments, whole, shape):
    folder = recoil.path("signalled")
    shutil.rmtree(folder, ignore_errors=True)
    reductions = moments.count(folder, 2, "reduction", "fracture", shape, "-o", folder, "-q")
    for part, number in ((0.3, signal.SIGTERM), (0.7, signal.SIGUSR1)):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 2, "reduction", number, "fracture", shape, "-o", folder, "-q", count=int(part * reductions))
        runs.check(ended.sent and ended.code == 75, "signal at %.1f: exit %d" % (part, ended.code))
        recoil.run(1, "fracture", "--restart", folder, "-q")
        runs.check(is_same(folder, whole), "signal at %.1f: continued to the same modes" % part)


def check_pieces_search(recoil, moments):
    """Searched through pieces: bit by bit on the same number of ranks."""
    shape = recoil.write_scene("pieces", bar(2, modes={"count": 2, "whole_elements": 50}))
    whole, folder = recoil.path("pieces-whole"), recoil.path("pieces-killed")
    recoil.run(2, "fracture", shape, "-o", whole, "-q")
    for count in (4,):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 2, "file:state.json", signal.SIGKILL, "fracture", shape, "-o", folder, "-q", count=count)
        recoil.run(2, "fracture", "--restart", folder, "-q")
        runs.check(ended.sent and is_same(folder, whole), "searched through pieces, killed after state %d: the same modes" % count)


def check_vectors(recoil, moments):
    """Scalar modes first, then motions."""
    shape = recoil.write_scene("vectors", {"geometry": {"generator": {"type": "rectangle", "size": [3, 1], "divisions": [12, 4]}},
                                           "modes": {"type": "vector", "count": 2}, "materials": {"jump_tensor": [5, 1]}, "output": {"save_interval": 0}})
    whole, folder = recoil.path("vectors-whole"), recoil.path("vectors-killed")
    states = moments.count(whole, 2, "file:state.json", "fracture", shape, "-o", whole, "-q")
    phases = set()
    for count in (3, states - 1):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 2, "file:state.json", signal.SIGKILL, "fracture", shape, "-o", folder, "-q", count=count)
        with open(os.path.join(folder, "state.json")) as file:
            phases.add(bool(json.load(file)["content"]["scalar_modes"]))
        recoil.run(1, "info", folder)
        recoil.run(2, "fracture", "--restart", folder, "-q")
        runs.check(ended.sent and is_same(folder, whole), "vector modes, killed after state %d of %d: the same" % (count, states))
    runs.check(phases == {False, True}, "in both searches")


def check_full(recoil, moments):
    """Scalar modes first, then motions with strain: killed in both searches, continued on another number of ranks."""
    shape = recoil.write_scene("full", {"geometry": {"generator": {"type": "rectangle", "size": [3, 1], "divisions": [6, 2]}},
                                        "modes": {"type": "full", "count": 2, "relative_omega": 1.2, "strain": "gradient"}, "output": {"save_interval": 0}})
    whole, folder = recoil.path("full-whole"), recoil.path("full-killed")
    states = moments.count(whole, 2, "file:state.json", "fracture", shape, "-o", whole, "-q")

    def corners(folder):
        with h5py.File(os.path.join(folder, "modes.h5"), "r") as file:
            return [file["modes/strain_energies"][:], *(file["modes/corners_%d" % (k + 1)][:] for k in range(2))]
    found = set()
    for count in (3, states // 2 + 1, states - 2, states - 1):
        shutil.rmtree(folder, ignore_errors=True)
        ended = moments.run(folder, 2, "file:state.json", signal.SIGKILL, "fracture", shape, "-o", folder, "-q", count=count)
        with open(os.path.join(folder, "state.json")) as file:
            content = json.load(file)["content"]
        found.add((bool(content["scalar_modes"]), bool(content["state"]) and content["state"]["counts"]["descents"] > 0))
        recoil.run(2, "fracture", "--restart", folder, "-q")
        same = is_same(folder, whole) and all(np.array_equal(a, b) for a, b in zip(corners(folder), corners(whole)))
        runs.check(ended.sent and same, "full modes, killed after state %d of %d: the same" % (count, states))
    runs.check((True, True) in found and False in {scalar for scalar, _ in found}, "in both searches, and inside of a full mode: %s" % sorted(found))


def refuse(recoil, folder, code, *parts, what):
    found, text = recoil.run(1, "fracture", "--restart", folder, "-q", expect=None)
    runs.check(found == code and all(part in text for part in parts), "%s: exit %d: %s" % (what, found, text.strip()[:300]))


def check_damage(recoil, moments, whole, shape):
    stopped = recoil.path("stopped")
    moments.run(stopped, 1, "file:state.json", signal.SIGKILL, "fracture", shape, "-o", stopped, "-q", count=5)
    fields_file = next(name for name in os.listdir(stopped) if name in ("state.0.h5", "state.1.h5"))
    folder = recoil.path("damaged")

    def copy(source):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)

    for name, code in (("state.json", 4), (fields_file, 4), ("state.starts.h5", 4), ("fracture.json", 4), ("inputs.json", 4)):
        copy(stopped)
        flip(os.path.join(folder, name), -30)
        refuse(recoil, folder, code, name, "sound copy", what=name + " damaged")
        code, text = recoil.run(1, "info", folder, expect=None)
        runs.check(code == 4 and "DAMAGED" in text, "info tells of %s: exit %d" % (name, code))
    copy(stopped)
    os.remove(os.path.join(folder, "state.json"))
    recoil.run(1, "fracture", "--restart", folder, "-q")
    runs.check(is_same(folder, whole), "without state.json the search begins anew")
    for name in ("modes.h5", "modes.json"):
        copy(whole)
        flip(os.path.join(folder, name), -30)
        refuse(recoil, folder, 4, name, "remove", what=name + " damaged")
        runs.check(recoil.run(1, "info", folder, expect=None)[0] == 4, "info tells of " + name)
        os.remove(os.path.join(folder, "modes.json"))
        recoil.run(1, "fracture", "--restart", folder, "-q")
        runs.check(is_same(folder, whole), "without modes.json the modes are found again")
    code, text = recoil.run(1, "fracture", "--restart", whole)
    runs.check(code == 0 and "nothing is left to do" in text, "a search that has ended is left alone")
    code, text = recoil.run(1, "fracture", shape, "-o", whole, expect=None)
    runs.check(code == 2 and "not empty" in text, "a folder in use is refused: %s" % text.strip()[:200])
    refuse(recoil, recoil.path("nowhere"), 2, "no such folder", what="a folder that is not there")
    refuse(recoil, recoil.folder, 2, "fracture.json", what="a folder of something else")


def check_cages(recoil):
    with open(recoil.path("cube.obj"), "w") as file:
        file.write(CUBE)
    with open(recoil.path("outline.obj"), "w") as file:
        file.write("v 0 0 0\nv 3 0 0\nv 3 1 0\nv 0 1 0\nl 1 2 3 4 1\n")
    for name, dim, mesh in (("cube", 3, "cube.obj"), ("outline", 2, "outline.obj")):
        shape = recoil.write_scene(name, {"geometry": {"mesh": mesh, "cage": {"elements": 200}}, "modes": {"count": 2}, "output": {"save_interval": 0}})
        code, text = recoil.run(1, "validate", shape)
        runs.check("%dD" % dim in text and "cage of" in text, "validate: " + text.strip())
        folder = recoil.path(name)
        recoil.run(2, "fracture", shape, "-o", folder, "-q")
        with h5py.File(os.path.join(folder, "modes.h5"), "r") as file:
            runs.check(file["surface/facets"].shape[0] == (12 if dim == 3 else 4), "the surface is kept")
            low, high = file["mesh/vertices"][:].min(0), file["mesh/vertices"][:].max(0)
            runs.check((low[:dim] <= 0).all() and (high[:dim] >= 1).all(), "the cage is around it")
        drawn = xml.etree.ElementTree.parse(os.path.join(folder, "modes.xdmf"))
        items = [item.text.split(":/") for item in drawn.iter("DataItem")]
        with h5py.File(os.path.join(folder, "modes.h5"), "r") as file:
            runs.check(len(items) == 2 * 4 and all(part == "modes.h5" and dataset in file for part, dataset in items), "modes.xdmf names what is there")
    stopped = recoil.path("cube-stopped")
    shutil.copytree(recoil.path("cube"), stopped)
    os.remove(os.path.join(stopped, "modes.json"))
    with open(recoil.path("cube.obj"), "a") as file:
        file.write("# changed\n")
    refuse(recoil, stopped, 2, "cube.obj", "has changed", "was begun with it", what="another surface")


def check_pieces(recoil, moments):
    """Pieces are shapes again."""
    pieces = recoil.path("fractured_0")
    os.makedirs(pieces)
    for k in range(2):
        with open(os.path.join(pieces, "piece_%d.obj" % k), "w") as file:
            file.write(CUBE.replace("v 1", "v 2") if k else CUBE)
    whole = {"geometry": {"mesh": "cube.obj", "cage": {"elements": 200}, "volume_selection": [{"id": 7, "axis": "x", "position": 1.5}],
                          "transformation": {"scale": 3}},
             "materials": {"id": 7, "density": 2}, "modes": {"count": 1}, "output": {"save_interval": 0}}
    shape, folder, killed = recoil.write_scene("of-pieces", whole), recoil.path("of-pieces"), recoil.path("of-pieces-killed")
    recoil.run(2, "fracture", shape, "--of-pieces", pieces, "-o", folder, "-q")
    for k, density in ((0, [1]), (1, [1, 2])):
        with h5py.File(os.path.join(folder, "piece_%d" % k, "modes.h5"), "r") as file:
            vertices, cells, masses = file["mesh/vertices"][:], file["mesh/cells"][:], file["mesh/masses"][:].ravel()
        volumes = np.linalg.det(vertices[cells[:, 1:]] - vertices[cells[:, :1]]) / 6
        runs.check(sorted(set(np.round(masses / volumes, 6))) == density, "piece %d: materials reach it" % k)
        runs.check(vertices.max() < 3, "piece %d: where it lies" % k)
    ended = moments.run(killed, 1, "file:modes.json", signal.SIGKILL, "fracture", shape, "--of-pieces", pieces, "-o", killed, "-q")
    text = recoil.run(1, "info", killed)[1]
    runs.check("not begun" in text, "info tells of pieces to come: " + text)
    recoil.run(1, "fracture", "--restart", killed, "-q")
    same = all(is_same(os.path.join(killed, "piece_%d" % k), os.path.join(folder, "piece_%d" % k)) for k in range(2))
    runs.check(ended.sent and same, "pieces: killed after the first, continued to the same modes")
    code, text = recoil.run(1, "fracture", shape, "--of-pieces", recoil.folder, "-o", recoil.path("none"), expect=None)
    runs.check(code == 2 and "piece_0.obj" in text, "a folder without pieces: %s" % text.strip()[:200])


def check_limits(recoil):
    """The fields from which the search starts are larger than files may be."""
    shape = recoil.write_scene("large", bar(58, (20, 12, 12), modes={"count": 58, "cut_starts": 0, "random_starts": 0}))
    folder = recoil.path("large")
    done = subprocess.run([recoil.program, "fracture", shape, "-o", folder, "-q"], env=runs.ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8100000, 8100000)))
    text = done.stdout.decode(errors="replace")
    runs.check(done.returncode == 4 and "state.starts.h5" in text, "files that may not grow: exit %d: %s" % (done.returncode, text.strip()[:300]))
    runs.check("state.starts.h5.part" not in os.listdir(folder), "what was written is removed: %s" % os.listdir(folder))


with runs.Recoil(("--moments", str)) as recoil:
    moments = faults.Moments(recoil, recoil.arguments.moments)
    shape, whole = recoil.write_scene("bar", bar()), recoil.path("whole")
    recoil.run(1, "fracture", shape, "-o", whole, "-q")
    energies = fields(whole)[0]
    runs.check(len(energies) == 3 and abs(energies[0] - 2 / np.sqrt(3)) < 1e-10, "energies %s" % energies)
    check_ranks(recoil, whole, shape)
    check_kills(recoil, moments, whole, shape)
    check_signals(recoil, moments, whole, shape)
    check_pieces_search(recoil, moments)
    check_vectors(recoil, moments)
    check_full(recoil, moments)
    check_damage(recoil, moments, whole, shape)
    check_cages(recoil)
    check_pieces(recoil, moments)
    check_limits(recoil)
    schema = json.loads(recoil.run(1, "schema", "fracture")[1])
    runs.check("modes" in schema["properties"], "recoil schema fracture")
    runs.check("-o" in recoil.run(1, "fracture", "--help")[1], "recoil fracture --help")
