#!/usr/bin/env python3
"""Follows the article "Getting started" to the letter, in an empty folder.

    Documentation/getting-started.py

Blocks marked `sh` are run, in order, by one shell. Those behind a comment go into files of that folder:

    <!-- file: path -->                          the block is all of the file
    <!-- file: path, keeping the imports -->      it replaces all but the lines of imports at its head
    <!-- append: path -->                        it goes to the end

There are two changes to what the article says: the package is this one, on disk, and the servers on the Internet are one on
127.0.0.1. The folder is made anew each time, but for what was built in it, which would take another minute.
"""

import http.server
import re
import shutil
import subprocess
import sys
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ARTICLE = ROOT / "Documentation/Deferred.docc/Articles/GettingStarted.md"
# The module cache knows its own path, and so both stay where they are.
EMPTY = ROOT / ".build/getting-started/empty"
BUILT = ROOT / ".build/getting-started/built"

ANSWERS = {
    "/repos/swiftlang/swift": b'{"name": "swift"}',
    "/favicon.ico": bytes(range(256)) * 100,
    "/robots.txt": b"User-agent: *\n",
}
# What the programs print, in the order of the blocks that run them.
EXPECTED = [["received: hello", "5"], ["received: hello", "5", "swift"], ["favicon.ico", "robots.txt"]]


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = ANSWERS.get(self.path)
        self.send_response(404 if body is None else 200)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *arguments):
        pass


def blocks():
    """The blocks of the article: the number of the line, the language, what a comment says of a file, the text."""
    lines = ARTICLE.read_text().split("\n")
    index, target = 0, None
    while index < len(lines):
        line = lines[index]
        index += 1
        if match := re.fullmatch(r"<!-- ((?:file|append): .*) -->", line):
            target = match[1]
        elif line.startswith("```"):
            end = lines.index("```", index)
            yield index, line[3:], target, "\n".join(lines[index:end]) + "\n"
            index, target = end + 1, None


def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    here = f"http://127.0.0.1:{server.server_port}"
    expected = list(EXPECTED)

    shutil.rmtree(EMPTY, ignore_errors=True)
    EMPTY.mkdir(parents=True)
    folder = EMPTY
    try:
        for line, language, target, text in blocks():
            text = re.sub(r"https://(www\.swift\.org|api\.github\.com)", here, text)
            text = re.sub(r'\.package\(url: .*\)', f'.package(name: "Deferred", path: "{ROOT}")', text)
            if language == "sh":
                print(f"{ARTICLE.name}:{line}:\n{text}", end="", flush=True)
                command = f"set -e\n{text}pwd >'{EMPTY}/pwd'"
                run = subprocess.run(["bash", "-c", command], cwd=folder, stdout=subprocess.PIPE, text=True)
                print(run.stdout, flush=True)
                if run.returncode != 0:
                    sys.exit(f"error: {ARTICLE.name}:{line}: the commands failed")
                folder = Path((EMPTY / "pwd").read_text().strip())
                if (folder / "Package.swift").exists() and BUILT.exists():
                    BUILT.rename(folder / ".build")
                if "swift run" in text:
                    wanted = expected.pop(0)
                    printed = [Path(line).name for line in run.stdout.split("\n") if line]
                    if printed != wanted:
                        sys.exit(f"error: {ARTICLE.name}:{line}: this printed {printed}, not {wanted}")
            elif target:
                kind, path = target.split(": ")
                path, *options = path.split(", ")
                file = folder / path
                if kind == "append":
                    text = file.read_text() + "\n" + text
                elif options:
                    old = file.read_text()
                    text = old[: old.rindex("#endif\n") + len("#endif\n")] + "\n" + text
                file.write_text(text)
    finally:
        if (folder / ".build").exists():
            shutil.rmtree(BUILT, ignore_errors=True)
            (folder / ".build").rename(BUILT)
    if expected:
        sys.exit(f"error: {ARTICLE.name} no longer runs the program: {expected}")


if __name__ == "__main__":
    main()
