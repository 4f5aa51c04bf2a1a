"""What to do about due instants, in time or missed: one pure decision, bounded however long the outage was."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import Enum
from typing import Final, NamedTuple

from waterclock.domain.errors import InvalidInput
from waterclock.domain.schedule.base import Schedule
from waterclock.domain.schedule.moment import from_us, span_us, to_us

# One plan fires at most so many instants that are in time; what is left is still due and belongs to the next plan.
MOST_IN_TIME: Final = 1_000
MOST_CAP: Final = 10_000
COALESCED: Final = "run together with the one of"


class Policy(Enum):
    """Of the missed fires run none, the latest (unless one is in time anyway), or all up to a cap."""

    SKIP = "skip"
    ONE = "one"
    ALL = "all"


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfire:
    """A fire later than `grace` is missed; `cap` bounds how many missed ones policy ALL makes up for.

    `coalesce`: of all that are due only the latest counts, whether it runs or is missed; the policy is not asked.
    """

    policy: Policy = Policy.ONE
    grace: timedelta = timedelta(seconds=60)
    cap: int = 100
    coalesce: bool = False
    grace_us: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "grace_us", span_us(self.grace))
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


class Moments(NamedTuple):
    """A plan in epoch microseconds."""

    fires: tuple[int, ...]
    skips: tuple[SkipSpan, ...]
    next_at: int | None


def plan(schedule: Schedule, due: datetime, now: datetime, misfire: Misfire) -> Plan:
    """Decide every instant from `due` (itself a fire, whatever the schedule says today) to `now`."""
    fires, skips, next_at = plan_us(schedule, to_us(due), to_us(now), misfire)
    return Plan(
        fires=tuple(from_us(us) for us in fires), skips=skips, next_at=None if next_at is None else from_us(next_at)
    )


def plan_us(schedule: Schedule, due: int, now: int, misfire: Misfire) -> Moments:
    """The same as `plan`."""
    if now < due:
        return Moments((), (), due)
    if misfire.coalesce:
        return _coalesced(schedule, due, now, misfire)
    last_missed = _last_missed(schedule, due, now - misfire.grace_us - 1)
    in_time = _in_time(schedule, due if last_missed is None else last_missed, now, last_missed is None)
    caught_up: tuple[int, ...] = ()
    if last_missed is not None:
        caught_up = _caught_up(schedule, due, last_missed, _allowance(misfire, bool(in_time)))
    return Moments(
        caught_up + in_time,
        () if last_missed is None else _skips(schedule, due, last_missed, caught_up, misfire),
        schedule.next_after_us(in_time[-1] if len(in_time) == MOST_IN_TIME else now),
    )


def _coalesced(schedule: Schedule, due: int, now: int, misfire: Misfire) -> Moments:
    last = max(due, schedule.last_at_or_before_us(now) or due)
    skips: tuple[SkipSpan, ...] = ()
    in_time = now - last <= misfire.grace_us
    if not in_time:
        skips = (_span(schedule, due, last, f"missed: later than {misfire.grace.total_seconds():g} s"),)
    elif last > due:
        covered = max(due, schedule.last_at_or_before_us(last - 1) or due)
        skips = (_span(schedule, due, covered, f"{COALESCED} {from_us(last).isoformat()}"),)
    return Moments((last,) if in_time else (), skips, schedule.next_after_us(now))


def let_go(schedule: Schedule, due: int, now: int, reason: str) -> SkipSpan:
    """All instants from `due` to `now`: nobody will run them any more."""
    return _span(schedule, due, max(due, schedule.last_at_or_before_us(now) or due), reason)


def latest(schedule: Schedule, first: int, last: int, most: int) -> tuple[int, ...]:
    """The instants of a span in epoch microseconds, oldest first; of more than `most` the latest."""
    found = [last]
    while len(found) < most and found[-1] > first:
        found.append(max(first, schedule.last_at_or_before_us(found[-1] - 1) or first))
    return tuple(reversed(found))


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
    reason = f"missed: later than {misfire.grace.total_seconds():g} s (policy {misfire.policy.value})"
    return (_span(schedule, due, last, reason),)


def _span(schedule: Schedule, first: int, last: int, reason: str) -> SkipSpan:
    between = schedule.count_us(first, last)
    return SkipSpan(
        first=from_us(first),
        last=from_us(last),
        count=1 + between.value,
        reason=reason,
        approximate=not between.exact,
    )
