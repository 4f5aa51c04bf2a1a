"""What an output's config holds, read; what is wrong with it is said with its name."""

from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.lake_sync import SYNC_KINDS
from waterclock.runners.lake.order import Order
from waterclock.runners.sql.folder import Mode
from waterclock.runners.sql.how import How
from waterclock.runners.sql.outputs import OutputFailed

RESERVED: Final = ".waterclock-"
_MODES: Final = {
    "append": Mode.APPEND,
    "replace": Mode.REPLACE,
    "overwrite": Mode.REPLACE,
    "upsert": Mode.UPSERT,
}
_MOST_HOURS: Final = 24 * 366


def how_of(config: Mapping[str, Any], usual: str, order: Order) -> How:
    """A query that names a column wrongly must not change a table; a sync brings what its source has."""
    mode = _mode(config, usual)
    changes = config.get("schema_changes", "add" if order.kind in SYNC_KINDS else "refuse")
    if changes not in ("add", "refuse"):
        raise OutputFailed(f"config.schema_changes is {changes!r}: add and refuse are known")
    return How(mode=mode, keys=_keys(config, mode), keep_hours=_hours(config), may_change=changes == "add")


def text_in(config: Mapping[str, Any], name: str, usual: str | None = None) -> str:
    given = config.get(name, usual)
    if not isinstance(given, str) or not given.strip():
        raise OutputFailed(f"config.{name} is missing or empty")
    if "\0" in given:
        raise OutputFailed(f"config.{name} holds a NUL character")
    return given


def table_in(config: Mapping[str, Any]) -> str:
    table = text_in(config, "table_name")
    if table.startswith(RESERVED):
        raise OutputFailed(f"config.table_name begins with {RESERVED}, which is kept for tables that are being loaded")
    return table


def flag_in(config: Mapping[str, Any], name: str) -> bool:
    given = config.get(name, False)
    if not isinstance(given, bool):
        raise OutputFailed(f"config.{name} is {given!r}: give true or false")
    return given


def _mode(config: Mapping[str, Any], usual: str) -> Mode:
    given = config.get("write_mode", usual)
    if not isinstance(given, str) or given.lower() not in _MODES:
        raise OutputFailed(f"config.write_mode is {given!r}: append, replace and upsert are known")
    return _MODES[given.lower()]


def _keys(config: Mapping[str, Any], mode: Mode) -> tuple[str, ...]:
    given = config.get("key_columns") or []
    if not isinstance(given, list) or not all(isinstance(name, str) and name for name in given):
        raise OutputFailed(f"config.key_columns is {given!r}: give a list of names")
    if mode is not Mode.UPSERT:
        return ()
    if not given:
        raise OutputFailed("config.key_columns is missing: an upsert knows a row again by them")
    return tuple(dict.fromkeys(given))


def _hours(config: Mapping[str, Any]) -> float:
    given = config.get("keep_old_hours", 0)
    if isinstance(given, bool) or not isinstance(given, int | float) or not 0 <= given <= _MOST_HOURS:
        raise OutputFailed(f"config.keep_old_hours is {given!r}: give a number from 0 to {_MOST_HOURS}")
    return given
