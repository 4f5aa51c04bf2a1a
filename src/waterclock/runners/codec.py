"""Programs and events as plain JSON values, and back: written out by hand because a thousand a second pass here."""

from dataclasses import dataclass
from typing import Any

from waterclock.runners.base import Begun, End, Ended, Event, Limits, Program

Plain = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A program and the moment of this host's clock until which it may live without a renewal."""

    program: Program
    lease_until: float


def order_to_plain(order: Order) -> Plain:
    program, limits = order.program, order.program.limits
    return {
        "attempt_id": program.attempt_id,
        "fence": program.fence,
        "argv": list(program.argv),
        "warm": program.warm,
        "env": dict(program.env),
        "cwd": program.cwd,
        "log_path": program.log_path,
        "log_cap_bytes": program.log_cap_bytes,
        "timeout_seconds": program.timeout_seconds,
        "grace_seconds": program.grace_seconds,
        "user": program.user,
        "limits": [limits.memory_bytes, limits.cpu_seconds, limits.processes, limits.open_files],
        "lease_until": order.lease_until,
    }


def order_from_plain(plain: Plain) -> Order:
    values = dict(plain)
    values.pop("lease_seconds", None)  # a worker of the version before says it in both ways
    memory_bytes, cpu_seconds, processes, open_files = values.pop("limits")
    limits = Limits(memory_bytes=memory_bytes, cpu_seconds=cpu_seconds, processes=processes, open_files=open_files)
    argv = tuple(values.pop("argv"))
    return Order(program=Program(argv=argv, limits=limits, **values), lease_until=values["lease_until"])


def event_to_plain(event: Event) -> Plain:
    if isinstance(event, Begun):
        return {
            "attempt_id": event.attempt_id,
            "fence": event.fence,
            "pid": event.pid,
            "pid_started_at": event.pid_started_at,
        }
    return {
        "attempt_id": event.attempt_id,
        "fence": event.fence,
        "end": event.end.value,
        "exit_code": event.exit_code,
        "signal": event.signal,
        "cpu_seconds": event.cpu_seconds,
        "peak_rss_bytes": event.peak_rss_bytes,
        "message": event.message,
    }


def begun_from_plain(plain: Plain) -> Begun:
    return Begun(**plain)


def ended_from_plain(plain: Plain) -> Ended:
    values = dict(plain)
    return Ended(end=End(values.pop("end")), **values)


def event_from_plain(plain: Plain) -> Event:
    return ended_from_plain(plain) if "end" in plain else begun_from_plain(plain)
