"""A program of the tests, under the interpreter that has DuckDB: it reads databases as its lines say.

A line is a JSON object, and so is each answer; why something cannot be read is an answer, too.
"""

import hashlib
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from waterclock.domain.lake_sync import SourceKind
from waterclock.runners.sync.databases import database_source
from waterclock.runners.sync.source import Means, Rows, Source, SourceFailed, Wanted


def peak_kb() -> int:
    """Of this program alone: what getrusage says begins with what the process that started it had."""
    return int(Path("/proc/self/status").read_text().partition("VmHWM:")[2].split()[0])


class Reading:
    def __init__(self) -> None:
        self._source: Source | None = None
        self._rows: Rows | None = None
        self._batches: Iterator[Any] = iter(())

    def source(self, kind: str, config: Mapping[str, Any], **means: Any) -> None:
        self._source = database_source(SourceKind(kind), config, Means(**{"allows_private": True, **means}))

    def test(self) -> str:
        return self._known().test()

    def tables(self) -> list[str]:
        return list(self._known().tables())

    def begin(self, task: Mapping[str, Any], **wanted: Any) -> dict[str, str]:
        """Up to where its columns are known."""
        self._rows = self._known().read(Wanted(task=task, **wanted))
        self._batches = self._rows.batches()
        return {field.name: str(field.type) for field in self._rows.schema}

    def next(self) -> int:
        return int(next(self._batches).num_rows)

    def rest(self) -> list[dict[str, Any]]:
        return [row for batch in self._batches for row in batch.to_pylist()]

    def count(self) -> dict[str, Any]:
        """Without keeping any, and what was needed for it at most."""
        sizes = [batch.num_rows for batch in self._batches]
        return {"rows": sum(sizes), "largest": max(sizes), "peak_mb": peak_kb() // 1024}

    def digest(self) -> list[Any]:
        """Of all values in whatever order rows come."""
        total, rows = 0, 0
        for batch in self._batches:
            for row in batch.to_pylist():
                rows += 1
                total ^= int.from_bytes(hashlib.sha256(json.dumps(row, default=str).encode()).digest(), "big")
        return [rows, f"{total:064x}"]

    def bookmark(self) -> Mapping[str, Any] | None:
        assert self._rows is not None
        return self._rows.bookmark()

    def total(self) -> int | None:
        assert self._rows is not None
        return self._rows.total

    def close(self) -> None:
        assert self._rows is not None
        self._rows.close()

    def _known(self) -> Source:
        assert self._source is not None
        return self._source


def main() -> None:
    reading = Reading()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"done": getattr(reading, asked.pop("do"))(**asked)}
        except SourceFailed as failed:
            answer = {"failed": str(failed)}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
