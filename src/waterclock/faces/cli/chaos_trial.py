"""A trial of somebody's own set-up, through the API alone: jobs that mark their starts and ends, and their logs."""

import secrets
import shlex
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypeVar

from waterclock import clock
from waterclock.chaos.checker import History
from waterclock.chaos.evidence import Mark, parsed
from waterclock.chaos.oracle import Asked, Planned, expression
from waterclock.domain.moment import SECOND, Moment, from_datetime, seconds, to_iso
from waterclock.faces.cli.client import Client, Lost, path
from waterclock.faces.cli.failure import Failure, Refused

T = TypeVar("T")

LIVE: Final = frozenset({"WAITING", "STARTING", "RUNNING", "STOPPING"})
TELL_SECONDS: Final = 5.0
AGAIN_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is to be tried, and for how long."""

    prefix: str
    triggers: int
    every_seconds: int
    seconds: float
    script: str
    retries: int
    patience_seconds: float
    clock_error_us: int
    late_bound_us: int | None
    kill_command: str | None
    kill_every_seconds: float


class Trial:
    """`make`, `watch`, `gather`, and `remove` in any case. It touches nothing that it has not made."""

    def __init__(self, client: Client, plan: Plan, tell: Callable[[str], None]) -> None:
        self._client = client
        self._plan = plan
        self._tell = tell
        self._planned: dict[str, Planned] = {}
        self._made: list[tuple[str, str]] = []  # `jobs` and `triggers`, in the order of their making
        self._names = [f"{plan.prefix}{secrets.token_hex(3)}-{number}" for number in range(plan.triggers)]
        self.kills = 0

    def make(self) -> None:
        """The triggers end by themselves: a stop would kill what runs, and nobody could tell who had lost it."""
        for name in self._names:
            job = {"name": name, "kind": "python", "script": self._plan.script, "arguments": {"--work": name}}
            self._client.post("/jobs", {**job, "retries": self._plan.retries, "max_concurrent": 0})
            self._made.append(("jobs", name))
        end_at = (self._now() // SECOND + round(self._plan.seconds)) * SECOND + SECOND // 2  # between two instants
        for number, name in enumerate(self._names):
            self._make_trigger(name, number % self._plan.every_seconds, end_at)

    def _make_trigger(self, name: str, offset: int, end_at: Moment) -> None:
        sent_at = self._now() - SECOND  # the server tells its clock in whole seconds
        schedule = expression(self._plan.every_seconds, offset)
        trigger = {"name": name, "schedule": schedule, "end_at": to_iso(end_at), "actions": [{"job": name}]}
        self._client.post("/triggers", {**trigger, "start": True})
        self._made.append(("triggers", name))
        self._planned[name] = Planned(
            every_seconds=self._plan.every_seconds,
            offset_us=offset * SECOND,
            made=Asked(sent_at=sent_at, answered_at=self._now() + SECOND),
            stopped=Asked(sent_at=end_at, answered_at=end_at),
        )

    def watch(self) -> None:
        """Until the triggers have ended; whoever is to be killed meanwhile is."""
        plan, began = self._plan, clock.monotonic()
        tell_at, kill_at = began, began + plan.kill_every_seconds
        while (passed := clock.monotonic() - began) < plan.seconds:
            if plan.kill_command and clock.monotonic() >= kill_at:
                self._kill(plan.kill_command)
                kill_at += plan.kill_every_seconds
            if clock.monotonic() >= tell_at:
                self._tell(f"{passed:.0f} s of {plan.seconds:.0f}: {len(self._names)} triggers fire")
                tell_at += TELL_SECONDS
            time.sleep(min(0.2, max(0.0, plan.seconds - passed)))

    def gather(self) -> History:
        """Once nothing of it is live: what the programs wrote, and the ends that the server holds them to."""
        runs = self._ended_runs()
        marks: list[Mark] = []
        for number, run in enumerate(runs, 1):
            marks += parsed(self._patiently(lambda run=run: self._log(run["id"])))  # type: ignore[misc]
            if number % 100 == 0:
                self._tell(f"read {number} of {len(runs)} logs")
        read_at = self._now()
        return History(
            marks=marks,
            read_at=read_at,
            clock_error_us=self._plan.clock_error_us,
            late_bound_us=self._plan.late_bound_us,
            due={name: planned.due(read_at) for name, planned in self._planned.items()},
            perhaps={name: planned.perhaps(read_at) for name, planned in self._planned.items()},
            skipped={name: self._patiently(lambda name=name: self._skipped(name)) for name in self._planned},  # type: ignore[misc]
            failed=_failed(runs),
            stored={(run["id"].partition("_attempt_")[0], run["attempt"]): run["state"] for run in runs},
        )

    def remove(self) -> list[str]:
        """Triggers first. What could not be removed, in words."""
        left = []
        for kind, name in reversed(self._made):
            try:
                if kind == "triggers":
                    self._patiently(lambda name=name: self._stop(name))  # type: ignore[misc]
                self._patiently(lambda kind=kind, name=name: self._client.delete(path(kind, name)))  # type: ignore[misc]
            except Failure as problem:
                left.append(f"{kind[:-1]} {name!r}: {problem.message}")
        return left

    def _stop(self, name: str) -> None:
        if self._client.get(path("triggers", name))["state"] == "RUNNING":
            self._client.post(path("triggers", name, "stop"))

    def _kill(self, command: str) -> None:
        self._tell(f"running {command!r}")
        done = subprocess.run(
            shlex.split(command), check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60
        )
        self.kills += 1
        if done.returncode:
            self._tell(f"it ended with {done.returncode}: {done.stderr.strip()[-500:]}")

    def _ended_runs(self) -> list[dict[str, Any]]:
        """All of them; those that have not ended within the patience are the checker's business."""
        deadline = clock.monotonic() + self._plan.patience_seconds
        while True:
            ahead, runs = self._patiently(self._still_firing), self._patiently(self._runs)
            live = sum(run["state"] in LIVE for run in runs)
            if (not live and not ahead) or clock.monotonic() > deadline:
                return runs
            self._tell(f"waiting for {live} run(s) to end, {ahead} trigger(s) to have fired")
            time.sleep(AGAIN_SECONDS)

    def _still_firing(self) -> int:
        triggers = [self._client.get(path("triggers", name)) for name in self._names]
        return sum(trigger["next_fire_at"] is not None for trigger in triggers)

    def _runs(self) -> list[dict[str, Any]]:
        return [run for name in self._names for run in self._client.items("/runs", job=name, namespace="api")]

    def _log(self, run: str) -> str:
        return "".join(_pages(self._client, run))

    def _skipped(self, name: str) -> list[tuple[Moment, Moment]]:
        fires = self._client.items(path("triggers", name, "fires"))
        return [(_moment(fire["first_at"]), _moment(fire["last_at"])) for fire in fires if fire["outcome"] == "SKIPPED"]

    def _now(self) -> Moment:
        """The server's clock; ours is nobody's business."""
        self._patiently(lambda: self._client.get("/me"))
        if self._client.server_time is None:
            raise Refused("the server does not tell its time: is there a proxy that drops the header `date`?")
        return from_datetime(self._client.server_time)

    def _patiently(self, ask: Callable[[], T]) -> T:
        """A server that is away is waited for: somebody may have killed it on purpose."""
        deadline = clock.monotonic() + self._plan.patience_seconds
        while True:
            try:
                return ask()
            except Lost as problem:
                if clock.monotonic() > deadline:
                    raise
                self._tell(f"{problem.message}; trying again")
                time.sleep(AGAIN_SECONDS)


def _pages(client: Client, run: str) -> Iterator[str]:
    offset, more = 0, True
    while more:
        page = client.get(path("runs", run, "log"), offset=offset)
        yield page["text"]
        more, offset = page["next_offset"] > offset, page["next_offset"]


def _failed(runs: list[dict[str, Any]]) -> dict[str, list[Moment]]:
    """What never began says why: its worker was lost before."""
    found: dict[str, list[Moment]] = {}
    for run in runs:
        if run["state"] == "FAILED" and run["message"]:
            found.setdefault(run["job"], []).append(_moment(run["fire_time"]))
    return found


def _moment(text: str) -> Moment:
    return from_datetime(datetime.fromisoformat(text))


def span_us(milliseconds: float) -> int:
    return seconds(milliseconds / 1000)
