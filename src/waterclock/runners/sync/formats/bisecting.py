"""Finding the rows that cannot be read among many that can: by halves, so that one costs a few tries, not all."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")


class Unreadable(Exception):
    """Why these rows cannot be read, in words for whoever wrote them."""


def readable(
    rows: Sequence[T], parse: "Callable[[Sequence[T]], pa.RecordBatch]", refuse: Callable[[T, str], None]
) -> "pa.RecordBatch | None":
    """All that can be read; the others are refused in their order, one by one."""
    import pyarrow as pa

    parts = _parts(rows, parse, refuse)
    if len(parts) < 2:
        return parts[0] if parts else None
    [whole] = pa.Table.from_batches(parts).combine_chunks().to_batches()
    return whole


def _parts(
    rows: Sequence[T], parse: "Callable[[Sequence[T]], pa.RecordBatch]", refuse: Callable[[T, str], None]
) -> "list[pa.RecordBatch]":
    try:
        return [batch] if (batch := parse(rows)).num_rows else []
    except Unreadable as problem:
        if len(rows) == 1:
            refuse(rows[0], str(problem))
            return []
    middle = len(rows) // 2
    return [*_parts(rows[:middle], parse, refuse), *_parts(rows[middle:], parse, refuse)]
