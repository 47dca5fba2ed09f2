#!/usr/bin/env python3
"""Draws a run of an example with few colours, so that the file is small: pictures.py NAME RUN OUTPUT.png [options of scripts/render.py]"""
import os
import subprocess
import sys

from PIL import Image

RENDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "scripts", "render.py")
FRAGMENTS = ("--field", "fragment", "--range", "0", "10", "--cmap", "tab10")
VIEWS = {"stretch": ("--times", "2"), "twist": ("--times", "2"), "drape_64k": ("--times", "2"), "drape_124k": ("--times", "3"),
         "chocolate": ("--times", "4", *FRAGMENTS), "plate": ("--times", "4", *FRAGMENTS),
         "cloth": ("--view", "-90", "60", "--no-rest"), "bending": ("--view", "-80", "10", "--field", "fragment")}


def main():
    name, run, output, *more = sys.argv[1:]
    view = VIEWS["bending" if name.startswith("bending") else name]
    subprocess.run([sys.executable, RENDER, run, "-o", output, "--width", "1100", *view, *more], check=True)
    Image.open(output).convert("RGB").quantize(96).save(output, optimize=True)


if __name__ == "__main__":
    main()
