#!/usr/bin/env python3
"""Prepares symbol graphs for the site.

    Documentation/graphs.py SYMBOL-GRAPHS

What a type has by a protocol of the standard library, and whose name says what it does, gets no page of its own.

The defaults of stored properties are added, so that their pages show them: the compiler writes
`var maximumConnectionsPerHost: Int` for `public var maximumConnectionsPerHost = 16`. The rest is taken from the source, at
the place that the symbol graph names.
"""

import json
import re
import sys
from pathlib import Path
from urllib.parse import unquote

WITHOUT_PAGES = {"customMirror", "debugDescription", "errorDescription", "hash(into:)", "==(_:_:)", "startIndex", "endIndex"}


def default(symbol):
    """The initial value of a property that is written on one line, or `nil` for an optional one without any."""
    if symbol["kind"]["identifier"] != "swift.property" or "location" not in symbol:
        return None
    lines = Path(unquote(symbol["location"]["uri"].removeprefix("file://"))).read_text().split("\n")
    line = lines[symbol["location"]["position"]["line"]]
    name = re.escape(symbol["names"]["title"])
    match = re.search(rf"\bvar {name}\b(?P<type>: [^={{]*[^={{ ])?(?: = (?P<value>.*?))?(?P<body> \{{(?! \w).*)?$", line)
    if not match or match["body"]:
        return None
    value = match["value"]
    if value is None:
        return "nil" if (match["type"] or "").endswith("?") else None
    # Not the beginning of something longer.
    return value if all(value.count(left) == value.count(right) for left, right in ("()", "[]", "{}")) else None


def main():
    for file in sorted(Path(sys.argv[1]).rglob("*.symbols.json")):
        graph = json.loads(file.read_text())
        left_out = {symbol["identifier"]["precise"] for symbol in graph["symbols"] if symbol["names"]["title"] in WITHOUT_PAGES}
        graph["symbols"] = [symbol for symbol in graph["symbols"] if symbol["identifier"]["precise"] not in left_out]
        graph["relationships"] = [link for link in graph["relationships"] if not left_out & {link["source"], link["target"]}]
        for symbol in graph["symbols"]:
            if (value := default(symbol)) is not None:
                fragment = {"kind": "text", "spelling": f" = {value}"}
                for fragments in symbol.get("declarationFragments"), symbol.get("swiftInline"):
                    if fragments and not any("{" in fragment["spelling"] or " = " in fragment["spelling"] for fragment in fragments):
                        fragments.append(fragment)
        file.write_text(json.dumps(graph))


if __name__ == "__main__":
    main()
