"""kill -9 at random moments of a run that writes a file per step, and at chosen ones of the set-up: every restart continues, or
begins anew where there is no state, and ends at the same answer. More moments: bench/faults."""
import os
import random
import shutil
import signal
import subprocess
import time

import moments as faults
import runs

KILLS = 20
SEED = 20261

with runs.Recoil(("--moments", str)) as recoil:
    scene = recoil.write_scene("bar", runs.bar([8, 3, 3], 25, chunk=1))
    started = time.time()
    reference = runs.state(recoil.simulate(1, scene, "whole"))
    seconds = time.time() - started
    rng = random.Random(SEED)
    for kill in range(KILLS):
        folder = recoil.path("killed")
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen(recoil.command(1, "simulate", scene, "-o", folder, "-q"), env=runs.ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.05, 0.95) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        if os.path.exists(os.path.join(folder, "scene.json")):
            recoil.run(1, "simulate", "--restart", folder, "-q")
        else:
            recoil.run(1, "simulate", scene, "-o", folder, "-q")
        same = (runs.state(folder) == reference).all()
        runs.check(same, "kill %d: the restarted run ends at the same answer" % kill)
        left = [f for f in os.listdir(os.path.join(folder, "trajectory")) if f.endswith((".tmp", ".part"))]
        runs.check(not left, "kill %d: no leftovers" % kill)

    moments = faults.Moments(recoil, recoil.arguments.moments)
    for job, files in ((faults.bar_job(moments, 2), ("scene.json", "mesh.h5", "states_00000.h5", "manifest.json")),
                       (faults.gradient_job(moments, 1), ("scene.json", "study.json", "pilot.json", "mesh.h5"))):
        for name in files:
            for by_restart in (False, True):
                job.check_kill("killed after " + name, job.disturb("file:" + name, signal.SIGKILL), by_restart)
    folder = recoil.path("foreign")
    os.makedirs(folder)
    for name in ("scene.json", "log.txt", "thesis.tex"):
        with open(os.path.join(folder, name), "w") as file:
            file.write("{}")
    code, text = recoil.run(1, "simulate", scene, "-o", folder, "-q", expect=None)
    runs.check(code == 2 and "thesis.tex" in text and os.path.getsize(os.path.join(folder, "scene.json")) == 2,
               "a folder with anything else is left alone: exit %d: %s" % (code, text.strip()))
