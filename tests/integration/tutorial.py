"""Follows a page of docs/tutorial to the letter in a fresh folder, as a reader does who pastes every block.

    tests/integration/tutorial.py --recoil build/ci/recoil contact [--keep-pictures 1]

The word behind the language of a block says what is done with it:
    ```json NAME (or python, csv ..)   is written to the file NAME
    ```sh                              is run by bash, has to end with 0 (or as its last line says: `# exits with N`)
    ```text output [TOLERANCE]         lines that the commands before have printed, in this order; `...` stands for any lines; numbers may
                                       differ by the relative TOLERANCE (1e-3)
Blocks without such a word are left alone. Every picture that the page shows from images/ has to be made, with this name, by its commands;
`--keep-pictures 1` copies them there. With SHOW=1 in the environment all output is shown, not only that of commands that fail.
"""
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from runs import ENVIRONMENT, Recoil, check

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/tutorial"
BLOCK = re.compile(r"^```(\w+)(?: +([^\n]+))?\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.]*\w)")


def agree(stated, printed, tolerance):
    """Whether two lines have the same words, and numbers that differ by the relative tolerance at most."""
    words = [" ".join(NUMBER.sub("#", line).split()) for line in (stated, printed)]
    if words[0] != words[1]:
        return False
    pairs = zip(map(float, NUMBER.findall(stated)), map(float, NUMBER.findall(printed)))
    return all(abs(a - b) <= tolerance * max(abs(a), abs(b)) for a, b in pairs)


def missing_line(stated, printed, tolerance):
    """The first stated line that the output does not have behind those before it; None if it has all."""
    place = 0
    for line in stated:
        if line.strip() == "...":
            continue
        place = next((k + 1 for k in range(place, len(printed)) if agree(line, printed[k], tolerance)), None)
        if place is None:
            return line
    return None


def follow(page, folder, environment):
    """Writes the page's files to the folder, runs its commands there and compares what it says they print."""
    printed = []
    for language, more, body in BLOCK.findall(page.read_text()):
        words = (more or "").split()
        if language == "sh":
            # set -e as a reader stops at the first command that fails.
            result = subprocess.run(["bash", "-ec", body], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            printed = result.stdout.splitlines()
            expected = re.search(r"# exits with (\d+)\s*$", body)
            wanted = int(expected.group(1)) if expected else 0
            check(result.returncode == wanted, f"`{body.strip()}` ends with {result.returncode}, expected {wanted}")
            if result.returncode != wanted or os.environ.get("SHOW"):
                print(result.stdout)
        elif language == "text" and words[:1] == ["output"]:
            line = missing_line(body.splitlines(), printed, float(words[1]) if len(words) > 1 else 1e-3)
            check(line is None, "the commands print what the page says" + ("" if line is None else f", missing: {line}"))
            if line is not None:
                print("\n".join(printed))
        elif words:
            (folder / words[0]).parent.mkdir(parents=True, exist_ok=True)
            (folder / words[0]).write_text(body)


def main():
    with Recoil(("--keep-pictures", int, 0)) as recoil:
        folder, tools = Path(recoil.path("page")), Path(recoil.path("tools"))
        folder.mkdir()
        tools.mkdir()
        (tools / "recoil").symlink_to(recoil.program)
        (tools / "python3").write_text(f"#!/bin/sh\nexec {sys.executable} \"$@\"\n")
        (tools / "python3").chmod(0o755)
        environment = dict(ENVIRONMENT, PATH=f"{tools}:{os.environ['PATH']}", RECOIL=str(ROOT), MPLBACKEND="Agg",
                           PYTHONDONTWRITEBYTECODE="1", PYTHONPATH=str(Path(recoil.program).parent / "python"), OMPI_MCA_rmaps_base_oversubscribe="1")
        page, = (PAGES / f"{name}.md" for name in recoil.rest)
        follow(page, folder, environment)
        for picture in re.findall(r"\]\(images/([^)]+)\)", page.read_text()):
            check((folder / picture).exists(), f"{picture} is made by the page")
            if recoil.arguments.keep_pictures:
                shutil.copy(folder / picture, PAGES / "images")


if __name__ == "__main__":
    main()
