#!/usr/bin/env python3
"""Fails if a public symbol has no doc comment, or a page of the site is in no topic group.

    Documentation/coverage.py SYMBOL-GRAPHS SITE
"""

import json
import sys
from pathlib import Path


def undocumented(graphs):
    """Public symbols without a doc comment. What is inherited is not in the graphs."""
    for file in sorted(graphs.rglob("*.symbols.json")):
        for symbol in json.loads(file.read_text())["symbols"]:
            # An extension of another module's type is a page, but nothing that could be commented on.
            if symbol["kind"]["identifier"] != "swift.extension" and "docComment" not in symbol:
                location = symbol.get("location", {})
                path = location.get("uri", file.name).removeprefix("file://")
                line = location.get("position", {}).get("line", -1) + 1
                yield f"{path}:{line}: {'.'.join(symbol['pathComponents'])} has no doc comment"


def uncurated(site):
    """Pages that DocC put into a group by itself, having found them in none."""
    for file in sorted((site / "data").rglob("*.json")):
        page = json.loads(file.read_text())
        for group in page.get("topicSections", []):
            # Default implementations are listed below what they implement, which is a better place than any other.
            if group.get("generated") and group["title"] not in ("Default Implementations", "Extended Modules"):
                for identifier in group["identifiers"]:
                    title = page["metadata"]["title"]
                    yield f"{identifier.removeprefix('doc://Deferred')} is in no topic group of {title}"


def main():
    graphs, site = map(Path, sys.argv[1:])
    problems = [*undocumented(graphs), *uncurated(site)]
    for problem in problems:
        print(f"error: {problem}")
    count = sum(len(json.loads(file.read_text())["symbols"]) for file in graphs.rglob("*.symbols.json"))
    print(f"{len(problems)} problems in the documentation of {count} public symbols")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
