"""The parts of a log that cannot grow in one piece: which of them follow one another, and where each is read."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

FULL_BYTES: Final = 256 * 1024
MOST_SMALL: Final = (
    16  # parts that are not full, before they are merged into one: so a log has few, however slowly it grows
)

_NAME: Final = re.compile(r"([0-9]{20})-([0-9]{1,19})", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    key: str
    begin: int
    end: int

    @classmethod
    def named(cls, folder: str, begin: int, size: int) -> "Part":
        return cls(key=f"{folder}{begin:020d}-{size}", begin=begin, end=begin + size)

    def is_within(self, other: "Part") -> bool:
        return other.begin <= self.begin and self.end <= other.end


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """What a part adds to those before it: from `begin` to `end` of the log."""

    key: str
    part_begin: int
    begin: int
    end: int


def part_of(key: str, folder: str) -> Part | None:
    found = _NAME.fullmatch(key.removeprefix(folder))
    return Part.named(folder, int(found[1]), int(found[2])) if found else None


def in_line(parts: Iterable[Part]) -> list[Piece]:
    """From the beginning of the log as far as there is no gap."""
    line: list[Piece] = []
    end = 0
    for part in sorted(parts, key=lambda part: (part.begin, -part.end)):
        if part.begin > end:
            break
        if part.end > end:
            line.append(Piece(key=part.key, part_begin=part.begin, begin=end, end=part.end))
            end = part.end
    return line


def end_of(line: Sequence[Piece]) -> int:
    return line[-1].end if line else 0


def small_end(line: Sequence[Piece]) -> Sequence[Piece]:
    """The last ones, as long as they are not full."""
    full = (
        place for place in range(len(line), 0, -1) if line[place - 1].end - line[place - 1].part_begin >= FULL_BYTES
    )
    return line[next(full, 0) :]


def blocks(pieces: Iterable[bytes], size: int) -> Iterator[bytes]:
    """The same bytes in blocks of that size; the last one may be shorter."""
    held = bytearray()
    for piece in pieces:
        held += piece
        while len(held) >= size:
            yield bytes(held[:size])
            del held[:size]
    if held:
        yield bytes(held)
