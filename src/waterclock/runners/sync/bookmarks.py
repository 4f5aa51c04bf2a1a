"""What a sync's next run is to know, as the job's bookmark: what the source said, and what it was said of.

A job that has since been told to read or write elsewhere begins anew: its watermark would hide rows from it.
"""

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from waterclock.runners import bookmark_file
from waterclock.runners.sync.source import SourceFailed

_OF: Final = "of"
# Of a task: what its rows are.
_ROWS: Final = (
    *("source_id", "database_name", "schema", "table_name", "query", "incremental_column"),
    *("path", "format", "spreadsheet_id", "sheet", "endpoint", "records", "params", "method", "body"),
)


def mark_of(task: Mapping[str, Any], wheres: Sequence[str]) -> str:
    """Of what is read, and where it goes."""
    about = [[task.get(name) for name in _ROWS], sorted(wheres)]
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()[:16]


def read(content: str | None, mark: str) -> Mapping[str, Any] | None:
    """None where there is none, or it is of something else. One that a person has set is taken as it is."""
    try:
        found = json.loads(content) if content else None
    except ValueError:
        return None
    if not isinstance(found, dict) or found.get(_OF, mark) != mark:
        return None
    return {name: value for name, value in found.items() if name != _OF}


def text_of(said: Mapping[str, Any], mark: str) -> str:
    try:
        return json.dumps({**said, _OF: mark}, allow_nan=False)
    except ValueError:
        raise SourceFailed("the watermark is NaN or infinite: such a value has no order to go on from") from None


def write(folder: Path, content: str) -> None:
    """As a whole, and on the disk: what its worker finds is what was meant."""
    path = bookmark_file.path_in(folder)
    aside = path.with_suffix(".new")
    fd = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "w", encoding="utf-8") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    os.replace(aside, path)
