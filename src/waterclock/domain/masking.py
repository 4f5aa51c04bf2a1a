"""Secrets are hidden from all that is read: no byte of an occurrence is shown, wherever the text is cut into pages.

Which bytes are hidden is a fact of the whole text: those that lie inside an occurrence of a secret, but for the ends of
lines. Of a page it can be told when what stands within `reach` bytes before and behind it is known, so pages that are
masked one by one say together what the whole would. Hidden bytes in a row are shown as one mask, in the page that has
the first of them; a text has as many lines as before.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

MASK: Final = b"***"
LEAST_CHARACTERS: Final = 4  # of a line of a secret: shorter ones stand in any text

_SEED: Final = 4  # bytes that tell, in nearly every case, that a needle does not begin here

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Masks:
    """What is to be hidden; empty, it hides nothing and costs nothing."""

    needles: tuple["_Needle", ...] = ()
    reach: int = 0  # bytes before and behind a page that decide what is hidden in it

    @classmethod
    def of(cls, secrets: Iterable[str]) -> "Masks":
        """Each secret as a whole and, where it has several lines, each of these."""
        found = {piece for secret in secrets for piece in _pieces(secret)}
        needles = tuple(_Needle(piece) for piece in sorted(found, key=lambda piece: (-len(piece), piece)))
        return cls(needles, len(needles[0].data) if needles else 0)

    def __bool__(self) -> bool:
        return bool(self.needles)

    def text(self, text: str) -> str:
        if not self.needles:
            return text
        data = text.encode(errors="surrogatepass")
        return self.page(data, 0, len(data), growing=False)[0].decode(errors="surrogatepass")

    def page(self, window: bytes, begin: int, end: int, *, growing: bool) -> tuple[bytes, int]:
        """`window[begin:end]` as it may be shown, and where that really ends.

        Where more is still to be written behind the window, what may become a secret is left for a later page.
        """
        if not self.needles:
            return window[begin:end], end
        if growing:
            end = max(begin, min(end, self._may_go_on_from(window)))
        shown, at = [], begin
        for first, last in self._hidden(window):
            if first < end and last > begin:
                shown += [window[at:first], MASK] if first >= begin else []
                at = min(last, end)
        return b"".join([*shown, window[at:end]]), end

    def _hidden(self, window: bytes) -> Iterator[Span]:
        """In their order, without a byte between two that would be shown as one."""
        first, last = 0, -1
        for begin, end in sorted(span for needle in self.needles for span in needle.spans(window)):
            if begin > last:
                yield from _in_lines(window, first, last)
                first = begin
            last = max(last, end)
        yield from _in_lines(window, first, last)

    def _may_go_on_from(self, window: bytes) -> int:
        return len(window) - max(needle.begun_at_the_end_of(window) for needle in self.needles)


NOTHING_TO_MASK: Final = Masks()


class _Needle:
    """One text to look for, in time that is linear whatever the text repeats."""

    __slots__ = ("_borders", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._borders: list[int] = []

    def spans(self, window: bytes) -> Iterator[Span]:
        """Where it stands; occurrences that follow each other at its own period are one span."""
        begin, length = window.find(self.data), len(self.data)
        while begin >= 0:
            end, period = begin + length, length - self._border(length)
            if 2 * period <= length:
                end += (_repeated(window, end, period) - end) // period * period
            yield begin, end
            begin = window.find(self.data, end - length + 1)

    def begun_at_the_end_of(self, window: bytes) -> int:
        """How many of its bytes, but never all, the window ends with."""
        tail = window[max(0, len(window) - len(self.data) + 1) :]
        first = tail.find(self.data[:_SEED])
        if first < 0:  # nearly always
            return next((size for size in range(_SEED - 1, 0, -1) if tail.endswith(self.data[:size])), 0)
        matched = 0
        for byte in tail[first:]:
            while matched and byte != self.data[matched]:
                matched = self._border(matched)
            matched += byte == self.data[matched]
        return matched

    def _border(self, size: int) -> int:
        """Of its first `size` bytes: the longest beginning that is their end, too. Most needles are never asked."""
        if not self._borders:
            self._borders = _borders(self.data)
        return self._borders[size - 1]


def _borders(data: bytes) -> list[int]:
    borders, matched = [0] * len(data), 0
    for place in range(1, len(data)):
        while matched and data[place] != data[matched]:
            matched = borders[matched - 1]
        matched += data[place] == data[matched]
        borders[place] = matched
    return borders


def _repeated(window: bytes, at: int, period: int) -> int:
    """How far from `at` on the window goes on as it was one period before."""
    step = 1
    while _goes_on(window, at, period, step):
        at, step = at + step, 2 * step
    while step := step // 2:
        if _goes_on(window, at, period, step):
            at += step
    return at


def _goes_on(window: bytes, at: int, period: int, step: int) -> bool:
    return at + step <= len(window) and window[at : at + step] == window[at - period : at - period + step]


def _in_lines(window: bytes, first: int, last: int) -> Iterator[Span]:
    while first < last:
        end = window.find(b"\n", first, last)
        end = last if end < 0 else end
        if first < end:
            yield first, end
        first = end + 1


def _pieces(secret: str) -> Iterator[bytes]:
    yield secret.encode()
    for line in secret.splitlines():
        if len(line.strip()) >= LEAST_CHARACTERS:
            yield line.strip().encode()
