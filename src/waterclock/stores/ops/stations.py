"""Work for workers over HTTP: what each of them asks is checked against who it is, in the transaction that does it.

A fence says which claim is meant, not whose it is: a worker that guesses one is told that the attempt is not its own.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from waterclock.domain.claim import Claimant, Claimed, Claims
from waterclock.domain.errors import Forbidden, NotAllowed, TooLate
from waterclock.domain.log_name import log_name
from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Beginning, Outcome
from waterclock.domain.progress import Report
from waterclock.domain.trigger import FireRules
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops import claiming, lake_locks, nodes, progressing, recording
from waterclock.stores.ops.nodes import Answer, Node, Pulse
from waterclock.stores.ops.rows import loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class Station:
    """Where a worker over HTTP runs: its organisation, and its host as the store knows it."""

    org_id: int
    host: str


async def beat(tx: Tx, *, node: Node, wall_us: int, pulse: Pulse) -> Answer:
    row = await tx.fetch_one("node", {"id": node.id})
    if row and (row["org_id"], row["host"]) != (node.org_id, node.host):
        raise Forbidden(f"node {node.id!r} is not this worker's")
    return await nodes.beat(tx, node=node, wall_us=wall_us, pulse=pulse)


async def leave(tx: Tx, *, station: Station, node_id: str) -> None:
    await _hold(tx, station, node_id)
    await nodes.stop_node(tx, node_id=node_id)


async def claim(
    tx: Tx, *, station: Station, claimant: Claimant, limit: int, ttl_seconds: float, until: Moment
) -> Claims:
    await _in_time(tx, station, claimant.node, until)
    return await claiming.claim(tx, claimant=claimant, limit=limit, ttl_seconds=ttl_seconds)


async def give_back(
    tx: Tx, *, station: Station, claimant: Claimant, besides: Collection[int], until: Moment
) -> Sequence[int]:
    await _in_time(tx, station, claimant.node, until)
    return await claiming.give_back(tx, claimant=claimant, besides=besides)


async def release(tx: Tx, *, station: Station, node_id: str, attempt_ids: Sequence[int]) -> None:
    await _hold(tx, station, node_id)
    await claiming.release(tx, node=node_id, attempt_ids=attempt_ids)


async def adopt(tx: Tx, *, station: Station, claimant: Claimant, ttl_seconds: float) -> Sequence[Claimed]:
    """Asked again, it says the same: the first answer may have been lost."""
    await _hold(tx, station, claimant.node)
    return await claiming.adopt(tx, claimant=claimant, ttl_seconds=ttl_seconds, again=True)


async def record(
    tx: Tx,
    *,
    station: Station,
    beginnings: Sequence[Beginning],
    outcomes: Sequence[Outcome],
    rules: Mapping[str, FireRules],
) -> frozenset[int]:
    """Those of the beginnings that are not the worker's. Of what ended elsewhere nothing is written."""
    begun = [(each.attempt_id, each.fence) for each in beginnings]
    ended = [(each.attempt_id, each.fence) for each in outcomes]
    ours = await _ours(tx, station, begun + ended)
    lost = await recording.record(
        tx,
        beginnings=[_in_store(each, ours[each.attempt_id]) for each in beginnings if each.attempt_id in ours],
        outcomes=[each for each in outcomes if each.attempt_id in ours],
        rules=rules,
    )
    return lost | {each.attempt_id for each in beginnings if each.attempt_id not in ours}


async def report(tx: Tx, *, station: Station, reports: Sequence[Report]) -> frozenset[int]:
    ours = await _ours(tx, station, [(each.attempt_id, each.fence) for each in reports])
    still = [each for each in reports if each.attempt_id in ours]
    return await progressing.report(tx, reports=still) if still else frozenset()


async def renew(tx: Tx, *, station: Station, held: Sequence[tuple[int, int]], ttl_seconds: float) -> frozenset[int]:
    ours = await _ours(tx, station, held)
    still = [(attempt_id, fence) for attempt_id, fence in held if attempt_id in ours]
    return await claiming.renew(tx, held=still, ttl_seconds=ttl_seconds) if still else frozenset()


async def lock(tx: Tx, *, station: Station, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
    await check_at(tx, station=station, attempt_id=attempt_id, fence=fence)
    return await lake_locks.take(tx, attempt_id=attempt_id, fence=fence, destinations=destinations)


async def stopping(tx: Tx, *, station: Station, node_id: str) -> Sequence[int]:
    found = await claiming.stopping(tx, node=node_id)
    ours = await tx.fetch("attempts_at_station", _key(station) | {"ids": found}) if found else ()
    return [row["id"] for row in ours]


async def arguments(tx: Tx, *, station: Station, attempt_id: int, fence: int) -> Mapping[str, str]:
    """Of an attempt that is held there now, whoever asks for another learns nothing of it."""
    key = {"id": attempt_id, "fence": fence, "now": await tx.now()}
    row = await tx.fetch_one("arguments_at_station", _key(station) | key)
    if row is None:
        raise NotAllowed(f"attempt {attempt_id} is not held by this worker")
    return loaded(row["arguments"])


async def check_at(tx: Tx, *, station: Station, attempt_id: int, fence: int) -> None:
    """Also of an attempt that has ended there."""
    if not await _ours(tx, station, [(attempt_id, fence)]):
        raise NotAllowed(f"attempt {attempt_id} is not this worker's")


async def _in_time(tx: Tx, station: Station, node_id: str, until: Moment) -> None:
    """A call that comes late is not done: the worker has given it up and may be asking anew.

    The clock is read once the station is held: whoever held it before us has committed by then.
    """
    await _hold(tx, station, node_id)
    if await tx.now() > until:
        raise TooLate("this call came too late: the worker has given it up by now")


async def _hold(tx: Tx, station: Station, node_id: str) -> None:
    if await tx.fetch_one("hold_station", _key(station) | {"node": node_id}) is None:
        raise Forbidden(f"node {node_id!r} is not this worker's, or has not beaten yet")


async def _ours(tx: Tx, station: Station, pairs: Sequence[tuple[int, int]]) -> dict[int, Row]:
    fences = dict(pairs)
    if not fences:
        return {}
    rows = await tx.fetch("attempts_at_station", _key(station) | {"ids": sorted(fences)})
    return {row["id"]: row for row in rows if row["fence"] == fences[row["id"]]}


def _in_store(beginning: Beginning, row: Row) -> Beginning:
    """Its log is in the log store, under the one name that it can have: a worker names no file of ours."""
    if beginning.log_path is None:
        return beginning
    return replace(beginning, log_path=log_name(row["wire_id"], row["run_at"]))


def _key(station: Station) -> dict[str, object]:
    return {"org_id": station.org_id, "host": station.host}
