"""A probe's answer, as the progress of its run: small enough for every store; where it had to be cut, it says so."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from waterclock.domain.lake_probe import Action
from waterclock.domain.progress import LARGEST
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.sync.source import Rows, Source, Wanted
from waterclock.runners.sync.syncing import source

if TYPE_CHECKING:
    import pyarrow as pa

USUAL_ROWS: Final = 20
MOST_ROWS: Final = 1_000
LONGEST_VALUE: Final = 1_000  # characters
_MOST_CHARACTERS: Final = LARGEST - 4 * 1024  # the rest is for what stands around it


def answer(order: Order, reporter: Reporter) -> None:
    asked = source(order)
    match Action(order.task["action"]):
        case Action.TEST:
            reporter.progress(message=asked.test())
        case Action.TABLES:
            reporter.progress(**_fitting({}, "tables", list(asked.tables())))
        case Action.PREVIEW:
            reporter.progress(**_preview(asked, order.task))


def _preview(asked: Source, task: Mapping[str, Any]) -> dict[str, Any]:
    wanted = task.get("rows") or USUAL_ROWS
    most = min(wanted, MOST_ROWS) if isinstance(wanted, int) and wanted > 0 else USUAL_ROWS
    rows = asked.read(Wanted(task=task, most_rows=most, batch_rows=most))
    try:
        columns = [{"name": each.name, "type": str(each.type)} for each in rows.schema]
        found = _first(rows, most)
    finally:
        rows.close()
    return _fitting({"columns": columns}, "rows", found)


def _first(rows: Rows, most: int) -> list[list[Any]]:
    found: list[list[Any]] = []
    for batch in rows.batches():
        found += _plain(batch.slice(0, most - len(found)))
        if len(found) >= most:
            break
    return found


def _plain(batch: "pa.RecordBatch") -> list[list[Any]]:
    columns = [column.to_pylist() for column in batch.columns]
    return [[_shown(value) for value in row] for row in zip(*columns, strict=True)]


def _shown(value: object) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    text = value if isinstance(value, str) else repr(value) if isinstance(value, bytes) else str(value)
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…"


def _fitting(known: dict[str, Any], name: str, items: Sequence[Any]) -> dict[str, Any]:
    """As many of them as there is room for."""
    room, kept = _MOST_CHARACTERS - len(json.dumps(known)), 0
    for item in items:
        room -= len(json.dumps(item)) + 2
        if room < 0:
            break
        kept += 1
    cut = {"cut": True, "total": len(items)} if kept < len(items) else {}
    return {**known, name: list(items[:kept]), **cut}
