"""Work for workers over HTTP: what a worker with a database asks the store, asked by one that has only a token.

Each sees the runs of its organisation alone, and touches only what it has claimed itself: `stores.ops.stations`.
"""

import asyncio
import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol

from waterclock.domain.access import Caller, Right
from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.errors import Forbidden
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.secret import secret_names
from waterclock.domain.trigger import FireRules
from waterclock.services import work_checks as checks
from waterclock.services.bell import Bell, Rung
from waterclock.stores.base import Database
from waterclock.stores.ops import stations
from waterclock.stores.ops.nodes import WORKER, Answer, Node, Pulse
from waterclock.stores.ops.stations import Station

LONGEST_WAIT_SECONDS: Final = 30.0

_HOSTS: Final = uuid.UUID("5d0c6f0a-7a0e-4c0e-9a53-0f6f3f0a1c11")


class SecretsOf(Protocol):
    async def values(self, org_id: int, names: Collection[str]) -> Mapping[str, str]: ...

    async def texts(self, org_id: int, names: Collection[str]) -> Sequence[str]: ...


class WorkService:
    def __init__(self, database: Database, rules: Mapping[str, FireRules], secrets: SecretsOf) -> None:
        self._database = database
        self._rules = rules
        self._secrets = secrets
        self._bell = Bell(database)

    # The node

    async def beat(self, caller: Caller, node: Node, wall_us: int, pulse: Pulse) -> Answer:
        """The first one registers it, as a worker of the caller's organisation and nothing else."""
        station = _station(caller, node.host)
        checks.check_node(node, wall_us, pulse)
        record = replace(node, host=station.host, org_id=caller.org_id, duties=(WORKER,))
        told = Pulse(running=pulse.running, drained=pulse.drained)  # it fires nothing: it is never late
        return await self._database.write(stations.beat, node=record, wall_us=wall_us, pulse=told)

    async def leave(self, caller: Caller, host: str, node_id: str) -> None:
        await self._database.write(stations.leave, station=_station(caller, host), node_id=node_id)

    async def wake(self, caller: Caller, mark: str, seconds: float, stopping: asyncio.Event | None) -> Rung:
        caller.needs(Right.WORK)
        return await self._bell.wait(mark, min(seconds, LONGEST_WAIT_SECONDS), stopping)

    # Claims

    async def claim(
        self, caller: Caller, claimant: Claimant, *, limit: int, ttl_seconds: float, until: Moment
    ) -> Claims:
        """`until`: a call that the store gets to later than this is refused; nobody waits for its answer any more."""
        station = _station(caller, claimant.host)
        checks.check_limit(limit)
        checks.check_lease(ttl_seconds)
        claims = await self._database.write(
            stations.claim,
            station=station,
            claimant=_claimant(station, claimant),
            limit=limit,
            ttl_seconds=ttl_seconds,
            until=until,
        )
        return replace(claims, claimed=tuple(_shown(each) for each in claims.claimed))

    async def give_back(self, caller: Caller, claimant: Claimant, besides: Collection[int], *, until: Moment) -> None:
        station = _station(caller, claimant.host)
        checks.check_many("besides", len(besides))
        await self._database.write(
            stations.give_back,
            station=station,
            claimant=_claimant(station, claimant),
            besides=frozenset(besides),
            until=until,
        )

    async def release(self, caller: Caller, host: str, node_id: str, attempt_ids: Sequence[int]) -> None:
        station = _station(caller, host)
        checks.check_many("attempt_ids", len(attempt_ids))
        await self._database.write(stations.release, station=station, node_id=node_id, attempt_ids=attempt_ids)

    async def adopt(self, caller: Caller, claimant: Claimant, *, ttl_seconds: float) -> Sequence[Claimed]:
        station = _station(caller, claimant.host)
        checks.check_lease(ttl_seconds)
        found = await self._database.write(
            stations.adopt,
            station=station,
            claimant=_claimant(station, claimant),
            ttl_seconds=ttl_seconds,
        )
        return [_shown(each) for each in found]

    # What is held

    async def record(
        self, caller: Caller, host: str, beginnings: Sequence[Beginning], outcomes: Sequence[Outcome]
    ) -> frozenset[int]:
        station = _station(caller, host)
        checks.check_reports(beginnings, outcomes)
        return await self._database.write(
            stations.record,
            station=station,
            beginnings=beginnings,
            outcomes=[replace(each, beginning=None, job_id=None, lone=None, progress=None) for each in outcomes],
            rules=self._rules,
        )

    async def report(self, caller: Caller, host: str, reports: Sequence[Report]) -> frozenset[int]:
        """Also the last of an attempt, ahead of its end: ends stay as workers of the version before tell them."""
        station = _station(caller, host)
        said = checks.checked_progress(reports)
        return await self._database.write(stations.report, station=station, reports=said)

    async def renew(
        self, caller: Caller, host: str, held: Sequence[tuple[int, int]], ttl_seconds: float
    ) -> frozenset[int]:
        """By the host, not by the node: its supervisor asks, too, and outlives the worker."""
        station = _station(caller, host)
        checks.check_many("held", len(held))
        checks.check_lease(ttl_seconds)
        return await self._database.write(stations.renew, station=station, held=held, ttl_seconds=ttl_seconds)

    async def lock(
        self, caller: Caller, host: str, attempt_id: int, fence: int, destinations: Collection[str]
    ) -> str | None:
        """None once they are the attempt's; else what it has to wait for."""
        station = _station(caller, host)
        checks.check_destinations(destinations)
        return await self._database.write(
            stations.lock, station=station, attempt_id=attempt_id, fence=fence, destinations=destinations
        )

    async def stopping(self, caller: Caller, host: str, node_id: str) -> Sequence[int]:
        return await self._database.read(stations.stopping, station=_station(caller, host), node_id=node_id)

    async def secrets(
        self, caller: Caller, host: str, attempt_id: int, fence: int, names: Collection[str]
    ) -> Mapping[str, str]:
        """Of those names that the attempt's own arguments refer to, while the worker holds it."""
        await self._check_names(caller, host, attempt_id, fence, names)
        return await self._secrets.values(caller.org_id, names)

    async def masks(
        self, caller: Caller, host: str, attempt_id: int, fence: int, names: Collection[str]
    ) -> Sequence[str]:
        """What its output must not show: every version of these secrets."""
        await self._check_names(caller, host, attempt_id, fence, names)
        return await self._secrets.texts(caller.org_id, names)

    async def check_log(self, caller: Caller, host: str, attempt_id: int, fence: int) -> None:
        """Whether the log of this attempt is this worker's to write, also after its end."""
        station = _station(caller, host)
        await self._database.read(stations.check_at, station=station, attempt_id=attempt_id, fence=fence)

    async def _check_names(
        self, caller: Caller, host: str, attempt_id: int, fence: int, names: Collection[str]
    ) -> None:
        station = _station(caller, host)
        given = await self._database.read(stations.arguments, station=station, attempt_id=attempt_id, fence=fence)
        if unknown := sorted(set(names) - secret_names(given)):
            raise Forbidden(f"the arguments of attempt {attempt_id} do not refer to the secret {unknown[0]!r}")


def _station(caller: Caller, host: str) -> Station:
    """No two organisations share a host, and none has one that a worker with a database has."""
    caller.needs(Right.WORK)
    checks.check_host(host)
    return Station(org_id=caller.org_id, host=str(uuid.uuid5(_HOSTS, f"{caller.org_id}/{host}")))


def _claimant(station: Station, given: Claimant) -> Claimant:
    checks.check_claimant(given)
    return replace(given, host=station.host, org_id=station.org_id)


def _shown(claimed: Claimed) -> Claimed:
    return replace(claimed, lone=None)  # what is known of the store is for those who write to it
