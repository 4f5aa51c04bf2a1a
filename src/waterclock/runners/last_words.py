"""What a keeper leaves on disk when nobody is there to hear how its program ended.

Written aside and renamed, never synced: what a power cut can take from the page cache, the power cut has also killed,
and a host that was gone is decided by its leases.
"""

import contextlib
import json
import os
from pathlib import Path

from waterclock.runners import codec
from waterclock.runners.base import Ended


def leave(folder: str, ended: Ended) -> None:
    path = _path(Path(folder), ended.attempt_id)
    aside = f"{path}.{os.getpid()}"
    with open(aside, "w") as file:
        json.dump(codec.event_to_plain(ended), file)
    os.rename(aside, path)


def find(folder: Path, attempt_id: int) -> Ended | None:
    """None when there are none, or none that can be read."""
    try:
        return codec.ended_from_plain(json.loads(_path(folder, attempt_id).read_text()))
    except (OSError, ValueError, TypeError, KeyError):
        return None


def remove_all(folder: Path) -> None:
    for path in folder.glob("*.json*"):
        with contextlib.suppress(OSError):
            path.unlink()


def _path(folder: Path, attempt_id: int) -> Path:
    return folder / f"{attempt_id}.json"
