"""Logs as they are read: by offset, while they grow, as text that never ends in half a character.

Offsets are bytes of the log. Bytes that are not UTF-8 become U+FFFD; a character cut by the end of a chunk waits for
the next one, unless the log is finished there. It holds what the program wrote, wherever it lies: secrets are masked
here, at every read, also those that a chunk has only a part of.
"""

import asyncio
import codecs
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from waterclock.domain.errors import InvalidInput
from waterclock.domain.masking import NOTHING_TO_MASK, Masks

MAX_CHUNK_BYTES: Final = 1024 * 1024
_LONGEST_CHARACTER_BYTES: Final = 4


class Log(Protocol):
    """The bytes of a log, wherever they lie."""

    @property
    def look_seconds(self) -> float:
        """How often it is worth a look while it grows."""
        ...

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        """Up to `limit` bytes from there, and how many there are in all; a log that was never written is empty."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalLog:
    """A file of this host."""

    path: Path
    look_seconds: float = 0.1

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        try:
            with self.path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(min(offset, size))  # no file system seeks everywhere
                return file.read(max(0, min(limit, size - offset))), size
        except FileNotFoundError:
            return b"", 0


class Notice:
    """A line of ours in the place of a log that cannot be read."""

    look_seconds: float = 1.0

    def __init__(self, words: str) -> None:
        self._data = f"[waterclock: {words}]\n".encode()

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        return self._data[offset : offset + limit], len(self._data)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Text, and where the next begins; at_end when the log holds no more for now."""

    text: str
    next_offset: int
    at_end: bool


def inside(root: Path, path: Path) -> Path:
    """The path, if it lies below the log root after every link is followed; else it is refused."""
    if "\0" in str(path):
        raise InvalidInput("a path cannot hold a NUL", field="log", value=str(path))
    resolved = (root / path).resolve()
    if not resolved.is_relative_to(root.resolve()):
        raise InvalidInput("the path leads out of the log folder", field="log", value=str(path))
    return resolved


def read(
    log: Log,
    offset: int = 0,
    limit: int = 64 * 1024,
    *,
    is_finished: bool = True,
    masks: Masks = NOTHING_TO_MASK,
) -> Chunk:
    """Up to `limit` bytes from `offset` as text.

    While the program still writes, pass is_finished=False: a character that is not complete yet, and what may become a
    secret, is then left for the next read. A chunk inside a secret has no text and goes on all the same.
    """
    if offset < 0:
        raise InvalidInput("must not be negative", field="offset", value=offset)
    limit = max(_LONGEST_CHARACTER_BYTES, min(limit, MAX_CHUNK_BYTES))
    before = min(offset, masks.reach)
    window, size = log.read(offset - before, before + limit + masks.reach)
    growing = not is_finished and offset - before + len(window) >= size
    shown, end = masks.page(window, before, max(before, min(len(window), before + limit)), growing=growing)
    end += offset - before
    text, used = _decode(shown, final=is_finished and end >= size)
    next_offset = end - (len(shown) - used)
    return Chunk(text=text, next_offset=next_offset, at_end=next_offset >= size)


def tail(log: Log, characters: int, masks: Masks = NOTHING_TO_MASK) -> str:
    """The last characters, for a message: never more than asked, never half of one."""
    count = characters * _LONGEST_CHARACTER_BYTES
    window = _read_last(log, count + masks.reach)
    begin = max(0, len(window) - count)
    shown, _ = masks.page(window, begin, len(window), growing=False)
    text, _ = _decode(_from_whole_character(shown), final=True)
    return text[-characters:] if characters > 0 else ""


async def follow(
    log: Log,
    offset: int,
    is_finished: Callable[[], bool],
    *,
    limit: int = 64 * 1024,
    masks: Masks = NOTHING_TO_MASK,
) -> AsyncIterator[Chunk]:
    """Chunks as they are written, until the program is finished and all was read."""
    while True:
        finished = is_finished()  # asked before the read: what was written until then is in it
        chunk = await asyncio.to_thread(read, log, offset, limit, is_finished=finished, masks=masks)
        was, offset = offset, chunk.next_offset
        if chunk.text:
            yield chunk
        elif offset > was:  # all of it is hidden
            continue
        elif finished:
            return
        else:
            await asyncio.sleep(log.look_seconds)


def _decode(data: bytes, *, final: bool) -> tuple[str, int]:
    """Text, and how many bytes it took: all of them, or all but a character that is not complete."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final)
    pending, _ = decoder.getstate()
    return text, len(data) - len(pending)


def _read_last(log: Log, count: int) -> bytes:
    _, size = log.read(0, 0)
    data, _ = log.read(max(0, size - count), count)
    return data


def _from_whole_character(data: bytes) -> bytes:
    """Without the half character that it may begin with."""
    first = next((i for i, byte in enumerate(data[:_LONGEST_CHARACTER_BYTES]) if byte & 0xC0 != 0x80), 0)
    return data[first:]
