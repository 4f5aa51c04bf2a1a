"""The seam between a sync and where its files lie: what is there, and a stream of each that is whole or refused."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO, Final, Protocol

CHUNK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A file; `version` changes with its content: an etag, or the time of its last change with its size."""

    name: str  # below the source's own place: `orders/2026.csv`
    version: str = ""  # empty: this place knows none
    size: int | None = None


class Stream(Protocol):
    """A file from its first byte to its last. One that was cut, or changed in between, is a `SourceFailed`."""

    def read(self, size: int = CHUNK_BYTES) -> bytes:
        """At most so many; nothing means that the file has ended, and is whole."""
        ...

    def file(self) -> BinaryIO | None:
        """Where it can be read at any point of it without a copy."""
        ...

    def check(self) -> None:
        """That it is what was found, still; for whoever read it by `file`."""
        ...

    def close(self) -> None: ...


class Place(Protocol):
    @property
    def where(self) -> str:
        """For messages, without secrets: `s3://bucket`."""
        ...

    @property
    def is_listed(self) -> bool:
        """Whether it can say what it has."""
        ...

    def test(self) -> str: ...

    def find(self, pattern: str, *, most: int | None = None) -> Sequence[Found]:
        """Those that match, by name."""
        ...

    def open(self, found: Found) -> Stream: ...

    def close(self) -> None: ...
