"""Messages: durable notices to operators, each told once."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

from waterclock.domain.moment import Moment
from waterclock.stores.base import Kind, Tx

PAGE: Final = 500
LATE: Final = "late"
WARNING: Final = "warning"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: int
    kind: str
    severity: str
    run_id: int | None
    subject: str
    body: str
    created_at: Moment
    read_at: Moment | None


async def add_message(
    tx: Tx, *, org_id: int, kind: str, severity: str, subject: str, body: str, run_id: int | None = None
) -> None:
    (number,) = await tx.numbers(Kind.MESSAGE, 1)
    values = {"id": number, "org_id": org_id, "kind": kind, "severity": severity, "subject": subject, "body": body}
    await tx.run("insert_message", {**values, "run_id": run_id, "created_at": await tx.now()})


async def list_messages(tx: Tx, *, org_id: int, before: int, limit: int) -> list[Message]:
    rows = await tx.fetch("messages_of_org", {"org_id": org_id, "before": before, "limit": limit})
    return [Message(**{field.name: row[field.name] for field in fields(Message)}) for row in rows]


async def tell_of_late_runs(tx: Tx) -> Sequence[str]:
    """One message for each run that takes longer than its job said; the ids of those runs."""
    now = await tx.now()
    late = await tx.fetch("overdue_runs", {"now": now, "limit": PAGE})
    for row in late:
        await add_message(
            tx,
            org_id=row["org_id"],
            kind=LATE,
            severity=WARNING,
            subject=row["job_name"],
            body=f"run {row['wire_id']} has not ended after {row['notify_after_seconds'] // 60} minute(s)",
            run_id=row["id"],
        )
    if late:
        await tx.run_many("mark_notified", [{"id": row["id"], "run_at": row["run_at"], "now": now} for row in late])
    return [row["wire_id"] for row in late]
