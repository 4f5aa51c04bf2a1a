"""Logs as they are read: by offset, while they grow, as text that never ends in half a character.

Offsets are bytes of the file. Bytes that are not UTF-8 become U+FFFD; a character cut by the end of a chunk waits for
the next one, unless the file is finished there.
"""

import asyncio
import codecs
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.errors import InvalidInput

MAX_CHUNK_BYTES: Final = 1024 * 1024
_LONGEST_CHARACTER_BYTES: Final = 4
_POLL_SECONDS: Final = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """Text, and where the next begins; at_end when the file holds no more for now."""

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


def read(path: Path, offset: int = 0, limit: int = 64 * 1024, *, is_finished: bool = True) -> Chunk:
    """Up to `limit` bytes from `offset` as text; a log that was never written is empty.

    While the program still writes, pass is_finished=False: a character that is not complete yet is then left for the
    next read instead of being shown as broken.
    """
    if offset < 0:
        raise InvalidInput("must not be negative", field="offset", value=offset)
    limit = max(_LONGEST_CHARACTER_BYTES, min(limit, MAX_CHUNK_BYTES))
    data, size = _read_bytes(path, offset, limit)
    at_end = offset + len(data) >= size
    text, used = _decode(data, final=at_end and is_finished)
    return Chunk(text=text, next_offset=offset + used, at_end=offset + used >= size)


def tail(path: Path, characters: int) -> str:
    """The last characters, for a message: never more than asked, never half of one."""
    data, _ = _read_last(path, characters * _LONGEST_CHARACTER_BYTES)
    text, _ = _decode(data, final=True)
    return text[-characters:] if characters > 0 else ""


async def follow(
    path: Path, offset: int, is_finished: Callable[[], bool], *, limit: int = 64 * 1024
) -> AsyncIterator[Chunk]:
    """Chunks as they are written, until the program is finished and all was read."""
    while True:
        finished = is_finished()  # asked before the read: what was written until then is in it
        chunk = await asyncio.to_thread(read, path, offset, limit, is_finished=finished)
        offset = chunk.next_offset
        if chunk.text:
            yield chunk
        elif finished:
            return
        else:
            await asyncio.sleep(_POLL_SECONDS)


def _decode(data: bytes, *, final: bool) -> tuple[str, int]:
    """Text, and how many bytes it took: all of them, or all but a character that is not complete."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data, final)
    pending, _ = decoder.getstate()
    return text, len(data) - len(pending)


def _read_bytes(path: Path, offset: int, limit: int) -> tuple[bytes, int]:
    try:
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            file.seek(offset)
            return file.read(min(limit, max(0, size - offset))), size
    except FileNotFoundError:
        return b"", 0


def _read_last(path: Path, count: int) -> tuple[bytes, int]:
    """The last `count` bytes without the half character that they may begin with."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return b"", 0
    start = max(0, size - count)
    data, _ = _read_bytes(path, start, count)
    if start > 0:
        cut = next((i for i, byte in enumerate(data[:_LONGEST_CHARACTER_BYTES]) if byte & 0xC0 != 0x80), 0)
        data = data[cut:]
    return data, size
