"""What commands print: tables for people, JSON for programs; progress goes to stderr."""

import json
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import click

GAP: Final = "  "

Columns = Mapping[str, Callable[[Any], object]]  # the name of each, and what stands in it

as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def print_json(value: object) -> None:
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def print_list(items: Iterable[Mapping[str, Any]], columns: Columns, *, to_json: bool) -> None:
    """The items as they came, or one line each under the columns' names."""
    found = list(items)
    if to_json:
        print_json(found)
        return
    rows = [[_cell(cell(item)) for cell in columns.values()] for item in found]
    _print_rows([list(columns), *rows])


def print_one(item: Mapping[str, Any], *, to_json: bool) -> None:
    """All that has a value, one a line."""
    if to_json:
        print_json(item)
        return
    _print_rows([[name, _cell(value)] for name, value in item.items() if value not in (None, {}, [])])


def say(text: str) -> None:
    click.echo(f"waterclock: {text}", err=True)


def _cell(value: object) -> str:
    match value:
        case None:
            return "-"
        case bool():
            return "yes" if value else "no"
        case dict() | list() | tuple():
            text = json.dumps(value, ensure_ascii=False)
        case _:
            text = str(value)
    return printable(text)


def printable(text: str) -> str:
    """A name must not move the cursor or colour the screen."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _print_rows(rows: Sequence[Sequence[str]]) -> None:
    widths = [max(map(screen_width, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = [cell + " " * (width - screen_width(cell)) for cell, width in zip(row, widths, strict=True)]
        click.echo(GAP.join(cells).rstrip())


def screen_width(text: str) -> int:
    """Columns on a screen: Korean letters take two, combining marks none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)
