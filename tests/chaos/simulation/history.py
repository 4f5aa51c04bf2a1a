"""The story's history as the checker wants it: evidence, the oracle's due instants, and what the store says."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from tests.chaos.simulation.cluster import Cluster
from tests.chaos.simulation.faces import Window
from tests.chaos.simulation.invariants import ATTEMPTS
from tests.chaos.simulation.programs import CALL, work_of
from waterclock.chaos.checker import ALLOWED, Findings, History, check
from waterclock.chaos.oracle import Asked, Planned
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import WORKER_LOST
from waterclock.domain.run import RunState

FIRES: Final = """
SELECT trigger_id, trigger_name, generation, fire_at, outcome, first_at, last_at FROM fires
ORDER BY trigger_id, generation, fire_at"""
RUNS: Final = "SELECT wire_id, state, job_name, trigger_name, run_at, arguments, message FROM runs"
# An end that its own worker could not tell: the store says that it does not know how it went.
UNKNOWN_ENDS: Final = (WORKER_LOST, "the supervisor died", "killed: its lease could not be renewed")

Row = Mapping[str, Any]
Spans = dict[str, list[tuple[Moment, Moment]]]


def faults_of(cluster: Cluster) -> tuple[Findings, list[str]]:
    """What the checker finds, and what it cannot know of."""
    attempts, fires, runs = (
        cluster.loop.run_until_complete(cluster.store.peek(sql)) for sql in (ATTEMPTS, FIRES, RUNS)
    )
    lives = sorted(cluster.world.lives, key=lambda life: life.began_at)
    overlaps = [
        f"{after} began before {before} was dead"
        for before, after in pairwise(sorted(lives, key=lambda life: (life.program.env["run"], life.began_at)))
        if before.program.env["run"] == after.program.env["run"] and after.began_at < (before.died_at or 0)
    ]
    others = [*overlaps, *_misplaced(fires), *_untrue(cluster, attempts), *_unkept(cluster, runs)]
    return check(_history(cluster, attempts, fires, runs)), others


def _history(cluster: Cluster, attempts: Sequence[Row], fires: Sequence[Row], runs: Sequence[Row]) -> History:
    asked, now = cluster.faces.asked, cluster.timeline.now
    due = {
        f"{name}/{job}": instants
        for name, windows in asked.windows.items()
        for job, instants in _due(windows, now).items()
    }
    started = {mark.run for mark in cluster.world.marks}
    never_began = _never_began(runs, started)
    return History(
        marks=cluster.world.marks,
        read_at=now,
        bound_us=0,
        due=due,
        skipped=_skipped(fires, runs, due),
        failed=never_began,
        calls={name: call.answer for name, call in asked.calls.items() if name not in never_began},
        stored={(row["wire_id"].partition("_attempt_")[0], row["number"]): row["state"] for row in attempts},
        alive=[life.program.env["run"] for life in cluster.world.living()],
    )


def _due(windows: Sequence[Window], now: Moment) -> dict[str, list[Moment]]:
    found: defaultdict[str, list[Moment]] = defaultdict(list)
    for window in windows:
        made = Asked(sent_at=window.since, answered_at=window.since)
        stopped = Asked(sent_at=window.until, answered_at=window.until) if window.until is not None else None
        planned = Planned(every_seconds=window.plan.every_seconds, made=made, stopped=stopped)
        for job in window.plan.jobs:
            found[job] += planned.due(now)
    return found


def _skipped(fires: Sequence[Row], runs: Sequence[Row], due: Mapping[str, Any]) -> Spans:
    spans: Spans = defaultdict(list)
    for row in fires:
        if row["outcome"] == "SKIPPED":
            for work in due:
                if work.startswith(f"{row['trigger_name']}/"):
                    spans[work].append((row["first_at"], row["last_at"]))
    for row in runs:
        if row["state"] == RunState.SKIPPED:
            spans[_work(row)].append((row["run_at"], row["run_at"]))
    return spans


def _never_began(runs: Sequence[Row], started: set[str]) -> dict[str, list[Moment]]:
    """Runs that ended, with the reason, before they had a process."""
    found: defaultdict[str, list[Moment]] = defaultdict(list)
    for row in runs:
        if row["wire_id"] not in started and row["state"] != RunState.SUCCEEDED and row["message"]:
            found[_work(row)].append(row["run_at"])
    return found


def _work(row: Row) -> str:
    arguments = row["arguments"]
    given = json.loads(arguments) if isinstance(arguments, str) else arguments
    return work_of(row["trigger_name"], row["job_name"], given.get(CALL))


def _misplaced(fires: Sequence[Row]) -> Iterable[str]:
    """The fires of a trigger strictly increase, generation by generation, and no span of skips covers another row."""
    for before, after in pairwise(fires):
        if before["trigger_id"] == after["trigger_id"] and after["first_at"] <= before["last_at"]:
            yield f"{dict(after)} comes after {dict(before)}"


def _unkept(cluster: Cluster, runs: Sequence[Row]) -> Iterable[str]:
    """An acknowledged call has the one run that its caller was told of, one that was never answered at most one."""
    for name, call in cluster.faces.asked.calls.items():
        found = [row["wire_id"] for row in runs if _work(row) == name]
        if len(found) not in ALLOWED[call.answer] or call.wire_id not in (None, *found):
            yield f"{name} was {call.answer} as {call.wire_id}, and has the runs {found}"


def _untrue(cluster: Cluster, attempts: Sequence[Row]) -> Iterable[str]:
    """The store says how a process ended, or that it does not know; and an end is told with a reason."""
    lives = {life.program.attempt_id: life for life in cluster.world.lives}
    for row in attempts:
        life, message = lives.get(row["id"]), row["message"] or ""
        known = {0: RunState.SUCCEEDED, 1: RunState.FAILED, None: RunState.STOPPED}
        if row["state"] == RunState.SUCCEEDED or message.startswith(UNKNOWN_ENDS):
            continue
        if life is None and not message:
            yield f"{row['wire_id']} is {row['state']} without a process and without a reason"
        elif life is not None and row["state"] != known[life.exit_code]:
            yield f"{life} ended with {life.exit_code}, and is {row['state']} ({message})"
