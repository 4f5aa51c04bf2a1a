"""The seam between an output that is a table and the database that holds it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from waterclock.runners.sql.evolving import Plan, TableColumn
from waterclock.runners.sql.outputs import Tag
from waterclock.runners.sql.shapes import Shape

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """The two change places; `kept` is the name that the old one stays under, or nothing."""

    table: str
    new: str
    old: str
    kept: str = ""


class Database(Protocol):
    """One schema, over one line to it, opened when it is first needed. What goes wrong is an OutputFailed."""

    where: str
    longest_name: int  # in bytes

    def settle(self, tag: Tag) -> None:
        """What earlier attempts of the job have begun and not ended is ended."""
        ...

    def names(self) -> list[str]:
        """Of all tables there."""
        ...

    def columns(self, table: str) -> list[TableColumn]:
        """None where there is no such table."""
        ...

    def type_of(self, name: str, shape: Shape) -> str: ...

    def key_shape(self, shape: Shape) -> Shape:
        """What a key column is made as: not every database has an index for long texts."""
        ...

    def create(self, table: str, columns: Sequence[TableColumn], *, numbered: bool = False, lasts: bool = True) -> None:
        """`numbered`: rows can be told apart by when they came. `lasts`: it is to be a table for good."""
        ...

    def create_like(self, table: str, like: str) -> None:
        """With its columns, indexes and constraints, as far as the database has a way."""
        ...

    def alter(self, table: str, plan: Plan) -> None: ...

    def load(self, table: str, columns: Sequence[TableColumn], batch: "pa.RecordBatch") -> int:
        """How many bytes went there."""
        ...

    def keep_last(self, table: str, keys: Sequence[str]) -> None:
        """Of rows with the same key only the one that came last."""
        ...

    def make_keyed(self, table: str, keys: Sequence[str]) -> None:
        """From a numbered one: without the numbers, and with an index on its keys."""
        ...

    def putting(self) -> AbstractContextManager[None]:
        """What is done inside is seen at its end, as a whole."""
        ...

    def rename(self, table: str, to: str) -> None: ...

    def swap(self, swap: Swap, plan: Plan) -> None: ...

    def add(self, table: str, new: str, columns: Sequence[TableColumn]) -> None: ...

    def merge(self, table: str, new: str, columns: Sequence[TableColumn], keys: Sequence[str]) -> None:
        """Rows with a key that is there take the new values, the others are added."""
        ...

    def drop(self, table: str) -> None: ...

    def close(self) -> None: ...
