"""What a request member did wrong, worded as AWS words it and naming where it stands.

`Violation` travels up through the checks and collects its path on the way, so that a valid request pays nothing for
paths; `MemberRefused` is what leaves the face.
"""

from dataclasses import dataclass
from typing import Final

from waterclock.domain.errors import InvalidInput

LONGEST_SHOWN: Final = 256
LONGEST_KEY_SHOWN: Final = 64


@dataclass(frozen=True, slots=True)
class Member:
    """A step into a structure."""

    name: str


@dataclass(frozen=True, slots=True)
class Item:
    """A step into a list; counted from 0 here, from 1 on the wire."""

    index: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A step into a map, to the value under a key."""

    key: str


@dataclass(frozen=True, slots=True)
class Key:
    """The key itself is wrong: on the wire the map is named, not the key."""

    key: str


Step = Member | Item | Entry | Key


class Violation(Exception):
    """One broken constraint; `path` is filled from the inside out."""

    def __init__(self, constraint: str, value: object) -> None:
        super().__init__(constraint)
        self.constraint, self.value = constraint, value
        self.path: list[Step] = []

    def within(self, step: Step) -> "Violation":
        self.path.append(step)
        return self

    def as_refusal(self) -> "MemberRefused":
        return MemberRefused(self.constraint, path=tuple(reversed(self.path)), value=self.value)


class MemberRefused(InvalidInput):
    """`field` is the path as the caller wrote it: `JobUpdate.Command.Name`, `Actions[0].JobName`, `Tags['team']`."""

    def __init__(self, constraint: str, *, path: tuple[Step, ...], value: object) -> None:
        self.constraint = constraint
        # What stands in a map may be a secret (job arguments): never repeated, not even to the one who sent it.
        shown = "" if any(isinstance(step, Entry) for step in path) else _shown(value)
        at = f"Value{shown} at '{_wire_path(path)}'"
        reason = f"1 validation error detected: {at} failed to satisfy constraint: {constraint}"
        super().__init__(reason, field=_field(path), value=value)

    def __str__(self) -> str:
        return self.reason


def _field(path: tuple[Step, ...]) -> str:
    text = ""
    for step in path:
        match step:
            case Member(name):
                text += f"{'.' if text else ''}{_cut(name, LONGEST_KEY_SHOWN)}"
            case Item(index):
                text += f"[{index}]"
            case Entry(key) | Key(key):
                text += f"[{_cut(key, LONGEST_KEY_SHOWN)!r}]"
    return text


def _wire_path(path: tuple[Step, ...]) -> str:
    return ".".join(_wire_step(step) for step in path if not isinstance(step, Key))


def _wire_step(step: Member | Item | Entry) -> str:
    match step:
        case Member(name):
            return name[:1].lower() + _cut(name[1:], LONGEST_KEY_SHOWN)
        case Item(index):
            return f"{index + 1}.member"
        case Entry(key):
            return f"{_cut(key, LONGEST_KEY_SHOWN)}.member"


def _shown(value: object) -> str:
    match value:
        case None:
            return " null"
        case bool():
            return f" '{str(value).lower()}'"
        case str():
            return f" '{_cut(value, LONGEST_SHOWN)}'"
        case int() | float():
            return f" '{_cut(str(value), LONGEST_SHOWN)}'"
    return ""


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[:longest] + "…"
