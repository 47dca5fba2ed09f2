"""Executed by yade: bonded spheres under loads, in explicit damped steps until they stand still. compare.py writes the model and reads the result.

    yade -n -x -j 1 settle.py model.json found.json

Every bond is an interaction of yade's cohesive law with moments; its four stiffnesses are the model's.
Names that are not imported are those that yade gives to the scripts it executes.
"""
import json
import sys
import time

UNBREAKABLE = 1e30  # [Pa]
CHECKED = 100  # steps between two looks at the state
RAMP = 100  # steps in which prescribed particles move
UNBALANCED, KINETIC = 1e-6, 1e-10  # unbalance() and kinetic_share() of particles at rest
STEPS = 2000000


def build(model):
    """Spheres, bonds and engines; no collider, for in small deformations nothing new comes into contact."""
    # O.wait() sleeps for longer than many steps take; so the run looks at itself, at the forces of the step before.
    O.engines = [PyRunner(iterPeriod=CHECKED, command="look()"),
                 ForceResetter(),
                 InteractionLoop([Ig2_Sphere_Sphere_ScGeom6D(interactionDetectionFactor=1.01)],
                                 [Ip2_CohFrictMat_CohFrictMat_CohFrictPhys(setCohesionOnNewContacts=True)],
                                 [Law2_ScGeom6D_CohFrictPhys_CohesionMoment(label="law", always_use_moment_law=True, useIncrementalForm=True)]),
                 NewtonIntegrator(damping=model["damping"])]
    O.dt = model["dt"]
    O.materials.append(CohFrictMat(young=1, poisson=0.3, isCohesive=True, momentRotationLaw=True, alphaKr=1, alphaKtw=1,
                                   normalCohesion=UNBREAKABLE, shearCohesion=UNBREAKABLE))
    for centre, radius, mass in zip(model["centres"], model["radii"], model["masses"]):
        state = O.bodies[O.bodies.append(utils.sphere(centre, radius))].state
        state.mass, state.inertia = mass, Vector3(1, 1, 1) * 0.4 * mass * radius**2
    for bond in model["bonds"]:
        found = utils.createInteraction(bond["i"], bond["j"])
        for key in ("kn", "ks", "kr", "ktw"):
            setattr(found.phys, key, bond[key])
        # The distance at rest is that of the centres, to the last bit.
        found.phys.unp = found.geom.penetrationDepth
    for particle, force in model["forces"]:
        O.forces.setPermF(particle, force)
    for group in model["held"]:
        for particle in group["particles"]:
            O.bodies[particle].state.blockedDOFs = "xyzXYZ"


def move(seconds):
    """Held particles take their way in this time; 0: they stop."""
    for group in model["held"]:
        for particle in group["particles"]:
            state = O.bodies[particle].state
            state.vel = Vector3(group["displacement"]) / seconds if seconds else Vector3.Zero
            state.angVel = Vector3(group["rotation"]) / seconds if seconds else Vector3.Zero


def kinetic_share():
    """Kinetic over elastic energy."""
    return utils.kineticEnergy() / (law.normElastEnergy() + law.shearElastEnergy() + law.bendingElastEnergy() + law.twistElastEnergy())


def unbalance():
    """Mean force on free particles over that in bonds, with moments over radii; yade's unbalancedForce() knows no moments."""
    free = [body for body in O.bodies if not body.state.blockedDOFs]
    on_particles = [O.forces.f(body.id, sync=True).norm() + O.forces.t(body.id, sync=True).norm() / body.shape.radius for body in free]
    in_bonds = [(bond.phys.normalForce + bond.phys.shearForce).norm() + (bond.phys.moment_bending + bond.phys.moment_twist).norm() / bond.geom.refR1
                for bond in O.interactions]
    return sum(on_particles) / len(on_particles) * len(in_bonds) / sum(in_bonds)


def look():
    """Stops the held particles after their way, and the run where all stand still."""
    if O.iter == RAMP:
        move(0)
    if O.iter <= RAMP or kinetic_share() > KINETIC and O.iter < STEPS:
        return
    unbalanced = unbalance()
    if unbalanced < UNBALANCED or O.iter >= STEPS:
        found.update(solve_s=time.monotonic() - begin, steps=O.iter, unbalanced=unbalanced, kinetic=kinetic_share())
        O.pause()


def reaction(group):
    """Force that holds these particles, and its moment if it is but one."""
    force = -sum((O.forces.f(particle, sync=True) for particle in group["particles"]), Vector3.Zero)
    moment = -O.forces.t(group["particles"][0], sync=True) if len(group["particles"]) == 1 else Vector3.Zero
    return {"force": list(force), "moment": list(moment)}


with open(sys.argv[1]) as file:
    model = json.load(file)
build(model)
move(RAMP * O.dt)
found, begin = {}, time.monotonic()
O.run(wait=True)
if found["unbalanced"] > UNBALANCED or found["kinetic"] > KINETIC:
    raise SystemExit("not at rest after %(steps)d steps: unbalanced %(unbalanced).1e, kinetic %(kinetic).1e" % found)
found["places"] = [list(body.state.pos) for body in O.bodies]
found["reactions"] = [reaction(group) for group in model["held"]]
with open(sys.argv[2], "w") as file:
    json.dump(found, file)
