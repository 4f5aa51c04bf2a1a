"""The sources that a lake job names: the one that it reads, and those of outputs that are databases.

A caller names them by name or number; what is kept for the run has their numbers, which a new name does not change.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake_sync import READ_BY, SYNC_KINDS, SourceKind, SyncKind

Reference = str | int

NAME: Final = "source"
NUMBER: Final = "source_id"
_OUTPUTS: Final = ("destinations", "query_info")  # where a sync has them, and a query
# By the type of an output: the sources that say where its database is.
WRITTEN_BY: Final[Mapping[str, frozenset[SourceKind]]] = {
    "postgresql": frozenset({SourceKind.POSTGRESQL}),
    "mysql": frozenset({SourceKind.MYSQL}),
    "jdbc": frozenset({SourceKind.POSTGRESQL, SourceKind.MYSQL}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A source as a job names it: where, for whom, and of which kinds it may be there."""

    place: str
    reference: Reference
    reader: str
    kinds: frozenset[SourceKind]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    id: int
    kind: SourceKind


def sources_named(kind: str, task: Mapping[str, object]) -> tuple[Named, ...]:
    """By a job of this kind."""
    outputs = tuple(found for place in _OUTPUTS for found in _databases(task.get(place), place))
    match task.get(NAME):
        case str() | int() as own if kind in SYNC_KINDS:
            return (Named(place=NAME, reference=own, reader=f"a {kind}", kinds=READ_BY[SyncKind(kind)]), *outputs)
    return outputs


def check_found(named: Named, found: Found | None) -> Found:
    """It is there, and of a kind that fits, or it is refused by its place."""
    if found is None:
        raise InvalidInput(
            f"there is no source {named.reference!r} in your organisation: see waterclock lake source list",
            field=named.place,
            value=named.reference,
        )
    if found.kind not in named.kinds:
        fitting = ", ".join(sorted(named.kinds))
        raise InvalidInput(
            f"{named.reference!r} is a source of the kind {found.kind}, and {named.reader} needs one of {fitting}",
            field=named.place,
            value=named.reference,
        )
    return found


def with_source_ids(task: Mapping[str, object], ids: Mapping[str, int]) -> dict[str, object]:
    """As a worker reads it: every source is a number. `ids` are by the places of `sources_named`."""
    kept = {name: _numbered(value, name, ids) for name, value in task.items()}
    return {**kept, NUMBER: ids[NAME]} if NAME in ids else kept


def _databases(value: object, place: str) -> Iterator[Named]:
    match value:
        case {"type": str(kind), "config": {"source": str() | int() as reference}} if kind in WRITTEN_BY:
            reader = f"an output of the type {kind}"
            yield Named(place=f"{place}.config.{NAME}", reference=reference, reader=reader, kinds=WRITTEN_BY[kind])
        case {"outputs": outputs}:
            yield from _databases(outputs, f"{place}.outputs")
        case list() | tuple():
            for number, item in enumerate(value):
                yield from _databases(item, f"{place}[{number}]")


def _numbered(value: object, place: str, ids: Mapping[str, int]) -> object:
    match value:
        case Mapping():
            return {name: _numbered(item, f"{place}.{name}", ids) for name, item in value.items()}
        case list() | tuple():
            return [_numbered(item, f"{place}[{number}]", ids) for number, item in enumerate(value)]
    return ids.get(place, value)
