"""An hour without a scheduler under triggers of every second: what each policy says, skips recorded, little work."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import httpx
import psutil

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.moving_clock import MovingClock
from tests.chaos.tools.moving_cluster import caught_up, define, moving_cluster, stop_all
from tests.chaos.tools.usage import peak_bytes
from waterclock.chaos.checker import History
from waterclock.chaos.oracle import Asked
from waterclock.domain.moment import SECOND, Moment

EVERY_SECOND: Final = "* * * * * ?"
OUTAGE_US: Final = 3_600 * SECOND
LIVE_SECONDS: Final = 3.0  # with schedulers, before and after
NOOP: Final = "bench.noop:noop"
MANY: Final = 200  # more triggers of every second, whose runs cost next to nothing
MOST_CPU_SECONDS: Final = 15.0  # of one scheduler, from its start until nothing is due
MOST_GROWTH_BYTES: Final = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What a trigger is to do about what it missed, and the same as arithmetic."""

    name: str
    policy: str
    grace_seconds: int
    cap: int = 100

    @property
    def misfire(self) -> dict[str, object]:
        return {"policy": self.policy, "grace_seconds": self.grace_seconds, "cap": self.cap}

    def runs(self, due: Sequence[Moment], now: Moment) -> list[Moment]:
        """Of the instants that are due at `now`, those that must run."""
        missed = [at for at in due if now - at > self.grace_seconds * SECOND]
        in_time = due[len(missed) :]
        caught_up = {"skip": 0, "one": 0 if in_time else 1, "all": self.cap}[self.policy]
        return [*(missed[-caught_up:] if caught_up else ()), *in_time]


POLICIES: Final = (
    Policy(name="skip", policy="skip", grace_seconds=5),
    Policy(name="one", policy="one", grace_seconds=5),
    Policy(name="one-without-grace", policy="one", grace_seconds=0),
    Policy(name="all", policy="all", grace_seconds=5, cap=20),
)


@scenario(15, "an hour's outage under triggers of every second", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    clock = MovingClock(world.folder)
    with moving_cluster(world, clock, schedulers=2, workers=1, callables=NOOP) as made:
        made_at = clock.now()
        api = made.api
        for policy in POLICIES:
            define(made, api, policy.name, {"schedule": EVERY_SECOND, "misfire": policy.misfire})
        _define_many(api)
        time.sleep(LIVE_SECONDS)
        usual = max(peak_bytes(each.pid) for each in made.schedulers)
        for each in made.schedulers:
            each.kill()
        made.quiet()
        outage = [clock.now()]
        clock.move_by(OUTAGE_US)
        figures = _come_back(made, clock, usual)
        outage.append(clock.now())
        time.sleep(LIVE_SECONDS)
        sent_at = clock.now()
        stop_all(made, clock)
        stopped = Asked(sent_at=sent_at, answered_at=clock.now())
        caught_up(made, clock)
        _check_ledger(made)
        return _judged(made, clock, made_at, stopped, (outage[0], outage[1]), figures)


def _define_many(api: httpx.Client) -> None:
    job = {"name": "noop", "kind": "callable", "script": NOOP, "max_concurrent": 0}
    api.post("/jobs", json=job).raise_for_status()
    for number in range(MANY):
        policy = POLICIES[number % len(POLICIES)]
        trigger = {"schedule": EVERY_SECOND, "misfire": policy.misfire, "actions": [{"job": "noop"}], "start": True}
        api.post("/triggers", json={"name": f"{policy.name}/{number}", **trigger}).raise_for_status()


def _come_back(made: Cluster, clock: MovingClock, usual: int) -> dict[str, str]:
    """What it costs the schedulers to start and to deal with the hour."""
    began = time.monotonic()
    for each in made.schedulers:
        each.start(wait=False)
    due = f"SELECT name FROM triggers WHERE state = 'RUNNING' AND next_fire_at <= {clock.now()}"
    until(lambda: not made.ask(due), "the hour is never dealt with", pause=0.05)
    took = time.monotonic() - began
    spent = max(sum(psutil.Process(each.pid).cpu_times()[:2]) for each in made.schedulers)
    growth = max(peak_bytes(each.pid) for each in made.schedulers) - usual
    assert spent < MOST_CPU_SECONDS, f"a scheduler needed {spent:.1f} s of CPU"
    assert growth < MOST_GROWTH_BYTES, f"a scheduler grew by {growth / 2**20:.0f} MiB"
    return {
        "started and dealt with in": f"{took:.1f} s",
        "CPU of a scheduler": f"{spent:.1f} s",
        "beyond its usual peak": f"{growth / 2**20:.1f} MiB",
    }


def _check_ledger(made: Cluster) -> None:
    """Of each trigger every second once; of the plan after the outage what its policy says, and one row of skips."""
    rows = made.ask("SELECT trigger_name, outcome, reason, fire_at, first_at, last_at, instants, created_at FROM fires")
    by_trigger: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_trigger.setdefault(row["trigger_name"], []).append(row)
    assert len(by_trigger) == MANY + len(POLICIES), f"{len(by_trigger)} triggers have fired"
    named = {policy.name: policy for policy in POLICIES}
    for trigger, ledger in by_trigger.items():
        _check_trigger(trigger, named[trigger.partition("/")[0]], ledger)


def _check_trigger(trigger: str, policy: Policy, ledger: list[dict[str, Any]]) -> None:
    covered = sorted(at for row in ledger for at in range(row["first_at"], row["last_at"] + 1, SECOND))
    assert covered == list(range(covered[0], covered[-1] + 1, SECOND)), f"{trigger}: a second is lost or doubled"
    for row in ledger:
        assert row["instants"] == (row["last_at"] - row["first_at"]) // SECOND + 1, f"{trigger}: {row}"
    (after,) = {row["created_at"] for row in ledger if row["reason"] and _is_the_outage(row)}
    plan = [row for row in ledger if row["created_at"] == after]
    skips = [row for row in plan if row["outcome"] == "SKIPPED"]
    assert len(skips) == 1, f"{trigger}: {skips}"
    assert skips[0]["reason"].endswith(f"(policy {policy.policy})"), f"{trigger}: {skips}"
    due = sorted(at for row in plan for at in range(row["first_at"], row["last_at"] + 1, SECOND))
    ran = sorted(row["fire_at"] for row in plan if row["outcome"] == "FIRED")
    assert ran == policy.runs(due, after), f"{trigger}: ran {ran} at {after}"


def _is_the_outage(row: dict[str, Any]) -> bool:
    return bool(row["last_at"] - row["first_at"] > OUTAGE_US // 2)


def _judged(
    made: Cluster,
    clock: MovingClock,
    made_at: Moment,
    stopped: Asked,
    outage: tuple[Moment, Moment],
    figures: dict[str, str],
) -> Result:
    ledger = made.ask("SELECT trigger_name, fire_at, first_at, outcome, instants FROM fires")
    names = [policy.name for policy in POLICIES]
    first = {name: min(row["first_at"] for row in ledger if row["trigger_name"] == name) for name in names}
    assert all(at - made_at < 5 * SECOND for at in first.values()), "the first second is late"
    history = History(
        marks=clock.moved(made.marks()),
        read_at=clock.now(),
        due={name: range(at, stopped.sent_at + 1, SECOND) for name, at in first.items()},
        perhaps={name: range(at, stopped.answered_at + 1, SECOND) for name, at in first.items()},
        skipped=made.skipped(),
        alive=made.carried(),  # what is stored is not held against the marks: the callables leave none
    )
    counts = {
        "ledger rows": str(len(ledger)),
        "seconds skipped": str(sum(row["instants"] for row in ledger if row["outcome"] == "SKIPPED")),
    }
    live = [mark.at - mark.fire_at for mark in history.starts if not outage[0] <= mark.fire_at <= outage[1]]
    return replace(made.result(history, **figures, **counts), late_us=live)
