"""A terminal small enough to know what is on its screen: a pseudo-terminal, and the few codes that we write to it."""

import asyncio
import fcntl
import os
import re
import struct
import termios
from collections.abc import Callable
from contextlib import suppress

from tests.faces.api.serving import PATIENCE_SECONDS

CODE = re.compile(r"\x1b\[(\?25[lh]|\d*[AJKm])|(\r\n|\r|\n)|([^\x1b\r\n]+)")


class Terminal:
    """What a program writes to `slave` is drawn on `screen`, which scrolls nothing away."""

    def __init__(self, columns: int, lines: int) -> None:
        self._master, self.slave = os.openpty()
        self.columns = columns
        self.lines = lines
        self.screen: list[str] = [""]
        self.cursor_is_shown = True
        self.redraws = 0
        self._row = 0
        self._column = 0
        self._pending = ""
        self.resize(columns, lines)
        os.set_blocking(self._master, False)

    def resize(self, columns: int, lines: int) -> None:
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def interrupt(self) -> None:
        """Ctrl-C."""
        os.write(self._master, b"\x03")

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not condition():
                self.take()
                await asyncio.sleep(0.01)

    def shows(self, words: str) -> bool:
        return words in "\n".join(self.screen)

    def take(self) -> None:
        """What has been written meanwhile."""
        with suppress(BlockingIOError, OSError):
            while data := os.read(self._master, 65_536):
                self._draw(self._pending + data.decode())

    def close(self) -> None:
        os.close(self._master)
        os.close(self.slave)

    def _draw(self, text: str) -> None:
        done = 0
        for found in CODE.finditer(text):
            if found.start() != done:
                break
            done = found.end()
            code, end, plain = found.groups()
            if code:
                self._obey(code)
            elif end:
                self._row, self._column = self._row + ("\n" in end), 0
                self.screen += [""] * (self._row + 1 - len(self.screen))
            else:
                line = self.screen[self._row].ljust(self._column)
                self.screen[self._row] = line[: self._column] + plain + line[self._column + len(plain) :]
                self._column += len(plain)
                assert self._column <= self.columns, plain
        self._pending = text[done:]

    def _obey(self, code: str) -> None:
        match code[-1]:
            case "A":
                self._row -= int(code[:-1])
                self.redraws += 1
                assert self._row >= 0
            case "K":
                self.screen[self._row] = self.screen[self._row][: self._column]
            case "J":
                self.screen[self._row] = self.screen[self._row][: self._column]
                del self.screen[self._row + 1 :]
            case "l" | "h":
                self.cursor_is_shown = code[-1] == "h"
