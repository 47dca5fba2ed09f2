"""A step that Newton's method cannot do in the iterations it is given is repeated as sub-steps: the run goes on, the
sub-steps are recorded with their predecessors, and a restart right after them is exact. A step that cannot be done at all
ends with exit 3 and keeps what was reached."""
import runs


def hard_scene(iterations, retries):
    scene = runs.bar([6, 2, 2], 4, integrator="BDF2", chunk=1)
    # The clamped end is torn away so fast that one step needs more iterations than allowed.
    scene["boundary_conditions"]["dirichlet_boundary"][0]["value"] = [0, "40*t^2", 0]
    scene["solver"] = {"nonlinear": {"max_iterations": iterations}}
    scene["time"]["dt"] = 0.05
    scene["time"]["max_retries"] = retries
    return scene


with runs.Recoil() as recoil:
    path = recoil.write_scene("hard", hard_scene(3, 6))
    folder = recoil.simulate(1, path, "hard")
    found = runs.summary(folder)
    runs.check(found["status"] == "done" and found["retried_steps"] > 0,
               "%d repetitions, then done" % found["retried_steps"])
    records = [r for f in runs.manifest(folder)["files"] for r in f["states"]]
    inner = [r for r in records if r.get("step") is None]
    runs.check(len(inner) > 0, "%d sub-steps are recorded" % len(inner))
    for record in inner:
        runs.check(record["from"] == [record["id"] - 1] and record["a"] == [-1.0] and record["b"] == 1.0,
                   "sub-step %d is BDF1 from the state before it" % record["id"])
    runs.check([r["step"] for r in records if r.get("step") is not None] == [0, 1, 2, 3, 4], "nominal steps are complete")
    times = [r["time"] for r in records]
    runs.check(all(a < b for a, b in zip(times, times[1:])), "time grows from state to state")
    whole = runs.state(folder)
    for step in (1, 2, 3):
        part = recoil.simulate(1, path, "part", "--steps", step)
        recoil.run(1, "simulate", "--restart", part, "-q")
        runs.check((runs.state(part) == whole).all(), "restart after step %d is bitwise" % step)

    listed = hard_scene(3, 6)
    times = [0.05 * n for n in range(1, 5)]
    listed["boundary_conditions"]["dirichlet_boundary"][0].update(value=[0, [40 * t * t for t in times], 0],
                                                                  time_reference=times)
    found = runs.summary(recoil.simulate(1, recoil.write_scene("listed", listed), "listed"))
    runs.check(found["status"] == "done" and found["retried_steps"] > 0,
               "a list of values per step: %d repetitions, then done" % found["retried_steps"])

    path = recoil.write_scene("hopeless", hard_scene(1, 1))
    folder = recoil.path("hopeless")
    code, text = recoil.run(1, "simulate", path, "-o", folder, "-q", expect=None)
    runs.check(code == 3 and "step 1 failed" in text, "exit %d: %s" % (code, text.strip()))
    runs.check(runs.summary(folder)["status"] == "failed", "the summary says so")
