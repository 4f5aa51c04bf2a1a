"""What a waiting process is told to become its program: no more than it needs, ready to use, in a few bytes.

Made by its keeper, because what a keeper touches is touched once and what a fork touches is copied in every fork. It
goes from one fork to another of the same interpreter, and nowhere else.
"""

import marshal
import os
from collections.abc import Mapping
from os import read
from typing import Final, NamedTuple

from waterclock.runners import warm
from waterclock.runners.base import Program
from waterclock.runners.linux import EnvironmentSlot

_LIMITS: Final = ("memory_bytes", "cpu_seconds", "open_files")  # `processes` is for the keeper to count
_LENGTH_BYTES: Final = 8
_READ_BYTES: Final = 64 * 1024


class Calling(NamedTuple):
    argv: tuple[str, ...]
    is_python: bool  # a script, for our own interpreter
    is_warm: bool  # and for a fork of it
    env: Mapping[str, str]
    cwd: str
    user: str | None
    limits: Mapping[str, int]  # those that it has
    token: bytes  # for the memory that others read as its environment
    name: bytes


def token(program: Program) -> list[str]:
    """The entries of its environment that no other attempt has; none when it carries no run id."""
    names = ("WATERCLOCK_RUN_ID", "WATERCLOCK_ATTEMPT", "WATERCLOCK_FENCE")
    if names[0] not in program.env:
        return []
    return [f"{name}={program.env[name]}" for name in names if name in program.env]


def encoded(program: Program, slot: EnvironmentSlot) -> bytes:
    body = marshal.dumps(
        (
            program.argv,
            program.warm,
            program.warm and warm.understands(program.env),
            dict(program.env),
            program.cwd,
            program.user,
            {name: value for name in _LIMITS if (value := getattr(program.limits, name)) is not None},
            slot.image(token(program)),
            os.fsencode(os.path.basename(program.argv[0])),
        )
    )
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


def wait_for(fd: int) -> Calling | None:
    """None when the other side goes without giving one, or not all of it."""
    data = b""
    while len(data) < _LENGTH_BYTES or len(data) < _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "big"):
        more = read(fd, _READ_BYTES)
        if not more:
            return None
        data += more
    return Calling._make(marshal.loads(data[_LENGTH_BYTES:]))  # noqa: S302 - of our own making, through a pipe of ours
