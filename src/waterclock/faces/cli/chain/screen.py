"""A part of a terminal that is drawn again in place: the frame of a run, as often as it is looked at. On stderr."""

import os
import sys
from collections.abc import Mapping
from datetime import datetime, tzinfo
from typing import Final

from waterclock.faces.cli.chain.live import Shown, frame
from waterclock.faces.cli.chain.words import fit

SIZE: Final = (80, 24)  # of a terminal that does not tell
HIDE_CURSOR: Final = "\033[?25l"
SHOW_CURSOR: Final = "\033[?25h"
CLEAR_LINE: Final = "\033[K"
CLEAR_BELOW: Final = "\033[J"
PLAIN: Final = "\033[0m"
COLOURS: Final[Mapping[str, str]] = {
    "  RUNNING...": "\033[36m",
    "  Success": "\033[32m",
    "  Failed": "\033[31m",
    "  KILLED": "\033[33m",
}


class Screen:
    """The last frame, drawn over the one before. The cursor is hidden only while it draws."""

    def __init__(self, zone: tzinfo) -> None:
        self._zone = zone
        self._drawn = 0
        self._size = SIZE
        self._lines: list[str] = []

    def show(self, run: Shown, now: datetime) -> None:
        width, height = self._measure()
        self._lines = frame(run, now, width - 1, zone=self._zone, height=height - 1)
        self._draw(self._lines)

    def trouble(self, words: str) -> None:
        width, height = self._measure()
        self._draw([*self._lines[: height - 2], fit(words, width - 1)])

    def done(self) -> None:
        """Others print all of it; what was broken off before stays as it was last seen."""
        self._draw([])

    def _measure(self) -> tuple[int, int]:
        """After a resize the lines are no longer where they were: the next frame begins below."""
        size = terminal_size()
        if size != self._size:
            self._size, self._drawn = size, 0
        return size

    def _draw(self, lines: list[str]) -> None:
        text = "".join(f"{painted(line)}{CLEAR_LINE}\n" for line in lines)
        try:
            self._write(f"{HIDE_CURSOR}{self._to_top()}{text}{CLEAR_BELOW}")
        finally:  # also if Ctrl-C comes just now
            self._write(SHOW_CURSOR)
        self._drawn = len(lines)

    def _to_top(self) -> str:
        return f"\r\033[{self._drawn}A" if self._drawn else "\r"

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()


def painted(line: str) -> str:
    if "NO_COLOR" in os.environ:
        return line
    for state, colour in COLOURS.items():
        if line.startswith(state):
            return f"{colour}{line[: len(state)]}{PLAIN}{line[len(state) :]}"
    return line


def terminal_size() -> tuple[int, int]:
    try:
        columns, lines = os.get_terminal_size(sys.stderr.fileno())
    except (OSError, ValueError):
        return SIZE
    return columns or SIZE[0], lines or SIZE[1]
