"""The seam between what is read of a database and how that database is asked for it."""

from collections.abc import Sequence
from typing import Protocol

from waterclock.runners.sync.database.asked import Asked
from waterclock.runners.sync.database.columns import Column
from waterclock.runners.sync.database.line import Line


class Dialect(Protocol):
    """Statements are the database's own; names in them are quoted by `identifier`, values worded by `literal`."""

    where: str

    def open(self) -> Line: ...

    def relation(self, asked: Asked) -> str:
        """What stands after FROM."""
        ...

    def columns(self, line: Line, asked: Asked) -> Sequence[Column]: ...

    def identifier(self, name: str) -> str: ...

    def literal(self, value: str, column: Column) -> str:
        """To compare the column with."""
        ...

    def latest(self, column: Column, lag_seconds: float | None) -> str:
        """The last moment that is not in the future, in the column's own terms."""
        ...

    def estimate(self, line: Line, asked: Asked) -> int | None:
        """About how many rows there are, if its catalogue knows without counting."""
        ...

    def version(self, line: Line) -> str: ...

    def tables(self, line: Line) -> Sequence[str]: ...
