"""kill -9 at random moments of a run that writes a file per step: every restart continues and ends at the same answer."""
import os
import random
import shutil
import signal
import subprocess
import time

import runs

KILLS = 20
SEED = 20261

with runs.Recoil() as recoil:
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
        had = os.path.exists(os.path.join(folder, "trajectory", "manifest.json"))
        if had:
            recoil.run(1, "simulate", "--restart", folder, "-q")
        else:
            # Nothing had been written: the folder says so, and a fresh run is what is left.
            code, text = recoil.run(1, "simulate", "--restart", folder, "-q", expect=None)
            runs.check(code in (2, 4), "kill %d before the first state: restart says so (exit %d)" % (kill, code))
            continue
        same = (runs.state(folder) == reference).all()
        runs.check(same, "kill %d: the restarted run ends at the same answer" % kill)
        left = [f for f in os.listdir(os.path.join(folder, "trajectory")) if f.endswith((".tmp", ".part"))]
        runs.check(not left, "kill %d: no leftovers" % kill)
