#!/usr/bin/env python3
"""Follows README, the article "Getting started" and the tutorial to the letter, in empty folders, with nothing added.

    Documentation/follow.py            # builds and runs what they say, and compares what it prints
    Documentation/follow.py --types    # only compiles it, as Swift 6 and as Swift 5; needs the modules of `swift build`

In README, each `swift` block but the two lines for `Package.swift` is a program, with the imports of the first. In the article, blocks marked `sh` are run, in
order, by one shell, and those behind a comment go into files:

    <!-- file: path -->                          the block is all of the file
    <!-- file: path, keeping the imports -->      it replaces all but the lines of imports at its head
    <!-- append: path -->                        it goes to the end

In the tutorial, each step is a file, whose path is the name of its `@Code`; what there is at the end of each section is built.

There are two changes to what they say: the package is this one, beside theirs, and servers on the Internet are one on 127.0.0.1.
The folders are made anew each time, but for what was built, which would take more than another minute.
"""

import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
CATALOG = ROOT / "Documentation/Deferred.docc"
ARTICLE = CATALOG / "Articles/GettingStarted.md"
TUTORIAL = CATALOG / "Tutorials/Search.tutorial"
EMPTY = ROOT / ".build/follow/empty"
BUILT = ROOT / ".build/follow/built"

ANSWERS = {
    "/repos/swiftlang/swift": b'{"name": "swift"}',
    "/favicon.ico": bytes(range(256)) * 100,
    "/robots.txt": b"User-agent: *\n",
    "/user": b'{"name": "Ada"}',
    "/v2/users?name=Ada%20%26%20Grace": b'{"name": "Ada"}',
}
# What the programs print on standard output, in order, by the last component of a path; of README, progress left out.
README_PRINTS = [
    {"swift"},
    {"favicon.ico"},
    {"The answer is 42"},
    {"Hello, Ada"},
    {"Ada"},
    {"Ada", "Grace"},
]
ARTICLE_PRINTS = [["received: hello", "5"], ["received: hello", "5", "swift"], ["favicon.ico", "robots.txt"]]

MANIFEST = """\
// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "Readme",
    platforms: [.macOS(.v15)],
    dependencies: [DEPENDENCY],
    targets: (1...COUNT).map { number in
        .executableTarget(
            name: "Block\\(number)",
            dependencies: [PRODUCT, .product(name: "DeferredTesting", package: "Deferred")]
        )
    }
)
"""


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


def fail(words):
    sys.exit(f"error: {words}")


def fenced(document):
    """The blocks of a document: the number of the line, the language, what a comment says of a file, the text."""
    lines = document.read_text().split("\n")
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


def imports(text):
    """The lines at the head of a file that import modules."""
    head = re.match(r"(?:(?:import \w+.*|#if canImport.*|#endif)\n)+", text)
    return head[0] if head else ""


def readme_programs():
    blocks = [text for _, language, _, text in fenced(README) if language == "swift" and not text.startswith(".p")]
    return [blocks[0], *(imports(blocks[0]) + text for text in blocks[1:])]


def changed(path, old, target, text):
    """A file after a block of the article."""
    kind, *options = target.split(", ")
    if kind.startswith("append: "):
        return old + "\n" + text
    return imports(old) + "\n" + text if options else text


def article_steps():
    """The article: commands as `(line, None, text)`, and files, as they are then, as `(line, path, text)`."""
    files = {}
    for line, language, target, text in fenced(ARTICLE):
        if language == "sh":
            yield line, None, text
        elif target:
            path = target.split(": ")[1].split(", ")[0]
            files[path] = changed(path, files.get(path, ""), target, text)
            yield line, path, files[path]


def tutorial_sections():
    """The files of each section of the tutorial, step by step, as `(path, text)`."""
    sections = []
    for line in TUTORIAL.read_text().split("\n"):
        if "@Section(" in line:
            sections.append([])
        elif match := re.search(r'@Code\(name: "(.*)", file: "(.*)"\)', line):
            sections[-1].append((match[1], (CATALOG / "Resources/Search" / match[2]).read_text()))
    return sections


# Only compiling


def check_types():
    modules = ROOT / ".build/debug/Modules"
    search = ["-I", modules, *(word for folder in sorted((ROOT / "Sources").glob("C*/include")) for word in ("-I", folder))]
    work = Path(tempfile.mkdtemp())

    def compiled(what, files, *options):
        for name, text in files.items():
            (work / name).write_text(text)
        for mode in "65":
            command = ["swiftc", "-swift-version", mode, *search, "-I", work, *options, *(work / name for name in files)]
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            if run.returncode != 0 or "warning:" in run.stdout:
                fail(f"{what}, as Swift {mode}:\n{run.stdout}")

    try:
        for number, text in enumerate(readme_programs(), 1):
            compiled(f"README.md, block {number}", {"main.swift": text}, "-typecheck")
        program = None
        for line, path, text in article_steps():
            if path and path.endswith("main.swift"):
                program = text
            elif path is None and "swift run" in text:
                compiled(f"{ARTICLE.name}:{line}", {"main.swift": program}, "-typecheck")
        module = ("-emit-module", "-module-name", "SearchField", "-enable-testing", "-o", work / "SearchField.swiftmodule")
        for number, steps in enumerate(tutorial_sections(), 1):
            for path, text in steps:
                if path.startswith("Tests/"):
                    compiled(f"the tutorial, section {number}, {path}", {"Tests.swift": text}, "-typecheck")
                elif path != "Package.swift":
                    compiled(f"the tutorial, section {number}, {path}", {"Search.swift": text}, *module)
        # The blocks of all pages, with what surrounds them in the tests, which are compiled as Swift 6 with the tests.
        snippets = sorted((ROOT / "Tests/SnippetTests").glob("*.swift"))
        command = ["swiftc", "-typecheck", "-swift-version", "5", "-package-name", ROOT.name.lower(), *search, *snippets]
        run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if run.returncode != 0:
            fail(f"snippets of the pages, as Swift 5:\n{run.stdout}")
    finally:
        shutil.rmtree(work)


# Building and running


def shell(folder, where, commands):
    print(f"{where}:\n{commands}", end="", flush=True)
    environment = {**os.environ, "SWIFTPM_BUILD_DIR": str(BUILT)}
    script = f"set -e\n{commands}\npwd >'{EMPTY}/pwd'"
    run = subprocess.run(["bash", "-c", script], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
    print(run.stdout, flush=True)
    if run.returncode != 0:
        fail(f"{where}: the commands failed")
    return run.stdout


def localized(text, port):
    """With this package, and a server on this machine."""
    text = re.sub(r"https://(www\.swift\.org|api\.github\.com|api\.example\.com)", f"http://127.0.0.1:{port}", text)
    text = text.replace('host: "api.example.com"', f'scheme: "http", host: "127.0.0.1", port: {port}')
    return re.sub(r"\.package\(url: .*\)", '.package(path: "../Deferred")', text)


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def lines_of(output):
    return [Path(line).name if line.startswith("/") else line for line in output.split("\n") if line]


def follow_readme(port):
    folder, programs = EMPTY / "readme", readme_programs()
    dependency, product = (
        next(text for _, _, _, text in fenced(README) if text.startswith(start)).strip() for start in (".package(", ".product(")
    )
    manifest = MANIFEST.replace("DEPENDENCY", dependency + "\n").replace("PRODUCT", product)
    manifest = manifest.replace("COUNT", str(len(programs)))
    write(folder / "Package.swift", localized(manifest, port))
    for number, text in enumerate(programs, 1):
        write(folder / f"Sources/Block{number}/main.swift", localized(text, port))
    shell(folder, "README.md", "swift build")
    if len(programs) != len(README_PRINTS):
        fail(f"README.md has {len(programs)} programs; say in {Path(__file__).name} what each prints")
    for number, wanted in enumerate(README_PRINTS, 1):
        printed = set(lines_of(shell(folder, f"README.md, block {number}", f"swift run --skip-build Block{number}")))
        if not wanted <= printed:
            fail(f"README.md, block {number}: this printed {printed}, which lacks {wanted - printed}")


def follow_article(port):
    folder, expected = EMPTY, list(ARTICLE_PRINTS)
    for line, path, text in article_steps():
        where, text = f"{ARTICLE.name}:{line}", localized(text, port)
        if path:
            write(folder / path, text)
            continue
        output = shell(folder, where, text)
        folder = Path((EMPTY / "pwd").read_text().strip())
        if "swift run" in text:
            wanted = expected.pop(0)
            if lines_of(output) != wanted:
                fail(f"{where}: this printed {lines_of(output)}, not {wanted}")
    if expected:
        fail(f"{ARTICLE.name} no longer runs the program: {expected}")


def follow_tutorial(port):
    folder = EMPTY / "tutorial"
    for number, steps in enumerate(tutorial_sections(), 1):
        for path, text in steps:
            write(folder / path, localized(text, port))
        has_tests = any(path.startswith("Tests/") for path, _ in steps)
        where = f"{TUTORIAL.name}, section {number}"
        shell(folder, where, "swift test" if has_tests else "swift build")


def main():
    if sys.argv[1:] == ["--types"]:
        check_types()
        return
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    shutil.rmtree(EMPTY, ignore_errors=True)
    EMPTY.mkdir(parents=True)
    (EMPTY / "Deferred").symlink_to(ROOT)
    for follow in follow_readme, follow_article, follow_tutorial:
        follow(server.server_port)


if __name__ == "__main__":
    main()
