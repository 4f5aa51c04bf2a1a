"""Triggers that are stopped, redefined and deleted while they fire: nothing after a stop, nothing lost before it."""

import random
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any, Final

import httpx

from tests.chaos.cluster import Cluster, cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools.one_host import define_job
from waterclock import clock
from waterclock.chaos.checker import History
from waterclock.chaos.oracle import Asked
from waterclock.domain.moment import SECOND, Moment

CLIENTS: Final = 6
TRIGGERS: Final = 4  # of each client
SECONDS: Final = 15.0
SCHEDULES: Final = {1: "* * * * * ?", 2: "0/2 * * * * ?"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Active:
    """One life of a trigger, from a start to a stop, both acknowledged."""

    every_seconds: int
    start: Asked
    stop: Asked

    def due(self) -> list[Moment]:
        """Active whoever asks: it must be in the ledger."""
        return self._grid(self.start.answered_at, self.stop.sent_at)

    def perhaps(self) -> list[Moment]:
        return self._grid(self.start.sent_at, self.stop.answered_at)

    def _grid(self, first: Moment, last: Moment) -> list[Moment]:
        step = self.every_seconds * SECOND
        return list(range(first + (-first) % step, last + 1, step))


@dataclass(slots=True)
class Subject:
    """A trigger, its job, and what its client did to it."""

    name: str
    job: str
    every_seconds: int = 1
    lives: list[Active] = field(default_factory=list)
    done: Counter[str] = field(default_factory=Counter)


@scenario(21, "triggers changed while they fire", stores=("postgres", "mariadb", "sqlite"), short=True)
def run(world: World) -> Result:
    with cluster(world, schedulers=2, workers=1) as made:
        api = made.api
        for number, place in product(range(CLIENTS), range(TRIGGERS)):
            define_job(made, api, f"work-{number}-{place}")
        until = time.monotonic() + SECONDS
        with ThreadPoolExecutor(max_workers=CLIENTS) as pool:
            clients = [pool.submit(_client, made, number, until) for number in range(CLIENTS)]
            subjects = [subject for each in clients for subject in each.result()]
        made.quiet()
        ledger = made.ask("SELECT trigger_name, outcome, reason, first_at, last_at, instants, created_at FROM fires")
        for subject in subjects:
            _check(subject, [row for row in ledger if row["trigger_name"] == subject.name])
        done: Counter[str] = sum((subject.done for subject in subjects), Counter())
        told = ", ".join(f"{name} {count}" for name, count in sorted(done.items()))
        cut = sum(row["outcome"] == "SKIPPED" and "before it fired" in (row["reason"] or "") for row in ledger)
        history = _history(made)
        stopped = len(made.unbegun(history))
        result = made.result(history)
        notes = {"changes": told, "cut off by a stop": str(cut), "stopped before they began": str(stopped)}
        return replace(result, notes=notes)


def _client(made: Cluster, number: int, until: float) -> list[Subject]:
    """Each trigger in turn is set going and, soon after a whole second, stopped and changed."""
    chance = random.Random(number)
    subjects = [Subject(f"{number}/{place}", f"work-{number}-{place}") for place in range(TRIGGERS)]
    with ThreadPoolExecutor(max_workers=TRIGGERS) as pool:
        for each in [pool.submit(_live, made, subject, chance.random(), until) for subject in subjects]:
            each.result()
    return subjects


def _live(made: Cluster, subject: Subject, seed: float, until: float) -> None:
    chance = random.Random(seed)
    headers = {"authorization": f"Bearer {made.token}"}
    base = f"{made.address}/api/v1/triggers"
    with httpx.Client(headers=headers, timeout=20, trust_env=False) as client:
        exists = False
        while time.monotonic() < until:
            start = _set_going(client, base, subject, exists)
            _rest(chance)
            for method in chance.sample(("PUT", "DELETE"), chance.randint(0, 2)):
                _must_be_refused(client, method, base, subject)
            stop = _asked(client, "POST", f"{_path(base, subject)}/stop", {})
            subject.lives.append(Active(every_seconds=subject.every_seconds, start=start, stop=stop))
            subject.done["stopped"] += 1
            exists = _changed(client, base, subject, chance)


def _set_going(client: httpx.Client, base: str, subject: Subject, exists: bool) -> Asked:
    if exists:
        return _asked(client, "POST", f"{_path(base, subject)}/start", {})
    return _asked(client, "POST", base, {"name": subject.name, "start": True, **_definition(subject)}, status=201)


def _changed(client: httpx.Client, base: str, subject: Subject, chance: random.Random) -> bool:
    """Deleted, redefined, or left as it is; whether it still exists."""
    what = chance.choice(("deleted", "redefined", "left"))
    subject.done[what] += 1
    if what != "left":
        subject.every_seconds = chance.choice(tuple(SCHEDULES))
    if what == "deleted":
        _asked(client, "DELETE", _path(base, subject))
    elif what == "redefined":
        _asked(client, "PUT", _path(base, subject), _definition(subject))
    return what != "deleted"


def _must_be_refused(client: httpx.Client, method: str, base: str, subject: Subject) -> None:
    """While it is RUNNING, says the guarded rule."""
    body = {"json": _definition(subject)} if method == "PUT" else {}
    answer = client.request(method, _path(base, subject), **body)  # type: ignore[arg-type]
    assert answer.status_code == 409, f"{method} of a running trigger: {answer.status_code} {answer.text}"
    assert "stop it first" in answer.text, answer.text
    subject.done["refused"] += 1


def _asked(client: httpx.Client, method: str, url: str, body: Any = None, status: int = 200) -> Asked:
    sent_at = clock.wall_us()
    answer = client.request(method, url, **({} if body is None else {"json": body}))
    answered_at = clock.wall_us()
    assert answer.status_code == status, f"{method} {url}: {answer.status_code} {answer.text}"
    return Asked(sent_at=sent_at, answered_at=answered_at)


def _path(base: str, subject: Subject) -> str:
    return f"{base}/{subject.name.replace('/', '%2F')}"


def _definition(subject: Subject) -> dict[str, Any]:
    return {"schedule": SCHEDULES[subject.every_seconds], "actions": [{"job": subject.job}]}


def _rest(chance: random.Random) -> None:
    """Until a moment at which it fires: a second or two from now, and then some milliseconds."""
    now = clock.wall_us()
    wake = (now // SECOND + chance.choice((1, 2))) * SECOND + chance.randint(-5_000, 40_000)
    time.sleep(max(0, wake - now) / SECOND)


def _check(subject: Subject, ledger: list[dict[str, Any]]) -> None:
    """Every instant of each life is there once, and nothing was fired between the lives."""
    covered = Counter(at for row in ledger for at in _instants(row))
    twice = [at for at, count in covered.items() if count > 1]
    assert not twice, f"{subject.name}: in the ledger twice: {twice}"
    lost = [at for life in subject.lives for at in life.due() if at not in covered]
    assert not lost, f"{subject.name}: neither run nor skipped: {lost} in {subject.lives}"
    allowed = {at for life in subject.lives for at in life.perhaps()}
    late = sorted(covered.keys() - allowed)
    assert not late, f"{subject.name}: fired outside its lives: {late}"
    for row in ledger:
        held = any(life.start.sent_at <= row["created_at"] <= life.stop.answered_at for life in subject.lives)
        assert held, f"{subject.name}: recorded after an acknowledged stop: {row}"


def _instants(row: dict[str, Any]) -> Iterable[Moment]:
    step = (row["last_at"] - row["first_at"]) // (row["instants"] - 1) if row["instants"] > 1 else SECOND
    return range(row["first_at"], row["last_at"] + 1, step)


def _history(made: Cluster) -> History:
    """By job: programs know nothing of triggers. What a stop caught before it began is accounted for."""
    runs = made.ask("SELECT job_name, run_at, state FROM runs")
    asked: dict[str, list[Moment]] = {}
    stopped: dict[str, list[Moment]] = {}
    for row in runs:
        asked.setdefault(row["job_name"], []).append(row["run_at"])
        if row["state"] == "STOPPED":
            stopped.setdefault(row["job_name"], []).append(row["run_at"])
    return made.history(due=asked, failed=stopped, skipped={})
