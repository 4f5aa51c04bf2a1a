"""A program of the tests, under the interpreter that has pyarrow: it reads services as its lines say.

A line is a JSON object, and so is each answer: the schema, the rows of each batch and the bookmark, or why not.
"""

import json
import sys
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from waterclock.runners.sync.rest import RestSource, rest_source
from waterclock.runners.sync.service.config import service_of
from waterclock.runners.sync.service.times import Times
from waterclock.runners.sync.source import Means, SourceFailed, Wanted

_AT_ONCE = Times(sleep=lambda seconds: None)


def read(config: Mapping[str, Any], **wanted: Any) -> Mapping[str, Any]:
    rows = RestSource(service_of(config), allows_private=True, times=_AT_ONCE).read(Wanted(**wanted))
    try:
        batches = [batch.to_pylist() for batch in rows.batches()]
        kinds = {each.name: str(each.type) for each in rows.schema}
        said = {"bookmark": rows.bookmark(), "total": rows.total, "bad_lines": rows.bad_lines}
        return {"schema": kinds, "batches": batches, **said}
    finally:
        rows.close()


def count(config: Mapping[str, Any], **wanted: Any) -> Mapping[str, Any]:
    """Without keeping any, and how much Arrow held at most."""
    rows = RestSource(service_of(config), allows_private=True, times=_AT_ONCE).read(Wanted(**wanted))
    sizes = [batch.num_rows for batch in rows.batches()]
    rows.close()
    return {"rows": sum(sizes), "largest": max(sizes), "arrow_bytes": pa.default_memory_pool().max_memory()}


def greet(config: Mapping[str, Any], *, allows_private: bool = True) -> str:
    return rest_source(config, Means(allows_private=allows_private)).test()


def tables(config: Mapping[str, Any]) -> list[str]:
    return list(rest_source(config, Means()).tables())


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = {"done": globals()[asked.pop("do")](**asked)}
        except SourceFailed as failed:
            answer = {"failed": str(failed)}
        print(json.dumps(answer, default=str), flush=True)


if __name__ == "__main__":
    main()
