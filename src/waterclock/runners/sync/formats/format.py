"""The seam between a sync and what its files hold: columns as the first rows have them, then batches in one schema."""

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

from waterclock.runners.sync.places.place import Stream
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

LOOKED_AT_ROWS: Final = 1_000  # of each file: from these its columns are named and typed
_SHOWN: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    name: str
    stream: Stream


class BadLines:
    """What becomes of a line that cannot be read: the sync fails and says where, or leaves it out and counts it."""

    def __init__(self, *, skips: bool) -> None:
        self._skips = skips
        self.count = 0

    def add(self, name: str, line: int, reason: str) -> None:
        """`line`: the first is 1, the header counts, and so does every line break inside of quotes."""
        if not self._skips:
            raise SourceFailed(f"{name}, line {line}: {reason} (on_bad_line: skip leaves such lines out)")
        self.count += 1
        if self.count <= _SHOWN:
            more = "; others are only counted" if self.count == _SHOWN else ""
            print(f"left out: {name}, line {line}: {reason}{more}", file=sys.stderr)


class Format(Protocol):
    """Neither call closes the file."""

    @property
    def has_types(self) -> bool:
        """Whether a value says of itself what it is; if not, columns that disagree are text."""
        ...

    def look(self, file: File) -> "pa.Schema | None":
        """None where it holds nothing, not even a header. A column that was always empty is of the type null."""
        ...

    def batches(self, file: File, schema: "pa.Schema", bad: BadLines) -> Iterator["pa.RecordBatch"]: ...
