#!/usr/bin/env python3
"""Writes the manual page of recoil from what its --help prints:

    packaging/man_page.py build/release/recoil > packaging/recoil.1
"""

import re
import subprocess
import sys

HEAD = r""".\" Written by packaging/man_page.py from recoil --help.
.TH RECOIL 1 "" "recoil" "User Commands"
.SH NAME
recoil \- simulate deformable bodies in contact, and differentiate what comes of it
.SH SYNOPSIS
.RB [ mpirun " " \-n " " \fIN\fR ]
.B recoil
.I command
.RI [ options ]
.SH DESCRIPTION
.B recoil
solves nonlinear elasticity with frictional contact on any number of MPI ranks. Scenes and studies are JSON files; results are folders,
from which interrupted runs continue.
"""

TAIL = r""".SH EXIT STATUS
.TP
.B 0
Done.
.TP
.B 2
Wrong input, or more of it than memory holds.
.TP
.B 3
No solution, or a gradient that
.B \-\-check
does not confirm.
.TP
.B 4
Files or disk.
.TP
.B 75
Interrupted by a signal, with a checkpoint: run again with
.BR \-\-restart .
.SH SIGNALS
.B SIGUSR1
to mpirun,
.B SIGUSR1
or
.B SIGTERM
to the ranks: what is under way is dropped, the last accepted state is written, the exit status is 75.
.SH FILES
Below the prefix of the installation:
.TP
.I share/recoil/jobs
Scenes and studies to begin with, and templates of Slurm jobs.
.TP
.I share/recoil/scripts
.B render.py
draws runs,
.B report.py
writes a page about a fit,
.B starts.py
varies start values,
.B recoil_run.py
reads all folders from Python.
.TP
.I share/doc/recoil
All keys of scenes and studies, and the other documents.
.SH EXAMPLES
.EX
mpirun \-n 2 recoil simulate /usr/share/recoil/jobs/demo/scene.json \-o run/
mpirun \-n 4 recoil simulate \-\-restart run/
python3 /usr/share/recoil/scripts/render.py run/ \-\-times 4
.EE
.SH SEE ALSO
.BR mpirun (1)
"""


def help_of(program, *command):
    return subprocess.run([program, *command, "--help"], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout


def entries(text, title):
    """What a section of a help lists: pairs of a name and what it is, which may begin on the next line."""
    section = re.search(rf"^{title}:\n((?:  .*\n)+)", text, re.MULTILINE)
    found = []
    for line in section[1].splitlines() if section else []:
        if line.startswith("   "):
            found[-1][1] += " " + line.strip()
        else:
            found.append(re.split(r"\s{2,}", line.strip() + "  ", maxsplit=1))
    return [(name, what.strip()) for name, what in found]


def escaped(text):
    return text.replace("\\", r"\e").replace("-", r"\-")


def item(name, what):
    """Names bold, the type as it is, without what CLI11 says of ranges and exclusions."""
    names, _, rest = re.sub(r"( Excludes: .*| REQUIRED|:INT in .*)$", "", name).partition(" ")
    return f".TP\n\\fB{escaped(names.replace(',', ', '))}\\fR {escaped(rest)}".rstrip() + f"\n{escaped(what)}\n"


def page(program):
    overview = help_of(program)
    text = HEAD + ".SH OPTIONS\n" + "".join(item(*entry) for entry in entries(overview, "Options"))
    text += ".SH COMMANDS\n"
    for command, what in entries(overview, "Subcommands"):
        details = help_of(program, command)
        text += f".SS {command}\n{escaped(what)}.\n"
        text += "".join(item(*entry) for title in ("Positionals", "Options") for entry in entries(details, title)
                        if not entry[0].startswith("-h,"))
    return text + TAIL


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.stdout.write(page(sys.argv[1]))
