"""Finds the conditions in Swift code: of `if`, `guard` and `while`, of ternaries, and the operands of `&&` and `||`.

What binds a name or matches a pattern is none, nor is code that this platform does not compile.
"""

import platform
import re
from dataclasses import dataclass

IS_LINUX = platform.system() == "Linux"
COMPILED = {
    "os(Linux)": IS_LINUX, "canImport(FoundationNetworking)": IS_LINUX, "canImport(Glibc)": IS_LINUX, "DEBUG": True,
    "canImport(Darwin)": not IS_LINUX, "canImport(ObjectiveC)": not IS_LINUX, "canImport(Combine)": not IS_LINUX,
    "canImport(Security)": not IS_LINUX, "os(macOS)": not IS_LINUX,
}  # fmt: skip

OPENING = {"(": ")", "[": "]", "{": "}"}
TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<comment>//[^\n]*)|(?P<block>/\*)|(?P<string>\#*"(?:"")?)
    |(?P<word>[#@$]?`?[A-Za-z_0-9]\w*`?)|(?P<bracket>[()\[\]{}])|(?P<mark>[,;:])|(?P<operator>[-/=+!*%<>&|^~?.]+)|(?P<other>.)""",
    re.X,
)
# The words and marks that end the expression to their right, seen from a token within it.
BEFORE = set(", ; : && || = -> return in if guard while where else case throw yield switch repeat defer do".split())
AFTER = set(", ; : && || = else where".split())
# A condition that opens with one of these binds a name, or is decided when it is compiled.
BINDING = set("let var case #available #unavailable true false".split())


@dataclass
class Token:
    text: str
    start: int
    end: int
    # White space before and after, where it tells a ternary's question mark from an optional's, and a new line before.
    spaced: bool = False
    opens_line: bool = False
    partner: int = -1
    is_body: bool = False


@dataclass(frozen=True)
class Condition:
    start: int
    end: int
    line: int
    text: str
    is_loop: bool


def end_of_string(text, start, quote):
    """Where the literal ends that opens with `quote`; what it interpolates is passed over with its own literals."""
    hashes = quote.rstrip('"')
    closing, escape = quote[len(hashes) :] + hashes, "\\" + hashes
    at = start + len(quote)
    while at < len(text):
        if text.startswith(closing, at):
            return at + len(closing)
        if text.startswith(escape + "(", at):
            at, depth = at + len(escape) + 1, 1
            while depth:
                match = TOKEN.match(text, at)
                at = end_of_string(text, at, match["string"]) if match["string"] else match.end()
                depth += {"(": 1, ")": -1}.get(match[0], 0)
        else:
            at += len(escape) + 1 if text.startswith(escape, at) else 1
    return at


def end_of_comment(text, start):
    depth, at = 0, start
    while at < len(text):
        pair = text[at : at + 2]
        depth += {"/*": 1, "*/": -1}.get(pair, 0)
        at += 2 if pair in ("/*", "*/") else 1
        if depth == 0:
            break
    return at


def holds(directive):
    """Whether the condition of `#if` holds here: None if that isn't known."""
    values = []
    for name in re.split(r"&&|\|\|", re.sub(r"\s", "", directive)):
        value = COMPILED.get(name.lstrip("!"), False if name.startswith("os(") else None)
        values.append(value if value is None else value != name.startswith("!"))
    if "&&" in directive:
        return False if False in values else None if None in values else True
    return True if True in values else None if None in values else False


def without_uncompiled(text):
    """The code with blanks for what is not compiled, and for directives; offsets and lines stay."""
    lines, branches = [], []
    for line in text.split("\n"):
        directive = re.match(r"\s*#(if|elseif|else|endif)\b(.*)", line)
        if not directive:
            is_compiled = all(branch[-1] is True for branch in branches)
            lines.append(line if is_compiled else " " * len(line))
            continue
        word, condition = directive.groups()
        if word == "if":
            branches.append([holds(condition)])
        elif word == "endif":
            branches.pop()
        else:
            earlier = branches[-1]
            if True in earlier:
                earlier.append(False)
            elif None in earlier:
                earlier.append(None)
            else:
                earlier.append(True if word == "else" else holds(condition))
        lines.append(" " * len(line))
    return "\n".join(lines)


def tokens_of(text):
    tokens, at, open_brackets, line_opens, is_spaced = [], 0, [], True, True
    while at < len(text):
        match = TOKEN.match(text, at)
        end = match.end()
        if match["block"]:
            end = end_of_comment(text, at)
        if match["string"]:
            end = end_of_string(text, at, match["string"])
        if match["space"] or match["comment"] or match["block"]:
            line_opens = line_opens or "\n" in text[at:end]
            is_spaced = True
        else:
            token = Token(text[at:end], at, end, spaced=is_spaced and text[end : end + 1].isspace(), opens_line=line_opens)
            if token.text in OPENING:
                open_brackets.append(len(tokens))
            elif token.text in OPENING.values():
                token.partner = open_brackets.pop()
                tokens[token.partner].partner = len(tokens)
            tokens.append(token)
            line_opens = is_spaced = False
        at = end
    return tokens


def is_binary(token):
    return token.spaced and re.fullmatch(r"[-/=+!*%<>&|^~?.]+", token.text) is not None


def opens_statement(tokens, index):
    """Whether a statement begins here, as no expression goes on over the end of the line before."""
    if not tokens[index].opens_line:
        return False
    token, previous = tokens[index], tokens[index - 1]
    return not (is_binary(token) or token.text.startswith(".") or is_binary(previous) or previous.text in (":", "return"))


def is_assignment(token):
    return token.spaced and token.text.endswith("=") and token.text not in ("==", "!=", "<=", ">=", "===", "!==", "~=")


def is_ternary(token):
    return token.text == "?" and token.spaced


def left_end(tokens, index):
    """The first token of the expression that ends before `index`."""
    while index > 0:
        before = tokens[index - 1]
        if before.text in OPENING or before.text in BEFORE or is_assignment(before) or is_ternary(before):
            break
        if opens_statement(tokens, index):
            break
        index = before.partner if before.text in OPENING.values() else index - 1
    return index


def right_end(tokens, index):
    """The token behind the expression that begins at `index`."""
    first = index
    while index < len(tokens):
        token = tokens[index]
        if token.text in OPENING.values() or token.text in AFTER or token.is_body or is_ternary(token):
            break
        if index > first and (opens_statement(tokens, index) or is_assignment(token)):
            break
        index = token.partner + 1 if token.text in OPENING else index + 1
    return index


def clauses(tokens, index):
    """The clauses of the statement whose keyword is at `index`, as ranges of tokens; marks the brace of its body."""
    is_guard = tokens[index].text == "guard"
    first = at = index + 1
    result = []
    while at < len(tokens):
        text = tokens[at].text
        if text == "," or (text == "else" if is_guard else text == "{"):
            result.append((first, at))
            first = at + 1
            if text != ",":
                break
        if text in OPENING.values():
            return []
        at = tokens[at].partner + 1 if text in OPENING else at + 1
    if not is_guard and at < len(tokens):
        tokens[at].is_body = True
    return result


def is_keyword(tokens, index):
    return index == 0 or tokens[index - 1].text not in (".", "func") and tokens[index + 1].text != ":"


def conditions(text):
    """All conditions of a file, each once, in their order."""
    text = without_uncompiled(text)
    tokens = tokens_of(text)
    found = {}

    def add(first, end, is_loop=False):
        while first < end and tokens[first].text in ("try", "await"):
            first += 1
        if first >= end or tokens[first].text in BINDING or tokens[first].text in ("?", "!") and tokens[first - 1].text == "try":
            return
        # The operands are conditions themselves, and forcing one of them covers the whole.
        inner = first
        while tokens[inner].text in ("!", "(") and inner + 1 < end:
            inner += 1
        while inner < end:
            if tokens[inner].text in ("&&", "||") or is_ternary(tokens[inner]):
                return
            inner = tokens[inner].partner + 1 if tokens[inner].text in OPENING else inner + 1
        start, stop = tokens[first].start, tokens[end - 1].end
        line = text.count("\n", 0, start) + 1
        found[start, stop] = Condition(start, stop, line, " ".join(text[start:stop].split()), is_loop)

    statements = [
        (index, clauses(tokens, index))
        for index, token in enumerate(tokens)
        if token.text in ("if", "guard", "while", "switch", "for") and is_keyword(tokens, index)
    ]
    for index, ranges in statements:
        if tokens[index].text in ("if", "guard", "while"):
            for first, end in ranges:
                add(first, end, is_loop=tokens[index].text == "while")
    for index, token in enumerate(tokens):
        if token.text in ("&&", "||") and token.spaced:
            add(left_end(tokens, index), index)
            add(index + 1, right_end(tokens, index + 1))
        elif is_ternary(token):
            add(left_end(tokens, index), index)
    return [found[key] for key in sorted(found)]
