"""Workers of one host whose runner is the test itself: it sees what programs are given, and ends them."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from waterclock.domain.chain import Folder
from waterclock.domain.claim import Claimant
from waterclock.domain.errors import Unavailable
from waterclock.domain.run import Attempt
from waterclock.engine.attempt import Attempts
from waterclock.engine.dispatcher import Dispatcher
from waterclock.engine.work import StoreWork
from waterclock.runners.base import Begun, End, Ended, Event, Program
from waterclock.runners.chain_program import ChainPrograms
from waterclock.runners.folders import LocalRoot
from waterclock.runners.lake.placing import LakePrograms
from waterclock.runners.outbox import Outbox
from waterclock.runners.preparing import Preparer
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets, SecretsOfRuns
from waterclock.stores.base import Database
from waterclock.stores.ops import bookmarks, jobs, reading, starting
from waterclock.stores.ops.messages import list_messages

PLACE: dict[str, Any] = {"org_id": 1, "namespace": "glue"}


class ByHand:
    """A runner whose programs do what the test does; it outlives its worker, as a supervisor does."""

    def __init__(self) -> None:
        self.programs: dict[int, Program] = {}
        self.loses_answers = False
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    async def start(self, programs: Sequence[Program]) -> None:
        for program in programs:
            self.programs[program.attempt_id] = program
        if self.loses_answers:
            raise Unavailable("the supervisor does not answer")

    async def events(self) -> AsyncIterator[Sequence[Event]]:
        while True:
            yield [await self._events.get()]

    async def stop(self, attempt_ids: Sequence[int]) -> None: ...

    async def held(self) -> Sequence[Begun]:
        return [self._begun(program) for program in self.programs.values()]

    async def forget(self, attempt_ids: Sequence[int]) -> None:
        for attempt_id in attempt_ids:
            self.programs.pop(attempt_id, None)

    def end(self, program: Program, exit_code: int = 0) -> None:
        self._events.put_nowait(self._begun(program))
        self._events.put_nowait(
            Ended(attempt_id=program.attempt_id, fence=program.fence, end=End.EXITED, exit_code=exit_code)
        )

    @staticmethod
    def _begun(program: Program) -> Begun:
        return Begun(attempt_id=program.attempt_id, fence=program.fence, pid=7, pid_started_at=7)


class Worker:
    """One life of a worker on its host; another one takes over where it ends."""

    def __init__(
        self,
        database: Database,
        folder: Path,
        runner: ByHand,
        name: str = "one",
        secrets: Any = None,
        memory_mb: int = 0,
        ships: bool = False,
    ) -> None:
        self.database = database
        self.folder = folder
        self.runner = runner
        self.secrets = Secrets(database, SecretBox(folder / "secret.keys"))
        self._work = StoreWork(database)
        self.outbox = Outbox(folder / "outbox")
        claimant = Claimant(node=f"node-{name}", host="host")
        preparer = Preparer(
            scripts=Scripts(owners_root=folder / "scripts"),
            secrets=secrets or SecretsOfRuns(self.secrets),
            venvs=Venvs(folder / "venvs"),
            workspaces=Workspaces(work_root=folder / "work", log_root=folder / "logs"),
            interpreters={},
            outbox=self.outbox if ships else None,
            chains=ChainPrograms(
                roots={each: LocalRoot(path=folder / each, setting=f"chains.{each}") for each in Folder}
            ),
            lake=LakePrograms(cache=folder / "lake-cache", home=folder / "lake"),
            locks=self._work,
        )
        runners = {"": runner}
        self.attempts = Attempts(
            self._work, claimant, preparer, runners, ttl_seconds=30, freed=lambda: None, ships_logs=ships
        )
        self.dispatcher = Dispatcher(
            self._work,
            self.attempts,
            claimant,
            queues=("default",),
            slots=9,
            callables=False,
            ttl_seconds=30,
            memory_mb=memory_mb,
        )

    async def start(self, **arguments: str) -> Program:
        """Of the job, once: what the runner was handed."""
        await self.ask(**arguments)
        await self.dispatcher.tick()
        return await self.started()

    async def ask(self, **arguments: str) -> str:
        given = {f"--{key.replace('_', '-')}": value for key, value in arguments.items()}
        request = starting.RunRequest(job_name="job", arguments=given)
        (run,) = await self.database.write(starting.start_runs, **PLACE, requested_by="ann", requests=[request])
        return run.wire_id

    async def started(self) -> Program:
        async with asyncio.timeout(20):
            while not self.runner.programs:
                await asyncio.sleep(0)
        return list(self.runner.programs.values())[-1]

    async def end(self, program: Program, exit_code: int = 0) -> Attempt:
        self.runner.end(program, exit_code)
        return await self.ended(program.env["WATERCLOCK_RUN_ID"])

    async def ended(self, wire_id: str) -> Attempt:
        async with asyncio.timeout(20):
            while True:
                found = await self.database.read(reading.get_attempt, org_id=1, wire_id=wire_id)
                if found is not None and found.ended:
                    return found
                await self.attempts.recorder.tick()
                await asyncio.sleep(0)

    async def bookmark(self) -> str | None:
        job = await self.database.read(jobs.get_job, **PLACE, name="job")
        assert job is not None
        found = await self.database.read(bookmarks.get_bookmark, job_id=job.id)
        return found.content if found else None

    async def messages(self) -> list[str]:
        return [each.body for each in await self.database.read(list_messages, org_id=1, before=2**62, limit=10)]
