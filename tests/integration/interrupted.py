"""SIGUSR1 to mpirun, and SIGUSR1 or SIGTERM to a rank: the step is finished, a checkpoint written, exit 75; the restarted
run ends at the same answer."""
import os
import signal
import subprocess
import time

import runs


def interrupt(recoil, scene, name, ranks, number):
    folder = recoil.path(name)
    process = subprocess.Popen(recoil.command(ranks, "simulate", scene, "-o", folder, "-q"), env=runs.ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.time() + 60
    while not os.path.exists(os.path.join(folder, "trajectory", "manifest.json")) and time.time() < deadline:
        time.sleep(0.01)
    process.send_signal(number)
    code = process.wait(timeout=120)
    runs.check(code == 75, "%s: exit %d" % (name, code))
    found = runs.summary(folder)
    runs.check(found["status"] == "interrupted" and found["steps"] < 40, "%s: interrupted after %d steps" % (name, found["steps"]))
    recoil.run(ranks, "simulate", "--restart", folder, "-q")
    return runs.state(folder)


with runs.Recoil() as recoil:
    scene = recoil.write_scene("bar", runs.bar([10, 4, 4], 40))
    reference = {n: runs.state(recoil.simulate(n, scene, "whole-%d" % n)) for n in (1, 2)}
    for name, ranks, number in (("mpirun-usr1", 2, signal.SIGUSR1), ("rank-usr1", 1, signal.SIGUSR1),
                                ("rank-term", 1, signal.SIGTERM)):
        runs.check((interrupt(recoil, scene, name, ranks, number) == reference[ranks]).all(), name + ": same answer")
    # A second job in the same folder is refused while the first holds it.
    held = recoil.path("held")
    endless = recoil.write_scene("endless", runs.bar([10, 4, 4], 100000))
    first = subprocess.Popen(recoil.command(1, "simulate", endless, "-o", held, "-q"), env=runs.ENVIRONMENT)
    while not os.path.exists(os.path.join(held, "trajectory", "manifest.json")):
        time.sleep(0.01)
    code, text = recoil.run(1, "simulate", "--restart", held, "-q", expect=None)
    runs.check(code == 4 and str(first.pid) in text, "a second job is refused: " + text.strip())
    first.kill()
    first.wait()
    code, text = recoil.run(1, "simulate", scene, "-o", held, "-q", expect=None)
    runs.check(code == 2, "a used folder is refused: " + text.strip())
