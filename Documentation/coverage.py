#!/usr/bin/env python3
"""Fails if something is missing from the documentation.

That is a public symbol without a doc comment, a page of the site that is in no topic group, a test that .github/CASES.md or an
article names and that is not there, or a case of the article "What cancelling means" that CASES.md lacks.

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
    """Tests that a document links to, by name, and that are not in the file of the link."""
    for article in sorted([*(root / ".github").glob("*.md"), *(root / "Documentation").rglob("*.md")]):
        if ".build" in article.parts:
            continue
        for number, line in enumerate(article.read_text().split("\n"), start=1):
            for name, path in re.findall(r"\[([^]]+)\]\((?:\.\./)+(Tests/[^)]+\.swift)\)", line):
                file = root / path
                if not file.is_file() or f"func `{name}`(" not in file.read_text():
                    yield f"{article.relative_to(root)}:{number}: there is no such test in {path}: {name}"


def cases(document):
    """The first cells of a document's tables, each with the heading above it."""
    heading, found = None, {}
    for number, line in enumerate(document.read_text().split("\n"), start=1):
        if match := re.match(r"#+ (.*)", line):
            heading = match[1]
        elif match := re.match(r"\| (?!---)(.+?) \| ", line):
            cell = re.sub(r"``\w+/([^`]+)``", lambda link: f"`{link[1].replace('/', '.')}`", match[1])
            found[heading, cell] = number
    return found


def untested_cases(root):
    """Cases of the article about cancelling without a row in the list of cases and their tests."""
    article = root / "Documentation/Deferred.docc/Articles/WhatCancellingMeans.md"
    tested = cases(root / ".github/CASES.md")
    for (heading, cell), number in cases(article).items():
        if (heading, cell) not in tested:
            yield f"{article.relative_to(root)}:{number}: .github/CASES.md has no such case below {heading}: {cell}"


def main():
    root = Path(__file__).resolve().parent.parent
    graphs, site = map(Path, sys.argv[1:])
    problems = [*undocumented(graphs), *uncurated(site), *missing_tests(root), *untested_cases(root)]
    for problem in problems:
        print(f"error: {problem}")
    symbols = [symbol for file in graphs.rglob("*.symbols.json") for symbol in json.loads(file.read_text())["symbols"]]
    count = sum(symbol["kind"]["identifier"] != "swift.extension" for symbol in symbols)
    print(f"{len(problems)} problems in the pages of {count} public symbols")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
