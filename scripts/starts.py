#!/usr/bin/env python3
"""Several start values for one study, against local minima.

  starts.py draw study.json 3 -o study-3.json    the study with start values drawn with seed 3; seed 0 leaves them as they are
  starts.py list starts/                         the fits in a folder, the smallest objective first

Drawn are the parameters with `bounds` and `initial`: evenly between the bounds, with the scale `log` evenly in the logarithm. The
others keep theirs. Paths become absolute.
"""

import argparse
import json
import math
import random
import sys
from pathlib import Path

FILES = ("scene", "target", "reference", "modes", "file")


def with_absolute_paths(entry, folder):
    if isinstance(entry, list):
        return [with_absolute_paths(value, folder) for value in entry]
    if not isinstance(entry, dict):
        return entry
    return {key: str((folder / value).resolve()) if key in FILES and isinstance(value, str) else with_absolute_paths(value, folder)
            for key, value in entry.items()}


def number(value):
    """A number, or the one in {"value": .., "unit": ..}."""
    return float(value["value"] if isinstance(value, dict) else value)


def drawn(parameter, generator):
    low, high = map(number, parameter["bounds"])
    if parameter.get("scale") == "log":
        return math.exp(generator.uniform(math.log(low), math.log(high)))
    return generator.uniform(low, high)


def draw(study, seed):
    generator = random.Random(seed)
    for parameter in study["parameters"] if isinstance(study["parameters"], list) else [study["parameters"]]:
        initial = parameter.get("initial")
        if seed == 0 or initial is None or "bounds" not in parameter or (isinstance(initial, dict) and "value" not in initial):
            continue
        if isinstance(initial, list):
            parameter["initial"] = [drawn(parameter, generator) for _ in initial]
        else:
            parameter["initial"] = drawn(parameter, generator)
    return study


def write_study(arguments):
    path = Path(arguments.study)
    try:
        study = with_absolute_paths(json.loads(path.read_text()), path.resolve().parent)
    except (OSError, ValueError) as error:
        sys.exit(f"{path}: cannot read the study: {error}")
    Path(arguments.output).write_text(json.dumps(draw(study, arguments.seed), indent=2) + "\n")


def list_fits(arguments):
    found = []
    for path in Path(arguments.folder).glob("*/fit.json"):
        result = json.loads(path.read_text())
        found.append((result.get("objective", math.inf), path.parent, result))
    if not found:
        sys.exit(f"{arguments.folder}: no folder in it holds a fit.json")
    for objective, folder, result in sorted(found, key=lambda entry: entry[:2]):
        values = (f"{name} {entry['value']}" for name, entry in result.get("parameters", {}).items() if "value" in entry)
        print(f"{objective:<14.8g} {folder}  {result['status']}: {'; '.join(values) or result['reason']}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("draw", help="write a study with other start values")
    one.add_argument("study")
    one.add_argument("seed", type=int)
    one.add_argument("-o", "--output", required=True)
    one.set_defaults(work=write_study)
    every = commands.add_parser("list", help="compare the fits in a folder")
    every.add_argument("folder")
    every.set_defaults(work=list_fits)
    arguments = parser.parse_args()
    arguments.work(arguments)


if __name__ == "__main__":
    main()
