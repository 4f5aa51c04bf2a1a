"""Rows of cells, as workbooks and sheets have them: a header, then values that know their types, more or less."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from waterclock.runners.sync.formats.columns import check_names, together
from waterclock.runners.sync.formats.format import LOOKED_AT_ROWS, BadLines
from waterclock.runners.sync.formats.options import Options
from waterclock.runners.sync.formats.values import Row, batches_of, text_of, type_of_value

if TYPE_CHECKING:
    import pyarrow as pa

Cells = Iterator[tuple[int, Sequence[object]]]  # the number of the row, and what is in it


def columns_of(cells: Cells, options: Options, name: str) -> "pa.Schema | None":
    """Where cells of a column disagree, it is text."""
    import pyarrow as pa

    names, rest = _headed(cells, options, name)
    if not names:
        return None
    found = dict.fromkeys(names, pa.null())
    for _, values in islice(rest, LOOKED_AT_ROWS):
        for column, value in zip(names, values, strict=False):
            kind = type_of_value(value)
            if kind != found[column] and not pa.types.is_null(kind):
                both = [(name, pa.schema([(column, each)])) for each in (found[column], kind)]
                found[column] = together(both, has_types=False).field(0).type
    return pa.schema(list(found.items()))


def batches_of_cells(
    cells: Cells, schema: "pa.Schema", *, options: Options, name: str, bad: BadLines
) -> Iterator["pa.RecordBatch"]:
    names, rest = _headed(cells, options, name)
    places = [names.index(column) if column in names else None for column in schema.names]
    return batches_of(_rows(rest, len(names), places, name, bad), schema, name=name, bad=bad)


def _rows(cells: Cells, width: int, places: Sequence[int | None], name: str, bad: BadLines) -> Iterator[Row]:
    for line, values in cells:
        if any(value is not None for value in values[width:]):
            bad.add(name, line, f"it has more cells than the {width} columns")
            continue
        yield Row(line, [values[at] if at is not None and at < len(values) else None for at in places])


def _headed(cells: Cells, options: Options, name: str) -> tuple[list[str], Cells]:
    """Rows of nothing are nothing."""
    filled = ((line, values) for line, values in cells if any(value is not None for value in values))
    first = next(filled, None)
    if first is None:
        return [], filled
    if options.header:
        texts = ["" if value is None else text_of(value) for value in first[1]]
        while texts and not texts[-1]:
            texts.pop()
        return check_names(texts, name), filled
    given = list(options.only or ())
    names = [*given, *(f"column_{number + 1}" for number in range(len(given), len(first[1])))]
    return names, (each for some in ([first], filled) for each in some)
