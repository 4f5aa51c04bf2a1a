"""Values as JSON and back, types included: what JSON has no words for carries a tag; nothing is changed silently.

| tag | value |
|---|---|
| `$datetime` | ISO 8601, naive or with an offset; or an object: this as `local`, and its `zone`, `fold` and `name` |
| `$date` `$uuid` `$decimal` | as text |
| `$timedelta` | days, seconds, microseconds |
| `$bytes` | base64 |
| `$set` `$frozenset` `$tuple` | their elements |
| `$int` | in hexadecimal: one of more than 64 bits |
| `$text` | base64 of UTF-8: one with NUL or lone surrogates, which no database takes |
| `$dict` | pairs: one with keys that begin with `$` or that are themselves such a text |
| `$repr` | of a result that could not be kept, or was too large; never inside another value |

A value is what its type says and no more: subclasses (enumerations, named tuples) are refused like anything else.
"""

from __future__ import annotations

import reprlib
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from math import isfinite
from typing import Any, Final
from uuid import UUID
from zoneinfo import ZoneInfo

import orjson

DEEPEST: Final = 60  # of values in values; each may take three levels of JSON, of which orjson writes 254
LARGEST_RESULT: Final = 1 << 20  # bytes
LARGEST_REPR: Final = 1 << 16
NARROW: Final = range(-(1 << 63), 1 << 64)  # the integers that JSON parsers read as such

Writer = Callable[[Any, str, int], object]


class Described:
    """Stands for a result that could not be kept: all that is left is what its repr() said."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Described) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text


def dumps(value: object, where: str = "value") -> str:
    """JSON that `loads` reads back; TypeError that says where in the value something cannot be kept, and what to do."""
    return orjson.dumps(write(value, where)).decode()


def loads(text: str) -> Any:
    """The same value; ValueError for a text that `dumps` never wrote."""
    try:
        return read(orjson.loads(text))
    except RecursionError as error:
        raise ValueError("nested too deep") from error


def dumps_result(value: object) -> str:
    """The same for what a job returned, which is never an error: what cannot be kept, or is too large, is described."""
    try:
        kept = orjson.dumps(write(value, "result"))
        if len(kept) <= LARGEST_RESULT:
            return kept.decode()
    except TypeError:
        pass
    return orjson.dumps({"$repr": _described(value)}).decode()


def loads_result(text: str) -> Any:
    kept = orjson.loads(text)
    if isinstance(kept, dict) and kept.keys() == {"$repr"}:
        return Described(kept["$repr"])
    return read(kept)


def write(value: object, where: str, depth: int = DEEPEST) -> object:
    """The value in terms of JSON alone, for whoever keeps it inside a larger document."""
    if value is None or value is True or value is False:
        return value
    writer = WRITERS.get(type(value))
    if writer is None:
        raise refused(where, f"of type {_full_name(type(value))}")
    if depth == 0:
        raise refused(where[:200], f"nested deeper than {DEEPEST} levels")
    return writer(value, where, depth - 1)


def read(kept: object) -> Any:
    """What `write` was given; ValueError for what it never wrote."""
    match kept:
        case list():
            return [read(each) for each in kept]
        case dict():
            return _read_tag(kept) if any(key.startswith("$") for key in kept) else _read_dict(kept.items())
    return kept


def refused(where: str, what: str) -> TypeError:
    return TypeError(
        f"{where} is {what}, which is not kept as JSON: pass what it can be made from, such as its id, or open the "
        f'job store with serializer="pickle"'
    )


def _write_int(value: int, where: str, depth: int) -> object:
    return value if value in NARROW else {"$int": hex(value)}


def _write_float(value: float, where: str, depth: int) -> object:
    if not isfinite(value):
        raise refused(where, f"the float {value}")
    return value


def _write_str(value: str, where: str, depth: int) -> object:
    return value if _is_plain(value) else {"$text": _base64(value.encode("utf-8", "surrogatepass"))}


def _write_list(value: list[Any], where: str, depth: int) -> object:
    return [write(each, f"{where}[{index}]", depth) for index, each in enumerate(value)]


def _write_tuple(value: tuple[Any, ...], where: str, depth: int) -> object:
    return {"$tuple": [write(each, f"{where}[{index}]", depth) for index, each in enumerate(value)]}


def _write_set(value: set[Any] | frozenset[Any], where: str, depth: int) -> object:
    """In an order of its own, so that the same set is the same text in every process."""
    elements = [write(each, f"{where}{{…}}", depth) for each in list(value)]  # a copy: another thread may change it
    return {f"${type(value).__name__}": sorted(elements, key=orjson.dumps)}


def _write_dict(value: dict[Any, Any], where: str, depth: int) -> object:
    pairs = list(value.items())  # a copy: another thread may change it
    for key, _ in pairs:
        if type(key) is not str:
            raise refused(where, f"a dict with a key of type {_full_name(type(key))}")
    written = {key: write(each, f"{where}[{key!r}]", depth) for key, each in pairs}
    if all(_is_plain(key) and not key.startswith("$") for key in written):
        return written
    return {"$dict": [[_write_str(key, where, depth), each] for key, each in written.items()]}


def _write_datetime(value: datetime, where: str, depth: int) -> object:
    zone = value.tzinfo
    more: dict[str, object] = {"fold": value.fold} if value.fold else {}
    match zone:
        case None:
            pass
        case ZoneInfo() if type(zone) is ZoneInfo and _is_known(zone):
            more["zone"], value = zone.key, value.replace(tzinfo=None)
        case timezone() if not zone.utcoffset(None).microseconds:  # which datetime itself does not always read back
            name = zone.tzname(None)
            more |= {} if name == timezone(zone.utcoffset(None)).tzname(None) else {"name": _write_str(name, where, 0)}
        case _:
            raise refused(where, f"a datetime in the zone {zone!r}, neither zoneinfo's by name nor in whole seconds")
    return {"$datetime": {"local": value.isoformat(), **more} if more else value.isoformat()}


def _read_tag(kept: dict[str, Any]) -> Any:
    tag = next(iter(kept))
    reader = READERS.get(tag)
    if reader is None or len(kept) > 1:
        raise ValueError(f"no tag of ours: {', '.join(kept)[:80]}")
    try:
        return reader(kept[tag])
    except (ArithmeticError, AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{tag} holds nothing of the kind: {error!r}") from error


def _read_dict(pairs: Any) -> dict[str, Any]:
    return {read(key): read(each) for key, each in pairs}


def _read_datetime(kept: str | dict[str, Any]) -> datetime:
    if isinstance(kept, str):
        return datetime.fromisoformat(kept)
    value = datetime.fromisoformat(kept["local"]).replace(fold=kept.get("fold", 0))
    if "zone" in kept:
        return value.replace(tzinfo=ZoneInfo(kept["zone"]))
    offset = value.utcoffset()
    if offset is not None and "name" in kept:
        return value.replace(tzinfo=timezone(offset, read(kept["name"])))
    return value


def _is_plain(text: str) -> bool:
    if text.isascii():
        return "\0" not in text
    return "\0" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def _is_known(zone: ZoneInfo) -> bool:
    """One that was made from a file has no name, or one that nobody else knows."""
    try:
        ZoneInfo(zone.key)
    except (KeyError, ValueError, OSError, TypeError):
        return False
    return True


def _full_name(kind: type) -> str:
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _base64(value: bytes) -> str:
    return b64encode(value).decode()


def _described(value: object) -> str:
    """Its repr(), which may fail, be endless or hold anything."""
    shown = reprlib.Repr()
    shown.maxother = LARGEST_REPR
    text = shown.repr_instance(value, 0).replace("\0", "\\x00")
    return text.encode("utf-8", "backslashreplace")[:LARGEST_REPR].decode("utf-8", "ignore")


WRITERS: Final[Mapping[type, Writer]] = {
    int: _write_int,
    float: _write_float,
    str: _write_str,
    list: _write_list,
    dict: _write_dict,
    tuple: _write_tuple,
    set: _write_set,
    frozenset: _write_set,
    datetime: _write_datetime,
    date: lambda value, where, depth: {"$date": value.isoformat()},
    timedelta: lambda value, where, depth: {"$timedelta": [value.days, value.seconds, value.microseconds]},
    Decimal: lambda value, where, depth: {"$decimal": str(value)},
    # Whether its making was safe from others' (UUID.is_safe) is of no use to whoever reads it later.
    UUID: lambda value, where, depth: {"$uuid": str(value)},
    bytes: lambda value, where, depth: {"$bytes": _base64(value)},
}
READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "$int": lambda kept: int(kept, 16),
    "$text": lambda kept: b64decode(kept, validate=True).decode("utf-8", "surrogatepass"),
    "$dict": _read_dict,
    "$tuple": lambda kept: tuple(map(read, kept)),
    "$set": lambda kept: set(map(read, kept)),
    "$frozenset": lambda kept: frozenset(map(read, kept)),
    "$datetime": _read_datetime,
    "$date": date.fromisoformat,
    "$timedelta": lambda kept: timedelta(*kept),
    "$decimal": Decimal,
    "$uuid": UUID,
    "$bytes": lambda kept: b64decode(kept, validate=True),
}
