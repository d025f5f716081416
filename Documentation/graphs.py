#!/usr/bin/env python3
"""Prepares symbol graphs for the site.

    Documentation/graphs.py SYMBOL-GRAPHS

No page of its own gets

- what a type has by a protocol, if a line tells it, since the protocol's page tells the rest. Methods that one looks for on the
  page of the type, such as `cancel()`, keep theirs;
- an overload whose comment is a line that refers to the other one, such as the one for `.mainActor`, and what only calls
  Swift's own of the same name;
- what a protocol's extension has for types that don't have their own;
- what is deprecated: the compiler names what replaces it, and so do the pages for those who come from elsewhere.

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

# Requirements of protocols, whose implementations get no page if a line tells what they do.
TOLD_BY_PROTOCOL = re.compile(
    r"(CustomStringConvertible|ExpressibleBy\w+|RawRepresentable|Decodable|Comparable|InstantProtocol"
    r"|AsyncSequence|AsyncIteratorProtocol|HTTPLink|Executor|OAuth\.Storage|CancellationIndicating)\..*"
    r"|HTTPLoader\.(load\(_:\)|successors)"
)


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


def refers_to_another(symbol, comment):
    """Whether a comment is nothing but a reference, or a line that refers to an overload."""
    title = symbol["names"]["title"]
    return re.fullmatch(r"See ``[^`]+``\.", comment) or len(comment) < 200 and re.search(
        rf"See ``{re.escape(title)}-|See Swift's `Task\.{re.escape(title)}`", comment
    )


def without_pages(graph):
    """The identifiers of what needs no page."""
    defaults = {link["source"] for link in graph["relationships"] if link["kind"] == "defaultImplementationOf"}
    of_protocols = defaults | {
        link["source"] for link in graph["relationships"] if TOLD_BY_PROTOCOL.fullmatch(link.get("sourceOrigin", {}).get("displayName", ""))
    }
    for symbol in graph["symbols"]:
        comment = [line["text"] for line in symbol.get("docComment", {}).get("lines", [])]
        if (
            symbol["names"]["title"] in WITHOUT_PAGES
            or len(comment) < 2 and symbol["identifier"]["precise"] in of_protocols
            or refers_to_another(symbol, " ".join(comment))
            or any(where.get("isUnconditionallyDeprecated") for where in symbol.get("availability", []))
        ):
            yield symbol["identifier"]["precise"]


def main():
    for file in sorted(Path(sys.argv[1]).rglob("*.symbols.json")):
        graph = json.loads(file.read_text())
        left_out = set(without_pages(graph))
        # Extensions of which nothing is left.
        extensions = {symbol["identifier"]["precise"] for symbol in graph["symbols"] if symbol["kind"]["identifier"] == "swift.extension"}
        members = [link for link in graph["relationships"] if link["kind"] == "memberOf" and link["target"] in extensions]
        left_out |= {link["target"] for link in members} - {link["target"] for link in members if link["source"] not in left_out}
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
