"""The shapes of sources, for /openapi.json."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.lake_source_rules import FIELDS
from waterclock.domain.lake_source_secrets import MASK
from waterclock.domain.lake_sync import SourceKind
from waterclock.faces.lake import sources
from waterclock.faces.lake.shapes import (
    ANYTHING,
    FLAG,
    ID,
    LONG,
    TIME,
    Schema,
    all_of,
    one_of,
    page_of,
    ref,
    sent,
    several,
    text,
    whole,
)
from waterclock.services.lake_sources import MOST_ROWS


def _fields(kind: SourceKind) -> str:
    """Those that must be there, and the others with a question mark."""
    return ", ".join(name if field.required else f"{name}?" for name, field in FIELDS[kind].items())


CONFIG: Final = {
    **ANYTHING,
    "description": (
        f"by the kind: {'; '.join(f'{kind}: {_fields(kind)}' for kind in SourceKind)}. "
        f"A secret may be {{{{secret:NAME}}}}; one that is given in the open is shown as {MASK}, "
        "which in an update means that it stays"
    ),
}
NEW: Final = {"name": text(), "kind": one_of(list(SourceKind)), "config": CONFIG}
_OBJECTS: Final = frozenset({"params", "body", "paging", "options"})
WHAT: Final = {name: ANYTHING if name in _OBJECTS else LONG for name in sources.PREVIEWED}

SOURCE_SCHEMAS: Final[Mapping[str, Schema]] = {
    "NewSource": sent(NEW, tuple(NEW)),
    "Source": all_of(
        {
            "source_id": ID,
            "org_id": ID,
            **NEW,
            "owner": text(),
            "creator_id": text(),
            "created_time": TIME,
            "updated_time": TIME,
        }
    ),
    "MadeSource": all_of({"source": ref("Source")}),
    "Sources": page_of(ref("Source")),
    "Tested": all_of({"success": FLAG, "message": LONG}),
    "AskPreview": sent({**WHAT, sources.LIMIT: whole(1, MOST_ROWS)}),
    "Preview": all_of(
        {
            "columns": several(all_of({"name": LONG, "type": LONG}), 10_000),
            "rows": several({"type": "array"}, MOST_ROWS),
        }
    ),
    "SourceTables": all_of({"tables": {"type": "array", "items": LONG}}),
}
