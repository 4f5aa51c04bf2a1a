"""The seam between a query and the places that its rows go to: loaded aside, put in place at the end, or nothing."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import pyarrow as pa


class OutputFailed(Exception):
    """Why the rows are not where they should be: which output, what was wrong, what to do."""


@contextmanager
def said_of(where: str) -> Iterator[None]:
    """A failure names the output, even where it comes from something that does not know it."""
    try:
        yield
    except OutputFailed as failed:
        if where in str(failed):
            raise
        raise OutputFailed(f"{where}: {failed}") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    rows: int
    bytes: int


class Output(Protocol):
    """One place. Called in this order: sweep, open, write for each batch, then commit; or abort at any point.

    Every name that it makes aside begins with `tag`'s, so that whoever comes later knows whose it was.
    """

    @property
    def where(self) -> str:
        """For messages, without secrets: `hdfs://localhost:9000/data/abc`."""
        ...

    def sweep(self) -> None:
        """Remove what earlier attempts of this job left aside; also called by whoever outlives a killed query."""
        ...

    def open(self, schema: "pa.Schema") -> None: ...

    def write(self, batch: "pa.RecordBatch") -> None: ...

    def commit(self) -> Written:
        """In place, as a whole; a reader sees the old rows or the new ones."""
        ...

    def abort(self) -> None:
        """Nothing of it is left, and what was there before is still there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """Whose output it is: names aside are `.waterclock-<job>-<attempt>…`, and a sweep removes those of the job."""

    job_id: int
    attempt_id: int


class Outputs(Protocol):
    def __call__(self, given: Mapping[str, Any]) -> Iterator[Output]: ...
