#!/usr/bin/env python3
"""Checks the layers of recoil: docs/layers.txt says which folder may see which.

Rules, one line per violation as `file:line: [rule] what`:
  floor    a folder includes (or its CMakeLists.txt links) only strictly lower floors
  private  headers under src/ are seen by their own folder only
  door     an outside library is included and linked only in the folders that docs/layers.txt names for it
  folder   every source lies in a folder of the table; every recoil header included exists
  length   no source, script or CMake file is longer than 700 lines
  twice    no two files define a type of the same name in one namespace: the linker would mix their members
  solver   outside of app/solvers no code asks which solver a scene has: no comparison with its name, no quoted name of
           a folder of app/solvers, no dynamic_cast to its part of a scene
  key      no text of a folder below app names a key of scenes or studies by its path ("contact/dhat"): kernels name their own
           options ("<dhat>", base/option_names.hpp), app knows the keys
  path     no tracked file names a path of somebody's machine
  top      nothing stands at the top level but what the table names; results that a user leaves there are none of ours
Ends with 0 when all hold, 1 when not. Needs Python 3.9 and nothing else.
"""

import argparse
import fnmatch
import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAX_LINES = 700
CODE = {".hpp", ".cpp", ".h", ".c", ".hh", ".cc", ".py", ".sh", ".cmake"}
SOURCES = {".hpp", ".cpp", ".h", ".c", ".hh", ".cc", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]')
NAMESPACE = re.compile(r"^namespace\b\s*([\w:]*)\s*\{")
END_OF_NAMESPACE = re.compile(r"^\} // namespace")
TYPE = re.compile(r"^(?:struct|class) (\w+)(?: final)?(?: : [^;]*)?\s*\{")
# Absolute paths below somebody's home or work folder; a letter, dot or slash before means a relative path or URL.
MACHINE_PATH = re.compile(r"(?<![\w./$})~-])/(?:home|root|Users|work|scratch)/[\w.]")
# Rooms of solvers of scenes; their names, quoted or compared, and the type of what a scene holds for one of them tell
# solvers apart.
SOLVERS = "app/solvers"
# Folders at the top whose sources and headers lie side by side.
MAINS = {"drivers", "python"}
KEY_PATTERN = re.compile(r'\.pattern = "(/[^"]+)"')
TEXT = re.compile(r'"((?:[^"\\]|\\.)*)"')
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".cache"}


@dataclass
class Table:
    """The contents of docs/layers.txt."""

    floors: dict = field(default_factory=dict)  # folder -> floor
    only: dict = field(default_factory=dict)  # folder -> the folders it may see, where the table narrows them
    headers: list = field(default_factory=list)  # (pattern, folders)
    targets: list = field(default_factory=list)  # (pattern, folders)
    top: set = field(default_factory=set)

    def folder_of(self, path):
        """The longest known folder that `path` (with / between parts) lies in, or None."""
        parts = path.split("/")
        for n in range(len(parts) - 1, 0, -1):
            name = "/".join(parts[:n])
            if name in self.floors:
                return name
        return None

    def sees(self, folder, other):
        if folder == other:
            return True
        if folder in self.only:
            return other in self.only[folder]
        return self.floors[other] < self.floors[folder]

    def why_not(self, folder, other):
        if folder in self.only:
            return f"{folder} sees only {' and '.join(self.only[folder])}, not {other}"
        return (f"{folder} (floor {self.floors[folder]}) may not see {other} (floor {self.floors[other]}): "
                "only strictly lower floors")


def read_table(file):
    table, section = Table(), ""
    for number, raw in enumerate(file.read_text().splitlines(), 1):
        line = raw.split("#")[0].strip()
        if not line:
            continue
        if line.startswith("["):
            section = line
        elif section == "[floors]":
            left, _, right = line.partition(":")
            floor, folder = left.split()
            table.floors[folder] = int(floor)
            if right:
                table.only[folder] = right.split()
        elif section in ("[headers]", "[targets]"):
            # Patterns and folders stand in two columns, at least two spaces apart.
            columns = re.split(r"\s{2,}", line)
            if len(columns) != 2:
                sys.exit(f"{file}:{number}: two columns expected, patterns and folders, two spaces apart: {line}")
            folders = set()
            for pattern in [] if columns[1] == "-" else columns[1].split():
                matching = fnmatch.filter(table.floors, pattern)
                if not matching:
                    sys.exit(f"{file}:{number}: unknown folder {pattern}")
                folders.update(matching)
            doors = table.headers if section == "[headers]" else table.targets
            doors += [(pattern, folders) for pattern in columns[0].split()]
        elif section == "[top]":
            table.top.update(line.split())
        else:
            sys.exit(f"{file}:{number}: line before the first section: {line}")
    if not table.floors or not table.top:
        sys.exit(f"{file}: no [floors] or no [top]")
    return table


def listed_files(root, top):
    """Files of the repository, relative: tracked and new ones, not the ignored, nor new ones in folders that are not among `top`; all
    files where git is missing."""
    def listed(*which):
        out = subprocess.run(["git", "-C", str(root), "ls-files", *which, "-z"], check=True, capture_output=True).stdout.decode()
        return [Path(name) for name in out.split("\0") if name]
    try:
        files = listed("-c")
        if files:
            files += [file for file in listed("-o", "--exclude-standard") if len(file.parts) == 1 or file.parts[0] in top]
            return sorted(file for file in files if (root / file).is_file())
    except (OSError, subprocess.CalledProcessError):
        pass
    found = []
    for folder, subfolders, names in os.walk(root):
        subfolders[:] = [name for name in subfolders if name not in SKIPPED_FOLDERS]
        found += [(Path(folder) / name).relative_to(root) for name in names]
    return sorted(found)


class Checker:
    def __init__(self, root, table):
        self.root, self.table = root, table
        self.violations = []
        rooms = [name.rsplit("/", 1)[1] for name in table.floors if name.startswith(SOLVERS + "/") and name != SOLVERS + "/list"]
        names = "(?:" + "|".join(rooms) + ")"
        self.asks_for_solver = re.compile(rf'"{names}"|[!=]=\s*&?{names}\b|\b{names}(?:\.scene\.name)?\s*[!=]=|'
                                          r"dynamic_cast<(?:const )?\w*Scene\b") if rooms else None
        self.types = {}  # (namespace, name) -> file and line
        self.files = listed_files(root, table.top)
        self.keys = self.paths_of_keys()

    def report(self, file, line, rule, what):
        self.violations.append(f"{file}:{line}: [{rule}] {what}")

    def run(self):
        if not any(file.parts[0] == "src" for file in self.files):
            self.report("src", 0, "folder", f"no sources found under {self.root}: wrong --root?")
        for file in self.files:
            self.check_top(file)
            text = self.text(file)
            if text is None:
                continue
            lines = text.splitlines()
            if (file.suffix in CODE or file.name == "CMakeLists.txt") and len(lines) > MAX_LINES:
                self.report(file, len(lines), "length",
                            f"{len(lines)} lines, more than {MAX_LINES}: look for the second concept")
            for number, line in enumerate(lines, 1):
                if match := MACHINE_PATH.search(line):
                    self.report(file, number, "path", f"path of one machine: {line[match.start():][:40]}")
            self.check_code(file, lines)
        return self.violations

    def text(self, file):
        path = self.root / file
        if path.is_symlink() or path.stat().st_size > 2_000_000:
            return None
        data = path.read_bytes()
        return None if b"\0" in data else data.decode("utf-8", "replace")

    def paths_of_keys(self):
        """`name/name` of all neighbours in the paths of the tables of keys: "contact/dhat" of "/contact/dhat"."""
        paths = set()
        for file in self.files:
            if file.suffix == ".cpp" and file.parts[:2] == ("src", "app"):
                for pattern in KEY_PATTERN.findall(self.text(file) or ""):
                    names = [name for name in pattern.split("/") if name not in ("", "*")]
                    paths.update("/".join(pair) for pair in zip(names, names[1:]))
        return paths

    def check_keys(self, file, lines):
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith(("//", "#")):
                continue
            for text in TEXT.findall(line):
                for path in re.findall(r"\w+(?:/\w+)+", text):
                    names = path.split("/")
                    if any("/".join(pair) in self.keys for pair in zip(names, names[1:])):
                        self.report(file, number, "key", f"names the key {path}; name the option, <{names[-1]}>, which app "
                                                         "translates (base/option_names.hpp)")

    def check_top(self, file):
        name = file.parts[0]
        if not name.startswith(".") and name not in self.table.top:
            self.report(file, 1, "top", f"`{name}` has no place at the top level (docs/layers.txt)")

    def check_code(self, file, lines):
        parts = file.parts
        inside = {"src": 1, "include": 2, "drivers": 0, "python": 0}.get(parts[0])
        if inside is None or (parts[0] == "include" and len(parts) > 1 and parts[1] != "recoil"):
            if file.suffix in SOURCES and parts[0] in ("tests", "bench", "examples"):
                self.check_outsider(file, lines)
            elif parts[0] == "include":
                self.report(file, 1, "folder", "public headers live under include/recoil/<folder>/")
            return
        folder = self.table.folder_of("/".join(parts[inside:]))
        if folder is None:
            # Lists of subfolders may stand between src/ and the folders.
            if file.suffix in SOURCES:
                self.report(file, 1, "folder", "lies in no folder of docs/layers.txt")
            return
        if file.name == "CMakeLists.txt":
            self.check_links(file, folder, lines)
        elif file.suffix in SOURCES:
            self.check_includes(file, folder, lines)
            self.check_types(file, lines)
            self.check_solvers(file, folder, lines)
            if not folder.startswith("app/") and folder not in MAINS:
                self.check_keys(file, lines)

    def check_includes(self, file, folder, lines):
        public = file.parts[0] == "include"
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            quote, header = match.groups()
            if header.startswith("recoil/"):
                self.check_public_include(file, number, folder, header)
            elif quote == '"':
                owner = self.table.folder_of(header)
                if owner is None and folder in MAINS and (self.root / folder / header).is_file():
                    continue
                if owner is None:
                    self.report(file, number, "folder",
                                f'"{header}": write "recoil/<folder>/.." or "<folder>/..", from a folder of the table')
                elif public:
                    self.report(file, number, "private", f'public header includes the private "{header}"')
                elif owner != folder:
                    self.report(file, number, "private", f'"{header}" is private to {owner}')
                elif not (self.root / "src" / header).is_file():
                    self.report(file, number, "folder", f'"{header}" does not exist')
            else:
                self.check_door(file, number, folder, header, self.table.headers, "included")

    def check_types(self, file, lines):
        namespaces = []
        for number, line in enumerate(lines, 1):
            if match := NAMESPACE.match(line):
                namespaces.append(match.group(1))
            elif END_OF_NAMESPACE.match(line):
                namespaces.pop()
            elif (match := TYPE.match(line)) and "" not in namespaces:
                name = "::".join([*namespaces, match.group(1)])
                other = self.types.setdefault(name, f"{file}:{number}")
                if other != f"{file}:{number}":
                    self.report(file, number, "twice", f"{name} is defined in {other}, too: rename one, or make it one of an "
                                                       "unnamed namespace")

    def check_solvers(self, file, folder, lines):
        if self.asks_for_solver is None or folder.startswith(SOLVERS) or not (folder.startswith("app/") or folder in MAINS):
            return
        for number, line in enumerate(lines, 1):
            if line.lstrip().startswith("//"):
                continue
            if match := self.asks_for_solver.search(line):
                self.report(file, number, "solver", f"{match.group(0)} tells solvers apart: make it a row of SolverKind, or of "
                                                    "ExperimentKind in studies")

    def check_public_include(self, file, number, folder, header):
        owner = self.table.folder_of(header[len("recoil/"):])
        if owner is None:
            self.report(file, number, "folder", f'"{header}" lies in no folder of docs/layers.txt')
        elif not self.table.sees(folder, owner):
            self.report(file, number, "floor", self.table.why_not(folder, owner))
        elif not self.exists(header):
            self.report(file, number, "folder", f'"{header}" does not exist')

    def exists(self, header):
        """A header of the repository, perhaps written by the configuration from header.in."""
        return any((self.root / "include" / (header + end)).is_file() for end in ("", ".in"))

    def check_outsider(self, file, lines):
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            if match and match.group(2).startswith("recoil/"):
                header = match.group(2)
                if self.table.folder_of(header[len("recoil/"):]) is None or not self.exists(header):
                    self.report(file, number, "folder", f'"{header}" does not exist')

    def check_door(self, file, number, folder, name, doors, verb):
        for pattern, folders in doors:
            if fnmatch.fnmatchcase(name, pattern):
                if folder not in folders:
                    who = " and ".join(sorted(folders)) or "nobody"
                    self.report(file, number, "door", f"{name} may be {verb} by {who}, not by {folder}")
                return

    def check_links(self, file, folder, lines):
        by_target = {name.replace("/", "_"): name for name in self.table.floors}
        for number, line in enumerate(lines, 1):
            line = line.split("#")[0]
            for target in re.findall(r"\brecoil::(\w+)", line):
                if target not in by_target:
                    self.report(file, number, "folder", f"recoil::{target} is no folder of docs/layers.txt")
                elif not self.table.sees(folder, by_target[target]):
                    self.report(file, number, "floor", self.table.why_not(folder, by_target[target]))
            for word in re.findall(r"[\w:${}.]+", line):
                self.check_door(file, number, folder, word, self.table.targets, "linked")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent, help="the repository")
    root = parser.parse_args().root
    checker = Checker(root, read_table(root / "docs" / "layers.txt"))
    violations = checker.run()
    for violation in violations:
        print(violation)
    print(f"check_layers: {len(checker.files)} files, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
