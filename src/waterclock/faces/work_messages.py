"""What workers over HTTP and servers say to each other: one value a question and one an answer, docs/decisions/0007.

A field that is added to a question is a new version of the protocol: a server of the version before would refuse it.
What is added to an answer is passed over by a worker that does not know it; a question that is added is one that such a
server does not know, and that a worker can do without.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from waterclock.domain.claim import Claimant, Claimed
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.stores.ops.nodes import Node, Pulse

PATH: Final = "/api/v1/work"
PROTOCOL: Final = 1  # what a worker of this release speaks
OLDEST: Final = 1  # what a server of this release still understands
HEADER: Final = "waterclock-protocol"
LARGEST_BODY: Final = 8 * 1024 * 1024
LARGEST_PIECE: Final = 1024 * 1024  # of a log


@dataclass(frozen=True, slots=True, kw_only=True)
class Beat:
    node: Node
    wall_us: int
    pulse: Pulse


@dataclass(frozen=True, slots=True, kw_only=True)
class Leave:
    host: str
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    claimant: Claimant
    limit: int
    ttl_seconds: float
    until: Moment  # by the database's clock: later than this it is not done


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveBack:
    claimant: Claimant
    besides: tuple[int, ...]
    until: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    host: str
    node: str
    attempt_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopt:
    claimant: Claimant
    ttl_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    host: str
    beginnings: tuple[Beginning, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tell:
    """How far attempts have come."""

    host: str
    reports: tuple[Report, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Renew:
    host: str
    held: tuple[tuple[int, int], ...]  # attempts and their fences
    ttl_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopping:
    host: str
    node: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """Destinations that an attempt is to write to."""

    host: str
    attempt_id: int
    fence: int
    destinations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskSecrets:
    host: str
    attempt_id: int
    fence: int
    names: tuple[str, ...]


# Answers; those to a beat and to a claim are `Answer` and `Claims`.


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    claimed: tuple[Claimed, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Lost, renewed, heard of or to be stopped: as the question was."""

    attempt_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    waits_for: str | None = None  # None: they are the attempt's


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    values: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    texts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    topics: tuple[str, ...]
    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    size: int  # of the log, now
