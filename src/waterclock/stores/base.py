"""The seams of the stores: a transaction over named SQL, and the database that runs one."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from waterclock.domain.moment import Moment

T = TypeVar("T")
P = ParamSpec("P")
Row = Mapping[str, Any]
Values = Mapping[str, object]


class Now:
    """The database's clock at the moment when a statement runs, in the place of a value."""


NOW: Final = Now()
When = Moment | Now


def dated(values: Values, now: Moment) -> Values:
    """With the moment in the place of NOW: for a database that is asked for it."""
    return {name: now if value is NOW else value for name, value in values.items()}


class StatementFailed(Exception):
    """The database refused a statement that is ours to get right: a bug here, so it is no WaterclockError."""

    def __init__(self, name: str, problem: object) -> None:
        self.name = name
        super().__init__(f"{name}: {problem}")


class Topic(StrEnum):
    """What a wake-up is about. A wake-up is a hint: whoever hears it looks, and polling is the safety net."""

    TRIGGERS = "triggers"  # the next due instant may be earlier than you think
    ATTEMPTS = "attempts"  # there is something to claim
    STOPS = "stops"  # something is to be stopped
    ENDS = "ends"  # a run has ended
    MESSAGES = "messages"  # somebody is to be told
    NODES = "nodes"  # a node is to drain, or to go on


class Kind(StrEnum):
    """What numbers are drawn for. Runs, fires and attempts share one series, drawn in blocks."""

    RUN = "run"
    JOB = "job"
    TRIGGER = "trigger"
    ORGANISATION = "organisation"
    USER = "user"
    TOKEN = "token"
    MESSAGE = "message"
    FLOW = "flow"
    CRAWLER = "crawler"
    GROUP = "group"
    CHAIN = "chain"
    CHAIN_PART = "chain_part"
    LAKE_TABLE = "lake_table"
    LAKE_SOURCE = "lake_source"


class Tx(Protocol):
    """One open transaction. Statements are named; lists are given as `IN :name`.

    Operations are written once as `async def op(tx, …)`; they await nothing but the transaction, so that SQLite can
    run them in its own thread. They may be run again from the start when the database asks for it: no side effects.
    """

    async def now(self) -> Moment:
        """The database's clock, with the store's offset."""
        ...

    async def fetch(self, name: str, values: Values | None = None) -> Sequence[Row]: ...

    async def fetch_one(self, name: str, values: Values | None = None) -> Row | None: ...

    async def fetch_at(self, name: str, values: Values) -> tuple[Moment, Sequence[Row]]:
        """As `fetch`, and the time once it was done: in one trip, if the database can."""
        ...

    async def run(self, name: str, values: Values | None = None) -> int:
        """How many rows it touched: zero is an answer."""
        ...

    async def run_many(self, name: str, rows: Sequence[Values]) -> int:
        """The statement for each of them; how many rows were touched in all."""
        ...

    async def run_together(self, batches: Mapping[str, Sequence[Values]]) -> None:
        """Each statement for its rows, where none needs what another has written: in one trip, if the database can."""
        ...

    async def stamped(self, name: str, rows: Sequence[Values]) -> Moment:
        """As `run_many`, for an insert that takes the database's clock as `:now`: the time it took.

        One trip, and sent alone, where the database can.
        """
        ...

    async def insert_free(self, name: str, values: Values, then: Mapping[str, Values]) -> bool:
        """Insert a row whose name may be taken (then False), and where it was free those of `then`.

        `NOW` among the values is the database's clock; in one trip, and sent alone, where the database can.
        """
        ...

    async def numbers(self, kind: Kind, count: int) -> Iterable[int]: ...

    def wake(self, topic: Topic) -> None:
        """Once this transaction is durable, tell whoever waits."""
        ...


Operation = Callable[Concatenate[Tx, P], Awaitable[T]]

_BY_KEY: set[Callable[..., Any]] = set()


def by_key(operation: Operation[P, T]) -> Operation[P, T]:
    """Marks an operation whose statements find all their rows by an index, however many rows there are.

    So a plan for them holds for an empty table and for a full one, and a database may keep it.
    """
    _BY_KEY.add(operation)
    return operation


def is_by_key(operation: Callable[..., Any]) -> bool:
    return operation in _BY_KEY


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Partition:
    """The fires, runs and attempts of a span of time, in tables of their own: from the first moment up to the other."""

    from_at: Moment
    to_at: Moment
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Paths of logs that go with a partition, and where the next page begins."""

    paths: Sequence[str]
    after: int


class Partitions(Protocol):
    """What has ended long ago goes with its partition, in one step, however much it is."""

    async def make(self, *, days: int) -> None:
        """Room for what is to come: new partitions are that wide. Where somebody else makes some just now, none."""
        ...

    async def old(self, *, before: Moment) -> tuple[Sequence[Partition], Moment]:
        """Those that lie wholly before that moment, the oldest first; and where the first begins that does not.

        What is older than that, and in no partition of these, was kept longer than others, came very late, or is from
        before there were partitions.
        """
        ...

    async def may_go(self, partition: Partition, *, before: Moment) -> bool:
        """Whether nearly all in it ended before that moment: little has to be kept."""
        ...

    async def logs(self, partition: Partition, *, before: Moment, after: int) -> LogPage:
        """One page of the logs that go with it; the last one has no paths."""
        ...

    async def drop(self, partition: Partition, *, before: Moment) -> bool:
        """Drop it, and keep what lives, ended later, or belongs to a chain. False: somebody was in the way."""
        ...


class Database(Protocol):
    """A place that runs operations: each is whole and durable when `write` returns, or has left no trace.

    `await database.write(create_job, org_id=1, …)` opens a transaction, hands it to `create_job` as its first argument,
    and commits. What the operation raises goes to the caller. Where the database cannot say whether it committed, or
    does not answer, the caller gets `Unavailable`.
    """

    offset_us: int  # what tests add to the clock

    @property
    def partitions(self) -> Partitions | None:
        """None: this database deletes what is old."""
        ...

    def apart(self) -> "Database | None":
        """The same store for `send` in another loop, not opened yet; None where that is no quicker."""
        return None

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def migrate(self) -> Sequence[str]:
        """Bring the schema up to date; the names of the steps that were taken."""
        ...

    async def write(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T: ...

    async def send(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, for an operation that runs one statement: where that is quicker, without a transaction."""
        ...

    async def read(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `write`, for operations that only fetch: one consistent view, no locks."""
        ...

    async def look_up(self, operation: Operation[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """As `read`, for an operation that fetches once, by key: where that is quicker, without a transaction."""
        ...

    def listen(self, topic: Topic, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` in the event loop at every wake-up; returns how to stop listening."""
        ...
