#!/usr/bin/env python3
"""The floors of the house, from docs/layers.txt and the table of docs/architecture.md, as a picture and as groups of API pages.

    scripts/floors.py                  draws docs/images/floors.svg anew
    scripts/floors.py --check          fails where the table lacks a folder or has another floor, or the picture is an old one
    scripts/floors.py --stage FOLDER   copies the public headers there for Doxygen, grouped by floor and folder
"""
import argparse
import re
import sys
import textwrap
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/images/floors.svg"
ROW = re.compile(r"^\| (\d+)(?: - (\d+))? \| (\S+) \| (.+) \|$", re.M)


def floors():
    """{folder: floor} of layers.txt, from the lowest floor on."""
    text = (ROOT / "docs/layers.txt").read_text()
    section = re.search(r"^\[floors\]\n(.*?)^\[", text, re.M | re.S).group(1)
    lines = (line.split("#")[0].split() for line in section.splitlines())
    return {words[1].rstrip(":"): int(words[0]) for words in lines if words}


def table():
    """[(lowest floor, highest floor, folder, text)] of architecture.md."""
    rows = ROW.findall((ROOT / "docs/architecture.md").read_text())
    return [(int(low), int(high or low), folder, re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)) for low, high, folder, text in rows]


def row_of(folder, rows):
    """The row of a folder, or of the folder that it is a room of; None if there is none."""
    return next((row for row in rows if folder == row[2] or folder.startswith(row[2] + "/")), None)


def faults():
    """What is wrong with the table: a line each."""
    rows, all_floors = table(), floors()
    for folder, floor in all_floors.items():
        row = row_of(folder, rows)
        if row is None:
            yield f"docs/architecture.md: the table has no row for {folder} (floor {floor} of docs/layers.txt)"
        elif not row[0] <= floor <= row[1]:
            yield f"docs/architecture.md: {folder} is on floor {floor} in docs/layers.txt, on {row[0]} in the table"
    for row in rows:
        if not any(row_of(folder, [row]) for folder in all_floors):
            yield f"docs/architecture.md: the table has a row for {row[2]}, which docs/layers.txt does not know"


def picture():
    """The table as a picture, the lowest floor below."""
    width, height, gap, left = 1180, 58, 6, 74
    levels = sorted({row[:2] for row in table()})
    lines = []
    for level in levels:
        top = gap + (len(levels) - 1 - levels.index(level)) * (height + gap)
        rooms = [row for row in table() if row[:2] == level]
        label = str(level[0]) if level[0] == level[1] else f"{level[0]} - {level[1]}"
        lines.append(f'<text x="{left - 14}" y="{top + height / 2 + 5}" text-anchor="end" fill="#777">{label}</text>')
        room_width = (width - left - gap * len(rooms)) / len(rooms)
        for i, (_, _, folder, text) in enumerate(rooms):
            x = left + i * (room_width + gap)
            lines.append(f'<rect x="{x:.0f}" y="{top}" width="{room_width:.0f}" height="{height}" rx="5" fill="{colour(folder)}"/>')
            size = min(14, (room_width - 14) / (0.6 * len(folder)))
            lines.append(f'<text x="{x + 8:.0f}" y="{top + 19}" font-size="{size:.1f}" font-weight="bold">{escape(folder)}</text>')
            for k, line in enumerate(textwrap.wrap(text.replace("`", ""), int((room_width - 12) / 5.7))[:2]):
                lines.append(f'<text x="{x + 8:.0f}" y="{top + 36 + 15 * k}" font-size="11">{escape(line)}</text>')
    total = gap + len(levels) * (height + gap)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {total}" font-family="sans-serif" font-size="14">\n'
            f'<rect width="{width}" height="{total}" fill="#fff"/>\n' + "\n".join(lines) + "\n</svg>\n")


def colour(folder):
    part = folder.split("/")[0]
    return {"solvers": "#ffe2c2", "app": "#d6e8d4", "drivers": "#d6e8d4", "python": "#d6e8d4", "c": "#d6e8d4"}.get(part, "#dbe5f1")


def group(folder):
    return "folder_" + folder.replace("/", "_")


def groups():
    """Main page and groups of the API pages: a page per floor that has public headers, with its folders below."""
    all_floors, rows = floors(), table()
    yield """/** @mainpage Floors
The public headers of recoil, grouped by floor and folder: see Modules. A folder uses only folders of lower floors. Programs
link recoil::fem for fem, recoil::app_scene for app/scene, after `find_package(recoil)`. What every part may count on is in
docs/contracts.md, programs to start from are in examples/. */"""
    for floor in sorted(set(all_floors.values())):
        folders = [folder for folder, level in all_floors.items() if level == floor and (ROOT / "include/recoil" / folder).is_dir()]
        if not folders:
            continue
        yield f"/** @defgroup floor_{floor:02} Floor {floor}: {', '.join(folders)} */"
        for folder in folders:
            text = row_of(folder, rows)[3].replace("`", "")
            yield f"/** @defgroup {group(folder)} {folder}\n    @ingroup floor_{floor:02}\n    {text[0].upper() + text[1:]}. */"


def stage(target):
    """Copies the public headers for Doxygen, everything in the group of its folder; what Doxygen says of a line is true of the original's."""
    known = floors()
    for path in sorted((ROOT / "include/recoil").rglob("*.h*")):
        parts = path.relative_to(ROOT / "include/recoil").parts
        folder = next(name for name in ("/".join(parts[:k]) for k in range(len(parts) - 1, 0, -1)) if name in known)
        copy = target / path.relative_to(ROOT / "include")
        copy.parent.mkdir(parents=True, exist_ok=True)
        text = re.sub(r"^(namespace recoil[\w:]* \{)$", rf"\1 /** @addtogroup {group(folder)} */ /** @{{ */", path.read_text(), flags=re.M)
        copy.write_text(re.sub(r"^(\} // namespace recoil)", r"/** @} */ \1", text, flags=re.M))
    (target / "groups.dox").write_text("\n".join(groups()) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail where something is not up to date")
    parser.add_argument("--stage", metavar="FOLDER", type=Path, help="copy the headers for Doxygen there")
    arguments = parser.parse_args()
    found = list(faults())
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    if found:
        return 1
    if arguments.stage:
        stage(arguments.stage)
    elif not arguments.check:
        PICTURE.write_text(picture())
    elif not PICTURE.exists() or PICTURE.read_text() != picture():
        print("docs/images/floors.svg is not what the table says: run scripts/floors.py", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
