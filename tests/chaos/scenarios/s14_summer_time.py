"""Clocks that jump, days that most months lack: every fire that the policy wants, once, in order, and no other."""

import time
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.local_time import Wanted, instants, jump_at
from tests.chaos.tools.moving_clock import MovingClock
from tests.chaos.tools.moving_cluster import caught_up, define, moving_cluster
from waterclock.chaos.checker import History, check
from waterclock.domain.moment import SECOND, Moment, from_datetime

BERLIN, LORD_HOWE = "Europe/Berlin", "Australia/Lord_Howe"  # by an hour; by half of one
AROUND = timedelta(hours=3)
GRACE_SECONDS = 400 * 86_400  # the clock moves by months: nothing is too late here
LIVE_US = 60 * SECOND  # what began later than this was due in a span that the clock was moved over
LIVE_SECONDS = 8  # before a jump, at which the clock is let run through it: longer than a scheduler ever rests


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A trigger, and the same rule in words that our parser never sees."""

    work: str
    expression: str
    wanted: Wanted
    zone: str
    first: datetime
    last: datetime
    gap: str = "run_at_jump"
    fold: str = "once"

    def due(self) -> list[Moment]:
        return instants(self.wanted, self.zone, self.first, self.last, gap=self.gap, fold=self.fold)

    def trigger(self) -> dict[str, object]:
        bounds = {"start_at": self.first.isoformat(), "end_at": self.last.isoformat()}
        policies = {"gap": self.gap, "fold": self.fold, "misfire": {"policy": "all", "grace_seconds": GRACE_SECONDS}}
        return {"schedule": self.expression, "timezone": self.zone, **bounds, **policies}


def at(hour: int, minute: int, day: int | None = None, month: int | None = None) -> Wanted:
    def wanted(local: datetime) -> bool:
        found = (local.hour, local.minute) == (hour, minute)
        return found and day in (None, local.day) and month in (None, local.month)

    return wanted


def every(minutes: int) -> Wanted:
    return lambda local: local.minute % minutes == 0


def last_of_month(local: datetime) -> bool:
    return (local.hour, local.minute) == (6, 30) and (local + timedelta(days=1)).day == 1


def around(name: str, zone: str, jump: datetime, policy: str, answers: Iterable[str], lost: str) -> list[Case]:
    """Three rules under both answers to one policy; `lost` is a local time that the jump skips or doubles."""
    hour, minute = (int(part) for part in lost.split(":"))
    rules: dict[str, tuple[str, Wanted]] = {
        "tens": ("*/10 * * * *", every(10)),
        "hours": ("0 * * * *", every(60)),
        "one": (f"{minute} {hour} * * *", at(hour, minute)),
    }
    return [
        Case(
            work=f"{name}-{rule}-{answer}",
            expression=expression,
            wanted=wanted,
            zone=zone,
            first=jump - AROUND,
            last=jump + AROUND,
            **{policy: answer},
        )
        for answer in answers
        for rule, (expression, wanted) in rules.items()
    ]


def calendar(first: datetime, last: datetime) -> list[Case]:
    rules: dict[str, tuple[str, Wanted]] = {
        "leap-day": ("0 12 29 2 *", at(12, 0, day=29, month=2)),
        "day-31": ("0 12 31 * *", at(12, 0, day=31)),
        "last-day": ("0 30 6 L * ?", last_of_month),
    }
    return [
        Case(work=rule, expression=expression, wanted=wanted, zone="Asia/Seoul", first=first, last=last)
        for rule, (expression, wanted) in rules.items()
    ]


@scenario(14, "summer time, leap day, day 31", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    spring, howe_back, howe_on, autumn = (
        jump_at(BERLIN, datetime(2027, 3, 28, tzinfo=UTC)),
        jump_at(LORD_HOWE, datetime(2027, 4, 3, 6, tzinfo=UTC)),
        jump_at(LORD_HOWE, datetime(2027, 10, 2, 6, tzinfo=UTC)),
        jump_at(BERLIN, datetime(2027, 10, 31, tzinfo=UTC)),
    )
    winter, summer = datetime(2028, 1, 15, tzinfo=UTC), datetime(2028, 6, 5, tzinfo=UTC)
    cases = [
        *around("berlin-spring", BERLIN, spring, "gap", ("run_at_jump", "skip"), "2:30"),
        *around("howe-back", LORD_HOWE, howe_back, "fold", ("once", "twice"), "1:45"),
        *around("howe-on", LORD_HOWE, howe_on, "gap", ("run_at_jump", "skip"), "2:15"),
        *around("berlin-autumn", BERLIN, autumn, "fold", ("once", "twice"), "2:30"),
        *calendar(winter, summer),
    ]
    clock = MovingClock(world.folder)
    with moving_cluster(world, clock, schedulers=2, workers=1) as made:
        api = made.api
        for case in cases:
            define(made, api, case.work, case.trigger())
        through(made, clock, spring)
        beyond(made, clock, howe_back + 2 * AROUND)
        beyond(made, clock, howe_on + 2 * AROUND)
        through(made, clock, autumn)
        through(made, clock, autumn + timedelta(hours=1))
        through(made, clock, datetime(2028, 2, 29, 3, tzinfo=UTC))  # noon in Seoul
        jump(made, clock, summer)
        return judged(made, clock, cases)


def jump(made: Cluster, clock: MovingClock, moment: datetime) -> None:
    clock.move_to(from_datetime(moment))
    caught_up(made, clock)


def through(made: Cluster, clock: MovingClock, moment: datetime) -> None:
    """With the schedulers awake: the clock is let run over it."""
    jump(made, clock, moment - timedelta(seconds=LIVE_SECONDS))
    while clock.now() < from_datetime(moment) + SECOND:
        time.sleep(0.1)
    caught_up(made, clock)


def beyond(made: Cluster, clock: MovingClock, moment: datetime) -> None:
    """With the schedulers dead meanwhile."""
    for each in made.schedulers:
        each.kill()
    clock.move_to(from_datetime(moment))
    for each in made.schedulers:
        each.start(wait=False)
    for each in made.schedulers:
        each.await_ready()
    caught_up(made, clock)


def judged(made: Cluster, clock: MovingClock, cases: list[Case]) -> Result:
    due = {case.work: case.due() for case in cases}
    ledger = made.ask("SELECT trigger_name, fire_at, outcome FROM fires ORDER BY created_at, id")
    for work, instants_ in due.items():
        fired = [row["fire_at"] for row in ledger if row["trigger_name"] == work]
        assert all(before < after for before, after in pairwise(fired)), f"{work}: fires do not increase: {fired}"
        assert fired == instants_, f"{work}: the ledger has {fired}, the oracle {instants_}"
    assert {row["outcome"] for row in ledger} == {"FIRED"}, "something was skipped"
    history = History(
        marks=clock.moved(made.marks()),
        read_at=clock.now(),
        due=due,
        skipped=made.skipped(),
        stored=made.stored(),
        alive=made.carried(),
    )
    live = [late for late in check(history).late_us if late < LIVE_US]
    folds = ", ".join(
        f"{work} {len(found)}" for work, found in due.items() if work.endswith(("tens-once", "tens-twice"))
    )
    result = made.result(history, doubled_hours=folds, late="of those that fell due while the clock ran")
    return replace(result, late_us=live)
