"""Kinds of parameters that several commands share."""

from typing import Any, Final

import click

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import from_datetime, to_iso
from waterclock.faces.iso import from_iso


class Pair(click.ParamType[tuple[str, str]]):
    """`key=value`; the value may hold further `=`. With `dashed` the key becomes `--key`, as programs are given it."""

    name = "key=value"

    def __init__(self, *, dashed: bool = False) -> None:
        self._dashed = dashed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, content = str(value).partition("=")
        if not key or not equals:
            self.fail(f"{value!r} is not key=value", param, ctx)
        return f"--{key}" if self._dashed and not key.startswith("-") else key, content


class Moment(click.ParamType[str]):
    """ISO 8601, passed on in UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            return to_iso(from_datetime(from_iso(str(value), field="time")))
        except InvalidInput as problem:
            self.fail(problem.reason, param, ctx)


PAIR: Final = Pair()
ARGUMENT: Final = Pair(dashed=True)
MOMENT: Final = Moment()

namespace = click.option(
    "--namespace",
    type=click.Choice(["api", "glue", "lake", "chains"]),
    default="api",
    show_default=True,
    help="The face whose names are meant.",
)
any_namespace = click.option(
    "--namespace", type=click.Choice(["api", "glue", "lake", "chains"]), help="Only what was defined through this face."
)
