"""Lake runs for workers of others: a run is offered, reported of while it lasts, and ended with the last report.

A user of the role worker is one worker; it joins with its first question. What it does not know of (node, fence, lease)
is kept for it: `stores.ops.lake_offers`.
"""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, TypeVar

import waterclock
from waterclock import clock
from waterclock.domain.access import Caller, Right, Role
from waterclock.domain.errors import AlreadyExists
from waterclock.domain.lake import LakeJob, LakeRun, Listed
from waterclock.domain.lake_work import QUEUE, Heard, Told
from waterclock.domain.run import Attempt
from waterclock.domain.trigger import FireRules
from waterclock.services.bell import Bell
from waterclock.stores.base import Database
from waterclock.stores.ops import lake_offers
from waterclock.stores.ops.lake_reading import get_lake_job
from waterclock.stores.ops.lake_reports import hear
from waterclock.stores.ops.nodes import WORKER, Node

LONGEST_WAIT_SECONDS: Final = 30.0
LOOK_SECONDS: Final = 1.0  # between two looks at most: what becomes due by itself rings no bell
REST_SECONDS: Final = 0.05  # between two looks at least, however often it rings
BEAT_SECONDS: Final = 10.0  # between two signs of life of one that waits

T = TypeVar("T")
IsGone = Callable[[], Awaitable[bool]]

_WORKERS: Final = uuid.UUID("0b8f6ac5-54a5-4f4f-8a07-6c2d1b0d7c3e")


@dataclass(frozen=True, slots=True, kw_only=True)
class Offered:
    """A run, and the job that it is of."""

    attempt: Attempt
    job: LakeJob


class LakeWork:
    def __init__(self, database: Database, rules: Mapping[str, FireRules], *, lease_seconds: float) -> None:
        self._database = database
        self._rules = rules
        self._lease_seconds = lease_seconds
        self._bell = Bell(database)

    async def next(
        self, caller: Caller, *, seconds: float, stopping: asyncio.Event | None, is_gone: IsGone | None = None
    ) -> Offered | None:
        """At the latest after `seconds`; None: there is nothing to do. What nothing was said of is offered again.

        `is_gone` tells whether the one who asked still waits: to one who does not, nothing is offered.
        """
        node = _node(caller)
        until = clock.monotonic() + min(seconds, LONGEST_WAIT_SECONDS)
        mark = (await self._bell.wait("", 0, None)).mark
        found, beaten_at = await self._offer(node), clock.monotonic()
        while found is None and (left := until - clock.monotonic()) > 0 and not (stopping and stopping.is_set()):
            mark = (await self._bell.wait(mark, min(left, LOOK_SECONDS), stopping)).mark
            await asyncio.sleep(min(left, REST_SECONDS))
            if is_gone and await is_gone():
                return None
            is_silent = clock.monotonic() - beaten_at >= BEAT_SECONDS
            if is_silent or await self._database.read(lake_offers.is_worth_a_look, node=node):
                found, beaten_at = await self._offer(node), clock.monotonic()
        return found

    async def report(self, caller: Caller, told: Told) -> Heard:
        """A sign of life, or the end. The run may be over already: then nothing is changed."""
        node = _node(caller)
        return await _again_if_new(
            lambda: self._database.write(hear, node=node, told=told, ttl_seconds=self._lease_seconds, rules=self._rules)
        )

    async def live(self, caller: Caller) -> Listed[LakeRun]:
        """All of the organisation, whoever runs them: for workers, and for whoever may read."""
        if caller.role is not Role.WORKER:
            caller.needs(Right.READ)
        return await self._database.read(lake_offers.live_runs, org_id=caller.org_id)

    async def _offer(self, node: Node) -> Offered | None:
        attempt = await _again_if_new(
            lambda: self._database.write(
                lake_offers.offer, node=node, ttl_seconds=self._lease_seconds, rules=self._rules
            )
        )
        if attempt is None:
            return None
        job = await self._database.read(get_lake_job, org_id=attempt.org_id, job_id=int(attempt.job_name))
        return Offered(attempt=attempt, job=job)


def _node(caller: Caller) -> Node:
    """One for each user, which no other kind of worker can have."""
    caller.needs(Right.WORK)
    name = str(uuid.uuid5(_WORKERS, f"{caller.org_id}/{caller.user}"))
    return Node(
        id=name,
        host=name,
        name=caller.user,
        duties=(WORKER,),
        slots=1,
        queues=(QUEUE,),
        org_id=caller.org_id,
        version=waterclock.__version__,
        pid=0,
    )


async def _again_if_new(write: Callable[[], Awaitable[T]]) -> T:
    """Two first questions of a worker at once: the other one has registered it."""
    try:
        return await write()
    except AlreadyExists:
        return await write()
