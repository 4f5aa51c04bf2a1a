"""Messages: durable notices to operators, each told once, read when somebody says so."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from typing import Final

from waterclock.domain.message import (
    LONGEST_SUBJECT,
    Message,
    MessageKind,
    NewMessage,
    Severity,
    SoughtMessages,
)
from waterclock.domain.moment import Moment, seconds
from waterclock.stores.base import Kind, Row, Topic, Tx
from waterclock.stores.ops.rows import storable

PAGE: Final = 500
UNREAD_IS_KEPT: Final = 2  # times as long as what was read
ALL: Final = SoughtMessages()


async def add_messages(tx: Tx, new: Sequence[NewMessage], now: Moment) -> list[int]:
    """Their numbers, in their order."""
    if not new:
        return []
    numbers = list(await tx.numbers(Kind.MESSAGE, len(new)))
    await tx.run_many("insert_message", [_row(each, number, now) for each, number in zip(new, numbers, strict=True)])
    tx.wake(Topic.MESSAGES)
    return numbers


async def list_messages(tx: Tx, *, org_id: int, before: int, limit: int, sought: SoughtMessages = ALL) -> list[Message]:
    """Newest first, from the one before `before`."""
    filters = {**asdict(sought), "unread": int(sought.unread)}
    rows = await tx.fetch("messages_of_org", {**filters, "org_id": org_id, "before": before, "limit": limit})
    return [message_of(row) for row in rows]


async def newest_message(tx: Tx, *, org_id: int) -> int:
    """Its number; 0 where there is none."""
    row = await tx.fetch_one("newest_message", {"org_id": org_id})
    return (row["id"] or 0) if row else 0


async def read_messages(tx: Tx, *, org_id: int, ids: Sequence[int]) -> int:
    """How many of them nobody had read before."""
    return await tx.run("read_messages", {"org_id": org_id, "ids": list(ids), "now": await tx.now()}) if ids else 0


async def read_all_messages(tx: Tx, *, org_id: int, last: int) -> int:
    """One page of what is unread, up to the number `last`; call again while it finds something."""
    rows = await tx.fetch("unread_messages", {"org_id": org_id, "last": last, "limit": PAGE})
    return await read_messages(tx, org_id=org_id, ids=[row["id"] for row in rows])


async def prune_messages(tx: Tx, *, keep_seconds: float) -> int:
    """One page of what is older, with its deliveries; how many. Call again while it finds something."""
    now = await tx.now()
    ages = {"before": now - seconds(keep_seconds), "unread_before": now - seconds(keep_seconds * UNREAD_IS_KEPT)}
    ids = [row["id"] for row in await tx.fetch("old_messages", {**ages, "limit": PAGE})]
    if ids:
        await tx.run("delete_deliveries", {"ids": ids})
        await tx.run("delete_messages", {"ids": ids})
    return len(ids)


async def tell_of_late_runs(tx: Tx) -> Sequence[str]:
    """One message for each run that takes longer than its job said; the ids of those runs."""
    now = await tx.now()
    late = await tx.fetch("overdue_runs", {"now": now, "limit": PAGE})
    nodes = await _nodes(tx, [row["id"] for row in late])
    new = [
        NewMessage(
            org_id=row["org_id"],
            kind=MessageKind.LATE,
            severity=Severity.WARNING,
            subject=row["job_name"],
            body=f"run {row['wire_id']} has not ended after {row['notify_after_seconds'] // 60} minute(s)",
            run_id=row["id"],
            node=nodes.get(row["id"]),
        )
        for row in late
    ]
    await add_messages(tx, new, now)
    if late:
        await tx.run_many("mark_notified", [{"id": row["id"], "run_at": row["run_at"], "now": now} for row in late])
    return [row["wire_id"] for row in late]


def message_of(row: Row) -> Message:
    return Message(**{field.name: row[field.name] for field in fields(Message)})


async def _nodes(tx: Tx, run_ids: Sequence[int]) -> Mapping[int, str]:
    """Where these runs are running."""
    rows = await tx.fetch("nodes_of_runs", {"run_ids": list(run_ids)}) if run_ids else ()
    return {row["run_id"]: row["node"] for row in rows}


def _row(message: NewMessage, number: int, now: Moment) -> dict[str, object]:
    subject = storable(message.subject[:LONGEST_SUBJECT])
    return {**asdict(message), "id": number, "subject": subject, "body": storable(message.body), "created_at": now}
