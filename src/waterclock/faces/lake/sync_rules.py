"""What fits together in a sync job; what can never run is refused by its place, before it is kept."""

from collections.abc import Mapping
from typing import Any

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_secrets import check_lake_secrets
from waterclock.domain.lake_sync import SyncKind, SyncMode
from waterclock.faces.lake.outputs import WriteMode, check_upsert
from waterclock.faces.lake.syncs import READ, SHOWN, Store


def task_of(kind: SyncKind, given: Mapping[str, Any], *, within: str) -> dict[str, Any]:
    """Of what was read by FIELDS, empty words left out; whether it can be reached is found out by the run."""
    found = {"source": given.get("source_id"), "sync_mode": SyncMode.FULL, **given}
    task = {name: found[name] for name in SHOWN if found.get(name) not in (None, "", ())}
    try:
        _check_read(kind, task)
        _check_mode(kind, task)
        _check_written(task)
        check_lake_secrets(task)
    except InvalidInput as problem:
        raise InvalidInput(problem.reason, field=f"{within}{problem.field}", value=problem.value) from None
    return task


def _check_read(kind: SyncKind, task: Mapping[str, Any]) -> None:
    if "source" not in task:
        raise InvalidInput("is required: a source's name or number (waterclock lake source list)", field="source")
    first, *others = READ[kind]
    said = [name for name in READ[kind] if name in task]
    if not said:
        raise InvalidInput("is required" + "".join(f", or {name}" for name in others), field=first)
    if said[1:]:
        raise InvalidInput(f"cannot be given together with {said[0]}", field=said[1])


def _check_mode(kind: SyncKind, task: Mapping[str, Any]) -> None:
    """Files know what is new by themselves, a service may be read whole each time, if its records have keys."""
    known = {SyncKind.DB: ("incremental_column",), SyncKind.SERVICE: ("incremental_column", "key_columns")}
    needed = known.get(kind, ())
    if task["sync_mode"] is SyncMode.INCREMENTAL and needed and not any(name in task for name in needed):
        other = ", or key_columns" if "key_columns" in needed else ""
        raise InvalidInput(
            f"is required for an IncrementalSync: what only grows, such as updated_at or id{other}",
            field="incremental_column",
        )


def _check_written(task: Mapping[str, Any]) -> None:
    """Where none is named the worker's own store is meant, which needs a table's name."""
    stores = [each for each in task.get("destinations", ()) if isinstance(each, Store)]
    if "dest_table_name" not in task and (stores or "destinations" not in task):
        why = f"is required where a destination is {stores[0]}" if stores else "is required, or destinations"
        raise InvalidInput(why, field="dest_table_name")
    for place, each in enumerate(task.get("destinations", ())):
        if not isinstance(each, Store):
            _check_write_mode(each, task, f"destinations[{place}]")


def _check_write_mode(output: Mapping[str, Any], task: Mapping[str, Any], place: str) -> None:
    """A full sync replaces, an incremental one upserts by its key or appends: nothing else keeps rows from doubling."""
    usual = WriteMode.UPSERT if "key_columns" in task else WriteMode.APPEND
    meant = WriteMode.REPLACE if task["sync_mode"] is SyncMode.FULL else usual
    check_upsert(output["type"], meant, f"{place}.type")
    if (given := output["config"].get("write_mode", meant)) != meant:
        why = f"is decided by sync_mode and key_columns, which make it {meant}: leave it out"
        raise InvalidInput(why, field=f"{place}.config.write_mode", value=given)
