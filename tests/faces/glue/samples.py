"""Requests made from the model itself: for each action a smallest valid one, and every way to get one member wrong."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from waterclock.faces.glue.model import input_shape, shape

Wrap = Callable[[Any], Any]

SAMPLES_BY_PATTERN_PREFIX = {
    "^(Sun|Mon": "Mon:1",
    "arn:aws": "arn:aws:glue:us-east-1:123456789012:job/a",
    "^((\\w+\\.)": "4.0",
    "^([2-3]|3[.]9)$": "3.9",
    "^[A-Z\\_]+$": "A",
}
ANYTHING = "[\\s\\S]*"
ASTRAL = r"\uD800\uDC00-\uDBFF\uDFFF"  # every code point above U+FFFF, as Java writes it
NO_PATTERN_TAKES = "\n\x01"
WRONG_TYPES: dict[str, tuple[object, ...]] = {
    "structure": ([], "x", 1, True),
    "list": ({}, "x", 1, True),
    "map": ([], "x", 1, True),
    "string": ([], {}, 1, 1.5, True),
    "integer": ([], {}, "1", 1.5, True, 2**31, -(2**31) - 1),
    "long": ([], {}, "1", 1.5, True, 2**63),
    "double": ([], {}, "1", True),
    "boolean": ([], {}, "true", 1),
    "timestamp": ([], {}, 1, "yesterday"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request, and the path of the member that makes it wrong (None: it is valid)."""

    what: str
    body: Any
    field: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Position:
    """A place in a request: what may stand there, how to put it there, and what the place is called."""

    shape: str
    wrap: Wrap
    field: str


def minimal(name: str) -> Any:
    of = shape(name)
    match of["type"]:
        case "structure":
            return {member: minimal(of["members"][member]["shape"]) for member in of.get("required", ())}
        case "list":
            return _list_of(name, max(1, of.get("min", 0)))
        case "map":
            return {_text(of["key"]["shape"]): minimal(of["value"]["shape"])}
        case "string":
            return _text(name)
        case "integer" | "long" | "double":
            return max(1, of.get("min", 1))
        case "boolean":
            return True
        case "timestamp":
            return "2026-11-15T12:00:00Z"
    raise NotImplementedError(of["type"])


def cases(action: str) -> Iterator[Case]:
    for position in positions(action):
        yield from cases_at(position)


def positions(action: str) -> Iterator[Position]:
    yield from _positions(Position(shape=input_shape(action), wrap=lambda value: value, field=""), inside=())


def _positions(at: Position, inside: tuple[str, ...]) -> Iterator[Position]:
    yield at
    if at.shape in inside:
        return
    for step in steps(at):
        yield from _positions(step, (*inside, at.shape))


def steps(at: Position) -> Iterator[Position]:
    of = shape(at.shape)
    match of["type"]:
        case "structure":
            for name, member in of["members"].items():
                yield Position(shape=member["shape"], wrap=_wrap_member(at, name), field=_dotted(at.field, name))
        case "list":
            yield Position(shape=of["member"]["shape"], wrap=_wrap_item(at), field=f"{at.field}[0]")
        case "map":
            key = _text(of["key"]["shape"])
            yield Position(shape=of["value"]["shape"], wrap=lambda v: at.wrap({key: v}), field=f"{at.field}[{key!r}]")


def _wrap_member(at: Position, name: str) -> Wrap:
    return lambda value: at.wrap({**minimal(at.shape), name: value})


def _wrap_item(at: Position) -> Wrap:
    return lambda value: at.wrap([value, *minimal(at.shape)[1:]])


def cases_at(at: Position) -> Iterator[Case]:
    of = shape(at.shape)
    yield Case(what="valid", body=at.wrap(minimal(at.shape)), field=None)
    if at.field:
        for wrong in WRONG_TYPES[of["type"]]:
            yield Case(what=f"wrong type {wrong!r}", body=at.wrap(wrong), field=at.field)
    match of["type"]:
        case "structure":
            yield from _structure_cases(at)
        case "string" if "enum" in of:
            yield Case(what="bad enum", body=at.wrap("NOT-A-MEMBER"), field=at.field)
            yield Case(what="enum in another case", body=at.wrap(of["enum"][0].swapcase()), field=at.field)
        case "string":
            yield from _bound_cases(at, lambda size: _stretched(at.shape, size))
            if of.get("pattern", ANYTHING) != ANYTHING:
                yield Case(what="against its pattern", body=at.wrap(NO_PATTERN_TAKES), field=at.field)
            yield from _script_cases(at)
        case "list":
            yield from _bound_cases(at, lambda size: _list_of(at.shape, size))
            yield Case(what="null item", body=at.wrap([None, *minimal(at.shape)[1:]]), field=f"{at.field}[0]")
        case "map":
            yield from _bound_cases(at, lambda size: _map_of(at.shape, size))
        case "integer" | "long" | "double":
            yield from _bound_cases(at, lambda value: value)


def _structure_cases(at: Position) -> Iterator[Case]:
    whole, of = minimal(at.shape), shape(at.shape)
    yield Case(what="unknown member", body=at.wrap({**whole, "Bogus": 1}), field=_dotted(at.field, "Bogus"))
    for name in of.get("required", ()):
        missing = {key: value for key, value in whole.items() if key != name}
        yield Case(what=f"{name} missing", body=at.wrap(missing), field=_dotted(at.field, name))
        yield Case(what=f"{name} null", body=at.wrap({**whole, name: None}), field=_dotted(at.field, name))


def _script_cases(at: Position) -> Iterator[Case]:
    pattern = shape(at.shape).get("pattern", "")
    if ASTRAL in pattern:
        yield Case(what="an emoji", body=at.wrap("🚀"), field=None)
        legal = "\\n" in pattern or "\\s" in pattern
        yield Case(what="two lines", body=at.wrap("a\nb"), field=None if legal else at.field)


def _bound_cases(at: Position, of_size: Callable[[int], Any]) -> Iterator[Case]:
    of = shape(at.shape)
    least, most = of.get("min"), of.get("max")
    signed = of["type"] in ("integer", "long", "double")
    if most is not None:
        yield Case(what=f"at the maximum {most}", body=at.wrap(of_size(most)), field=None)
        yield Case(what=f"past the maximum {most}", body=at.wrap(of_size(most + 1)), field=at.field)
    if least is not None:
        yield Case(what=f"at the minimum {least}", body=at.wrap(of_size(least)), field=None)
    if least is not None and (signed or least > 0):
        yield Case(what=f"below the minimum {least}", body=at.wrap(of_size(least - 1)), field=at.field)


def _dotted(field: str, name: str) -> str:
    return f"{field}.{name}" if field else name


def _list_of(name: str, size: int) -> list[Any]:
    return [minimal(shape(name)["member"]["shape"]) for _ in range(size)]


def _map_of(name: str, size: int) -> dict[str, Any]:
    value = minimal(shape(name)["value"]["shape"])
    return {f"key{number}": value for number in range(size)}


def _text(name: str) -> str:
    of = shape(name)
    return str(of["enum"][0]) if "enum" in of else _stretched(name, max(1, of.get("min", 0)), exact=False)


def _stretched(name: str, size: int, *, exact: bool = True) -> str:
    pattern = shape(name).get("pattern", "")
    found = [sample for prefix, sample in SAMPLES_BY_PATTERN_PREFIX.items() if pattern.startswith(prefix)]
    text = found[0] if found else "a"
    longer = text + text[-1] * (size - len(text))
    return longer[:size] if exact and (not found or size == 0) else longer
