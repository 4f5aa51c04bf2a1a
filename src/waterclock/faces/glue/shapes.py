"""Checks compiled from the shapes of a botocore service model: one closure per shape, made once, called per request.

A check takes a value from JSON and returns it, or the same without its nulls (AWS reads null as absent), or raises
`Violation`. Lengths of strings count code points, as Smithy defines them and as botocore's own minimum check does: an
emoji is one.
Paths are put together only while a violation travels up: a valid request never builds one.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from math import isfinite
from threading import RLock
from typing import Any, Final

from waterclock.faces.glue.patterns import matcher
from waterclock.faces.glue.violation import Entry, Item, Key, Member, Violation

Shape = Mapping[str, Any]
Check = Callable[[Any], Any]

INTEGER_LIMITS: Final = {"integer": (-(2**31), 2**31 - 1), "long": (-(2**63), 2**63 - 1)}
LAST_MOMENT: Final = 253402300800  # the year 10000, in epoch seconds: what no calendar of ours can hold
NOT_NULL: Final = "Member must not be null"


class Checks:
    """The checks of one model's shapes, compiled when first asked for; shapes may contain themselves."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._shapes = shapes
        self._compiled: dict[str, Check] = {}
        self._begun: set[str] = set()
        self._lock = RLock()

    def of(self, name: str) -> Check:
        with self._lock:
            if name in self._compiled:
                return self._compiled[name]
            if name in self._begun:  # met again inside itself: look it up when called, by then it is there
                return lambda value: self._compiled[name](value)  # noqa: PLW0108
            self._begun.add(name)
            return self._compiled.setdefault(name, self._compile(self._shapes[name]))

    def _compile(self, shape: Shape) -> Check:
        match shape["type"]:
            case "structure":
                members = {name: self.of(member["shape"]) for name, member in shape["members"].items()}
                return structure(members, tuple(shape.get("required", ())))
            case "list":
                return sized_list(self.of(shape["member"]["shape"]), *_bounds(shape))
            case "map":
                return sized_map(self.of(shape["key"]["shape"]), self.of(shape["value"]["shape"]), *_bounds(shape))
            case "string":
                return string(shape)
            case "integer" | "long":
                return integer(shape)
            case "float" | "double":
                return number(*_bounds(shape))
            case "boolean":
                return boolean
            case "timestamp":
                return iso_time if shape.get("timestampFormat") == "iso8601" else number(0, LAST_MOMENT)
        raise NotImplementedError(f"a shape of type {shape['type']!r}")


def structure(members: Mapping[str, Check], required: Sequence[str]) -> Check:
    find = members.get

    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise Violation("Member must be a structure", value)
        changed: dict[str, Any] = {}
        for name, given in value.items():
            accept = find(name)
            if accept is None:
                raise Violation("Member is not known", _Untold).within(Member(name))
            if given is None:
                changed[name] = None
                continue
            try:
                taken = accept(given)
            except Violation as violation:
                raise violation.within(Member(name))  # noqa: B904 (the same exception, one step further out)
            if taken is not given:
                changed[name] = taken
        for name in required:
            if value.get(name) is None:
                raise Violation(NOT_NULL, None).within(Member(name))
        return _without_nulls({**value, **changed}) if changed else value

    return check


def sized_list(accept: Check, least: int | None, most: int | None) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not list:
            raise Violation("Member must be a list", value)
        _check_length(value, least, most)
        taken = []
        for index, item in enumerate(value):
            try:
                taken.append(accept(item) if item is not None else _refuse_null())
            except Violation as violation:
                raise violation.within(Item(index))  # noqa: B904
        return taken

    return check


def sized_map(accept_key: Check, accept: Check, least: int | None, most: int | None) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not dict:
            raise Violation("Member must be a map", value)
        _check_length(value, least, most)
        taken = {}
        for key, item in value.items():
            _check_key(accept_key, key)
            try:
                taken[key] = accept(item) if item is not None else _refuse_null()
            except Violation as violation:
                raise violation.within(Entry(key))  # noqa: B904
        return taken

    return check


def string(shape: Shape) -> Check:
    least, most = _bounds(shape)
    enum = frozenset(shape.get("enum", ()))
    matches = matcher(shape["pattern"]) if "pattern" in shape else None

    def check(value: Any) -> Any:
        if type(value) is not str:
            raise Violation("Member must be a string", value)
        if enum:
            if value not in enum:
                raise Violation(f"Member must satisfy enum value set: [{', '.join(shape['enum'])}]", value)
            return value
        _check_length(value, least, most)
        if matches is not None and not matches(value):
            raise Violation(f"Member must satisfy regular expression pattern: {shape['pattern']}", value)
        # No argument vector, path or database text can hold it, whatever the model lets through.
        if "\0" in value:
            raise Violation("Member must not contain the character U+0000", value)
        return value

    return check


def integer(shape: Shape) -> Check:
    smallest, largest = INTEGER_LIMITS[shape["type"]]
    least, most = max(smallest, shape.get("min", smallest)), min(largest, shape.get("max", largest))

    def check(value: Any) -> Any:
        if type(value) is not int:  # True is an int to Python, never to AWS
            raise Violation("Member must be an integer", value)
        _check_range(value, least, most)
        return value

    return check


def number(least: float | None, most: float | None) -> Check:
    def check(value: Any) -> Any:
        if type(value) is not int and not (type(value) is float and isfinite(value)):
            raise Violation("Member must be a number", value)
        _check_range(value, least, most)
        return value

    return check


def boolean(value: Any) -> Any:
    if type(value) is not bool:
        raise Violation("Member must be a boolean", value)
    return value


def iso_time(value: Any) -> Any:
    try:
        datetime.fromisoformat(value)
    except (TypeError, ValueError):
        raise Violation("Member must be a timestamp in ISO 8601 form", value) from None
    return value


class _Untold:
    """Stands for a value that is not repeated in the error."""


def _bounds(shape: Shape) -> tuple[Any, Any]:
    return shape.get("min"), shape.get("max")


def _without_nulls(value: dict[str, Any]) -> dict[str, Any]:
    return {name: given for name, given in value.items() if given is not None}


def _refuse_null() -> Any:
    raise Violation(NOT_NULL, None)


def _check_key(accept: Check, key: str) -> None:
    try:
        accept(key)
    except Violation as violation:
        constraint = f"Map keys must satisfy constraint: [{violation.constraint}]"
        raise Violation(constraint, _Untold).within(Key(key)) from None


def _check_length(value: Any, least: int | None, most: int | None) -> None:
    if least is not None and len(value) < least:
        raise Violation(f"Member must have length greater than or equal to {least}", value)
    if most is not None and len(value) > most:
        raise Violation(f"Member must have length less than or equal to {most}", value)


def _check_range(value: float, least: float | None, most: float | None) -> None:
    if least is not None and value < least:
        raise Violation(f"Member must have value greater than or equal to {least}", value)
    if most is not None and value > most:
        raise Violation(f"Member must have value less than or equal to {most}", value)
