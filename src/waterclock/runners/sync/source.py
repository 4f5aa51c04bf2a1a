"""The seam between a sync and where its rows come from: batches, and what the next run must know."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class SourceFailed(Exception):
    """Why rows cannot be read: which source, what was wrong, what to do; the first line is the reason. No secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be read; `since` is what the last successful run left as its bookmark, None for all."""

    task: Mapping[str, Any]  # of the job: table_name, query, path, endpoint, incremental_column, …
    since: Mapping[str, Any] | None = None
    batch_rows: int = 50_000
    most_rows: int | None = None  # of a preview


class Rows(Protocol):
    """Read once. Memory stays bounded whatever there is to read."""

    @property
    def schema(self) -> "pa.Schema": ...

    @property
    def total(self) -> int | None:
        """How many there will be, where that is known or cheap to know."""
        ...

    def batches(self) -> Iterator["pa.RecordBatch"]: ...

    def bookmark(self) -> Mapping[str, Any] | None:
        """After the last batch: what the next run is to begin from. None: as before."""
        ...

    def close(self) -> None: ...


class Source(Protocol):
    def test(self) -> str:
        """One line about what answered; `SourceFailed` else."""
        ...

    def tables(self) -> Sequence[str]:
        """What can be read: tables, files that match, endpoints."""
        ...

    def read(self, wanted: Wanted) -> Rows: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Means:
    """What a source is given of the worker."""

    roots: tuple[str, ...] = ()
    allows_private: bool = False
    s3: Mapping[str, str] = field(default_factory=dict)
