"""A cluster under test: each role in processes of its own on one store, its jobs, and what became of them."""

import asyncio
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any, Final

import boto3
import httpx
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from tests.acceptance.server import DEADLINE_SECONDS, free_port, until
from tests.chaos.process import KEYS, Process, kill_all, processes
from tests.chaos.scenario import Result, World
from tests.chaos.seen import Seen, carried_run
from waterclock import clock
from waterclock.chaos.checker import Answer, History, check
from waterclock.chaos.evidence import program
from waterclock.chaos.oracle import Asked, Planned, expression
from waterclock.domain.moment import SECOND, Moment, to_datetime
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops.triggers import stop_trigger

SETTINGS: Final = {"lease_seconds": 3, "lease_margin_seconds": 0.5, "heartbeat_seconds": 0.7, "stop_grace_seconds": 0.5}
TTL_SECONDS: Final = 3.0
WORKER_GONE: Final = ("worker lost", "lease", "the process that watched over it died")  # why a run failed
AT_ONCE: Final = 1000  # runs of one job: the cap is not what is tried here
SETTLED_US: Final = SECOND  # a trigger whose next instant is not older than this has caught up


class Cluster(Seen):
    """Made by `cluster()`; everything in it is dead and gone when that ends."""

    def __init__(self, world: World, **settings: object) -> None:
        super().__init__(world.url, world.folder / "evidence")
        self.world = world
        self.planned: dict[str, Planned] = {}
        self.calls: dict[str, Answer] = {}
        self.apis: list[Process] = []
        self.schedulers: list[Process] = []
        self.workers: list[Process] = []
        self._settings = {**SETTINGS, "db": world.url, **settings}
        self._scripts = world.folder / "scripts"
        self._scripts.mkdir()
        self._clients = ExitStack()

    # The processes

    def add(self, role: str, **settings: object) -> Process:
        """One more of a role, not yet started."""
        group = {"api": self.apis, "scheduler": self.schedulers, "worker": self.workers}[role]
        folder = self.world.folder / f"{role}-{len(group)}"
        own = {"port": free_port()} if role == "api" else {}
        keys = self.apis[0].folder / KEYS if self.apis else None
        process = Process(role, folder, {**self._settings, **own, **settings}, keys=keys)
        group.append(process)
        return process

    @property
    def all(self) -> list[Process]:
        return [*self.apis, *self.schedulers, *self.workers]

    def one_of(self, group: list[Process]) -> Process:
        """A random one that lives."""
        return random.choice([each for each in group if each.alive])

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.apis[0].settings['port']}"

    @property
    def token(self) -> str:
        return (self.apis[0].folder / "token").read_text().strip()

    @cached_property
    def api(self) -> httpx.Client:
        """Of /api/v1, as the admin."""
        headers = {"authorization": f"Bearer {self.token}"}
        return self._clients.enter_context(
            httpx.Client(base_url=f"{self.address}/api/v1", headers=headers, timeout=20, trust_env=False)
        )

    @cached_property
    def _glue(self) -> Any:
        return self.glue()

    def glue(self, *, retries: int = 5, api: int = 0, address: str = "") -> Any:
        lines = (self.apis[0].folder / "credentials").read_text().splitlines()
        keys = dict(line.split(" = ") for line in lines if " = " in line)
        config = Config(retries={"total_max_attempts": retries, "mode": "standard"}, read_timeout=20, proxies={})
        address = address or f"http://127.0.0.1:{self.apis[api].settings['port']}"
        return boto3.Session(**keys, region_name="us-east-1").client("glue", endpoint_url=address, config=config)

    def cli(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [sys.executable, "-m", "waterclock", *arguments],
            env={**self.apis[0].environment, "WATERCLOCK_SERVER": self.address},
            capture_output=True,
            text=True,
            timeout=DEADLINE_SECONDS,
            check=False,
        )

    # What it is to run

    def job(self, work: str, body: str = "", retries: int = 0, **job: Any) -> None:
        """A program that leaves its marks; more is said as CreateJob says it."""
        script = self._scripts / f"{work}.py"
        script.write_text(program(work, self.evidence, body))
        command = {"Name": "pythonshell", "ScriptLocation": f"file://{script}"}
        defaults = {"MaxRetries": retries, "ExecutionProperty": {"MaxConcurrentRuns": AT_ONCE}}
        self._glue.create_job(Name=work, Role="r", Command=command, **{**defaults, **job})

    def every(self, work: str, seconds: int, body: str = "", retries: int = 0, *, offset: int = 0, **job: Any) -> None:
        """A job that a trigger fires every so many seconds of each minute."""
        self.job(work, body, retries, **job)
        made = self._trigger(work, expression(seconds, offset))
        self.planned[work] = Planned(every_seconds=seconds, offset_us=offset * SECOND, made=made)

    def once(self, work: str, at: Moment, body: str = "", retries: int = 0, **job: Any) -> None:
        """A job that a trigger fires once, at a whole second."""
        assert at % SECOND == 0, "a whole second"
        self.job(work, body, retries, **job)
        made = self._trigger(work, f"at({to_datetime(at):%Y-%m-%dT%H:%M:%S})")
        self.planned[work] = Planned(every_seconds=0, offset_us=at, made=made)

    def _trigger(self, work: str, schedule: str) -> Asked:
        sent_at = clock.wall_us()
        self._glue.create_trigger(
            Name=work, Type="SCHEDULED", Schedule=schedule, StartOnCreation=True, Actions=[{"JobName": work}]
        )
        return Asked(sent_at=sent_at, answered_at=clock.wall_us())

    def call(self, work: str, job: str = "", *, retries: int = 5, body: str = "", glue: Any = None) -> str:
        """StartJobRun of a job of its own, or of one that is there already; the run's id, or "" where none came."""
        if not job:
            self.job(work, body)
        try:
            answer = (glue or self.glue(retries=retries)).start_job_run(JobName=job or work, Arguments={"--work": work})
        except ClientError as refused:
            status = refused.response["ResponseMetadata"]["HTTPStatusCode"]
            self.calls[work] = Answer.UNKNOWN if status >= 500 else Answer.REFUSED
            return ""
        except BotoCoreError:
            self.calls[work] = Answer.UNKNOWN
            return ""
        self.calls[work] = Answer.ACKNOWLEDGED
        self.called[answer["JobRunId"]] = work
        return str(answer["JobRunId"])

    # Its end

    def stop_triggers(self) -> None:
        """Once all have caught up with what is due; runs go on."""
        until(self._has_caught_up, "the triggers do not catch up", pause=0.1)
        going = [work for work, plan in self.planned.items() if plan.every_seconds and not plan.stopped]
        sent_at = clock.wall_us()
        asyncio.run(self._stop(going))
        asked = Asked(sent_at=sent_at - 2 * SETTLED_US, answered_at=clock.wall_us())  # a late one may be cut off
        for work in going:
            plan = self.planned[work]
            self.planned[work] = Planned(
                every_seconds=plan.every_seconds, offset_us=plan.offset_us, made=plan.made, stopped=asked
            )

    def quiet(self, seconds: float = DEADLINE_SECONDS) -> None:
        """Nothing is live any more: every attempt has its end, and no process carries a run."""
        until(lambda: not self.live(), "a run has not ended", seconds, pause=0.2)
        until(lambda: not self.carried(), "a process of a run lives", seconds, pause=0.1)

    def history(self, *, bound_us: int = 2 * SECOND, worker_losses: bool = True, **more: Any) -> History:
        """What is known now. Without `worker_losses` a run that failed before it began is a lost one."""
        read_at = clock.wall_us()
        facts: dict[str, Any] = {
            "marks": self.marks(),
            "read_at": read_at,
            "bound_us": bound_us,
            "due": {work: frozenset(plan.due(read_at)) for work, plan in self.planned.items()},
            "perhaps": {work: frozenset(plan.perhaps(read_at)) for work, plan in self.planned.items()},
            "skipped": self.skipped(),
            "failed": self.failed() if worker_losses else {},
            "calls": self.calls,
            "stored": self.stored(),
            "alive": self.carried(),
        }
        return History(**{**facts, **more})

    def result(self, history: History | None = None, **notes: object) -> Result:
        known = history or self.history()
        findings = check(known)
        unbegun = len(self.unbegun(known))
        said = {name.replace("_", " "): str(note) for name, note in notes.items()}
        return Result(
            fires=len({(mark.work, mark.fire_at) for mark in known.starts}),
            runs=len({mark.of for mark in known.starts}),
            findings=findings,
            late_us=findings.late_us,
            notes={**said, **({"lost before they began": str(unbegun)} if unbegun else {})},
        )

    def _has_caught_up(self) -> bool:
        oldest = self.ask("SELECT MIN(next_fire_at) AS at FROM triggers WHERE state = 'RUNNING'")[0]["at"]
        return oldest is None or oldest > clock.wall_us() - SETTLED_US

    async def _stop(self, works: list[str]) -> None:
        database = database_from_url(self.url)
        await database.open()
        try:
            for work in works:
                await database.write(
                    stop_trigger, org_id=1, namespace="glue", name=work, allow=lambda _: None, stop_runs=False
                )
        finally:
            await database.close()

    def clean_up(self) -> None:
        runs = {mark.run for mark in self.marks()}
        for process in reversed(self.all):
            process.clean_up()
        kill_all([pid for pid in processes() if carried_run(pid).partition("_attempt_")[0] in runs])
        self._clients.close()


@contextmanager
def cluster(
    world: World, apis: int = 1, schedulers: int = 3, workers: int = 2, **settings: object
) -> Iterator[Cluster]:
    """The first API makes the store, the admin and the key file; the others are given that file and start at once."""
    made = Cluster(world, **settings)
    try:
        made.add("api").start()
        wanted = {"api": apis - 1, "scheduler": schedulers, "worker": workers}
        rest = [made.add(role) for role, count in wanted.items() for _ in range(count)]
        for process in rest:
            process.start(wait=False)
        for process in rest:
            process.await_ready()
        yield made
    finally:
        made.clean_up()
