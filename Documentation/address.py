#!/usr/bin/env python3
"""Writes the address of the package and its version, both from the file `address`, into the documents.

    Documentation/address.py            # after a change of Documentation/address, which is the one place to change
    Documentation/address.py --check    # fails if a document says something else

The first line of that file is the URL of the repository, the second one the version to depend on. Written are
`.package(url:from:)` and links and badges of a repository of this name; those of the archived library, of the same name, stay.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARCHIVED = "bignerdranch"


def main():
    url, version = (ROOT / "Documentation/address").read_text().split()
    owner, name = url.removeprefix("https://github.com/").split("/")
    dependency = re.compile(rf'\.package\(url: "[^"]*/{name}(\.git)?", from: "[^"]*"\)')
    # On GitHub and the Swift Package Index; also as part of another URL, with its slashes escaped.
    link = re.compile(
        rf"(?P<site>github\.com(?:/|%2F)|swiftpackageindex\.com(?:(?:/|%2F)api(?:/|%2F)packages)?(?:/|%2F))"
        rf"(?!{ARCHIVED}\b)[\w.-]+(?P<slash>/|%2F){name}\b"
    )
    is_check = sys.argv[1:] == ["--check"]
    stale = []
    command = ["git", "ls-files", "*.md", "*.tutorial", "*.yml", "*.swift"]
    for path in subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines():
        if not (ROOT / path).is_file():
            continue
        text = (ROOT / path).read_text()
        new = dependency.sub(f'.package(url: "{url}", from: "{version}")', text)
        new = link.sub(lambda match: f"{match['site']}{owner}{match['slash']}{name}", new)
        if new != text:
            stale.append(path)
            if not is_check:
                (ROOT / path).write_text(new)
    if is_check and stale:
        sys.exit(f"error: run Documentation/address.py; these files name another address or version: {', '.join(stale)}")


if __name__ == "__main__":
    main()
