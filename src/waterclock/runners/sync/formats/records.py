"""Bytes of a CSV into blocks of whole records, which know at which line they begin.

A line break inside of quotes ends no record. Quotes mean something at the beginning of a field only, as pyarrow has it,
which reads the blocks: so both agree on where a record ends.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from waterclock.runners.sync.places.place import Stream
from waterclock.runners.sync.source import SourceFailed

BLOCK_BYTES: Final = 2 * 1024 * 1024
LONGEST: Final = 16 * 1024 * 1024  # a record


class Block(NamedTuple):
    """Whole records; `line` is that of the first. One that is open ends with the file, but not its quotes."""

    data: bytes
    line: int
    is_open: bool = False

    @property
    def lines(self) -> int:
        """How many it has: a line ends with \\n, \\r\\n or \\r."""
        returns = self.data.count(b"\r")
        return self.data.count(b"\n") + (returns - self.data.count(b"\r\n") if returns else 0)


class Dialect:
    """How records are told apart; `quote` and `escape` may be none."""

    def __init__(self, *, separator: str, quote: str, escape: str = "") -> None:
        self.separator, self.quote, self.escape = separator, quote, escape
        self._quote = quote.encode()
        self._record = _record(re.escape(separator.encode()), re.escape(self._quote), re.escape(escape.encode()))

    def whole(self, data: bytes) -> int:
        """How many of these bytes are whole records: the rest goes on in what is still to come."""
        data = data.removesuffix(b"\r")  # half of a \r\n, perhaps
        at = 0
        while (begin := self._next_to_read(data, at)) < len(data):
            if (found := self._record.match(data, begin)) is None:
                return begin
            at = found.end()
        return _last_break(data, at, len(data))

    def _next_to_read(self, data: bytes, at: int) -> int:
        """Where a record begins whose line break may mean nothing; before it each is an end."""
        if self.escape:
            return at
        quote = data.find(self._quote, at) if self._quote else -1
        return _last_break(data, at, quote) if quote >= 0 else len(data)

    def split(self, block: Block) -> Iterator[Block]:
        """Record by record."""
        at, line = 0, block.line
        while at < len(block.data):
            found = self._record.match(block.data, at)
            end = found.end() if found else len(block.data)
            one = Block(block.data[at:end], line)
            yield one
            at, line = end, line + one.lines


def blocks(stream: Stream, dialect: Dialect, name: str, *, size: int = BLOCK_BYTES) -> Iterator[Block]:
    rest, line, wanted = b"", 1, size
    is_last = False
    while not is_last:
        gathered = bytearray(rest)
        while len(gathered) < wanted and not is_last:
            more = stream.read(wanted - len(gathered))
            gathered += more
            is_last = not more
        if is_last and gathered and not gathered.endswith(b"\n"):
            gathered += b"\n"  # the last line need not end with one
        data = bytes(gathered)
        end = dialect.whole(data)
        if not end and len(data) >= LONGEST:
            raise SourceFailed(f"{name}, line {line}: it has no end within {LONGEST} bytes: is a quote not closed?")
        wanted = size if end else min(2 * len(data), LONGEST)  # a record that is longer than a block
        if end:
            block = Block(data[:end], line)
            yield block
            line += block.lines
        rest = data[end:]
    if rest:
        yield Block(rest, line, is_open=True)


def _last_break(data: bytes, begin: int, end: int) -> int:
    """After it; where there is none, the beginning."""
    return max(data.rfind(b"\n", begin, end), data.rfind(b"\r", begin, end)) + 1 or begin


def _record(separator: bytes, quote: bytes, escape: bytes) -> re.Pattern[bytes]:
    """One, with its line break. Nothing in it can be read in two ways, so that it is linear.

    Only what repeats single characters is possessive: before Python 3.11.5 groups that are may end in a wrong place.
    """
    plain = _run(separator + b"\r\n", escape)
    field = plain
    if quote:
        inside, end = _run(quote, escape), quote + b"(?!" + quote + b")"
        quoted = quote + inside + b"(?:" + quote + quote + inside + b")*" + end
        field = b"(?:" + quoted + plain + b"|(?!" + quote + b")" + plain + b")"
    return re.compile(field + b"(?:" + separator + field + b")*(?:\r\n|\n|\r)", re.DOTALL)


def _run(ends: bytes, escape: bytes) -> bytes:
    """As many as come before one of these; what is escaped is none of them."""
    some = b"[^" + ends + escape + b"]*+"
    return some + b"(?:" + escape + b"." + some + b")*" if escape else some
