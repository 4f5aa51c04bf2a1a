"""What a job store of APScheduler's holds, read at once: nothing is unpickled here."""

import math
from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment, to_datetime
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.importing.apscheduler.place import Place
from waterclock.faces.cli.importing.apscheduler.selecting import NoTable, select

QUOTE: Final = {"sqlite": '"', "postgresql": '"', "mysql": "`"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One table of one database."""

    place: Place
    table: str
    schema: str | None = None

    def __str__(self) -> str:
        return f"{self.name} at {self.place}"

    @property
    def name(self) -> str:
        return f"{self.schema}.{self.table}" if self.schema else self.table

    @property
    def quoted(self) -> str:
        mark = QUOTE[self.place.kind]
        parts = [self.schema, self.table] if self.schema else [self.table]
        return ".".join(f"{mark}{part.replace(mark, mark * 2)}{mark}" for part in parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    id: str
    next_at: Moment | None  # None: it is paused
    state: bytes  # a pickle
    problem: str | None = None  # why nothing can be made of it


def read(source: Source) -> list[Row]:
    """In the order of their ids."""
    statement = f"SELECT id, next_run_time, job_state FROM {source.quoted} ORDER BY id"  # noqa: S608 - quoted
    try:
        found = select(source.place, statement)
    except NoTable as missing:
        reason = f"{source} is no job store of APScheduler 3: {missing}; the table's name goes in --table"
        raise Refused(f"{reason}, that of a schema in --schema") from None
    return [_row(*each) for each in found]


def _row(name: object, next_run_time: float | None, state: object) -> Row:
    kept = bytes(state) if isinstance(state, bytes | bytearray | memoryview) else str(state).encode()
    shown = name.decode(errors="replace") if isinstance(name, bytes) else str(name)
    next_at = None if next_run_time is None else _moment(float(next_run_time))
    lost = next_run_time is not None and next_at is None
    problem = f"next_run_time {next_run_time} is no moment" if lost else None
    return Row(id=shown, next_at=next_at, state=kept, problem=problem)


def _moment(timestamp: float) -> Moment | None:
    try:
        moment = round(timestamp * 1_000_000) if math.isfinite(timestamp) else None
        return None if moment is None or to_datetime(moment).year < 1970 else moment
    except OverflowError:
        return None
