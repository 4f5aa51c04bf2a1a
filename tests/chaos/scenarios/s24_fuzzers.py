"""Requests by the thousand that chance puts together, against a real server: no 5xx, nothing that hangs."""

import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from botocore.credentials import Credentials
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from tests.acceptance.server import until
from tests.chaos.cluster import Cluster
from tests.chaos.scenario import Result, World, scenario
from tests.chaos.tools import requests_at_random as at_random
from tests.chaos.tools.one_host import one_host
from tests.chaos.tools.raw_http import Wire
from tests.chaos.tools.requests_at_random import Door
from waterclock.chaos.checker import Answer

SECONDS: Final = 10.0  # of each fuzzer
ROUND: Final = 100  # examples
HANGS_SECONDS: Final = 1.0
WORDS: Final = "print('é🚀\\n' * 200, end='')\nos.write(1, b'\\xff\\xc3(')"


@dataclass(slots=True)
class Fuzzer:
    """Asks with what one strategy draws, and remembers what was answered."""

    name: str
    wire: Wire
    statuses: Counter[int] = field(default_factory=Counter)
    slowest_seconds: float = 0.0

    def ask(self, sent: bytes) -> None:
        answer = self.wire.ask(sent)
        if answer.seconds > HANGS_SECONDS:  # once may be the machine's fault
            answer = self.wire.ask(sent)
        self.statuses[answer.status] += 1
        self.slowest_seconds = max(self.slowest_seconds, answer.seconds)
        assert 0 < answer.status < 500, f"{answer.status} {answer.body[:300]!r}"
        assert answer.seconds <= HANGS_SECONDS, f"answered after {answer.seconds:.1f} s"

    def run(self, requests: st.SearchStrategy[bytes]) -> None:
        """Rounds until the time is over; what fails is shrunk by Hypothesis and told."""
        until_ = time.monotonic() + SECONDS
        while time.monotonic() < until_:
            number = random.randrange(2**32)
            try:
                self._round(requests, number, until_)
            except AssertionError as found:
                notes = "\n".join(getattr(found, "__notes__", ()))
                raise AssertionError(f"{self.name} (seed {number}): {found}\n{notes}") from None
        self.wire.close()

    def _round(self, requests: st.SearchStrategy[bytes], number: int, until_: float) -> None:
        over: Callable[[], bool] = lambda: time.monotonic() > until_  # noqa: E731
        failed = False

        @seed(number)
        @settings(
            max_examples=ROUND,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
            print_blob=False,
        )
        @given(sent=requests)
        def one(sent: bytes) -> None:
            nonlocal failed
            if over() and not failed:
                return
            try:
                self.ask(sent)
            except AssertionError:
                failed = True
                raise

        one()

    def __str__(self) -> str:
        done = sum(count for status, count in self.statuses.items() if status < 300)
        return f"{self.name} {self.statuses.total()} ({done} done), slowest {self.slowest_seconds * 1000:.0f} ms"


@scenario(24, "fuzzers", stores=("postgres", "mariadb", "sqlite"))
def run(world: World) -> Result:
    with one_host(world, schedulers=0) as made:
        door, run_id = _furnished(made)
        made.workers[0].stop()  # nothing that is asked for here shall ever run
        strategies = {
            "schedules": at_random.schedules(door),
            "signatures": at_random.signatures(door),
            "log offsets": at_random.offsets(door, run_id),
            "bodies of /api/v1": at_random.bodies(door),
            "Glue actions": at_random.actions(door),
        }
        fuzzers = [Fuzzer(name, Wire(door.port)) for name in strategies]
        for fuzzer in fuzzers:
            fuzzer.run(strategies[fuzzer.name])
        made.api.get("/jobs").raise_for_status()
        history = made.history(stored={}, failed={}, calls={"talkative": Answer.ACKNOWLEDGED})
        return made.result(history, requests="; ".join(map(str, fuzzers)))


def _furnished(made: Cluster) -> tuple[Door, str]:
    """One job, one trigger, and one run that has ended and left a log."""
    made.job("talkative", WORDS)
    glue = made.glue()
    run_id = str(glue.start_job_run(JobName="talkative")["JobRunId"])
    glue.create_trigger(Name="ticks", Type="SCHEDULED", Schedule="* * * * * ?", Actions=[{"JobName": "talkative"}])
    until(lambda: _state(glue, run_id) == "SUCCEEDED", "the run does not end")
    made.api.post("/users", json={"name": "ann", "role": "author"}).raise_for_status()
    lines = (made.apis[0].folder / "credentials").read_text().splitlines()
    keys = dict(line.split(" = ") for line in lines if " = " in line)
    key = Credentials(keys["aws_access_key_id"], keys["aws_secret_access_key"])
    door = Door(
        port=int(str(made.apis[0].settings["port"])),
        token=made.token,
        key=key,
        names=("talkative", "ticks", run_id, "ann"),
        worker_token=_worker_token(made),
    )
    return door, run_id


def _worker_token(made: Cluster) -> str:
    api = made.api
    api.post("/users", json={"name": "far", "role": "worker"}).raise_for_status()
    return str(api.post("/users/far/tokens", json={"name": "t"}).raise_for_status().json()["token"])


def _state(glue: object, run_id: str) -> str:
    return str(glue.get_job_run(JobName="talkative", RunId=run_id)["JobRun"]["JobRunState"])  # type: ignore[attr-defined]
