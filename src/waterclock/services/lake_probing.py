"""A source is asked where it will be read: by a run on a worker, which is waited for; its progress is the answer."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from waterclock import clock
from waterclock.domain.access import Caller
from waterclock.domain.errors import AlreadyExists, CannotRun
from waterclock.domain.lake_probe import NAMESPACE, Probe, probe_arguments
from waterclock.domain.lake_sync import PROBE, LakeSource
from waterclock.domain.run import UNBEGUN, Attempt, RunState
from waterclock.services.live_workers import ALIVE_SECONDS
from waterclock.services.runs import Runs
from waterclock.stores.base import Database, Topic
from waterclock.stores.ops import lake_probes as ops
from waterclock.stores.ops.starting import RunRequest

PATIENCE_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 1.0  # between two looks at most: a wake-up is a hint
REST_SECONDS: Final = 0.05  # between two looks at least, whatever else ends


class Probing:
    def __init__(self, database: Database, runs: Runs, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._database = database
        self._runs = runs
        self._patience_seconds = patience_seconds

    async def answer(self, caller: Caller, source: LakeSource, probe: Probe) -> Mapping[str, object]:
        """`CannotRun` with the reason where there is none."""
        await self._check_workers(caller.org_id)
        await self._make_job(caller.org_id)
        request = RunRequest(job_name=PROBE, arguments=probe_arguments(probe, source))
        wire_id = await self._runs.start_one(caller, NAMESPACE, request)
        attempt = await self._end_of(caller, wire_id)
        if not attempt.ended:
            await self._runs.stop(caller, [wire_id])
            raise CannotRun(_silence(source, attempt, self._patience_seconds))
        if attempt.state is not RunState.SUCCEEDED:
            raise CannotRun(_reason(source, attempt))
        return await self._database.read(ops.answer_of, run_id=attempt.run_id)

    async def _check_workers(self, org_id: int) -> None:
        if why := await self._database.read(ops.why_nobody_would, org_id=org_id, within_seconds=ALIVE_SECONDS):
            raise CannotRun(f"a source is read by a worker, and {why}: start one (waterclock worker)")

    async def _make_job(self, org_id: int) -> None:
        if not await self._database.read(ops.is_there, org_id=org_id):
            try:
                await self._database.write(ops.make, org_id=org_id)
            except AlreadyExists:
                return  # by another call, just now

    async def _end_of(self, caller: Caller, wire_id: str) -> Attempt:
        """As it is when it has ended, or when nobody waits any longer."""
        heard, until = asyncio.Event(), clock.monotonic() + self._patience_seconds
        stop_listening = self._database.listen(Topic.ENDS, heard.set)
        try:
            found = await self._runs.get(caller, wire_id)
            while not found.ended and (left := until - clock.monotonic()) > 0:
                await _rest(heard, left)
                found = await self._runs.get(caller, wire_id)
        finally:
            stop_listening()
        return found


async def _rest(heard: asyncio.Event, left: float) -> None:
    """Until some run has ended, but not for long."""
    with suppress(TimeoutError):
        await asyncio.wait_for(heard.wait(), min(left, LOOK_SECONDS))
    await asyncio.sleep(min(left, REST_SECONDS))
    heard.clear()


def _reason(source: LakeSource, attempt: Attempt) -> str:
    """What the source said; how its program left tells nobody anything."""
    said = (attempt.message or "").removesuffix(f" (exit code {attempt.exit_code})")
    return said or f"lake source {source.name!r} was not read: the probe is {attempt.state}"


def _silence(source: LakeSource, attempt: Attempt, seconds: float) -> str:
    waited = f"lake source {source.name!r} has not answered within {seconds:g} s"
    if attempt.state in UNBEGUN:
        return f"{waited}: no worker has taken the probe ({attempt.wait_reason or 'all are busy'})"
    return f"{waited}: look at its host, its port and the firewalls between them and the worker"
