"""What the logs of attempts ask of the store: whose they are, whether they may still grow, where their host is."""

from dataclasses import dataclass

from waterclock.domain.moment import Moment
from waterclock.stores.base import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class Shipped:
    """An attempt whose worker sends its log."""

    wire_id: str
    run_at: Moment
    fence: int
    ended_at: Moment | None
    now: Moment


async def shipped_log(tx: Tx, *, org_id: int, attempt_id: int) -> Shipped | None:
    row = await tx.fetch_one("shipped_log", {"id": attempt_id, "org_id": org_id})
    return Shipped(**row, now=await tx.now()) if row else None


async def ended_for(tx: Tx, *, ended_at: Moment) -> int:
    """How long ago that was, by the clock that wrote it; in microseconds."""
    return await tx.now() - ended_at


async def name_of_host(tx: Tx, *, host: str) -> str | None:
    """As its last node was called; None where none is known any more."""
    row = await tx.fetch_one("name_of_host", {"host": host})
    return row["name"] if row else None
