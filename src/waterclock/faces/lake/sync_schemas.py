"""What a sync job is told to do as JSON Schema: what fields may hold is what their readers take."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.lake_sync import ALIASES, SyncKind, SyncMode
from waterclock.faces.api.fields import MOST_SECONDS
from waterclock.faces.lake import outputs, syncs
from waterclock.faces.lake.shapes import ANYTHING, FLAG, ID, LONG, Schema, one_of, ref, several, text, whole

SOURCE: Final = {"oneOf": [text(), ID], "description": "its name or its number"}
COLUMNS: Final = several(text(), outputs.MOST_COLUMNS)
_WORD: Final = text(least=0)
_LAG: Final = {"type": "number", "minimum": 0, "maximum": MOST_SECONDS}
_PLACE: Final = text(outputs.LONGEST_PLACE, least=0)
_COMMON: Final[Mapping[str, Schema]] = {
    "source": SOURCE,
    "sync_mode": one_of(list(SyncMode)),
    "incremental_column": _WORD,
    "last_synced_value": {"oneOf": [text(syncs.LONGEST_VALUE), {"type": "number"}]},
    "key_columns": COLUMNS,
    "on_bad_line": one_of(list(syncs.OnBadLine)),
    "dest_database_name": _WORD,
    "dest_table_name": _WORD,
    "destinations": several({"oneOf": [one_of(list(syncs.Store)), ref("Output")]}, syncs.MOST_DESTINATIONS),
}
TASKS: Final[Mapping[SyncKind, Mapping[str, Schema]]] = {
    SyncKind.DB: {
        **_COMMON,
        **dict.fromkeys(("database_name", "schema", "table_name"), _WORD),
        "query": LONG,
        "lag_seconds": _LAG,
        "inclusive": FLAG,
        "null_rows": one_of(list(syncs.NullRows)),
    },
    SyncKind.SERVICE: {
        **_COMMON,
        "endpoint": _PLACE,
        "method": one_of(list(syncs.Method)),
        **dict.fromkeys(("params", "body", "paging", "since", "types"), ANYTHING),
        "records": text(syncs.LONGEST_VALUE, least=0),
        "missing_records": one_of(list(syncs.Missing)),
        "new_fields": one_of(list(syncs.NewFields)),
        "infer_records": whole(1, syncs.MOST_RECORDS),
        "lag_seconds": _LAG,
        "inclusive": FLAG,
        "null_rows": one_of(list(syncs.NullRows)),
    },
    SyncKind.FILE: {
        **_COMMON,
        "path": {"oneOf": [_PLACE, several(_PLACE, syncs.MOST_PATHS)]},
        "format": one_of(list(syncs.Format)),
        "options": ANYTHING,
        "spreadsheet_id": _WORD,
        "sheet": _WORD,
    },
}


def class_names(kind: SyncKind) -> Schema:
    """Its own first; the others are read, and written back to who sent them."""
    return one_of([kind, *(alias for alias, meant in ALIASES.items() if meant is kind)])
