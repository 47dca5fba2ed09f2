#!/usr/bin/env python3
"""The pages of the documents: checks their links, or stages them for MkDocs.

    scripts/site_pages.py --check             fails where a link leads to no file, or to no heading of one
    scripts/site_pages.py --stage FOLDER      copies the pages, and the files that they link to, as MkDocs reads them

Pages are written for a forge that shows Markdown. MkDocs differs: a link to a folder has to name its page, a fence may say no more than a language, and
headings get the anchors of the forge by slug().
"""
import argparse
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(!?\[(?:[^\[\]]|\[[^\]]*\])*\])\(([^)\s]+)\)")
FENCE = re.compile(r"^( *)```(\w*)[^\n]*\n(.*?)^ *```[ ]*$", re.M | re.S)


def slug(text, separator="-"):
    """The anchor that forges give to a heading."""
    text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text).lower().strip()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", separator)


def pages():
    """All documents of the repository."""
    folders = ("docs", "jobs", "examples")
    found = [path for folder in folders for path in sorted((ROOT / folder).rglob("*.md")) if "runs" not in path.parts]
    return [path for path in (ROOT / "README.md", ROOT / "CHANGELOG.md", *found) if path.exists()]


def without_code(text):
    """The text with code blanked out, so that places stay."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    text = FENCE.sub(blank, text)
    return re.sub(r"``[^`\n]+``|`[^`\n]+`", blank, re.sub(r"^(?: {4}|\t)[^\n]*$", blank, text, flags=re.M))


def anchors(path):
    """The anchors of a page, with a number behind those that repeat."""
    found, counts = set(), {}
    for heading in re.findall(r"^#+ +(.+?) *#*$", FENCE.sub("", path.read_text()), re.M):
        anchor = slug(heading)
        count = counts[anchor] = counts.get(anchor, -1) + 1
        found.add(f"{anchor}-{count}" if count else anchor)
    return found


def links(path):
    """(line, file or None, anchor, match) of every link to something of the repository."""
    text = without_code(path.read_text())
    for match in LINK.finditer(text):
        target, _, anchor = match.group(2).partition("#")
        if "://" in target or target.startswith("mailto:"):
            continue
        file = (path.parent / target).resolve() if target else path
        yield text.count("\n", 0, match.start()) + 1, file, anchor, match


def faults():
    """What is wrong with links: a line each."""
    for path in pages():
        name = path.relative_to(ROOT)
        for line, file, anchor, match in links(path):
            if not file.exists():
                yield f"{name}:{line}: {match.group(2)} leads nowhere"
            elif ROOT not in file.parents and file != ROOT:
                yield f"{name}:{line}: {match.group(2)} leads out of the repository"
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                yield f"{name}:{line}: {file.name} has no heading with the anchor #{anchor}"


def page_of(folder, target):
    """The page of a folder; one with a list of its files where it has none."""
    readme = folder / "README.md"
    if readme.exists():
        return readme
    page = target / folder.relative_to(ROOT) / "index.md"
    page.parent.mkdir(parents=True, exist_ok=True)
    files = sorted(path for path in folder.iterdir() if path.is_file())
    for path in files:
        shutil.copy(path, page.parent)
    page.write_text(f"# {folder.relative_to(ROOT)}\n\n" + "".join(f"- [{path.name}]({path.name})\n" for path in files))
    return folder / "index.md"


def for_mkdocs(text):
    """Markdown as MkDocs reads it: a title in place of the name of a file behind a fence, lists with a line before them and by four spaces."""
    def fence(match):
        indent, language, body = match.groups()
        words = match.group(0).split("\n", 1)[0].split()[1:]
        title = f' title="{words[0]}"' if words and words[0] != "output" else ""
        return f"{indent}```{language or 'text'}{title}\n{body}{indent}```"

    parts, last = [], 0
    for match in FENCE.finditer(text):
        parts += [lists(text[last:match.start()]), fence(match)]
        last = match.end()
    return "".join(parts + [lists(text[last:])])


def lists(text):
    text = re.sub(r"^( {2,3})([-*] )", r"    \2", text, flags=re.M)
    return re.sub(r"^((?![-*] |\d+\. |[ |#\n]).+\n)(?=[-*] |\d+\. )", r"\1\n", text, flags=re.M)


def stage(target):
    """Copies pages and what they link to below `target`, in the folders of the repository."""
    for path in pages():
        text = path.read_text()
        for _, file, anchor, match in sorted(links(path), key=lambda link: -link[3].start()):
            if file.is_dir():
                file = page_of(file, target)
            if file.suffix != ".md" or file not in pages():
                copy = target / file.relative_to(ROOT)
                copy.parent.mkdir(parents=True, exist_ok=True)
                if file.exists() and not copy.exists():
                    shutil.copy(file, copy)
            up = "../" * len(path.parent.relative_to(ROOT).parts)
            link = up + str(file.relative_to(ROOT)) + ("#" + anchor if anchor else "")
            text = text[: match.start(2)] + link + text[match.end(2):]
        copy = target / path.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(for_mkdocs(text))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--check", action="store_true", help="check the links")
    what.add_argument("--stage", type=Path, metavar="FOLDER", help="copy the pages there")
    arguments = parser.parse_args()
    found = list(faults())
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    if arguments.stage and not found:
        stage(arguments.stage.resolve())
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
