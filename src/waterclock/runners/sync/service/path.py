"""Where in a page something lies: a small part of JSONPath, read once and followed in every page.

`$` is the page itself; `.name` or `['any name']` is a member, `[0]` an element (`[-1]` the last), `[*]` each element:
`$.data.items[*]`, `$.groups[*].members`, `$['odd name']`. The `$` may be left out. Nothing else is known: no filters,
no slices, no `..`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from waterclock.runners.sync.source import SourceFailed

_STEP: Final = re.compile(
    r"""\.(?P<name>[^\s.\[\]'"$*]+) | \['(?P<single>[^']*)'\] | \["(?P<double>[^"]*)"\]
        | \[(?P<index>-?[0-9]{1,9})\] | (?P<each>\[\*\])""",
    re.VERBOSE,
)
_EXAMPLE: Final = "give one such as $.data.items[*] (members, [0], [*])"
_LONGEST_SHOWN: Final = 200


class NotThere(Exception):
    """Which step of a path led nowhere, and what there was instead."""


@dataclass(frozen=True, slots=True)
class _Each: ...


Step = str | int | _Each


@dataclass(frozen=True, slots=True)
class JsonPath:
    text: str
    steps: tuple[Step, ...]

    def records(self, page: Any) -> list[Any]:
        """The elements of the list that it leads to; an object is one record, and null is none."""
        found = list(_followed(page, self.steps, "$"))
        if self.steps and isinstance(self.steps[-1], _Each):
            return found
        return [each for value in found for each in (value if isinstance(value, list) else [value])]

    def value(self, page: Any) -> Any:
        """The first that it leads to; None where there is none."""
        try:
            return next(iter(_followed(page, self.steps, "$")), None)
        except NotThere:
            return None


def path_of(text: object, *, field: str) -> JsonPath:
    if not isinstance(text, str) or not text.strip():
        raise SourceFailed(f"{field} is no path: {_EXAMPLE}")
    rest = text.strip().removeprefix("$")
    rest = rest if rest.startswith((".", "[")) or not rest else f".{rest}"
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        if not (found := _STEP.match(rest, at)):
            raise SourceFailed(f"{field} {text!r} cannot be read from {rest[at:]!r} on: {_EXAMPLE}")
        steps.append(_step(found))
        at = found.end()
    return JsonPath(text.strip(), tuple(steps))


def _step(found: re.Match[str]) -> Step:
    if found["each"]:
        return _Each()
    if found["index"]:
        return int(found["index"])
    return next(name for name in (found["name"], found["single"], found["double"]) if name is not None)


def _followed(value: Any, steps: Sequence[Step], there: str, *, strict: bool = True) -> Iterator[Any]:
    """Behind a `[*]` an element that lacks the next step has nothing; before it, `NotThere`."""
    if value is None:
        return
    if not steps:
        yield value
        return
    step, rest = steps[0], steps[1:]
    if isinstance(step, _Each) and isinstance(value, list):
        for number, each in enumerate(value):
            if rest:
                yield from _followed(each, rest, f"{there}[{number}]", strict=False)
            else:
                yield each  # null, too: whoever counts records must see it
    elif isinstance(step, str) and isinstance(value, Mapping) and step in value:
        yield from _followed(value[step], rest, f"{there}.{step}", strict=strict)
    elif isinstance(step, int) and isinstance(value, list) and -len(value) <= step < len(value):
        yield from _followed(value[step], rest, f"{there}[{step}]", strict=strict)
    elif strict:
        raise NotThere(f"at {there} there is {shape_of(value)}")


def shape_of(value: Any) -> str:
    """What it is, without its values: they may be anybody's."""
    match value:
        case Mapping():
            names = ", ".join(f"{name!r} ({_plain_shape(held)})" for name, held in value.items())
            return f"an object with {names}"[:_LONGEST_SHOWN] if names else "an empty object"
        case _:
            return _plain_shape(value)


def _plain_shape(value: Any) -> str:
    match value:
        case None:
            return "null"
        case Mapping():
            return "an object"
        case list():
            return f"a list of {len(value)}"
        case str():
            return "a text"
        case bool():
            return "a truth value"
        case _:
            return "a number"
