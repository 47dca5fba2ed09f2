#!/usr/bin/env python3
"""Cuts a disc and a bar out of a block: core.py BLOCK_RUN FOLDER writes disc.csv and bar.csv, particles that lie in either with all of their sphere."""
import os
import sys

import h5py
import numpy as np

RADIUS, HALF_WIDTH, HALF_LENGTH = 0.012, 0.004, 0.0125


def main():
    with h5py.File(os.path.join(sys.argv[1], "trajectory", "mesh.h5"), "r") as file:
        points, radii = file["coordinates"][:], file["radius"][:].ravel()
    x, y = points[:, 0], points[:, 1]
    for name, inside in (("disc", np.hypot(x, y) + radii <= RADIUS), ("bar", (abs(x) + radii <= HALF_WIDTH) & (abs(y) + radii <= HALF_LENGTH))):
        np.savetxt(os.path.join(sys.argv[2], name + ".csv"), np.column_stack((points, radii))[inside], fmt="%.9g", delimiter=",", header="x,y,z,radius", comments="")
        print("%s: %d particles" % (name, inside.sum()))


if __name__ == "__main__":
    main()
