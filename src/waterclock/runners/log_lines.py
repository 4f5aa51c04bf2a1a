"""Where the lines of a log lie: found in its bytes, so that what is shown in their place never moves them.

Only whole lines count; the last one, without its end, counts once the program is finished. A line that is longer than
one may be is cut, and its pieces stand alone.
"""

from dataclasses import dataclass
from typing import Final

from waterclock.runners.logs import Log

CHUNK_BYTES: Final = 1024 * 1024  # no span is longer
LONGEST_LINE_BYTES: Final = 256 * 1024
CHARACTER_BYTES: Final = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Lines that follow one another: where each begins, and where the last one ends."""

    starts: tuple[int, ...]
    end: int

    @property
    def is_piece(self) -> bool:
        """Of one line that is too long."""
        return len(self.starts) == 1 and self.end - self.starts[0] > LONGEST_LINE_BYTES - CHARACTER_BYTES


def lines_after(log: Log, offset: int, most: int, *, is_finished: bool) -> Span:
    """Up to `most` lines from `offset` on."""
    data, is_rest = _read(log, offset, offset + CHUNK_BYTES)
    ends, begin = [0], 0
    while begin < len(data) and len(ends) <= most:
        end = data.find(b"\n", begin) + 1 or (len(data) if is_rest and is_finished else 0)
        if (end or len(data)) - begin > LONGEST_LINE_BYTES:
            if begin == 0:
                ends.append(_boundary(data, LONGEST_LINE_BYTES, -1))
            break
        if not end:
            break
        ends.append(end)
        begin = end
    return Span(starts=tuple(offset + start for start in ends[:-1]), end=offset + ends[-1])


def lines_before(log: Log, offset: int | None, most: int, *, is_finished: bool) -> Span:
    """The last lines, up to `most` of them, before `offset` or before the end of the log."""
    _, size = log.read(0, 0)
    until = size if offset is None else min(offset, size)
    base = max(0, until - CHUNK_BYTES)
    data, _ = _read(log, base, until)
    if until == size and not is_finished:
        data = data[: data.rfind(b"\n") + 1]
    starts, end = [len(data)], len(data)
    while end > 0 and len(starts) <= most:
        begin = data.rfind(b"\n", 0, end - 1) + 1
        if end - begin > LONGEST_LINE_BYTES:
            if len(starts) == 1:
                starts.append(_boundary(data, end - LONGEST_LINE_BYTES, 1))
            break
        if begin == 0 and base > 0:  # it begins further up
            break
        starts.append(begin)
        end = begin
    return Span(starts=tuple(base + start for start in reversed(starts[1:])), end=base + starts[0])


def _boundary(data: bytes, at: int, step: int) -> int:
    """The nearest place from there, on or back, that is not within a character."""
    near = range(at, at + step * CHARACTER_BYTES, step)
    return next((place for place in near if data[place] & 0xC0 != 0x80), at)


def _read(log: Log, begin: int, end: int) -> tuple[bytes, bool]:
    """The bytes there, and whether they are the last ones."""
    data, size = log.read(begin, max(0, end - begin))
    return data, begin + len(data) >= size
