#!/usr/bin/env python3
"""Fails if a comment in Sources names in backticks what isn't there, documents a parameter that its function lacks, or opens
with a riddle such as "What …" or "Where …".

    Documentation/names.py

A name is there if code of the package has it (also one of Swift's or Foundation's that is used somewhere), if a file is called
so, or if it is among the names of others below. A function with its labels, `fill(with:)`, is there if the package declares
or calls one like it.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Names of others that no code here mentions: words of protocols, functions of C and Foundation, variables of the environment.
ELSEWHERE = set(
    """
    CFRunLoopTimerSetNextFireDate DIGIT EncodingError FFFD ID Module SubjectPublicKeyInfo accept4 all_proxy dispatchMain
    export http_proxy https_proxy no_proxy openssl pkcs12 sleep socks5h
    """.split()
)

RIDDLE = re.compile(r"\s*/// (What|How|Whether|Where|Which|Who|Whom|Whose|So|When|Why)\b")
COMMENT = re.compile(r"^\s*//[/!]?\s?(.*)$")
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
DECLARATION = re.compile(r"\b(func|init|subscript|case)\b\s*([\w`]*)[?!]?\s*(?:<[^({]*>)?\s*\(")


def split(text):
    """The code of a file, and its comments with the number of each line."""
    code, comments = [], []
    for number, line in enumerate(text.split("\n"), start=1):
        if match := COMMENT.match(line):
            comments.append((number, match[1]))
            code.append("")
        elif "//" in line and (match := re.search(r"(?<!:)//\s?(.*)$", line)) and line[: match.start()].count('"') % 2 == 0:
            comments.append((number, match[1]))
            code.append(line[: match.start()])
        else:
            code.append(line)
    return code, comments


def arguments(text, start):
    """What is between the parenthesis before `start` and the one that closes it, split at the commas outside of others."""
    depth, parts, part = 0, [], ""
    for character in text[start : start + 4000]:
        if character in "([{":
            depth += 1
        elif character in ")]}":
            if depth == 0:
                break
            depth -= 1
        if character == "," and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += character
    return [*parts, part] if part.strip() else parts


def signatures(text):
    """The functions that a text declares, as `name(label:label:)`, and calls with labels as written."""
    found = set()
    for match in DECLARATION.finditer(text):
        name = match[2].strip("`") or match[1]
        labels = ""
        for argument in arguments(text, match.end()):
            words = argument.split(":")[0].split()
            words = [word for word in words if not word.startswith("@")]
            is_unlabelled = match[1] == "case" and ":" not in argument or match[1] == "subscript" and len(words) < 2
            labels += "_:" if not words or is_unlabelled else words[0].strip("`") + ":"
        found.add(f"{name}({labels})")
    for match in re.finditer(r"\b(\w+)\(", text):
        labels = ""
        for argument in arguments(text, match.end()):
            label = re.match(r"\s*(\w+):(?!:)", argument)
            labels += f"{label[1]}:" if label else "_:"
        found.add(f"{match[1]}({labels})")
    return found


def parameters(comments, code, path):
    """Parameters that a doc comment describes and the declaration below it lacks."""
    block = []
    for index, (number, text) in enumerate(comments):
        block.append((number, text))
        is_last = index + 1 == len(comments) or comments[index + 1][0] != number + 1
        if not is_last:
            continue
        documented, is_list = [], False
        for line, text in block:
            if match := re.match(r"- Parameter (\w+):", text):
                documented.append((line, match[1]))
            elif re.match(r"- Parameters:", text):
                is_list = True
            elif is_list and (match := re.match(r"  - (\w+):", text)):
                documented.append((line, match[1]))
            elif re.match(r"\S", text):
                is_list = False
        if documented:
            declaration = "\n".join(code[number : number + 40])
            declaration = re.split(r"\n\s*\n|\{\s*\n", declaration)[0]
            words = set(WORD.findall(declaration))
            for line, name in documented:
                if name not in words:
                    yield f"{path}:{line}: there is no such parameter: {name}"
        block = []


def main():
    words, functions, sources = set(ELSEWHERE), set(), {}
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    for path in sorted(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\n")):
        file = ROOT / path
        words.update(WORD.findall(file.stem))
        if file.suffix not in (".swift", ".c", ".h") or not file.is_file():
            continue
        code, comments = split(file.read_text())
        words.update(WORD.findall("\n".join(code)))
        functions |= signatures("\n".join(code))
        if path.startswith("Sources/") and file.suffix == ".swift":
            sources[path] = code, comments

    problems = []
    for path in sources:
        lines = (ROOT / path).read_text().split("\n")
        for number, (before, line) in enumerate(zip([""] + lines, lines), start=1):
            if (match := RIDDLE.match(line)) and not before.lstrip().startswith("///"):
                problems.append(f"{path}:{number}: a summary is not to open with {match[1]}")
    for path, (code, comments) in sources.items():
        is_example = False
        for number, text in comments:
            if text.startswith("```"):
                is_example = not is_example
            if is_example:
                continue
            for name in re.findall(r"(?<!`)``?([^`]+)``?(?!`)", text):
                # Of a link to an overload, what tells it apart.
                name = re.sub(r"-(\(.*\)|[0-9a-z]{4,5}|swift\.\w+(\.\w+)*)$", "", name)
                if match := re.fullmatch(r"(?:[\w./]*[./])?(\w+)\(((?:\w+:)+)\)", name):
                    if f"{match[1]}({match[2]})" not in functions and match[1] not in ELSEWHERE:
                        problems.append(f"{path}:{number}: there is no such function: {name}")
                else:
                    problems += [
                        f"{path}:{number}: there is no such name: {word}, in {name}"
                        for word in WORD.findall(re.sub(r'"[^"]*"', "", name))
                        if word not in words
                    ]
        problems += parameters(comments, code, path)
    for problem in problems:
        print(f"error: {problem}")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
