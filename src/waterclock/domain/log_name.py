"""The name of an attempt's log: the same on its worker's disk, in the log store, and in the attempt's row."""

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import Moment, to_datetime


def log_name(wire_id: str, run_at: Moment) -> str:
    """A folder a day, so that none grows without end."""
    return f"{log_day(run_at)}/{wire_id}.log"


def log_day(run_at: Moment) -> str:
    return to_datetime(run_at).strftime("%Y-%m-%d")


def checked_name(name: str) -> str:
    """The name, if it can only be one below the root of a store; else it is refused."""
    if "\0" in name:
        raise InvalidInput("a name cannot hold a NUL", field="log", value=name)
    if any(part in ("", ".", "..") for part in name.split("/")):
        raise InvalidInput("the name leads out of the log store", field="log", value=name)
    return name
