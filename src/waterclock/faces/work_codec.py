"""Messages as JSON, and back: read by the types of their own fields, so that none can be forgotten or mistaken.

A question is read strictly: what does not fit is refused with its place, as `claimant.queues[1]: must be text`. An
answer comes from a server that we trust with more than that; one of a later release has fields that we do not know.
"""

import dataclasses
from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeVar, Union, cast, get_args, get_origin, get_type_hints

import orjson

from waterclock.domain.errors import InvalidInput

T = TypeVar("T")
Reader = Callable[[object, str, bool], Any]  # a value, its place, whether it is read strictly

LARGEST: Final = 2**63
LONGEST_PLACE: Final = 200


def encoded(message: object) -> bytes:
    """Dataclasses, enumerations and tuples are what the encoder knows by itself."""
    return orjson.dumps(message)


def decoded(kind: type[T], data: bytes, *, strictly: bool) -> T:
    try:
        found = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise InvalidInput(f"the body is not JSON: {problem}") from None
    return cast(T, _reader(cast(Hashable, kind))(found, "", strictly))


@cache
def _reader(hint: Hashable) -> Reader:
    if dataclasses.is_dataclass(hint):
        return _of_fields(cast(type, hint))
    if hint in _PLAIN:
        return _PLAIN[hint]
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _one_of(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, UnionType) and len(inner) == 2 and NoneType in inner:
        return _or_none(_reader(next(each for each in inner if each is not NoneType)))
    if origin is tuple and inner[-1] is Ellipsis:
        return _list_of(_reader(inner[0]))
    if origin is tuple:
        return _row_of([_reader(each) for each in inner])
    if origin is Mapping:
        return _mapping_of(_reader(inner[1]))
    raise TypeError(f"nobody has said how a {hint} is read")


def _of_fields(kind: type) -> Reader:
    hints = get_type_hints(kind)
    entries = dataclasses.fields(kind)
    readers = {entry.name: _reader(hints[entry.name]) for entry in entries}
    required = [
        entry.name
        for entry in entries
        if entry.default is dataclasses.MISSING and entry.default_factory is dataclasses.MISSING
    ]

    def read(value: object, place: str, strictly: bool) -> object:
        given = _object(value, place)
        for name in given:
            if name not in readers and strictly:
                raise _refused("unknown field", f"{place}.{name}")
        for name in required:
            if name not in given:
                raise _refused("is required", f"{place}.{name}")
        known = {
            name: readers[name](item, f"{place}.{name}", strictly) for name, item in given.items() if name in readers
        }
        return kind(**known)

    return read


def _whole(value: object, place: str, strictly: bool) -> object:
    fits = isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value < LARGEST
    return _fit(value, fits or not strictly, "must be a whole number of 64 bits", place)


def _number(value: object, place: str, strictly: bool) -> object:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    return _fit(value, fits or not strictly, "must be a number", place)


def _text(value: object, place: str, strictly: bool) -> object:
    fits = isinstance(value, str) and "\0" not in value
    return _fit(value, fits or not strictly, "must be text without a NUL", place)


def _flag(value: object, place: str, strictly: bool) -> object:
    return _fit(value, isinstance(value, bool) or not strictly, "must be true or false", place)


def _anything(value: object, place: str, strictly: bool) -> object:
    return value


def _fit(value: object, fits: bool, reason: str, place: str) -> object:
    if not fits:
        raise _refused(reason, place)
    return value


def _one_of(kind: type[Enum]) -> Reader:
    known = {each.value: each for each in kind}

    def read(value: object, place: str, strictly: bool) -> Enum:
        if not isinstance(value, str) or value not in known:
            raise _refused(f"must be one of {', '.join(map(str, known))}", place)
        return known[value]

    return read


def _or_none(reader: Reader) -> Reader:
    return lambda value, place, strictly: None if value is None else reader(value, place, strictly)


def _list_of(reader: Reader) -> Reader:
    def read(value: object, place: str, strictly: bool) -> tuple[object, ...]:
        return tuple(reader(item, f"{place}[{at}]", strictly) for at, item in enumerate(_items(value, place)))

    return read


def _row_of(readers: Sequence[Reader]) -> Reader:
    def read(value: object, place: str, strictly: bool) -> tuple[object, ...]:
        items = _items(value, place)
        if len(items) != len(readers):
            raise _refused(f"must be a list of {len(readers)}", place)
        pairs = zip(readers, items, strict=True)
        return tuple(reader(item, f"{place}[{at}]", strictly) for at, (reader, item) in enumerate(pairs))

    return read


def _mapping_of(reader: Reader) -> Reader:
    def read(value: object, place: str, strictly: bool) -> dict[str, object]:
        return {name: reader(item, f"{place}.{name}", strictly) for name, item in _object(value, place).items()}

    return read


def _object(value: object, place: str) -> dict[str, object]:
    if not isinstance(value, dict):
        raise _refused("must be a JSON object", place)
    return value


def _items(value: object, place: str) -> list[object]:
    if not isinstance(value, list):
        raise _refused("must be a list", place)
    return value


def _refused(reason: str, place: str) -> InvalidInput:
    return InvalidInput(reason, field=place.removeprefix(".")[:LONGEST_PLACE] or None)


_PLAIN: Final[Mapping[Any, Reader]] = {int: _whole, float: _number, str: _text, bool: _flag, object: _anything}
