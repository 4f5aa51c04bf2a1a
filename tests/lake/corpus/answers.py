"""What an engine answers to every query, as text that can be compared: types and rows, or why it refuses.

`python -m tests.lake.corpus.answers ENGINE FOLDER` runs under the interpreter that has the engines, and prints one JSON
object. The engines, and how they see the files, are the product's own.
"""

import importlib
import json
import sys
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from pyspark.sql.pandas.types import from_arrow_type

from tests.lake.corpus.queries import corpus
from tests.lake.corpus.tables import FORMATS
from waterclock.domain.lake import LakeTable, TableFormat
from waterclock.runners.sql.engine import Engine, QueryFailed, Session
from waterclock.runners.sql.host import ENGINES
from waterclock.runners.sql.words import first_line

REMOTE: Final = {"sail": "", "spark": "local[2]"}
# Spark plans for much data: 200 parts of everything, and code compiled for each. The rows are the same without.
SETTINGS: Final = {
    "sail": (),
    "spark": ("SET spark.sql.shuffle.partitions = 1", "SET spark.sql.codegen.wholeStage = false"),
}


def answers(engine: Engine, settings: Sequence[str], tables: Sequence[LakeTable]) -> Mapping[str, object]:
    engine.prepare()
    engine.open()
    session = engine.session()
    for setting in settings:
        answer(session, setting)
    session.define(tables, {})
    found = {query.name: answer(session, query.sql) for query in corpus()}
    session.close()
    engine.close()
    return found


def answer(session: Session, sql: str) -> Mapping[str, object]:
    try:
        asked = session.ask(sql)
        rows = [row for batch in asked.batches for row in batch.to_pylist()]
    except QueryFailed as refused:
        return {"refused": first_line(refused.text or refused.reason)}
    columns = [[field.name, from_arrow_type(field.type).simpleString()] for field in asked.schema]
    return {"columns": columns, "rows": [[text(row[name]) for name, _ in columns] for row in rows]}


def text(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case bytes():
            return f"X'{value.hex()}'"
        case datetime() | date():
            return value.isoformat()
        case dict():
            return "{" + ", ".join(f"{key}: {text(each)}" for key, each in value.items()) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(text, value)) + "]"
        case _:
            return str(value)


if __name__ == "__main__":
    name, folder = sys.argv[1:]
    tables = [
        LakeTable(name=table, format=TableFormat(kind), path=f"{folder}/{table}.{kind}")
        for table, kind in FORMATS.items()
    ]
    print(json.dumps(answers(importlib.import_module(ENGINES[name]).engine(REMOTE[name]), SETTINGS[name], tables)))
