"""Logs as they are read: by offset, while they grow, as text that never ends in half a character.

Offsets are bytes of the file. Bytes that are not UTF-8 become U+FFFD; a character cut by the end of a chunk waits for
the next one, unless the file is finished there. The file holds what the program wrote: secrets are masked here, at
every read, also those that a chunk has only a part of.
"""

import asyncio
import codecs
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.masking import NOTHING_TO_MASK, Masks

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


def read(
    path: Path,
    offset: int = 0,
    limit: int = 64 * 1024,
    *,
    is_finished: bool = True,
    masks: Masks = NOTHING_TO_MASK,
) -> Chunk:
    """Up to `limit` bytes from `offset` as text; a log that was never written is empty.

    While the program still writes, pass is_finished=False: a character that is not complete yet, and what may become a
    secret, is then left for the next read. A chunk inside a secret has no text and goes on all the same.
    """
    if offset < 0:
        raise InvalidInput("must not be negative", field="offset", value=offset)
    limit = max(_LONGEST_CHARACTER_BYTES, min(limit, MAX_CHUNK_BYTES))
    before = min(offset, masks.reach)
    window, size = _read_bytes(path, offset - before, before + limit + masks.reach)
    growing = not is_finished and offset - before + len(window) >= size
    shown, end = masks.page(window, before, max(before, min(len(window), before + limit)), growing=growing)
    end += offset - before
    text, used = _decode(shown, final=is_finished and end >= size)
    next_offset = end - (len(shown) - used)
    return Chunk(text=text, next_offset=next_offset, at_end=next_offset >= size)


def tail(path: Path, characters: int, masks: Masks = NOTHING_TO_MASK) -> str:
    """The last characters, for a message: never more than asked, never half of one."""
    count = characters * _LONGEST_CHARACTER_BYTES
    window = _read_last(path, count + masks.reach)
    begin = max(0, len(window) - count)
    shown, _ = masks.page(window, begin, len(window), growing=False)
    text, _ = _decode(_from_whole_character(shown), final=True)
    return text[-characters:] if characters > 0 else ""


async def follow(
    path: Path,
    offset: int,
    is_finished: Callable[[], bool],
    *,
    limit: int = 64 * 1024,
    masks: Masks = NOTHING_TO_MASK,
) -> AsyncIterator[Chunk]:
    """Chunks as they are written, until the program is finished and all was read."""
    while True:
        finished = is_finished()  # asked before the read: what was written until then is in it
        chunk = await asyncio.to_thread(read, path, offset, limit, is_finished=finished, masks=masks)
        was, offset = offset, chunk.next_offset
        if chunk.text:
            yield chunk
        elif offset > was:  # all of it is hidden
            continue
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


def _read_last(path: Path, count: int) -> bytes:
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return b""
    data, _ = _read_bytes(path, max(0, size - count), count)
    return data


def _from_whole_character(data: bytes) -> bytes:
    """Without the half character that it may begin with."""
    first = next((i for i, byte in enumerate(data[:_LONGEST_CHARACTER_BYTES]) if byte & 0xC0 != 0x80), 0)
    return data[first:]
