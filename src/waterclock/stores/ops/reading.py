"""Runs as they are asked for: one, a job's, an organisation's; newest first, a page at a time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from waterclock.domain.moment import Moment
from waterclock.domain.run import Attempt, RunState, wire_time
from waterclock.stores.base import Tx
from waterclock.stores.ops.rows import attempt_of
from waterclock.stores.ops.span import ALL, span

FROM_THE_NEWEST: Final = (2**62, 2**62)


@dataclass(frozen=True, slots=True, kw_only=True)
class Transition:
    seq: int
    at: Moment
    moves: Sequence[Any]


async def get_attempt(tx: Tx, *, org_id: int, wire_id: str) -> Attempt | None:
    (found,) = await get_attempts(tx, wanted=[(org_id, wire_id)])
    return found


async def get_attempts(tx: Tx, *, wanted: Sequence[tuple[int, str]]) -> list[Attempt | None]:
    """Each by its organisation and its id, in their order, with one statement."""
    wire_ids = {wire_id for _, wire_id in wanted}
    rows = [*await tx.fetch("whole_attempts_by_wire_ids", {"wire_ids": sorted(wire_ids), **_span(wire_ids)})]
    if missing := wire_ids - {row["wire_id"] for row in rows}:  # its id may have been given to it elsewhere
        rows += await tx.fetch("whole_attempts_by_wire_ids", {"wire_ids": sorted(missing), **ALL})
    found = {(row["org_id"], row["wire_id"]): row for row in rows}
    return [attempt_of(found[key]) if key in found else None for key in wanted]


def _span(wire_ids: Collection[str]) -> dict[str, Moment]:
    times = [at for wire_id in wire_ids if (at := wire_time(wire_id)) is not None]
    return span([*times, *(at + 999 for at in times)]) if times else ALL


async def attempts_of_job(tx: Tx, *, job_id: int, before: tuple[int, int], limit: int) -> list[Attempt]:
    values = {"job_id": job_id, "before_at": before[0], "before_id": before[1], "limit": limit}
    return [attempt_of(row) for row in await tx.fetch("whole_attempts_of_job", values)]


async def list_attempts(
    tx: Tx,
    *,
    org_id: int,
    namespaces: Sequence[str],
    states: Collection[RunState],
    before: tuple[int, int],
    limit: int,
) -> list[Attempt]:
    values = {
        "org_id": org_id,
        "namespaces": list(namespaces),
        "states": sorted(states),
        "before_at": before[0],
        "before_id": before[1],
        "limit": limit,
    }
    return [attempt_of(row) for row in await tx.fetch("whole_attempts_of_org", values)]


async def transitions_after(tx: Tx, *, org_id: int, seq: int, limit: int) -> list[Transition]:
    rows = await tx.fetch("transitions_after", {"org_id": org_id, "seq": seq, "limit": limit})
    return [Transition(seq=row["seq"], at=row["at"], moves=orjson.loads(row["moves"])) for row in rows]
