"""What to do about due instants, in time or missed: one pure decision, bounded however long the outage was."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Schedule
from waterclock.domain.schedule.moment import from_us, span_us, to_us

# One plan fires at most so many instants that are in time; what is left is still due and belongs to the next plan.
MOST_IN_TIME: Final = 1_000
MOST_CAP: Final = 10_000


class Policy(Enum):
    """Of the missed fires run none, the latest (unless one is in time anyway), or all up to a cap."""

    SKIP = "skip"
    ONE = "one"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """A fire later than `grace` is missed; `cap` bounds how many missed ones policy ALL makes up for."""

    policy: Policy = Policy.ONE
    grace: timedelta = timedelta(seconds=60)
    cap: int = 100

    def __post_init__(self) -> None:
        if self.grace < timedelta(0):
            raise InvalidInput("must not be negative", field="grace", value=self.grace)
        if not 1 <= self.cap <= MOST_CAP:
            raise InvalidInput(f"must be 1–{MOST_CAP}", field="cap", value=self.cap)


@dataclass(frozen=True, slots=True, kw_only=True)
class SkipSpan:
    """Instants that were not run, from the first to the last; `approximate` where counting them cost too much."""

    first: datetime
    last: datetime
    count: int
    reason: str
    approximate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """Fires to run, strictly increasing; what is skipped; and the next due instant, None when there is no other."""

    fires: tuple[datetime, ...] = ()
    skips: tuple[SkipSpan, ...] = ()
    next_at: datetime | None = None


def plan(schedule: Schedule, due: datetime, now: datetime, misfire: Misfire) -> Plan:
    """Decide every instant from `due` (itself a fire, whatever the schedule says today) to `now`."""
    if now < due:
        return Plan(next_at=due)
    due_us, now_us = to_us(due), to_us(now)
    last_missed = _last_missed(schedule, due_us, now_us - span_us(misfire.grace) - 1)
    in_time = _in_time(schedule, due_us if last_missed is None else last_missed, now_us, last_missed is None)
    caught_up: tuple[int, ...] = ()
    if last_missed is not None:
        caught_up = _caught_up(schedule, due_us, last_missed, _allowance(misfire, bool(in_time)))
    fires = caught_up + in_time
    return Plan(
        fires=tuple(from_us(us) for us in fires),
        skips=() if last_missed is None else _skips(schedule, due_us, last_missed, caught_up, misfire),
        next_at=schedule.next_after(from_us(in_time[-1]) if len(in_time) == MOST_IN_TIME else now),
    )


def _last_missed(schedule: Schedule, due: int, horizon: int) -> int | None:
    if due > horizon:
        return None
    return max(due, schedule.last_at_or_before_us(horizon) or due)


def _in_time(schedule: Schedule, begin: int, now: int, included: bool) -> tuple[int, ...]:
    found = [begin] if included else []
    moment = schedule.next_after_us(begin)
    while moment is not None and moment <= now and len(found) < MOST_IN_TIME:
        found.append(moment)
        moment = schedule.next_after_us(moment)
    return tuple(found)


def _allowance(misfire: Misfire, any_in_time: bool) -> int:
    match misfire.policy:
        case Policy.SKIP:
            return 0
        case Policy.ONE:
            return 0 if any_in_time else 1
        case Policy.ALL:
            return misfire.cap


def _caught_up(schedule: Schedule, due: int, last_missed: int, allowance: int) -> tuple[int, ...]:
    """The latest missed instants, oldest first: walked backwards, so that older ones cost nothing."""
    found: list[int] = []
    moment: int | None = last_missed
    while len(found) < allowance and moment is not None and moment > due:
        found.append(moment)
        moment = schedule.last_at_or_before_us(moment - 1)
    if len(found) < allowance:
        found.append(due)
    return tuple(reversed(found))


def _skips(
    schedule: Schedule, due: int, last_missed: int, caught_up: tuple[int, ...], misfire: Misfire
) -> tuple[SkipSpan, ...]:
    if caught_up and caught_up[0] == due:
        return ()
    last = last_missed
    if caught_up:
        last = max(due, schedule.last_at_or_before_us(caught_up[0] - 1) or due)
    between = schedule.count_us(due, last)
    reason = f"missed: later than {misfire.grace.total_seconds():g} s (policy {misfire.policy.value})"
    span = SkipSpan(
        first=from_us(due),
        last=from_us(last),
        count=1 + between.value,
        reason=reason,
        approximate=not between.exact,
    )
    return (span,)
