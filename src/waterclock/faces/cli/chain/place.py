"""Where in a file something stands, and what is wrong there."""

from collections.abc import Mapping
from dataclasses import dataclass

from waterclock.faces.cli.output import printable


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}, line {self.line}, column {self.column}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """`at` is the path of the field, such as chains[1].jobs[0].step_lvl."""

    place: Place
    reason: str
    at: str = ""

    def __str__(self) -> str:
        return printable(f"{self.place}: {self.at}: {self.reason}" if self.at else f"{self.place}: {self.reason}")


def nearest(places: Mapping[str, Place], field: str) -> Place | None:
    """The place of `jobs[0].step_lvl`, or of what it is in."""
    while field and field not in places:
        field = field[: max(field.rfind("."), field.rfind("["), 0)]
    return places.get(field)
