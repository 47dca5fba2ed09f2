#!/usr/bin/env python3
"""Writes the scenes of Lu, Cao, Li and Hu, Implicit Bonded Discrete Element Method with Manifold Optimization: the seven of Table 1
and the bars and the bar of chocolate of Table 2.

    jobs/bonded/scenes.py plate -o plate                            # plate/scene.json and its particles
    jobs/bonded/scenes.py plate --scale 0.02 --explicit -o small    # a fiftieth of the particles, leapfrog
"""
import argparse
import json
import os
from dataclasses import dataclass, replace
from typing import Callable

import numpy as np

CELL = 4 * np.sqrt(2)  # volume of a cell of hcp lattices over r^3
ROW, LAYER = np.sqrt(3), np.sqrt(8 / 3)  # distances of rows and of layers over r
RHO, NU, G = 1000, 0.3, 9.81
EXPLICIT_SHARE = 0.2  # of T, for explicit steps


@dataclass
class Example:
    """A row of a table of the paper, and what is made of it here."""
    build: Callable  # (example, radius, folder) -> scene without `time`; example.count as scaled
    count: int  # particles, of the paper
    E: float  # of bonds [Pa]
    dt_explicit: float  # of the paper [s], from which the radius follows
    dt: float  # implicit, of the paper [s]
    frame: float  # [s]
    frames: int  # of a whole run, ours
    strength: float = None  # of bonds [Pa], ours for Table 1
    breaks_by: int = None  # frame, here
    section: float = 1  # radius of bonds over that of particles
    grows: bool = True  # of fewer particles each is larger; else the body is smaller

    def radius(self, scale=1):
        """The paper's explicit step is 0.2 T, and T is proportional to r. Bodies keep their size at other scales."""
        return self.dt_explicit / EXPLICIT_SHARE / critical_step(self.E * self.section**2, 1) * (scale ** (-1 / 3) if self.grows else 1)

    def steps_per_frame(self, scale=1, explicit=False):
        """The paper's implicit step, rounded so that frames are whole steps; with larger particles it is the same share of T. Those
        of leapfrog consist of sub-steps, so that their number does not matter."""
        if explicit:
            return 10
        return max(1, round(self.frame / self.dt * (scale ** (1 / 3) if self.grows else 1)))


def critical_step(E, r):
    """T = 2 / sqrt(17.9 k_n / m) of hcp lattices of equal spheres: about the critical step of explicit integration."""
    return 2 / np.sqrt(17.9 * (np.pi / 2) * E * r / (RHO * CELL * r**3))


# Bodies


def lattice(cells, r):
    """Centres of nx x ny x nz particles of a hcp lattice: rows along x, layers along z, around the origin."""
    i, j, k = np.meshgrid(*map(np.arange, cells), indexing="ij")
    places = r * np.stack([2 * i + (j + k) % 2, ROW * (j + (k % 2) / 3), LAYER * k], axis=-1).reshape(-1, 3)
    return places - (places.min(axis=0) + places.max(axis=0)) / 2


def filled(size, r, inside=None):
    """The particles of a box around the origin, or those with centres inside of a body in it."""
    places = lattice([max(2, round(s / (d * r))) for s, d in zip(size, (2, ROW, LAYER))], r)
    return places if inside is None else places[inside(*places.T)]


def turned(places, angles):
    """About x, then y, then z [degrees]."""
    for axis, angle in enumerate(np.radians(angles)):
        a, b = (axis + 1) % 3, (axis + 2) % 3
        x, y = places[:, a].copy(), places[:, b].copy()
        places[:, a], places[:, b] = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
    return places


def body(folder, name, places, r, bonds=None, **more):
    """An entry of `geometry` whose particles are in files beside the scene; without `bonds` those that touch are bonded."""
    rows = np.column_stack([places, np.full(len(places), r), np.full(len(places), CELL * r**3)])
    np.savetxt(os.path.join(folder, name + ".csv"), rows, "%.12g", ",", header="x,y,z,radius,volume", comments="")
    particles = {"file": name + ".csv", "bond_tolerance": 1e-6}
    if bonds is not None:
        np.savetxt(os.path.join(folder, name + "_bonds.csv"), bonds, "%d", ",", header="i,j", comments="")
        particles = {"file": name + ".csv", "bonds": name + "_bonds.csv"}
    return {"name": name, "particles": particles, **more}


def beyond(axis, position, number):
    return {"id": number, "axis": axis, "position": float(position)}


def ends_of(places, r):
    """Two layers at either end along x have the ids 1 and 2."""
    end = places[:, 0].max() - 1.5 * r
    return [beyond("-x", -end, 1), beyond("x", end, 2)]


def material(example):
    given = {"type": "BondedParticles", "E": example.E, "nu": NU, "rho": RHO}
    return {**given, "tensile_strength": example.strength, "shear_strength": example.strength} if example.strength else given


def ramp(duration):
    """From 0 to 1, smooth at both ends."""
    return "((t/%r)^2*(3-2*t/%r))" % (duration, duration)


def floor():
    return {"name": "floor", "is_obstacle": True, "type": "plane", "point": [0, 0, 0], "normal": [0, 0, 1]}


# Scenes

BEAM = (2.0, 0.4, 0.4)


def stretch(example, r, folder):
    """A beam whose ends are drawn apart by 40 % of its length."""
    places = filled(BEAM, r)
    way = "%r*%s" % (0.2 * BEAM[0], ramp(example.frame * example.frames))
    return {"geometry": [body(folder, "beam", places, r, point_selection=ends_of(places, r))], "materials": material(example),
            "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": ["-" + way, 0, 0]}, {"id": 2, "value": [way, 0, 0]}]}}


def twist(example, r, folder):
    """A beam whose ends are turned by half a turn each, in opposite senses."""
    places = filled(BEAM, r)
    def end(number, sense):
        turn = "%r*%s" % (sense * np.pi, ramp(example.frame * example.frames))
        return {"id": number, "value": [0, "y*(cos(%s)-1)-z*sin(%s)" % (turn, turn), "y*sin(%s)+z*(cos(%s)-1)" % (turn, turn)],
                "rotation": [turn, 0, 0]}
    return {"geometry": [body(folder, "beam", places, r, point_selection=ends_of(places, r))], "materials": material(example),
            "boundary_conditions": {"dirichlet_boundary": [end(1, -1), end(2, 1)]}}


def drape(example, r, folder):
    """A beam that is held at one end and falls by its weight."""
    places = filled(BEAM, r)
    return {"geometry": [body(folder, "beam", places, r, point_selection=ends_of(places, r))], "materials": material(example),
            "gravity": [0, 0, -G], "boundary_conditions": {"dirichlet_boundary": [{"id": 1, "value": [0, 0, 0]}]}}


def dropped(example, r, folder, name, places, angles, friction=0.4):
    """A body that meets the floor at 5 m/s."""
    dhat = 0.1 * r
    places = turned(places, angles)
    places[:, 2] += r + 1.01 * dhat - places[:, 2].min()
    return {"geometry": [body(folder, name, places, r), floor()], "materials": material(example), "gravity": [0, 0, -G],
            "contact": {"enabled": True, "dhat": dhat, "friction_coefficient": friction, "epsv": 0.05},
            "initial_conditions": {"velocity": [{"body": name, "value": [0, 0, -5]}]}}


PIECE = 0.068  # of a bar of chocolate [m]


def chocolate(example, r, folder):
    """A bar of 6 x 4 pieces with grooves between them that falls on a corner."""
    def inside(x, y, z):
        groove = np.minimum(*(abs(s / PIECE - np.round(s / PIECE)) * PIECE for s in (x, y)))
        return z < -0.0275 + 0.033 + 0.022 * np.clip((groove - 0.004) / 0.008, 0, 1)
    places = filled((6 * PIECE, 4 * PIECE, 0.055), r, inside)
    return dropped(example, r, folder, "chocolate", places, (3, 6, 0))


def plate(example, r, folder):
    """A round plate with a raised rim that falls on the edge of its foot."""
    flat, rim, height, thickness = 0.2, 0.3, 0.05, 0.031
    def inside(x, y, z):
        rho = np.hypot(x, y)
        s = np.clip((rho - flat) / (rim - flat), 0, 1)
        return (rho < rim) & (abs(z - height * (s * s * (3 - 2 * s) - 0.5)) < thickness / 2)
    places = filled((2 * rim, 2 * rim, height + thickness), r, inside)
    return dropped(example, r, folder, "plate", places, (0, 6, 0))


PER_CROSSING = 4  # particles of a yarn from one crossing to the next


def yarn(r, dhat, crossings):
    """Half a wave after the other: distance of crossings and places (along, up) of the particles, spaced 2 r along the yarn, those at
    crossings on top or below."""
    a = r + dhat / 2
    def length(pitch):
        x = np.linspace(0, pitch, 2001)
        return np.hypot(np.diff(x), np.diff(a * np.cos(np.pi * x / pitch))).sum()
    low, high = r, 2 * r * PER_CROSSING
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if length(middle) < 2 * r * PER_CROSSING else (low, middle)
    # Chords are 2 r: march from crest to crest, corrected evenly.
    fine = np.linspace(0, low, 2001)
    along = np.concatenate([[0], np.cumsum(np.hypot(np.diff(fine), np.diff(a * np.cos(np.pi * fine / low))))])
    x = np.interp(np.arange(PER_CROSSING) * along[-1] / PER_CROSSING, along, fine)
    whole = (low * np.arange(crossings)[:, None] + x).ravel()[:PER_CROSSING * (crossings - 1) + 1]
    return low, whole, a * np.cos(np.pi * whole / low)


def cloth(example, r, folder):
    """A plain weave, cut in from one side, that is drawn apart until it tears."""
    dhat = 0.05 * r
    count = round(np.sqrt(example.count / (2 * PER_CROSSING)))
    pitch, along, up = yarn(r, dhat, count)
    width, length = pitch * (count - 1), len(along)
    places, bonds = [], []
    for n in range(count):
        sign = 1 if n % 2 else -1
        across = np.full(length, n * pitch)
        for of_yarn in (np.column_stack([along, across, sign * up]), np.column_stack([across, along, -sign * up])):
            first = length * len(places) + np.arange(length - 1)
            places.append(of_yarn - [width / 2, width / 2, 0])
            bonds.append(np.column_stack([first, first + 1]))
    places, bonds = np.concatenate(places), np.concatenate(bonds)
    # The cut parts a fifth of the yarns along x in the middle.
    ends = places[bonds]
    cut = (np.sign(ends[:, 0, 0] + 1e-6 * pitch) != np.sign(ends[:, 1, 0] + 1e-6 * pitch)) & (ends[:, :, 1].mean(axis=1) < -0.3 * width)
    grip = width / 2 - 1.5 * pitch
    way = "%r*t*(0.5-y/%r)" % (0.15 * width / (example.frame * example.frames), width)
    ends = [{"id": 1, "value": ["-" + way, 0, 0], "rotation": "free"}, {"id": 2, "value": [way, 0, 0], "rotation": "free"}]
    return {"geometry": [body(folder, "cloth", places, r, bonds[~cut], point_selection=[beyond("-x", -grip, 1), beyond("x", grip, 2)])],
            "materials": {**material(example), "section": example.section},
            "boundary_conditions": {"dirichlet_boundary": ends},
            "contact": {"enabled": True, "dhat": dhat, "friction_coefficient": 0.3, "epsv": 0.01}}


BAR, SPAN = (0.45, 0.09, 0.09), 0.36  # of three-point bending [m]
BARS = ((21, 5, 5), (32, 7, 8), (67, 16, 17))  # particles along its edges


def bending(example, r, folder):
    """Three-point bending between rollers. Of whatever size particles are, b h^2 is that of BAR."""
    cells = min(BARS, key=lambda cells: abs(np.prod(cells) - example.count))
    r = (BAR[1] * BAR[2] ** 2 / (cells[1] * ROW * (cells[2] * LAYER) ** 2)) ** (1 / 3)
    places, roller, dhat = lattice(cells, r), BAR[2] / 4, 5e-5
    def cylinder(name, x, side, number):
        """0.9 dhat above or below the spheres that it will touch."""
        reach = r + roller * np.cos(np.pi / 72) + 0.9 * dhat
        under = abs(places[:, 0] - x) < reach
        z = (side * places[under, 2] + np.sqrt(reach**2 - (places[under, 0] - x) ** 2)).max()
        return {"name": name, "is_obstacle": True, "generator": {"type": "cylinder", "radius": roller, "height": 2 * BAR[1], "divisions": [72, 1]},
                "transformation": {"rotation": [90, 0, 0], "translation": [x, 0, float(side * z)]}, "surface_selection": number}
    rollers = [cylinder("left", -SPAN / 2, -1, 1), cylinder("right", SPAN / 2, -1, 2), cylinder("middle", 0, 1, 3)]
    return {"geometry": [body(folder, "bar", places, r), *rollers], "materials": material(example),
            "contact": {"enabled": True, "dhat": dhat},
            "boundary_conditions": {"obstacle_displacements": [{"id": 3, "value": [0, 0, "-0.002*t"]}]}}


EXAMPLES = {
    "stretch": Example(stretch, 19000, 1e7, 2.6e-5, 0.016, 1 / 60, 60),
    "twist": Example(twist, 19000, 1e7, 2.6e-5, 0.0015, 1 / 60, 60),
    "drape_64k": Example(drape, 64000, 1e9, 1.7e-6, 0.008, 1 / 60, 60),
    "drape_124k": Example(drape, 124000, 1e6, 4.4e-5, 0.0024, 1 / 60, 60),
    "chocolate": Example(chocolate, 58000, 1e9, 4.4e-7, 4.4e-5, 1 / 480, 8, strength=3e6, breaks_by=6),
    "plate": Example(plate, 219000, 1e9, 3.5e-7, 3.5e-5, 1 / 480, 8, strength=5e6, breaks_by=4),
    "cloth": Example(cloth, 165000, 1e9, 3.5e-7, 1.74e-5, 1 / 480, 30, strength=7e7, breaks_by=15, section=0.25, grows=False),
    "bending_low": Example(bending, 532, 1e7, 2.0e-5, 1 / 240, 1 / 60, 36, strength=3e4, breaks_by=36, grows=False),
    "bending_middle": Example(bending, 1800, 1e7, 9.1e-6, 1 / 240, 1 / 60, 36, strength=3e4, breaks_by=36, grows=False),
    "bending_high": Example(bending, 18000, 1e7, 5.8e-6, 1 / 240, 1 / 60, 36, strength=3e4, breaks_by=36, grows=False),
}


def write(name, folder, scale=1, explicit=False):
    """Writes scene.json and the particles of an example into a folder and returns the scene, which stores a state per frame."""
    example = EXAMPLES[name]
    os.makedirs(folder, exist_ok=True)
    per_frame = example.steps_per_frame(scale, explicit)
    scene = example.build(replace(example, count=round(scale * example.count)), float(example.radius(scale)), folder)
    keys = {"integrator": "leapfrog", "explicit_share": EXPLICIT_SHARE} if explicit else {"integrator": "be_reflect", "max_iterations": 500}
    if example.strength and not explicit:
        # Implicit steps throughout, as in the paper: by default leapfrog would take those of impacts.
        keys.update(cascade_share=0.3, sudden_breaking="shorter_steps")
    scene["solver"] = {"type": "bonded_particles", "bonded_particles": keys}
    scene["time"] = {"dt": example.frame / per_frame, "time_steps": example.frames * per_frame}
    scene["output"] = {"every": per_frame}
    with open(os.path.join(folder, "scene.json"), "w") as file:
        json.dump(scene, file, indent=2)
        file.write("\n")
    return scene


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=EXAMPLES)
    parser.add_argument("-o", "--output", help="folder (default: that name)")
    parser.add_argument("--scale", type=float, default=1, help="of the number of particles (default: 1)")
    parser.add_argument("--explicit", action="store_true", help="leapfrog in sub-steps of 0.2 T in place of be_reflect")
    arguments = parser.parse_args()
    scene = write(arguments.name, arguments.output or arguments.name, arguments.scale, arguments.explicit)
    print("%d steps of %.4g s" % (scene["time"]["time_steps"], scene["time"]["dt"]))


if __name__ == "__main__":
    main()
