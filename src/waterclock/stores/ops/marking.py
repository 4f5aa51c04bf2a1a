"""Attempts marked as to be stopped: what has no process yet may then be ended at once."""

from collections.abc import Sequence

from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Topic, Tx
from waterclock.stores.ops.moves import Moves


def is_unclaimed(attempt: Row) -> bool:
    """Nobody has it: nothing of it can be alive."""
    return attempt["node"] is None and attempt["state"] in (RunState.WAITING, RunState.STARTING)


async def mark_stopping(tx: Tx, rows: Sequence[Row], now: Moment) -> None:
    """The caller holds them, and has seen that they are live."""
    if not rows:
        return
    moves = Moves()
    for row in rows:
        moves.add(row["org_id"], row["id"], row["state"], RunState.STOPPING)
    same = [{"run_at": row["run_at"], "was": row["state"], "now": now} for row in rows]
    await tx.run_many("stop_attempt", [{**each, "id": row["id"]} for each, row in zip(same, rows, strict=True)])
    await tx.run_many("stop_run", [{**each, "id": row["run_id"]} for each, row in zip(same, rows, strict=True)])
    await moves.write(tx, now)
    tx.wake(Topic.STOPS)
