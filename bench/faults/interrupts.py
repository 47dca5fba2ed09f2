#!/usr/bin/env python3
"""Signals and kills at moments drawn by a seed; what is left must go on to the bits of a run that was left alone.

    bench/faults/interrupts.py --recoil build/ci/recoil --moments build/ci/tests/integration/libmoments.so --seed 1
    bench/faults/interrupts.py ... --signals 40 --kills 40 --step 60   # the default: about an hour on two processors

Signals: to one rank (SIGUSR1 or SIGTERM) before one of its reductions, which are everywhere in set-up, steps, sub-moves, friction
passes, sub-steps, sweeps and checks; at the start and the end of the process, again and again; to mpirun and to single ranks at
random times; in a step of --step seconds. Expected: exit 75 (0 where it came after the last step), at most one Newton iteration
more, and after --restart the same bits and the same ledger.csv.
Kills: kill -9 before a reduction of the set-up, or right after a file got its name, between manifest and ledger among them.
Expected: -o or --restart, as drawn, goes on to the same bits, --restart alone where there is a state; ledger.csv is whole.

The exit code is 1 if any expectation failed; all are printed.
"""
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests" / "integration"))
import moments as faults  # noqa: E402
import runs  # noqa: E402

SIGNALS = (signal.SIGUSR1, signal.SIGTERM)


def is_ready(pid):
    """The process has got as far as main(): it handles SIGUSR1."""
    try:
        with open("/proc/%d/status" % pid) as file:
            caught = next(line for line in file if line.startswith("SigCgt"))
    except (OSError, StopIteration):
        return False
    return bool(int(caught.split()[1], 16) >> (signal.SIGUSR1 - 1) & 1)


def at_reductions(jobs, count, rng):
    """The last continuation is disturbed too: restarts have set-ups as well."""
    for i in range(count):
        job = jobs[i % len(jobs)]
        rank = rng.randrange(job.ranks)
        at, number = rng.randint(1, job.reductions[rank]), rng.choice(SIGNALS)
        ended = job.disturb("reduction", number, count=at, rank=rank, repeat=i % 2 == 1)
        if i % 3 == 0 and ended.code == 75:
            again = rng.randint(1, max(1, job.reductions[rank] - at))
            second = job.disturb("reduction", number, continued=True, count=again, rank=rank)
            runs.check(second.code in (0, 75), "%s: interrupted again at %d: exit %d" % (job.name, again, second.code))
        job.check_interruption("signal %d to rank %d at reduction %d of %d" % (number, rank, at, job.reductions[rank]), ended)


def at_start_and_end(jobs):
    for job in jobs:
        for number in SIGNALS:
            job.check_start_and_end(number)


def at_random_times(jobs, count, rng, program):
    """From outside, to mpirun or one rank, and twice: shutting down takes time too."""
    for i in range(count):
        job = jobs[i % len(jobs)]
        started = time.time()
        subprocess.run(job.moments.recoil.command(job.ranks, *job.fresh(job.clear(job.folder))), env=runs.ENVIRONMENT, check=True,
                       stdout=subprocess.DEVNULL)
        seconds = time.time() - started
        process = subprocess.Popen(job.moments.recoil.command(job.ranks, *job.fresh(job.clear(job.folder))), env=runs.ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ranks = []
        while process.poll() is None and not (len(ranks) == job.ranks and all(map(is_ready, ranks))):
            ranks = runs.ranks_of(process, program)
        time.sleep(rng.uniform(0, 1) * seconds)
        # mpirun hands SIGUSR1 on, but ends its ranks itself after SIGTERM.
        target, number = rng.choice([(process.pid, signal.SIGUSR1)] + [(rank, number) for rank in ranks for number in SIGNALS])
        for _ in range(2):
            try:
                os.kill(target, number)
            except ProcessLookupError:
                break
            time.sleep(rng.uniform(0, 0.1))
        ended = faults.Ended(process.wait(timeout=faults.PATIENCE), "", True, "")
        job.check_interruption("signal %d to %s" % (number, "mpirun" if target == process.pid and job.ranks > 1 else "a rank"), ended)


def in_a_long_step(moments, seconds, rng):
    """How long a signal waits within a step; the step is made as long as wished by the size of the scene."""
    divisions = 8
    while True:
        scene = runs.bar([3 * divisions, divisions, divisions], 2, integrator="BDF1", order=2)
        scene["time"]["dt"] = 0.1
        scene["solver"] = {"nonlinear": {"grad_norm_tol": 1e-12, "rel_grad_norm_tol": 1e-12}}
        path = moments.recoil.write_scene("long-step", scene)
        whole = moments.recoil.path("long-step-whole")
        shutil.rmtree(whole, ignore_errors=True)
        started = time.time()
        moments.recoil.run(2, "simulate", path, "-o", whole, "-q", "-v")
        taken = (time.time() - started) / 2
        print("      a step of %.0f s" % taken, flush=True)
        if taken >= seconds:
            break
        divisions = max(divisions + 1, int(divisions * min(2, (seconds / taken) ** 0.25)))
    folder = moments.recoil.path("long-step")
    for number in SIGNALS:
        shutil.rmtree(folder, ignore_errors=True)
        process = subprocess.Popen(moments.recoil.command(2, "simulate", path, "-o", folder, "-q", "-v"), env=runs.ENVIRONMENT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        log = os.path.join(folder, "log.txt")
        while not os.path.exists(log) or "debug: newton" not in open(log).read():
            time.sleep(0.1)
        time.sleep(rng.uniform(0, 0.2) * taken)
        size, sent = os.path.getsize(log), time.time()
        os.kill(runs.ranks_of(process, moments.recoil.program)[-1], number)
        code = process.wait(timeout=faults.PATIENCE)
        waited, more = time.time() - sent, open(log).read()[size:].count("debug: newton ")
        runs.check(code == 75 and more <= 1, "a step of %.0f s: exit %d after %.1f s and %d Newton iteration(s)" % (taken, code, waited, more))
        moments.recoil.run(2, "simulate", "--restart", folder, "-q")
        runs.check((runs.state(folder) == runs.state(whole)).all(), "a step of %.0f s: continued to the same bits" % taken)


def kills(jobs, count, rng):
    files = {"simulate": ("scene.json", "mesh.h5", "states_00000.h5", "manifest.json", "ledger.csv"),
             "gradient": ("scene.json", "study.json", "pilot.json", "mesh.h5", "states_00000.h5", "manifest.json", "ledger.csv")}
    for i in range(count):
        job, by_restart = jobs[i % len(jobs)], rng.random() < 0.5
        if i % 2:
            name = rng.choice(files[job.command])
            at = rng.randint(1, 3) if name == "manifest.json" else 1
            ended = job.disturb("file:" + name, signal.SIGKILL, count=at)
            what = "killed after %s %d" % (name, at)
        else:
            rank = rng.randrange(job.ranks)
            at = rng.randint(1, job.reductions[rank] // 3)
            ended = job.disturb("reduction", signal.SIGKILL, count=at, rank=rank)
            what = "killed at reduction %d" % at
        job.check_kill(what, ended, by_restart)


with runs.Recoil(("--moments", str), ("--seed", int, 1), ("--signals", int, 40), ("--kills", int, 40), ("--step", float, 60)) as recoil:
    given = recoil.arguments
    print("seed %d" % given.seed, flush=True)
    rng = random.Random(given.seed)
    moments = faults.Moments(recoil, given.moments)
    simulations = [make(moments, ranks) for ranks in (1, 2, 3) for make in (faults.bar_job, faults.torn_job, faults.pressed_job)]
    gradients = [faults.gradient_job(moments, ranks, *check) for ranks in (1, 2) for check in ((), ("--check",))]
    jobs = simulations + gradients
    rng.shuffle(jobs)
    kills(jobs, given.kills, rng)
    at_reductions(jobs, given.signals, rng)
    at_start_and_end(simulations[:4:3] + gradients[:1])
    at_random_times(jobs, given.signals, rng, os.path.realpath(recoil.program))
    if given.step > 0:
        in_a_long_step(moments, given.step, rng)
