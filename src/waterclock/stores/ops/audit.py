"""The audit: appended to from journals, each line once; read; pruned; never changed."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Final

from waterclock.domain.audit import Entry, Sought
from waterclock.domain.moment import seconds
from waterclock.stores.alike import Alike
from waterclock.stores.base import Row, Tx

PAGE: Final = 1_000
_COLUMNS: Final = tuple(field.name for field in fields(Entry))
_own: Final = attrgetter(*_COLUMNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An entry and its place in the table."""

    seq: int
    entry: Entry


async def stored_of(tx: Tx, *, journal: str) -> int:
    """How many bytes of the journal are in the table."""
    row = await tx.fetch_one("audit_journal", {"id": journal})
    return int(row["stored"]) if row else 0


async def store(tx: Tx, *, journal: str, begin: int, end: int, entries: Sequence[Entry]) -> int:
    """Append what stands from `begin` to `end`, unless it is there already; how far the journal is stored now."""
    row = await tx.fetch_one("lock_audit_journal", {"id": journal})
    stored = int(row["stored"]) if row else 0
    if stored != begin:
        return stored
    if entries:
        await tx.run_many("insert_audit", Alike({}, _COLUMNS, list(map(_own, entries))))
    await tx.run("move_audit_journal" if row else "insert_audit_journal", {"id": journal, "stored": end})
    return end


async def forget(tx: Tx, *, journal: str) -> None:
    """Once the file is gone: as long as it is there, it must be known how far it was read."""
    await tx.run("delete_audit_journal", {"id": journal})


async def list_audit(tx: Tx, *, org_id: int, sought: Sought, before: tuple[int, int], limit: int) -> list[Kept]:
    """Newest first."""
    filters = {"user": sought.user, "action": sought.action, "resource": sought.resource}
    values = {
        "org_id": org_id,
        "since": sought.since,
        "until": sought.until,
        "before": before[0],
        "before_seq": before[1],
        "below": f"{sought.resource}/",
        "length": len(sought.resource) + 1,
        "limit": limit,
    }
    return [Kept(seq=row["seq"], entry=_entry(row)) for row in await tx.fetch("audit_of_org", {**filters, **values})]


async def prune_audit(tx: Tx, *, keep_seconds: float) -> int:
    """One page of what is older; call again while it finds something."""
    before = await tx.now() - seconds(keep_seconds)
    seqs = [row["seq"] for row in await tx.fetch("old_audit", {"before": before, "limit": PAGE})]
    if seqs:
        await tx.run("delete_audit", {"seqs": seqs})
    return len(seqs)


def _entry(row: Row) -> Entry:
    return Entry(
        user=row["user_name"],
        **{name: row[name] for name in ("at", "org_id", "address", "face", "action", "resource", "status")},
        **{name: row[name] for name in ("error", "ms", "request_id")},
    )
