#!/usr/bin/env python3
r"""Runs a program in a terminal of its own, and draws what stands on the screen at some moment.

    pip install pyte
    swift build --product fetch
    Documentation/terminal.py --title "swift run fetch --output files" .build/debug/fetch --output files \
        > Documentation/Deferred.docc/Resources/fetch.svg

The picture has the command and the screen as the program has drawn it by then. Run by hand; the gate doesn't need it.
"""

import argparse
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from html import escape

import pyte

COLOURS = {
    "default": "#e6e6e6", "black": "#2d2d2d", "red": "#ff7b72", "green": "#7ee787", "brown": "#e3b341",
    "blue": "#79c0ff", "magenta": "#d2a8ff", "cyan": "#76e3ea", "white": "#ffffff",
    "brightblack": "#8b949e", "brightred": "#ffa198", "brightgreen": "#aff5b4", "brightbrown": "#f8e3a1",
    "brightblue": "#a5d6ff", "brightmagenta": "#e2c5ff", "brightcyan": "#b3f0ff", "brightwhite": "#ffffff",
}
CHARACTER, LINE, MARGIN = 8.43, 20, 18


def screen_after(seconds, command, folder, columns, lines):
    """What stands on the screen so many seconds after the program's first output."""
    screen = pyte.Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    program, terminal = pty.fork()
    if program == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm-256color", COLUMNS=str(columns), LINES=str(lines))
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
    end = None
    while end is None or time.monotonic() < end:
        if not select.select([terminal], [], [], 0.02)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        stream.feed(data)
        end = end or time.monotonic() + seconds
    os.kill(program, signal.SIGKILL)
    os.waitpid(program, 0)
    return screen


def draw(screen, title):
    rows = [screen.buffer[line] for line in range(screen.lines)]
    used = [index for index, text in enumerate(screen.display) if text.strip()]
    rows = rows[: used[-1] + 1] if used else []
    width = MARGIN * 2 + CHARACTER * screen.columns
    height = MARGIN * 2 + LINE * (len(rows) + 1) + 22
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" '
        f'height="{height}" font-family="\'SF Mono\', Menlo, \'DejaVu Sans Mono\', Consolas, monospace" font-size="14">',
        f'<rect width="{width:.0f}" height="{height}" rx="10" fill="#161b22"/>',
        *(f'<circle cx="{20 + 18 * n}" cy="18" r="6" fill="{colour}"/>' for n, colour in
          enumerate(["#ff5f57", "#febc2e", "#28c840"])),
    ]

    def text(column, row, characters, colour, is_bold):
        x, y = MARGIN + CHARACTER * column, MARGIN + 22 + LINE * row + 15
        weight = ' font-weight="bold"' if is_bold else ""
        # Each run is as wide as its cells, whatever the font.
        length = CHARACTER * len(characters)
        out.append(
            f'<text x="{x:.2f}" y="{y}" fill="{colour}"{weight} textLength="{length:.2f}" '
            f'lengthAdjust="spacingAndGlyphs" xml:space="preserve">{escape(characters)}</text>'
        )

    text(0, 0, "$", COLOURS["brightblack"], False)
    text(2, 0, title, COLOURS["white"], True)
    for index, row in enumerate(rows, start=1):
        column = 0
        while column < screen.columns:
            style = lambda cell: (cell.fg, cell.bold, cell.reverse)
            end = column
            while end < screen.columns and style(row[end]) == style(row[column]):
                end += 1
            run = "".join(row[cell].data for cell in range(column, end))
            if run.strip():
                start = column + len(run) - len(run.lstrip())
                colour = COLOURS.get(row[column].fg) or "#" + row[column].fg
                text(start, index, run.strip(), colour, row[column].bold)
            column = end
    return "\n".join([*out, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--after", type=float, default=1.5, help="seconds after the first output")
    parser.add_argument("--columns", type=int, default=92)
    parser.add_argument("--lines", type=int, default=12)
    parser.add_argument("--title", default="swift run fetch", help="the command that the picture shows")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = [os.path.abspath(options.command[0]), *options.command[1:]]
    with tempfile.TemporaryDirectory() as folder:
        screen = screen_after(options.after, command, folder, options.columns, options.lines)
    sys.stdout.write(draw(screen, options.title))


if __name__ == "__main__":
    main()
