"""The queries of the corpus, by name, as queries.sql has them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("queries.sql")
_MARK: Final = re.compile(r"^-- (topic|name): (.+)$", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    topic: str
    name: str
    sql: str


def read(text: str) -> Sequence[Query]:
    found, topic = [], ""
    _, *parts = _MARK.split(text)
    for kind, name, after in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        if kind == "topic":
            topic = name
        else:
            found.append(Query(topic=topic, name=name, sql=after.strip()))
    return found


def corpus() -> Sequence[Query]:
    return read(FILE.read_text(encoding="utf-8"))
