"""One query from its order to its outputs: rows are loaded aside everywhere, and only then put in place."""

import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Protocol

from waterclock import clock
from waterclock.runners import wire
from waterclock.runners.lake.order import Order
from waterclock.runners.sql import catalogue
from waterclock.runners.sql.engine import QueryFailed, Rows, Session, TableMissing
from waterclock.runners.sql.loading import Loading
from waterclock.runners.sql.outputs import Output, OutputFailed, Tag
from waterclock.runners.sql.words import listed

PROGRESS_SECONDS: Final = 0.5


class OutputsOf(Protocol):
    def __call__(self, given: Sequence[Mapping[str, Any]], *, tag: Tag, order: Order) -> list[Output]: ...


class Query:
    """Use once. `tell` takes what the one who waits should hear meanwhile; `is_cancelled` is asked between batches."""

    def __init__(
        self,
        order: Order,
        session: Session,
        outputs_of: OutputsOf,
        *,
        tell: Callable[[wire.Message], None],
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._order = order
        self._session = session
        self._outputs_of = outputs_of
        self._tell = tell
        self._is_cancelled = is_cancelled
        self._rows = 0
        self._told_at = 0.0

    def run(self) -> wire.Message:
        """The progress that it ends with. A failure before the first output is in place leaves all as they were."""
        began = clock.monotonic()
        text, given = asked(self._order)
        loading = Loading(self._outputs_of(given, tag=tag_of(self._order), order=self._order), self._log)
        loading.sweep()
        self._session.define(catalogue.readable(self._order, text), self._order.s3)
        try:
            self._load(self._ask(text), loading)
            self._log(f"query: {self._rows} rows in {clock.monotonic() - began:.3f} s")
            loading.put_in_place()
        except BaseException:
            loading.abort()
            raise
        return {"rows_read": self._rows, **loading.placed()}

    def _ask(self, text: str) -> Rows:
        try:
            return self._session.ask(text)
        except TableMissing as missing:
            known = listed([table.name for table in self._order.tables])
            may = f"the query may name {known}" if known else "no table is defined yet"
            raise QueryFailed(f"{missing.reason}: {may} (POST /lake/table/create adds one)", missing.text) from None

    def _load(self, rows: Rows, loading: Loading) -> None:
        loading.open(rows.schema)
        for batch in rows.batches:
            self._check()
            loading.write(batch)
            self._rows += batch.num_rows
            self._say_how_far()
        self._check()

    def _check(self) -> None:
        if self._is_cancelled():
            raise QueryFailed("cancelled")

    def _say_how_far(self) -> None:
        now = clock.monotonic()
        if now - self._told_at >= PROGRESS_SECONDS:
            self._told_at = now
            self._tell({"progress": {"rows_read": self._rows}})

    def _log(self, line: str) -> None:
        self._tell({"log": line})


def asked(order: Order) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The query and its outputs, in both shapes that the face reads."""
    info = order.task.get("query_info") or order.task
    text, outputs = info.get("query"), info.get("outputs") or []
    if not isinstance(text, str) or not text.strip():
        raise QueryFailed("query_info.query is empty: write the query to run there")
    if not isinstance(outputs, list) or not all(isinstance(each, dict) for each in outputs):
        raise QueryFailed("query_info.outputs is not a list of outputs, each with its type and config")
    return text.strip().rstrip(";").rstrip(), outputs


def tag_of(order: Order) -> Tag:
    return Tag(job_id=order.job_id, attempt_id=order.attempt_id)


def sweep(order: Order, outputs_of: OutputsOf) -> None:
    """After a query that was killed: what it left aside goes. What cannot go now, the job's next run removes."""
    for output in outputs_of(asked(order)[1], tag=tag_of(order), order=order):
        with contextlib.suppress(OutputFailed, OSError):
            output.sweep()
