"""What a worker over HTTP may say: refused in words here, before a column of the store would refuse it in none."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from waterclock.domain.bookmark import refusal_of
from waterclock.domain.claim import Claimant
from waterclock.domain.errors import InvalidInput
from waterclock.domain.gate import Verdict
from waterclock.domain.labels import label_set
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import LARGEST, Report, Said
from waterclock.domain.role import NODE_ROLES
from waterclock.domain.run import Phase, RunState
from waterclock.stores.ops.nodes import Node, Pulse

LARGEST_CLAIM: Final = 1_000
LARGEST_BATCH: Final = 1_000
MOST_ATTEMPTS: Final = 100_000  # that one call names
MOST_QUEUES: Final = 100
MOST_DESTINATIONS: Final = 100
LONGEST_DESTINATION: Final = 4_000
LONGEST_LEASE_SECONDS: Final = 3_600.0
LONGEST_LOOK_SECONDS: Final = 7 * 86_400.0  # back, for other workers
ENDS: Final = frozenset({RunState.SUCCEEDED, RunState.FAILED, RunState.TIMEOUT, RunState.STOPPED})

_SMALL: Final = 2**31  # columns of whole numbers hold less
_LATEST: Final = 2**62  # moments


def check_host(host: str) -> None:
    if not 1 <= len(host) <= 64:
        raise InvalidInput("must have 1 to 64 characters", field="host")


def check_node(node: Node, wall_us: int, pulse: Pulse) -> None:
    for name, value, most in (
        ("id", node.id, 36),
        ("name", node.name, 255),
        ("version", node.version, 32),
        ("queues", ",".join(node.queues), 1_000),
    ):
        if not 1 <= len(value) <= most:
            raise InvalidInput(f"must have 1 to {most} characters", field=name)
    _among("role", node.role, ("", *NODE_ROLES))
    _among("debugmode", node.debugmode, ("", "debug"))
    label_set(node.labels, "labels")
    for name, number in (("slots", node.slots), ("memory_mb", node.memory_mb), ("pid", node.pid)):
        _between(name, number, 0, _SMALL - 1)
    _between("running", pulse.running, 0, _SMALL - 1)
    _between("wall_us", wall_us, 0, _LATEST)


def check_claimant(claimant: Claimant) -> None:
    _between("queues", len(claimant.queues), 1, MOST_QUEUES)
    _between("roles", len(claimant.roles), 1, len(NODE_ROLES) + 1)
    for role in claimant.roles:
        _among("roles", role, ("", *NODE_ROLES))
    label_set(claimant.labels, "labels")
    for name, number in (
        ("memory_mb", claimant.memory_mb),
        ("free_mb", claimant.free_mb),
        ("others_room", claimant.others_room),
    ):
        _between(name, number, 0, _SMALL - 1)
    if not 0 <= claimant.look_seconds <= LONGEST_LOOK_SECONDS:
        raise InvalidInput(f"must be 0 to {LONGEST_LOOK_SECONDS:g}", field="look_seconds")


def check_limit(limit: int) -> None:
    _between("limit", limit, 1, LARGEST_CLAIM)


def check_lease(seconds: float) -> None:
    if not 0 < seconds <= LONGEST_LEASE_SECONDS:
        raise InvalidInput(f"must be more than 0, at most {LONGEST_LEASE_SECONDS:g}", field="ttl_seconds")


def check_many(field: str, count: int) -> None:
    _between(field, count, 0, MOST_ATTEMPTS)


def check_destinations(given: Collection[str]) -> None:
    _between("destinations", len(given), 1, MOST_DESTINATIONS)
    if any(len(each) > LONGEST_DESTINATION for each in given):
        raise InvalidInput(f"must have at most {LONGEST_DESTINATION} characters each", field="destinations")


def check_reports(beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]) -> None:
    _between("beginnings", len(beginnings), 0, LARGEST_BATCH)
    _between("outcomes", len(outcomes), 0, LARGEST_BATCH)
    begun = {each.attempt_id: each.fence for each in beginnings}
    ended = {each.attempt_id: each.fence for each in outcomes}
    if len(begun) < len(beginnings) or len(ended) < len(outcomes):
        raise InvalidInput("an attempt is named twice", field="outcomes")
    if any(begun.get(attempt_id, fence) != fence for attempt_id, fence in ended.items()):
        raise InvalidInput("an attempt has two fences", field="outcomes")
    for outcome in outcomes:
        _check_outcome(outcome)


def checked_progress(reports: Sequence[Report]) -> list[Report]:
    """As they can be stored."""
    _between("reports", len(reports), 0, LARGEST_BATCH)
    if len({each.attempt_id for each in reports}) < len(reports):
        raise InvalidInput("an attempt is named twice", field="reports")
    for each in reports:
        _among("phase", each.phase or "", ("", *Phase))
        if len(json.dumps(each.progress, ensure_ascii=False)) > LARGEST:
            raise InvalidInput(f"must have at most {LARGEST} characters", field="progress")
    return [replace(each, progress=Said.read({"progress": each.progress}).progress) for each in reports]


def _check_outcome(outcome: Outcome) -> None:
    _among("state", outcome.state, tuple(sorted(ENDS)))
    _among("verdict", outcome.verdict or "", ("", *Verdict))
    _between("exit_code", outcome.exit_code or 0, -_SMALL, _SMALL - 1)
    _between("exit_signal", outcome.exit_signal or 0, -_SMALL, _SMALL - 1)
    if outcome.bookmark is not None and (why := refusal_of(outcome.bookmark)):
        raise InvalidInput(why, field="bookmark")


def _between(field: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise InvalidInput(f"must be {least} to {most}", field=field, value=value)


def _among(field: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise InvalidInput(f"must be one of {', '.join(map(repr, map(str, known)))}", field=field, value=value)
