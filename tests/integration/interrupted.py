"""SIGUSR1 to mpirun, and SIGUSR1 or SIGTERM to a rank: the run ends within one Newton iteration, at any moment from the first
line of main() on, with a checkpoint and exit 75; the restarted one ends at the same answer. More moments: bench/faults."""
import os
import signal
import subprocess
import time

import moments as faults
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


with runs.Recoil(("--moments", str)) as recoil:
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

    moments = faults.Moments(recoil, recoil.arguments.moments)
    faults.bar_job(moments, 1).check_start_and_end(signal.SIGTERM)
    faults.bar_job(moments, 2).check_start_and_end(signal.SIGUSR1)
    # Libraries that set handlers of their own have done so by then.
    job = faults.bar_job(moments, 2)
    for rank in range(2):
        job.check_interruption("SIGTERM again and again to rank %d" % rank,
                               job.disturb("reduction", signal.SIGTERM, count=job.reductions[rank] // 2, rank=rank, repeat=True))
    for job in (faults.pressed_job(moments, 2), faults.torn_job(moments, 1), faults.gradient_job(moments, 1, "--check")):
        rank = job.ranks - 1
        for share in (0.05, 0.3, 0.5, 0.7, 0.9):
            at = int(share * job.reductions[rank])
            job.check_interruption("reduction %d of %d" % (at, job.reductions[rank]), job.disturb("reduction", signal.SIGUSR1, count=at, rank=rank, repeat=share > 0.4))
    # What has nothing to save ends at once, as ever.
    ended = moments.run(recoil.folder, 1, "start", signal.SIGTERM, "validate", scene)
    runs.check(ended.code == signal.SIGTERM, "SIGTERM ends `recoil validate`: %d" % ended.code)
