"""The examples of jobs/bonded with few particles, implicit and explicit: they run, their energies add up, nothing overlaps, bonds break
where they should, and beams that are stretched and twisted end in the same shape both ways."""
import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "jobs", "bonded"))
import run  # noqa: E402
import runs  # noqa: E402

# Share of the particles, frames.
CASES = {"stretch": (0.01, 5), "twist": (0.01, 5), "drape_64k": (0.01, 3), "drape_124k": (0.01, 3), "chocolate": (0.01, 6), "plate": (0.004, 3),
         "cloth": (0.003, 1), "bending_low": (1, 2)}

with runs.Recoil() as recoil:
    for name, (scale, frames) in CASES.items():
        run.both(name, argparse.Namespace(recoil=recoil.program, ranks=1, out=recoil.folder, scale=scale, frames=frames, minutes=None, only=None))
