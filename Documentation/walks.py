#!/usr/bin/env python3
"""Fails if a walk in .github/WALKS.md, the files that a request goes through in their order, isn't true any more.

    Documentation/walks.py

A row of a walk is a file of Sources, and a word of its code. The file has to have that word, and the next row's file has to
declare it: as a function, a property, a case or a type. A way that ends goes on from an earlier file. A heading tells how many files its walk may have at most.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEADING = re.compile(r"^## (.*), at most (\d+) files$")
ROW = re.compile(r"^\| `([\w/+.-]+\.(?:swift|c))` \| (?:`(\w+)`|\(the end\)) \|")
DECLARATION = r"\b(func|var|let|case|class|struct|enum|protocol|init|int)\b[^\n]*\b{}\b"


def check(name, limit, rows):
    """The faults of one walk."""
    count = len({file for file, _ in rows})
    if count > limit:
        yield f"{name}: {count} files, where {limit} are meant to do"
    wanted = None
    for file, word in rows:
        path = ROOT / "Sources" / file
        if not path.exists():
            yield f"{name}: there is no file Sources/{file}"
            wanted = None
            continue
        code = re.sub(r"//.*", "", path.read_text())
        if wanted and not re.search(DECLARATION.format(wanted), code):
            yield f"{name}: {file} doesn't declare {wanted}"
        if word and not re.search(rf"\b{word}\b", code):
            yield f"{name}: {file} doesn't mention {word}"
        wanted = word


def main():
    walks = {}
    current = None
    for line in (ROOT / ".github/WALKS.md").read_text().splitlines():
        if match := HEADING.match(line):
            current = walks.setdefault(match[1], (int(match[2]), []))
        elif line.startswith("#"):
            current = None
        elif current and (match := ROW.match(line)):
            current[1].append((match[1], match[2]))
    faults = [fault for name, (limit, rows) in walks.items() for fault in check(name, limit, rows)]
    if not walks or any(not rows for _, rows in walks.values()):
        faults.append("WALKS.md has no walks, or an empty one")
    print(*faults, sep="\n", file=sys.stderr)
    sys.exit(bool(faults))


main()
