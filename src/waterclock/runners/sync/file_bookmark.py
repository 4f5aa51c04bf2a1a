"""Which files were read: what an incremental sync of files knows of its last run.

    {"files": {"orders/a.csv": "<etag, or time and size>"}, "schema": "…"}
    {"seen": ["Zm9vYmFy", …], "schema": "…"}      where there are so many that their names do not fit

What is no longer there is forgotten. The schema gives a column that is empty in all new files the type that it had.
"""

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from waterclock.domain.bookmark import MOST_BYTES
from waterclock.runners.sync.places.place import Found
from waterclock.runners.sync.source import SourceFailed

if TYPE_CHECKING:
    import pyarrow as pa

_FOR_THE_SCHEMA: Final = 64 * 1024
_FOR_THE_ENGINE: Final = 1024  # which keeps with it what it is of
_MARK_BYTES: Final = 6  # 48 bits of a hash: eight characters


class Read:
    """What a bookmark says; of a bookmark that is none of ours, nothing."""

    def __init__(self, since: Mapping[str, Any] | None) -> None:
        since = since or {}
        files, seen = since.get("files"), since.get("seen")
        self._files: Mapping[str, Any] = files if isinstance(files, Mapping) else {}
        self._seen = frozenset(seen if isinstance(seen, list) else ())
        self._schema = since.get("schema")

    def has(self, found: Found) -> bool:
        """One without a version may have changed."""
        if not found.version:
            return False
        return self._files.get(found.name) == found.version or _mark(found) in self._seen

    @property
    def schema(self) -> "pa.Schema | None":
        import pyarrow as pa

        if not isinstance(self._schema, str):
            return None
        try:
            return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(self._schema)))
        except (ValueError, pa.ArrowException, OSError):
            return None


def bookmark_of(files: Sequence[Found], schema: "pa.Schema | None") -> Mapping[str, Any]:
    """For the next run; too many files are refused, before the first is read."""
    text = base64.b64encode(schema.remove_metadata().serialize().to_pybytes()).decode() if schema is not None else ""
    kept = {"schema": text} if text and len(text) <= _FOR_THE_SCHEMA else {}
    named = {"files": {each.name: each.version for each in files}, **kept}
    if _fits(named):
        return named
    marked = {"seen": sorted(_mark(each) for each in files), **kept}
    if _fits(marked):
        return marked
    raise SourceFailed(
        f"{len(files)} files match, more than an incremental sync can remember (a bookmark has {MOST_BYTES} bytes, "
        "about 20,000 files): narrow path, or put those that are done elsewhere"
    )


def _fits(bookmark: Mapping[str, Any]) -> bool:
    return len(json.dumps(bookmark)) <= MOST_BYTES - _FOR_THE_ENGINE


def _mark(found: Found) -> str:
    data = f"{found.name}\0{found.version}".encode(errors="surrogatepass")
    return base64.b64encode(hashlib.blake2b(data, digest_size=_MARK_BYTES).digest()).decode()
