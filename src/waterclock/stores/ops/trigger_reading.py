"""Triggers with their parts: a row of the table, its actions, and the conditions of a conditional one."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from waterclock.domain.trigger import Action, Condition, Trigger
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.rows import action_of, condition_of, trigger_of


async def with_parts(tx: Tx, rows: Sequence[Row]) -> list[Trigger]:
    if not rows:
        return []
    actions = await actions_of(tx, [row["id"] for row in rows])
    conditions = await conditions_of(tx, [row["id"] for row in rows if row["logical"] is not None])
    return [trigger_of(row, tuple(actions[row["id"]]), tuple(conditions[row["id"]])) for row in rows]


async def actions_of(tx: Tx, trigger_ids: Sequence[int]) -> Mapping[int, list[Action]]:
    found: defaultdict[int, list[Action]] = defaultdict(list)
    for row in await tx.fetch("actions_of_triggers", {"trigger_ids": trigger_ids}):
        found[row["trigger_id"]].append(action_of(row))
    return found


async def conditions_of(tx: Tx, trigger_ids: Sequence[int]) -> Mapping[int, list[Condition]]:
    found: defaultdict[int, list[Condition]] = defaultdict(list)
    if trigger_ids:
        for row in await tx.fetch("conditions_of_triggers", {"trigger_ids": trigger_ids}):
            found[row["trigger_id"]].append(condition_of(row))
    return found
