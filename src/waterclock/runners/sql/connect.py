"""A session over Spark Connect, which both engines speak: tables as views, a query as batches, errors in words."""

import atexit
import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from waterclock.domain.lake import LakeTable
from waterclock.runners.sql import faults
from waterclock.runners.sql.catalogue import OPTIONS
from waterclock.runners.sql.engine import QueryFailed, Rows, Session

if TYPE_CHECKING:
    import pyarrow as pa

# The same for both engines, whatever the machine's own are.
SETTINGS: Final = {"spark.sql.session.timeZone": "UTC"}

FIRST: Final = "select count(*) from range(10)"
_LOOK_SECONDS: Final = 0.02


def import_client() -> None:
    """All of it, before any fork. What it would log of a query that fails is in the query's own log."""
    import pyspark.errors
    import pyspark.sql.connect.session
    import pyspark.sql.pandas.types  # noqa: F401

    logging.getLogger("SQLQueryContextLogger").setLevel(logging.CRITICAL + 1)


def warm_up(session: Session) -> None:
    """The first query of an engine takes many times as long as the second, whatever it is."""
    for _ in session.ask(FIRST).batches:
        pass
    session.close()


class ConnectSession:
    def __init__(self, url: str) -> None:
        from pyspark.sql.connect.session import SparkSession

        self._session: Any = SparkSession(connection=url)
        # Not to be taken up again: the stream's end is the query's end, also where this process is killed.
        self._session.client.disable_reattachable_execute()
        self._session.client.set_retry_policies([])  # nor to be asked again: its first rows may have been written
        self._options: Mapping[str, str] = {}  # of every table
        for name, value in SETTINGS.items():
            self._session.conf.set(name, value)

    @property
    def id(self) -> str:
        return str(self._session.session_id)

    def define(self, tables: Sequence[LakeTable], s3: Mapping[str, str]) -> None:
        for table in tables:
            with _in_words(f"table {table.name!r}"):
                reader = self._session.read.format(table.format.value).options(**OPTIONS[table.format], **self._options)
                found = reader.load(table.path)
                if "://" in table.path and not found.columns:  # Sail takes nothing at all for a table without columns
                    raise QueryFailed(f"table {table.name!r}: there is nothing to read at {table.path!r}")
                found.createOrReplaceTempView(table.name)

    def ask(self, query: str) -> Rows:
        with _in_words("query", query):
            plan = self._session.sql(query)._plan.to_proto(self._session.client)
        return _rows(self._answers(plan, query))

    def _answers(self, plan: Any, query: str) -> Iterator[Any]:
        with _in_words("query", query):
            yield from self._session.client.to_table_as_iterator(plan, {})

    def cancel(self) -> None:
        self._session.interruptAll()

    def settle(self) -> None:
        while self._is_working():
            self.cancel()
            time.sleep(_LOOK_SECONDS)

    def _is_working(self) -> bool:
        """By the word of the server; one that cannot say (Sail, Spark before 4.2) has ended what it has told us of."""
        from pyspark.errors import PySparkException
        from pyspark.sql.connect.proto import GetStatusResponse

        states = GetStatusResponse.OperationStatus
        try:
            known = self._session.client._get_operation_statuses().operation_statuses
        except (AttributeError, PySparkException):
            return False
        return any(each.state in (states.OPERATION_STATE_RUNNING, states.OPERATION_STATE_TERMINATING) for each in known)

    def close(self) -> None:
        client = self._session.client
        self._session.stop()
        atexit.unregister(client._on_exit)  # or every session of this process would be kept for its end


def _rows(answers: "Iterator[Any]") -> Rows:
    """The first batch says what all are like; without one the engine's own words for it do."""
    import pyarrow as pa
    from pyspark.sql.pandas.types import to_arrow_schema

    told: Any = None
    for answer in answers:
        if isinstance(answer, pa.Table):
            return Rows(schema=answer.schema, batches=_batches(answer, answers))
        told = answer
    return Rows(schema=to_arrow_schema(told), batches=iter(()))


def _batches(first: "pa.Table", answers: "Iterator[Any]") -> "Iterator[pa.RecordBatch]":
    yield from first.to_batches()
    for table in answers:
        yield from table.to_batches()


@contextmanager
def _in_words(what: str, query: str = "") -> Iterator[None]:
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        raise faults.in_words(what, str(error), query) from None
