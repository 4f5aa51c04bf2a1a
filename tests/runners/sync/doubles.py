"""A source and outputs that keep what they are told, for what stands between them: no library is needed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterclock.runners.sql.outputs import OutputFailed, Written
from waterclock.runners.sync.source import SourceFailed


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    num_rows: int
    nbytes: int = 8


@dataclass(slots=True, kw_only=True)
class FakeRows:
    """`fails_after`: so many batches come, and then none."""

    sizes: Sequence[int] = (3, 2)
    total: int | None = None
    said: Mapping[str, Any] | None = None
    fails_after: int | None = None
    bad_lines: int = 0
    schema: Any = "schema"
    closed: bool = False

    def batches(self) -> Iterator[Any]:
        for number, size in enumerate(self.sizes):
            if number == self.fails_after:
                raise SourceFailed("the connection was cut")
            yield Batch(num_rows=size)

    def bookmark(self) -> Mapping[str, Any] | None:
        return self.said

    def close(self) -> None:
        self.closed = True


@dataclass(slots=True, kw_only=True)
class FakeOutput:
    """What is in place, and what is aside; `fails_at` is the name of a call."""

    where: str = "file:///out"
    fails_at: str = ""
    rows: int | None = None
    aside: int | None = None
    calls: list[str] = field(default_factory=list)

    def sweep(self) -> None:
        self._call("sweep")

    def open(self, schema: Any) -> None:
        self._call("open")
        self.aside = 0

    def write(self, batch: Any) -> None:
        self._call("write")
        self.aside = (self.aside or 0) + batch.num_rows

    def commit(self) -> Written:
        self._call("commit")
        self.rows, self.aside = self.aside, None
        return Written(rows=self.rows or 0, bytes=10)

    def abort(self) -> None:
        self._call("abort")
        self.aside = None

    def _call(self, name: str) -> None:
        self.calls.append(name)
        if name == self.fails_at:
            raise OutputFailed(f"{self.where}: cannot {name}")
