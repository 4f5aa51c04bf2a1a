"""The seam between a query and whatever answers it: an engine in its process, a session for each query."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from waterclock.domain.lake import LakeTable

if TYPE_CHECKING:
    import pyarrow as pa


class EngineMissing(Exception):
    """What is not installed, or does not start, and what to do."""


class QueryFailed(Exception):
    """Why there are no rows: the reason in words first, then all that the engine said."""

    def __init__(self, reason: str, text: str = "") -> None:
        self.reason, self.text = reason, text
        super().__init__(reason)


class TableMissing(QueryFailed):
    def __init__(self, name: str, text: str = "") -> None:
        self.name = name
        super().__init__(f"table {name!r} not found", text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """What a query answers: batches as they come, never all of them at once."""

    schema: "pa.Schema"
    batches: "Iterator[pa.RecordBatch]"


class Session(Protocol):
    """Of one query alone: what it makes (views, settings) is gone with it."""

    @property
    def id(self) -> str: ...

    def define(self, tables: Sequence[LakeTable], s3: Mapping[str, str]) -> None:
        """Temporary views by these names; `s3` is what the paths in buckets are read with."""
        ...

    def ask(self, query: str) -> Rows: ...

    def cancel(self) -> None:
        """From another thread than the one that asks: `ask`, or the next batch, then raises."""
        ...

    def settle(self) -> None:
        """Return once the engine runs nothing of it any more, by its own word."""
        ...

    def close(self) -> None: ...


class Engine(Protocol):
    """`prepare` is called once in the host, which forks: it starts no thread. All else is called in the forks."""

    @property
    def title(self) -> str:
        """For the log: `Sail 0.7.2`."""
        ...

    @property
    def dies_with_its_process(self) -> bool:
        """Whether to kill the process that asks is to kill the query."""
        ...

    @property
    def server(self) -> int | None:
        """The process, besides those that ask, without which there is no engine."""
        ...

    def prepare(self) -> None:
        """Import what there is to import; `EngineMissing` where that cannot be."""
        ...

    def open(self) -> None:
        """In a fresh fork: from here on sessions are had quickly."""
        ...

    def session(self) -> Session: ...

    def bury(self, session_id: str) -> None:
        """Of a process that was killed: see to it that its query runs no more."""
        ...

    def close(self) -> None:
        """In the host, at its end."""
        ...
