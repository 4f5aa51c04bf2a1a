"""Where two engines differ: the columns, types or rows that do, said so shortly that a table can hold it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, TypedDict

LONGEST: Final = 110
ROWS_SHOWN: Final = 2


class Answer(TypedDict, total=False):
    """As answers.py prints it: `columns` (name and type) and `rows`, or why it was `refused`."""

    columns: list[list[str]]
    rows: list[list[str]]
    refused: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    query: str
    sail: str
    spark: str


def differences(sail: Mapping[str, Answer], spark: Mapping[str, Answer]) -> Sequence[Difference]:
    """In the order of the queries; that both refuse one is agreement, in whatever words."""
    return [
        Difference(query=name, sail=_said(sail[name], spark[name]), spark=_said(spark[name], sail[name]))
        for name in sail
        if not _agree(sail[name], spark[name])
    ]


def _agree(one: Answer, other: Answer) -> bool:
    if "refused" in one or "refused" in other:
        return "refused" in one and "refused" in other
    return one == other


def _said(mine: Answer, other: Answer) -> str:
    """What is different of mine: my columns that are not the other's, with the values that are not."""
    if "refused" in mine:
        return _short(f"refused: {mine['refused']}")
    if "refused" in other or len(mine["columns"]) != len(other["columns"]) or len(mine["rows"]) != len(other["rows"]):
        return _short(_whole(mine))
    return "; ".join(_different_columns(mine, other))


def _whole(answer: Answer) -> str:
    names = ", ".join(f"{name} {kind}" for name, kind in answer["columns"])
    count = len(answer["rows"])
    return f"{count} row{'s' * (count != 1)} of ({names}): " + "; ".join(", ".join(row) for row in answer["rows"])


def _different_columns(mine: Answer, other: Answer) -> Iterator[str]:
    for at, (column, others) in enumerate(zip_longest(mine["columns"], other["columns"])):
        pairs = zip(mine["rows"], other["rows"], strict=True)
        values = [row[at] for row, its in pairs if row[at] != its[at]]
        if column != others or values:
            shown = f": {', '.join(values[:ROWS_SHOWN])}" if values else ""
            yield _short(f"{column[0]} {column[1]}{shown}")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…"
