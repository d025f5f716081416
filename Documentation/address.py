#!/usr/bin/env python3
"""Writes the address of the package and its version, both from the file `address`, into the documents.

    Documentation/address.py            # after a change of Documentation/address, which is the one place to change
    Documentation/address.py --check    # fails if a document says something else
    Documentation/address.py --site DIR # makes links out of the catalog in DIR absolute; without an address, they become text
    Documentation/address.py --test     # tests this script on a copy of the documents, with an address and without one

The first line of that file is the URL of the repository on GitHub, the second one the version to depend on. While it is empty,
the package has no address: documents depend on it by path, as the folder Deferred beside one's own, which is the name that
`git clone` gives it, and README has no badges.

Written are the dependency, and in README the badges below the headline and the command that clones the repository. Links into the repository become relative in the documents,
and so need no address; `Documentation/build` makes them absolute in the site.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTE = "  // a clone named Deferred, beside your package"
DEPENDENCY = re.compile(
    rf'(`?)\.package\((?:url: "[^"]*/Deferred(?:\.git)?", from: "[^"]*"|path: "\.\./Deferred")\)(?:{re.escape(NOTE)})?'
)
BADGES = re.compile(r"(?<=\A# Deferred\n\n)(?:\[!\[.*\n)+\n")
CLONE = re.compile(r"^git clone https://github\.com/[\w.-]+/Deferred && cd Deferred\n", re.M)
LINK = re.compile(r"https://github\.com/(?!bignerdranch/)[\w.-]+/Deferred/(?:blob|tree)/main/")
# Of this repository; the archived library has the same name.
ADDRESS = re.compile(r"github\.com(?:/|%2F)(?!bignerdranch\b)[\w.-]+(?:/|%2F)Deferred\b|\bOWNER\b")


def badges(owner):
    index = f"https://swiftpackageindex.com/{owner}/Deferred"
    shield = f"https://img.shields.io/endpoint?url=https%3A%2F%2Fswiftpackageindex.com%2Fapi%2Fpackages%2F{owner}%2FDeferred%2Fbadge%3Ftype%3D"
    gate = f"https://github.com/{owner}/Deferred/actions/workflows/gate.yml"
    return "".join(
        f"[![{name}]({image})]({link})\n"
        for name, image, link in [
            ("gate", f"{gate}/badge.svg", gate),
            ("Swift versions", f"{shield}swift-versions", index),
            ("Platforms", f"{shield}platforms", index),
            ("MIT licence", "https://img.shields.io/badge/licence-MIT-blue.svg", "LICENSE"),
        ]
    )


def read(root):
    """The owner and the version, or two times `None`."""
    words = (root / "Documentation/address").read_text().split()
    if not words:
        return None, None
    match = re.fullmatch(r"https://github\.com/([\w.-]+)/Deferred", words[0])
    if not match or len(words) != 2:
        sys.exit("error: Documentation/address is not https://github.com/<owner>/Deferred, and a version on the next line")
    return match[1], words[1]


def written(path, text, owner, version):
    """A document as it should be."""
    dependency = '.package(path: "../Deferred")'
    if owner:
        dependency = f'.package(url: "https://github.com/{owner}/Deferred", from: "{version}")'
    # Within a line of text, there is no place for a note.
    text = DEPENDENCY.sub(lambda match: match[1] + dependency + ("" if match[1] or owner else NOTE), text)
    text = LINK.sub("../" * path.count("/"), text)
    if path == "README.md":
        text = CLONE.sub("", BADGES.sub("", text))
        if owner:
            text = text.replace("```sh\n", f"```sh\ngit clone https://github.com/{owner}/Deferred && cd Deferred\n", 1)
            text = text.replace("# Deferred\n\n", f"# Deferred\n\n{badges(owner)}\n", 1)
    return text


def for_site(catalog):
    """Links from a copy of the catalog into the repository, which has no such neighbour in the site."""
    owner, _ = read(ROOT)

    def link(match):
        if not owner:
            return match[1]
        kind = "blob" if "." in match[2].rsplit("/", 1)[-1] else "tree"
        return f"[{match[1]}](https://github.com/{owner}/Deferred/{kind}/main/{match[2]})"

    for page in catalog.rglob("*.md"):
        page.write_text(re.sub(r"\[([^]]+)\]\((?:\.\./){3}([^)]+)\)", link, page.read_text()))


def documents():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md", "*.tutorial", "*.yml", "*.swift"]
    paths = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [path for path in paths if (ROOT / path).is_file()]


def stale(root, paths):
    """The documents that aren't as they should be, with what they should be."""
    owner, version = read(root)
    for path in paths:
        text = (root / path).read_text()
        new = written(path, text, owner, version)
        if new != text:
            yield path, new


def test():
    paths = documents()
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for path in [*paths, "Documentation/address"]:
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, copy / path)

        def after(address):
            (copy / "Documentation/address").write_text(address)
            for path, new in list(stale(copy, paths)):
                (copy / path).write_text(new)
            return {path: (copy / path).read_text() for path in paths}

        empty = after("")
        for path, text in empty.items():
            assert not ADDRESS.search(text), f"without an address, {path} has one"
        assert "[![" not in empty["README.md"], "without an address, README has badges"
        page = "Documentation/Deferred.docc/Articles/Composing.md"
        (copy / page).write_text(f"[a](https://github.com/first-owner/Deferred/blob/main/README.md)\n{empty[page]}")
        assert after("")[page] == f"[a](../../../README.md)\n{empty[page]}", "a link into the repository is absolute"
        (copy / page).write_text(empty[page])
        mine = after("https://github.com/first-owner/Deferred\n97.5.3\n")
        dependency = '.package(url: "https://github.com/first-owner/Deferred", from: "97.5.3")'
        for path, text in empty.items():
            number = text.count('.package(path: "../Deferred")')
            assert mine[path].count(dependency) == number, f"{path} lacks the dependency by URL"
        assert "README.md" in mine and dependency in mine["README.md"], "README has no dependency"
        assert "\ngit clone https://github.com/first-owner/Deferred && cd Deferred\n" in mine["README.md"], "README clones nothing"
        assert mine["README.md"].count("[![") == 4 and "/first-owner/Deferred/actions/" in mine["README.md"], "README lacks badges"
        other = after("https://github.com/else/Deferred\n98.5.3\n")
        assert not any("first-owner" in text or "97.5.3" in text for text in other.values()), "an old address stays"
        assert after("") == empty, "an address that is taken away leaves something behind"


def main():
    if sys.argv[1:] == ["--test"]:
        test()
        return
    if sys.argv[1:2] == ["--site"]:
        for_site(Path(sys.argv[2]))
        return
    is_check = sys.argv[1:] == ["--check"]
    found = list(stale(ROOT, documents()))
    if is_check and found:
        names = ", ".join(path for path, _ in found)
        sys.exit(f"error: run Documentation/address.py; these files name another address or version: {names}")
    for path, new in found:
        (ROOT / path).write_text(new)


if __name__ == "__main__":
    main()
