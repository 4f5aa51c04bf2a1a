"""A worker and a scheduler in this process, whose duties the tests tick themselves."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from waterclock.domain.access import Role
from waterclock.domain.claim import Claimant
from waterclock.domain.job import CALLABLE, JobSpec
from waterclock.domain.run import Attempt, RunState
from waterclock.domain.schedule import parse_schedule, to_json
from waterclock.domain.trigger import Action, Target, Trigger, TriggerSpec, TriggerType
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.rescuer import Rescuer
from waterclock.engine.stopper import Stopper
from waterclock.engine.ticker import Ticker
from waterclock.engine.work import StoreWork
from waterclock.runners.callables import CallableRunner
from waterclock.runners.preparing import Preparer
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets, SecretsOfRuns
from waterclock.stores.base import Database
from waterclock.stores.opening import database_from_url
from waterclock.stores.ops import access, reading, starting
from waterclock.stores.ops.jobs import create_job
from waterclock.stores.ops.triggers import create_trigger

TTL_SECONDS = 30.0


class Host:
    """One node on one store; `functions` are what its callable jobs may run."""

    def __init__(self, database: Database, folder: Path, name: str = "one") -> None:
        self.database = database
        self.functions: dict[str, Callable[..., object]] = {}
        self.runner = CallableRunner(self.functions)
        self.work = StoreWork(database)
        claimant = Claimant(node=f"node-{name}", host=f"host-{name}")
        preparer = Preparer(
            scripts=Scripts(owners_root=folder / "scripts"),
            secrets=SecretsOfRuns(Secrets(database, SecretBox(folder / "secret.keys"))),
            venvs=Venvs(folder / "venvs"),
            workspaces=Workspaces(work_root=folder / "work", log_root=folder / "logs"),
            interpreters={},
            callables=frozenset({"good", "bad", "endless"}),
        )
        self.attempts = Attempts(
            self.work,
            claimant,
            preparer,
            {"": self.runner, CALLABLE: self.runner},
            ttl_seconds=TTL_SECONDS,
            freed=lambda: None,
        )
        self.ticker = Ticker(database, {})
        self.rescuer = Rescuer(database, margin_seconds=1, every_seconds=1)
        self.stopper = Stopper(self.work, self.attempts, claimant.node)
        self.dispatcher = Dispatcher(
            self.work,
            self.attempts,
            claimant,
            queues=("default",),
            slots=100,
            callables=True,
            ttl_seconds=TTL_SECONDS,
        )

    async def job(self, name: str, function: str, **settings: object) -> None:
        spec = JobSpec(kind=CALLABLE, script=function, **settings)  # type: ignore[arg-type]
        await self.database.write(
            create_job, org_id=1, namespace="glue", name=name, owner="ann", spec=spec, definition={}, tags={}
        )

    async def trigger(self, name: str, schedule: str, *jobs: str) -> Trigger:
        spec = TriggerSpec(
            type=TriggerType.SCHEDULED,
            actions=tuple(Action(target=Target.JOB, name=job) for job in jobs),
            expression=schedule,
            schedule=to_json(parse_schedule(schedule)),
        )
        return await self.database.write(
            create_trigger,
            org_id=1,
            namespace="glue",
            name=name,
            owner="ann",
            spec=spec,
            definition={},
            tags={},
            start=True,
        )

    async def start(self, job: str) -> str:
        request = starting.RunRequest(job_name=job)
        (run,) = await self.database.write(
            starting.start_runs, org_id=1, namespace="glue", requested_by="ann", requests=[request]
        )
        return run.wire_id

    async def attempt(self, wire_id: str) -> Attempt:
        found = await self.database.read(reading.get_attempt, org_id=1, wire_id=wire_id)
        assert found is not None
        return found

    async def attempts_listed(self) -> list[Attempt]:
        return await self.database.read(
            reading.list_attempts,
            org_id=1,
            namespaces=["glue"],
            states=list(RunState),
            before=reading.FROM_THE_NEWEST,
            limit=1000,
        )

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Tick the recorder until it holds: ends arrive from tasks of their own."""
        async with asyncio.timeout(20):
            while not await condition():
                await self.attempts.recorder.tick()
                await asyncio.sleep(0)

    async def ended(self, wire_id: str) -> Attempt:
        async def is_over() -> bool:
            return (await self.attempt(wire_id)).ended

        await self.until(is_over)
        return await self.attempt(wire_id)


@pytest.fixture
async def database(store_url: str) -> AsyncIterator[Database]:
    database = database_from_url(store_url)
    await database.open()
    await database.migrate()
    organisation = await database.write(access.create_organisation, account="123456789012", name="test")
    await database.write(access.create_user, org_id=organisation.id, name="ann", role=Role.AUTHOR)
    yield database
    await database.close()


@pytest.fixture
async def host(database: Database, tmp_path: Path) -> AsyncIterator[Host]:
    host = Host(database, tmp_path)
    await host.attempts.open()
    yield host
    await host.attempts.close()
