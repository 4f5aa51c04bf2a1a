"""Rows that share most of their values: those once, and for each row a tuple of its own."""

from collections.abc import Mapping, Sequence
from typing import overload

from waterclock.stores.base import Values


class Alike(Sequence[Values]):
    """To whoever knows nothing of it a sequence of rows; who can send columns finds them as they are."""

    def __init__(self, shared: Values, names: Sequence[str], own: Sequence[tuple[object, ...]]) -> None:
        self.shared = shared  # may have values for `names`, too: a row's own comes first
        self._names = names
        self._own = own

    @classmethod
    def of(cls, rows: Sequence[Values]) -> "Alike":
        """Of rows that were made one by one, all with the same names; at least the first is each row's own."""
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        first, *others = columns
        names = [first, *(name for name in others if columns[name].count(columns[name][0]) != len(rows))]
        return cls(rows[0], names, list(zip(*(columns[name] for name in names), strict=True)))

    def sharing(self, values: Values) -> "Alike":
        """The same rows, but for these values of all of them: `values` names none that a row has of its own."""
        return Alike({**self.shared, **values}, self._names, self._own)

    def __len__(self) -> int:
        return len(self._own)

    @overload
    def __getitem__(self, place: int) -> Values: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Values]: ...

    def __getitem__(self, place: int | slice) -> Values | Sequence[Values]:
        if isinstance(place, slice):
            return Alike(self.shared, self._names, self._own[place])
        return {**self.shared, **dict(zip(self._names, self._own[place], strict=True))}

    def columns(self) -> Mapping[str, Sequence[object]]:
        """What each row has of its own."""
        return dict(zip(self._names, zip(*self._own, strict=True), strict=True))
