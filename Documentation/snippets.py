#!/usr/bin/env python3
"""Writes a test of every Swift block in the articles, the reference and the guide for contributors.

    Documentation/snippets.py            # writes Tests/SnippetTests, and renews quotes
    Documentation/snippets.py --check    # fails if that would change anything

All blocks below one heading make one test, in order. What a block needs around it stands in HTML comments, which neither
DocC nor GitHub shows:

    <!-- swift                           code of the same test: set-up before a block, or expectations behind it
    let url = server.url("/")
    -->
    <!-- swift: new -->                  begins another test below the same heading
    <!-- swift: main -->                 the test below runs on the main actor
    <!-- swift: compile -->              the test below is compiled and not run
    <!-- swift: file -->                 the next block, or the code in the comment itself, stands outside of any test
    <!-- swift: shown -->                the next block is only shown: code of another library, or no whole statement
    <!-- quote: PATH: WORDS -->          the next block is, and stays, what PATH has from the line that begins with WORDS

A quote is one statement or declaration with the comment and the attributes above it; the path begins at the root of the
repository. It is compiled where it comes from, and renewed in the document when it has changed there.

In a comment, a line that begins with an attribute takes a backslash before it, or DocC would see a directive of its own, and
`-->`, which joins HTTP chains, cannot occur, since it ends the comment; call `joined(a, b)` instead.
A page shows its imports once, at its first block, and its test file has these imports and no others, but for what the tests
themselves need. So what a reader copies from it compiles. `public` is left out, which would ask for public imports.

In a table for those who come from elsewhere, all code in the column "here" or "now" has to occur in code of the page that is
compiled, mostly in a comment below the table; otherwise this script fails.

`Documentation/follow.py` follows README, *Getting started* and the tutorial to the letter.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "Tests/SnippetTests"
DOCUMENTS = [
    ROOT / ".github/CONTRIBUTING.md",
    *sorted((ROOT / "Documentation/Deferred.docc").rglob("*.md")),
    *sorted((ROOT / "Documentation/Examples").glob("*/README.md")),
]

HEADER = """\
// swift-format-ignore-file
// Written by Documentation/snippets.py from {path}.

{imports}
"""

# What tests need, and no page shows.
FOR_TESTS = ["DeferredTesting", "TestSupport", "Testing"]
# Names that a page can't use without showing this import, which the compiler doesn't find missing: our tests have it anyway.
NEEDS = {
    "DeferredTesting": r"\b(ManualClock|ManualExecutor|StubLoader|LoopbackServer)\b",
    "Synchronization": r"\bMutex\b",
    "Testing": r"#expect\b|@Test\b",
}


def shown_imports(path, blocks):
    """The modules that a page imports; the first of its blocks has to show them."""
    lines = [line.strip() for block in blocks for line in block]
    modules = {match[1] for line in lines if (match := re.match(r"(?:public |@testable )?import (\w+)$", line))}
    if "#if canImport(FoundationNetworking)" not in lines:
        modules.discard("FoundationNetworking")
    # What only some platforms have is imported where it is used.
    modules -= {match[1] for line in lines if (match := re.match(r"#if canImport\((?!Foundation)(\w+)\)", line))}
    if not any("import " in line for line in blocks[0]):
        sys.exit(f"error: {path}: the first block shows no imports")
    for module, names in NEEDS.items():
        if module not in modules and any(re.search(names, line) for line in lines):
            sys.exit(f"error: {path}: this uses {module}, and shows no import of it")
    return modules


def header(path, modules):
    modules = sorted({*modules, *FOR_TESTS})
    imports = [f"import {module}" for module in modules if module != "FoundationNetworking"]
    if "FoundationNetworking" in modules:
        imports += ["", "#if canImport(FoundationNetworking)", "import FoundationNetworking", "#endif"]
    return HEADER.format(path=path, imports="\n".join(imports)).rstrip("\n")


class Test:
    def __init__(self, name):
        self.name, self.lines, self.is_run, self.is_main = name, [], True, False

    def source(self):
        attributes = ("@Test " if self.is_run else "") + ("@MainActor " if self.is_main else "")
        return [f"    {attributes}func `{self.name}`() async throws {{", *self.lines, "    }"]


def is_conditional(text, match):
    return re.search(r"#if canImport\(\w+\)\n$", text[: match.start()]) is not None


def located(path, number, lines, indentation):
    """Code that the compiler and the test runner find at its place in the document."""
    text = re.sub(r"^#if canImport\(FoundationNetworking\)\nimport FoundationNetworking\n#endif$", "\n\n", "\n".join(lines), flags=re.M)
    # What only some platforms have stays where it is.
    text = re.sub(r"^(public )?import \w+$", lambda match: match[0] if is_conditional(text, match) else "", text, flags=re.M)
    code = [indentation + re.sub(r"^( *)public ", r"\1", line) if line else "" for line in text.split("\n")]
    return [f'#sourceLocation(file: "{path}", line: {number})', *code, "#sourceLocation()"]


def excerpt(path, words):
    """The statement or declaration in a file that begins with these words."""
    lines = (ROOT / path).read_text().split("\n")
    starts = [number for number, line in enumerate(lines) if line.lstrip().startswith(words)]
    if len(starts) != 1:
        raise ValueError(f"{len(starts)} lines of {path} begin with: {words}")
    start, end = starts[0], starts[0] + 1
    indentation = len(lines[start]) - len(lines[start].lstrip())

    def depth(number):
        return len(lines[number]) - len(lines[number].lstrip())

    while end < len(lines):
        is_deeper = not lines[end] or depth(end) > indentation
        is_closing = depth(end) == indentation and lines[end].lstrip()[:1] in list("}])")
        if not is_deeper and not is_closing:
            break
        end += 1
        if is_closing and lines[end - 1][-1] not in "{[(":
            break
    while start > 0 and depth(start - 1) == indentation and re.match(r"///|@", lines[start - 1].lstrip()):
        start -= 1
    return "\n".join(line[indentation:] for line in lines[start:end]).strip("\n").split("\n")


def renewed(document):
    """A document with its quotes as they are where they come from."""
    result, quote, index = [], None, 0
    lines = document.read_text().split("\n")
    while index < len(lines):
        line = lines[index]
        result.append(line)
        index += 1
        if re.match(r" *<!-- quote\b", line):
            quote = re.match(r" *<!-- quote: (\S+): (.+) -->$", line)
            if not quote:
                sys.exit(f"error: {document.relative_to(ROOT)}:{index}: not <!-- quote: PATH: WORDS -->")
        elif match := re.match(r"( *)```\w*$", line):
            end = lines.index(match[1] + "```", index)
            if quote:
                try:
                    code = excerpt(quote[1], quote[2])
                except (ValueError, OSError) as error:
                    sys.exit(f"error: {document.relative_to(ROOT)}:{index - 1}: {error}")
                result += [match[1] + text if text else "" for text in code]
                quote = None
            else:
                result += lines[index:end]
            result.append(lines[end])
            index = end + 1
    if quote:
        sys.exit(f"error: {document.relative_to(ROOT)}: no block below {quote[0]}")
    return "\n".join(result)


def parse(document):
    path = document.relative_to(ROOT)
    lines = document.read_text().split("\n")
    outside, tests, names = [], [], {}
    heading, test, to_file, is_quote, shown = document.stem, None, False, False, []

    def begin():
        nonlocal test
        name = re.sub(r"[^\w ,-]", "", heading).strip()
        names[name] = names.get(name, 0) + 1
        test = Test(name if names[name] == 1 else f"{name}, {names[name]}")
        tests.append(test)

    def add(number, code, is_file):
        if is_file:
            outside.extend(["", *located(path, number, code, "")])
            return
        if test is None:
            begin()
        test.lines += located(path, number, code, "        ")

    index = 0
    while index < len(lines):
        line = lines[index]
        index += 1
        if match := re.match(r"#+ (.*)", line):
            heading, test = match[1], None
        elif re.match(r" *<!-- quote: ", line):
            is_quote = True
        elif match := re.match(r" *<!-- swift(?:: (\w+))?( -->)?$", line):
            if match[2]:
                option = match[1]
                if option == "file":
                    to_file = True
                elif option == "new":
                    test = None
                elif option == "shown":
                    is_quote = True
                else:
                    if option not in ("main", "compile"):
                        sys.exit(f"{path}:{index}: no such option: {option}")
                    if test is None:
                        begin()
                    test.is_main |= option == "main"
                    test.is_run &= option != "compile"
            else:
                end = lines.index("-->", index)
                if early := next((number for number in range(index, end) if "-->" in lines[number]), None):
                    sys.exit(f"{path}:{early + 1}: --> would end the HTML comment; show this line, or call `joined` instead")
                code = [text.removeprefix("\\") if text.startswith("\\@") else text for text in lines[index:end]]
                add(index + 1, code, match[1] == "file")
                index = end + 1
        elif match := re.match(r"( *)```(\w*)$", line):
            fence = match[1] + "```"
            end = lines.index(fence, index)
            if match[2] == "swift" and not is_quote or any("import Foundation" == line for line in lines[index:end]):
                shown.append([text.removeprefix(match[1]) for text in lines[index:end]])
            if match[2] == "swift" and not is_quote:
                add(index + 1, [text.removeprefix(match[1]) for text in lines[index:end]], to_file)
                to_file = False
            is_quote = False
            index = end + 1
    return outside, tests, shown


def condensed(code):
    """Code without spaces but those between words."""
    return re.sub(r"(?<!\w)\s+|\s+(?!\w)", "", code)


def spelling(code):
    """A pattern for code in a cell of a table: `…` stands for anything, and so do arguments that are left out."""
    code = re.sub(r"\b_:", "…", condensed(code))
    code = re.sub(r"(\w+:)(?=\)|\w+:)", r"\1…", code)
    pattern = ".*?".join(map(re.escape, code.split("…")))
    pattern = pattern.replace(r"\(.*?\)", r"(?:\(.*?\)|\{)")  # The argument may be a closure behind the call.
    return re.compile((r"(?<!\w)" if re.match(r"\w", code) else "") + pattern + (r"(?!\w)" if re.search(r"\w$", code) else ""))


def uncompiled(document):
    """Code in cells below "here" or "now" that no line of the page's compiled code has."""
    outside, tests, _ = parse(document)
    compiled = [condensed(line) for line in [*outside, *(line for test in tests for line in test.lines)]]
    column = None
    for number, line in enumerate(document.read_text().split("\n"), start=1):
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if column is None:
            column = next((index for index, cell in enumerate(cells) if cell in ("here", "now")), -1)
        elif column >= 0:
            for link, code in re.findall(r"``([^`]+)``|`([^`]+)`", cells[column]):
                code = code or re.sub(r"-[^/]*$", "", link).rsplit("/", 1)[-1]
                if not any(spelling(code).search(line) for line in compiled):
                    yield f"{document.relative_to(ROOT)}:{number}: no code of this page that is compiled has {code}"


def generate(document):
    outside, tests, shown = parse(document)
    if not outside and not tests:
        return None
    path = document.relative_to(ROOT)
    name = document.stem.capitalize() if document.stem.isupper() else document.stem
    suite = name + "Snippets"
    lines = [header(path, shown_imports(path, shown)), *outside]
    if tests:
        lines += ["", "@Suite(.ownThread, .timeLimit(.minutes(1)))", f"struct {suite} {{"]
        for number, test in enumerate(tests):
            lines += ([""] if number else []) + test.source()
        lines.append("}")
    return suite, "\n".join([*lines, ""])


def main():
    if faults := [fault for document in DOCUMENTS for fault in uncompiled(document)]:
        sys.exit("\n".join(f"error: {fault}" for fault in faults))
    documents = {document: renewed(document) for document in DOCUMENTS}
    changed = [document for document, text in documents.items() if document.read_text() != text]
    if sys.argv[1:] == ["--check"] and changed:
        names = ", ".join(str(document.relative_to(ROOT)) for document in changed)
        sys.exit(f"error: run Documentation/snippets.py; these quotes differ from the quoted files: {names}")
    for document in changed:
        document.write_text(documents[document])
    wanted = {f"{suite}.swift": text for suite, text in filter(None, map(generate, DOCUMENTS))}
    OUTPUT.mkdir(exist_ok=True)
    existing = {file.name: file.read_text() for file in OUTPUT.glob("*Snippets.swift")}
    if sys.argv[1:] == ["--check"]:
        stale = sorted(name for name in wanted.keys() | existing.keys() if wanted.get(name) != existing.get(name))
        if stale:
            sys.exit(f"error: run Documentation/snippets.py; these files differ from the documents: {', '.join(stale)}")
        return
    for name in existing.keys() - wanted.keys():
        (OUTPUT / name).unlink()
    for name, text in wanted.items():
        # Written only when it has changed, so that the rest need not be compiled again.
        if existing.get(name) != text:
            (OUTPUT / name).write_text(text)


if __name__ == "__main__":
    main()
