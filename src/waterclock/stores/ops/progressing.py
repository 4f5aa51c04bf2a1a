"""How far runs have come, as their workers tell it: under the fence of each, and only while it runs."""

from collections.abc import Sequence
from typing import Final

from waterclock.domain.progress import Report
from waterclock.domain.run import RunState
from waterclock.stores.base import Tx
from waterclock.stores.ops.rows import dumped
from waterclock.stores.ops.span import ALL

_BEGUN: Final = frozenset({RunState.RUNNING, RunState.STOPPING})


async def report(tx: Tx, *, reports: Sequence[Report]) -> frozenset[int]:
    """The attempts whose report was taken; one that has not begun yet may be told again, an end stays as it is."""
    if not reports:
        return frozenset()
    ids = sorted({each.attempt_id for each in reports})
    attempts = {row["id"]: row for row in await tx.fetch("lock_attempts", {"ids": ids, **ALL})}
    now, rows, taken = await tx.now(), [], set()
    for each in reports:
        attempt = attempts.get(each.attempt_id)
        if attempt is None or attempt["fence"] != each.fence or attempt["state"] not in _BEGUN:
            continue
        taken.add(each.attempt_id)
        rows.append(
            {
                "id": attempt["run_id"],
                "run_at": attempt["run_at"],
                "phase": each.phase,
                "progress": dumped(each.progress) if each.progress else None,
                "now": now,
            }
        )
    if rows:
        await tx.run_many("report_run", rows)
    return frozenset(taken)
