"""Memory that runs out on one rank, files that reach `ulimit -f`, sizes that no machine holds: a sentence and an exit code of
recoil's, soon, on every rank."""
import os
import resource
import subprocess
import time

import runs
from pieces import box, material

CODES = {0, 2, 4}


def cube(n, **more):
    return dict({
        "geometry": [box("cube", [1, 1, 1], [n, n, n], [0, 0, 0], surface_selection=[{"id": 1, "axis": "-z", "position": -0.499}])],
        "materials": material(1e5, 0.3, 1000),
        "gravity": [0, 0, -1],
        "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]},
        "time": {"dt": 0.01, "time_steps": 1},
    }, **more)


def limit_one_rank(recoil):
    """The larger limits are met while the mesh is read, distributed and solved on, the least one before MPI starts."""
    scene = recoil.write_scene("cube", cube(30))
    script = recoil.path("limited")
    with open(script, "w") as file:
        file.write('#!/bin/bash\nif [ "$OMPI_COMM_WORLD_RANK" = "$2" ]; then ulimit -v "$1"; fi\nshift 2\nexec "$@"\n')
    os.chmod(script, 0o755)
    told = 0
    for number, kilobytes in enumerate((200000, 560000, 600000, 640000, 680000)):
        guilty = number % 2
        folder = recoil.path("limited-%d" % kilobytes)
        begin = time.monotonic()
        process = subprocess.Popen(["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none", script, str(kilobytes), str(guilty), recoil.program,
                                    "simulate", scene, "-o", folder, "-q"], env=runs.ENVIRONMENT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            text = process.communicate(timeout=150)[0].decode(errors="replace")
        except subprocess.TimeoutExpired:
            process.kill()
            text, process.returncode = process.communicate()[0].decode(errors="replace"), "none"
        seconds = time.monotonic() - begin
        runs.check(process.returncode in CODES, "%d kB on rank %d: exit %s after %.0f s" % (kilobytes, guilty, process.returncode, seconds))
        if process.returncode != 0:
            told += 1
            runs.check("recoil: " in text and "memory" in text, "%d kB on rank %d: a sentence: %s" % (kilobytes, guilty, text[-300:]))
    runs.check(told >= 2, "the limits are tight enough to be met: %d of 5" % told)


def limit_files(recoil):
    scene = recoil.write_scene("written", cube(4, time={"dt": 1e-3, "time_steps": 100000}, output={"chunk": 1}))
    small = subprocess.run([recoil.program, "simulate", scene, "-o", recoil.path("small"), "-q"], env=runs.ENVIRONMENT, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000)))
    runs.check(small.returncode == 4 and b"recoil: `ulimit -f`" in small.stderr, "too small a limit to start: exit %s" % small.returncode)

    folder = recoil.path("written")
    process = subprocess.Popen([recoil.program, "simulate", scene, "-o", folder, "-q"], env=runs.ENVIRONMENT, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    while not os.path.exists(os.path.join(folder, "trajectory", "manifest.json")) and process.poll() is None:
        time.sleep(0.02)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        text = process.communicate(timeout=60)[1].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[1].decode(errors="replace")
    runs.check(process.returncode == 4 and "recoil: " in text and "File too large" in text,
               "files of a run reach the limit: exit %s, %s" % (process.returncode, text.strip()[-300:]))


def predict(recoil):
    """Refused before anything is allocated: the key, the count, the memory and the remedy are told."""
    generator = {"type": "box", "size": [1, 1, 1], "divisions": [10000, 10000, 10000]}
    for name, scene, key in (
            ("refined", cube(4), "n_refs 12"),
            ("divided", cube(4, geometry=[{"name": "cube", "generator": generator}]), "divisions [10000, 10000, 10000]"),
            ("copied", cube(4), "an array of sizes [3000, 3000, 3000]")):
        if name == "refined":
            scene["geometry"][0]["n_refs"] = 12
        if name == "copied":
            scene["geometry"][0].update({"type": "mesh_array", "array": {"size": [3000, 3000, 3000], "offset": 2, "relative": True}})
        path = recoil.write_scene(name, scene)
        begin = time.monotonic()
        code, text = recoil.run(1, "validate", path, expect=None)
        runs.check(code == 2 and time.monotonic() - begin < 20, "%s: exit %d after %.1f s" % (name, code, time.monotonic() - begin))
        for part in (key, "cells", "vertices", "of memory", "gives", "take fewer", "/geometry/"):
            runs.check(part in text, "%s: '%s' is told: %s" % (name, part, text.strip()[:300]))


with runs.Recoil() as recoil:
    predict(recoil)
    limit_files(recoil)
    limit_one_rank(recoil)
