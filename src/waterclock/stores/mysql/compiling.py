"""Named statements as MySQL takes them: `:name` becomes `%s`, a list is written out, many rows are a JSON table."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import orjson

from waterclock.stores.base import Values
from waterclock.stores.dialect import MOST_KEPT, MYSQL, parameters, statement, worded

_TOKEN: Final = re.compile(r"(?P<list>\bIN )?(?<![:\w]):(?P<name>[a-z_]+)\b")
_INSERT: Final = re.compile(
    r"(?P<head>INSERT (?:IGNORE )?INTO .*?\))\s*VALUES \((?P<values>.*?)\)(?P<conflict>\s+ON .*)?", re.DOTALL
)
_UPDATE: Final = re.compile(r"UPDATE (?P<table>\w+) SET (?P<set>.*?)\s+WHERE (?P<where>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Bound:
    """The text with %s, and what belongs there."""

    sql: str
    values: tuple[object, ...]


@lru_cache(maxsize=MOST_KEPT)
def text(name: str) -> str:
    return worded(MYSQL, statement(MYSQL.name, name)).replace("%", "%%")


def bound(name: str, values: Values) -> Bound:
    given: list[object] = []

    def place(token: re.Match[str]) -> str:
        value = values[token["name"]]
        if not token["list"]:
            given.append(value)
            return "%s"
        return f"IN ({_written_out(value, given)})"  # type: ignore[arg-type]

    return Bound(_TOKEN.sub(place, text(name)), tuple(given))


def _written_out(items: Sequence[object], given: list[object]) -> str:
    """Integers are written as they are: a list may hold thousands. Nothing is in an empty list, nor in (NULL)."""
    if not items:
        return "NULL"
    if all(type(item) is int for item in items):
        return ",".join(map(str, items))
    given.extend(items)
    return ",".join(["%s"] * len(items))


def batched(name: str, rows: Sequence[Values], collation: str) -> Bound:
    """One statement for many rows: what varies comes as one JSON document, what all rows share comes once."""
    columns = {each: [row[each] for row in rows] for each in dict.fromkeys(parameters(text(name)))}
    varying = [each for each, column in columns.items() if column.count(column[0]) != len(column)] or [*columns][:1]
    document = orjson.dumps([*zip(*(columns[each] for each in varying), strict=True)]).decode()
    kinds = {each: _kind(columns[each], collation) for each in varying}
    shared = {each: column[0] for each, column in columns.items() if each not in varying}
    return _over_rows(text(name), _json_table(kinds), document, shared)


def _kind(column: Sequence[object], collation: str) -> str:
    """A fraction in a BIGINT would be rounded without a word."""
    if any(isinstance(value, str) for value in column):
        return f"LONGTEXT CHARACTER SET utf8mb4 COLLATE {collation}"
    return "DOUBLE" if any(isinstance(value, float) for value in column) else "BIGINT"


def _json_table(kinds: Mapping[str, str]) -> str:
    columns = ", ".join(f"p_{name} {kind} PATH '$[{n}]'" for n, (name, kind) in enumerate(kinds.items()))
    return f"JSON_TABLE(%s, '$[*]' COLUMNS ({columns})) AS u"


def _over_rows(sql: str, table: str, document: str, shared: Mapping[str, object]) -> Bound:
    given: list[object] = []

    def placed(part: str) -> str:
        return _TOKEN.sub(_placer(shared, given), part)

    if insert := _INSERT.fullmatch(sql):
        chosen, before = placed(insert["values"]), len(given)
        conflict = placed(insert["conflict"] or "")
        values = (*given[:before], document, *given[before:])
        return Bound(f"{insert['head']} SELECT {chosen} FROM {table}{conflict}", values)  # noqa: S608 - our text
    if update := _UPDATE.fullmatch(sql):
        changed, where = placed(update["set"]), placed(update["where"])
        # By the key, however small the table: going through all of it would wait for every row that somebody holds.
        rows = f"{table} STRAIGHT_JOIN {update['table']} FORCE INDEX (PRIMARY)"
        return Bound(f"UPDATE {rows} SET {changed} WHERE {where}", (document, *given))  # noqa: S608 - our text
    raise ValueError(f"not to be run for many rows: {sql}")


def _placer(shared: Mapping[str, object], given: list[object]) -> Callable[[re.Match[str]], str]:
    def place(token: re.Match[str]) -> str:
        if token["name"] not in shared:
            return f"u.p_{token['name']}"
        given.append(shared[token["name"]])
        return "%s"

    return place
