"""What every store can hold of a lake job and a lake table, and what an engine can read; each fault with its place."""

import json
import re
from typing import Final
from urllib.parse import urlsplit

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake import KINDS, LakeDraft, LakeJob, LakeKind
from waterclock.domain.lake_sync import SYNC_KINDS, SyncKind, SyncMode

LONGEST_NAME: Final = 255
LONGEST_TYPE: Final = 64
LONGEST_PATH: Final = 1_000

# A view of Spark's session: one word, which is the same in capitals, and no database in front of it.
_TABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_SCHEMES: Final = ("file", "hdfs", "s3")


def check_draft(draft: LakeDraft) -> None:
    if draft.class_name not in KINDS:
        known = ", ".join((*LakeKind, *SyncKind))
        raise InvalidInput(f"must be one of {known}", field="class_name", value=draft.class_name)
    _words(draft.display_name, "display_name", LONGEST_NAME)
    _words(draft.job_type, "job_type", LONGEST_TYPE)


def check_mode(job: LakeJob, mode: SyncMode) -> None:
    """Whether one run of it can be told to sync like this."""
    if job.class_name not in SYNC_KINDS:
        raise InvalidInput(f"is for sync jobs: job {job.id} is a {job.class_name}", field="mode", value=mode)
    is_lost = job.class_name == SyncKind.DB and "incremental_column" not in job.definition
    if mode is SyncMode.INCREMENTAL and is_lost:
        raise InvalidInput(
            f"job {job.id} names no incremental_column, without which nobody knows what is new: add one first",
            field="mode",
            value=mode,
        )


def check_watermark(content: str) -> None:
    """The bookmark of a sync, which is JSON, as the view JobScheduler shows it: one that is none would break that."""
    try:
        found = json.loads(content, parse_constant=_no_json)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise InvalidInput('must be a JSON object, as a sync leaves it: {"value": …}', field="content")


def _no_json(word: str) -> None:
    raise ValueError(word)  # NaN and its like, which only Python reads


def table_name(given: str) -> str:
    """As it is kept."""
    if not is_table_name(given):
        raise InvalidInput(
            f"must have 1 to {LONGEST_NAME} letters, digits and underscores, and begin with no digit, as orders_2026",
            field="name",
            value=given,
        )
    return given.lower()


def is_table_name(given: str) -> bool:
    return len(given) <= LONGEST_NAME and _TABLE.fullmatch(given) is not None


def check_path(path: str) -> None:
    if len(path) > LONGEST_PATH:
        raise InvalidInput(f"is longer than {LONGEST_PATH} characters", field="path")
    if _CONTROL.search(path):
        raise InvalidInput("must not hold a NUL or another control character", field="path", value=path)
    if not _is_place(path):
        raise InvalidInput(
            "must be an absolute path, or begin with file:///, hdfs://host:port/ or s3://bucket/",
            field="path",
            value=path,
        )


def _is_place(path: str) -> bool:
    try:
        parts = urlsplit(path)
    except ValueError:
        return False
    if path.startswith("/"):
        return not path.startswith("//")
    if parts.scheme not in _SCHEMES or not path.startswith(f"{parts.scheme}://"):
        return False
    here = parts.netloc in ("", "localhost")
    return len(parts.path) > 1 and (here if parts.scheme == "file" else bool(parts.netloc))


def _words(given: str, field: str, longest: int) -> None:
    if not given.strip():
        raise InvalidInput("must not be empty", field=field, value=given)
    if len(given) > longest:
        raise InvalidInput(f"is longer than {longest} characters", field=field)
    if "\0" in given:
        raise InvalidInput("must not hold a NUL", field=field, value=given)
