"""Which worker takes which run: pure rules over what runs ask for, what workers have, and how busy they are.

Workers claim for themselves; nobody assigns. So that the idle one gets the most all the same, a worker that knows of
others with room takes its share of what waits and leaves the rest to them for a moment, and a busier one lets an
idler one go first.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from waterclock.domain.labels import offers
from waterclock.domain.moment import Moment, seconds

MB: Final = 1024 * 1024
MOST_MB: Final = 2**31 - 1  # the column's
AGED_US: Final = seconds(30)  # who has waited as long for memory is kept some free

ROUNDS: Final = 3  # of shares; what is left then is taken by whoever has room
FIRST_PAUSE_SECONDS: Final = 0.01  # between two rounds, more where the worker is busy, twice as long each time
BUSY_PAUSE_SECONDS: Final = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Worker:
    """A live worker as its last heartbeat told."""

    host: str
    queues: tuple[str, ...]  # empty: one of the version before, which does not say
    labels: tuple[str, ...] = ()
    role: str = ""
    slots: int
    running: int = 0
    memory_mb: int = 0  # 0: it does not count
    org_id: int | None = None  # it sees the runs of this one alone

    @property
    def room(self) -> int:
        return max(0, self.slots - self.running)


@dataclass(frozen=True, slots=True, kw_only=True)
class Others:
    """The other workers that run what this one runs, as far as they have room."""

    room: int  # their free slots together
    load: float = 1.0  # of the idlest, from 0 to 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An attempt that nobody has claimed."""

    id: int
    due_at: Moment
    memory_mb: int = 0


class Asking(Protocol):
    """What an unclaimed attempt asks of its worker."""

    org_id: int
    queue: str
    labels: str  # joined
    role: str
    memory_mb: int


@dataclass(slots=True, kw_only=True)
class Asked:
    """The same of an attempt that is not there yet."""

    org_id: int
    queue: str
    labels: str
    role: str
    memory_mb: int


# Memory


def asked_mb(limits: Mapping[str, int]) -> int:
    """What a run is counted with: its limit, rounded up; 0 where it has none."""
    return min(-(-limits.get("memory_bytes", 0) // MB), MOST_MB)


def fitting(waiting: Iterable[Waiting], *, free_mb: int, now: Moment) -> list[int]:
    """Those, in their order, that go into the free memory together.

    A big one is passed over for smaller ones until it has aged; from then on what is free is kept for it.
    """
    found: list[int] = []
    for each in waiting:
        if each.memory_mb <= free_mb or not each.memory_mb:
            found.append(each.id)
            free_mb -= each.memory_mb
        elif each.due_at <= now - AGED_US:
            free_mb = 0
    return found


# Shares and turns


def others(workers: Iterable[Worker], *, host: str, queues: Sequence[str]) -> Others:
    """Whoever serves one of our queues; what lives on our own host is what we were before a restart."""
    beside = [each for each in workers if each.room and each.host != host and _serves_any(each, queues)]
    load = min((each.running / each.slots for each in beside), default=1.0)
    return Others(room=sum(each.room for each in beside), load=load)


def share(waiting: int, *, room: int, others_room: int) -> int:
    """How many of these this worker takes: as its free slots are to all free slots, rounded up."""
    return min(room, -(-waiting * room // max(1, room + others_room)))


def deference_seconds(load: float, beside: Others) -> float:
    """How long an idler worker is given to go first."""
    return BUSY_PAUSE_SECONDS * max(0.0, load - beside.load) if beside.room else 0.0


def pause_seconds(load: float, rounds: int) -> float:
    """How long what was left to the others is left to them."""
    return float(2 ** (rounds - 1)) * (FIRST_PAUSE_SECONDS + BUSY_PAUSE_SECONDS * load)


# Why a run waits


def why_waiting(asked: Asking, workers: Iterable[Worker]) -> str | None:
    """In the words that an operator can act on; None where it is simply about to be taken."""
    able = [each for each in workers if each.org_id in (None, asked.org_id)]
    if not able:
        return "no worker is alive"
    able = [each for each in able if _serves_any(each, (asked.queue,))]
    if not able:
        return f"no live worker serves queue {asked.queue}"
    able = [each for each in able if asked.role in ("", each.role)]
    if not able:
        return f"no live worker that serves queue {asked.queue} has role {asked.role}"
    able = [each for each in able if offers(each.labels, asked.labels)]
    if not able:
        return f"no live worker that serves queue {asked.queue} offers labels {asked.labels}"
    largest = max(each.memory_mb or MOST_MB for each in able)
    if largest < asked.memory_mb:
        return f"no live worker that may take it has {asked.memory_mb} MB of memory: the largest has {largest} MB"
    if not any(each.room for each in able):
        return f"all slots of the {len(able)} live worker(s) that may take it are busy"
    return None


def _serves_any(worker: Worker, queues: Sequence[str]) -> bool:
    return not worker.queues or any(queue in worker.queues for queue in queues)
