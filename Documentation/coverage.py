#!/usr/bin/env python3
"""Fails if something is missing from the documentation.

That is a public symbol without a doc comment, a page of the site that is in no topic group, or a test that an article
names and that is not there.

    Documentation/coverage.py SYMBOL-GRAPHS SITE
"""

import json
import re
import sys
from pathlib import Path


def undocumented(graphs):
    """Public symbols without a doc comment. What is inherited is not in the graphs."""
    for file in sorted(graphs.rglob("*.symbols.json")):
        for symbol in json.loads(file.read_text())["symbols"]:
            # An extension of another module's type is a page, but nothing that could be commented on. Nor is what has no
            # location, which the compiler has written: the initialiser of an enumeration with raw values.
            is_written = symbol["kind"]["identifier"] != "swift.extension" and "location" in symbol
            if is_written and "docComment" not in symbol:
                path = symbol["location"]["uri"].removeprefix("file://")
                line = symbol["location"]["position"]["line"] + 1
                yield f"{path}:{line}: {'.'.join(symbol['pathComponents'])} has no doc comment"


def uncurated(site):
    """Pages that DocC has put into groups of its own making only."""
    curated, generated = set(), {}
    for file in sorted((site / "data").rglob("*.json")):
        page = json.loads(file.read_text())
        for group in page.get("topicSections", []):
            if not group.get("generated"):
                curated.update(group["identifiers"])
            # These two hold nothing but such groups.
            elif group["title"] not in ("Default Implementations", "Extended Modules"):
                for identifier in group["identifiers"]:
                    generated[identifier] = page["metadata"]["title"]
    for identifier, title in generated.items():
        if identifier not in curated:
            yield f"{identifier.removeprefix('doc://Deferred')} is in no topic group; DocC lists it below {title}"


def missing_tests(root):
    """Tests that an article links to, by name, and that are not in the file of the link."""
    for article in sorted((root / "Documentation").rglob("*.md")):
        if ".build" in article.parts:
            continue
        for number, line in enumerate(article.read_text().split("\n"), start=1):
            for name, path in re.findall(r"\[([^]]+)\]\((?:\.\./)+(Tests/[^)]+)\)", line):
                file = root / path
                if not file.is_file() or f"func `{name}`(" not in file.read_text():
                    yield f"{article.relative_to(root)}:{number}: there is no such test in {path}: {name}"


def main():
    graphs, site = map(Path, sys.argv[1:])
    problems = [*undocumented(graphs), *uncurated(site), *missing_tests(Path(__file__).resolve().parent.parent)]
    for problem in problems:
        print(f"error: {problem}")
    count = sum(len(json.loads(file.read_text())["symbols"]) for file in graphs.rglob("*.symbols.json"))
    print(f"{len(problems)} problems in the documentation of {count} public symbols")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
