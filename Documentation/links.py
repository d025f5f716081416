#!/usr/bin/env python3
"""Mends the links of the site that DocC leaves dead, and fails if others lead nowhere or to the page that they are on.

    Documentation/links.py SITE PREFIX    # the prefix of all paths of the site, such as `/` or `/Deferred/`

DocC has breadcrumbs to pages that it doesn't write: those of other modules that one of ours extends.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCHEME = "doc://Deferred"


def parts(node):
    """All dictionaries in a page."""
    if isinstance(node, dict):
        yield node
        for child in node.values():
            yield from parts(child)
    elif isinstance(node, list):
        for child in node:
            yield from parts(child)


def path_of(identifier):
    return identifier.removeprefix(SCHEME).lower()


def mend(file, page, pages):
    """Takes dead breadcrumbs away, and what they refer to."""
    paths = page.get("hierarchy", {}).get("paths")
    if not paths:
        return
    dead = {one for path in paths for one in path if path_of(one) not in pages}
    if dead:
        page["hierarchy"]["paths"] = [[one for one in path if one not in dead] for path in paths]
        for one in dead:
            page["references"].pop(one, None)
        file.write_text(json.dumps(page))


def problems_of(page, path, pages, anchors):
    for reference in page.get("references", {}).values():
        url = reference.get("url", "")
        if re.match("/(documentation|tutorials)/", url):
            target, _, anchor = url.lower().partition("#")
            if target not in pages:
                yield f"{path} links to {url}, which is no page"
            elif anchor and anchor not in anchors[target]:
                yield f"{path} links to {url}, and there is no such heading"
    for key in ("abstract", "primaryContentSections"):
        for part in parts(page.get(key)):
            if part.get("type") == "reference" and path_of(part.get("identifier", "")) == path:
                yield f"{path} links to itself"


def in_documents():
    """Relative links of the documents outside of the site."""
    folders = ROOT / ".github", ROOT / "Documentation"
    documents = (file for folder in folders for file in folder.rglob("*.md") if ".build" not in file.parts)
    for document in [ROOT / "README.md", *sorted(documents)]:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text()):
            # Images of the catalog have names only.
            if re.search("[./]", target) and not (document.parent / target).exists():
                yield f"{document.relative_to(ROOT)} links to {target}, which isn't there"


def in_html(site, prefix):
    """Paths of scripts and style sheets, which begin with the prefix of the site."""
    for file in sorted(site.rglob("index.html")):
        for target in re.findall(r'(?:href|src)="(/[^"]*)"', file.read_text()):
            if not target.startswith(prefix) or not (site / target.removeprefix(prefix)).exists():
                yield f"{file.relative_to(site)} asks for {target}"


def main():
    site, prefix = Path(sys.argv[1]), sys.argv[2]
    files = {file: json.loads(file.read_text()) for file in sorted((site / "data").rglob("*.json"))}
    files = {file: page for file, page in files.items() if "identifier" in page}
    pages = {path_of(page["identifier"]["url"]) for page in files.values()}
    anchors = {}
    for page in files.values():
        found = {part["anchor"].lower() for part in parts(page) if isinstance(part.get("anchor"), str)}
        anchors[path_of(page["identifier"]["url"])] = found

    problems = []
    for file, page in files.items():
        mend(file, page, pages)
        problems += problems_of(page, path_of(page["identifier"]["url"]), pages, anchors)
    problems += [*in_documents(), *in_html(site, prefix)]
    for problem in dict.fromkeys(problems):
        print(f"error: {problem}")
    print(f"{len(problems)} dead links in {len(pages)} pages")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
