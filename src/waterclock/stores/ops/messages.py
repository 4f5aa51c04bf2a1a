"""Messages: durable notices to operators, each told once, read when somebody says so."""

from collections.abc import Sequence
from dataclasses import asdict, fields
from typing import Final

from waterclock.domain.message import LONGEST_SUBJECT, Message, MessageKind, NewMessage, Severity
from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Row, Topic, Tx
from waterclock.stores.ops.rows import storable

PAGE: Final = 500


async def add_messages(tx: Tx, new: Sequence[NewMessage], now: Moment) -> list[int]:
    """Their numbers, in their order."""
    if not new:
        return []
    numbers = list(await tx.numbers(Kind.MESSAGE, len(new)))
    await tx.run_many("insert_message", [_row(each, number, now) for each, number in zip(new, numbers, strict=True)])
    tx.wake(Topic.MESSAGES)
    return numbers


async def list_messages(tx: Tx, *, org_id: int, before: int, limit: int) -> list[Message]:
    rows = await tx.fetch("messages_of_org", {"org_id": org_id, "before": before, "limit": limit})
    return [message_of(row) for row in rows]


async def tell_of_late_runs(tx: Tx) -> Sequence[str]:
    """One message for each run that takes longer than its job said; the ids of those runs."""
    now = await tx.now()
    late = await tx.fetch("overdue_runs", {"now": now, "limit": PAGE})
    new = [
        NewMessage(
            org_id=row["org_id"],
            kind=MessageKind.LATE,
            severity=Severity.WARNING,
            subject=row["job_name"],
            body=f"run {row['wire_id']} has not ended after {row['notify_after_seconds'] // 60} minute(s)",
            run_id=row["id"],
        )
        for row in late
    ]
    await add_messages(tx, new, now)
    if late:
        await tx.run_many("mark_notified", [{"id": row["id"], "run_at": row["run_at"], "now": now} for row in late])
    return [row["wire_id"] for row in late]


def message_of(row: Row) -> Message:
    return Message(**{field.name: row[field.name] for field in fields(Message)})


def _row(message: NewMessage, number: int, now: Moment) -> dict[str, object]:
    subject = storable(message.subject[:LONGEST_SUBJECT])
    return {**asdict(message), "id": number, "subject": subject, "body": storable(message.body), "created_at": now}
