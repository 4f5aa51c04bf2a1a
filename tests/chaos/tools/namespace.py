"""A network namespace of our own: a host that reaches nothing but the address that we give it."""

import itertools
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

_NUMBERS: Final = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Namespace:
    name: str
    outside: str  # our own address, as seen from within

    @property
    def prefix(self) -> tuple[str, ...]:
        """Before a command that is to run within."""
        return ("ip", "netns", "exec", self.name)


@contextmanager
def namespace() -> Iterator[Namespace | None]:
    """None where we may make none: the scenario says so, and stays on loopback."""
    number = os.getpid() % 200 + next(_NUMBERS)
    name = f"wc-chaos-{os.getpid()}-{number}"
    inner, outer = f"wci{os.getpid()}", f"wco{os.getpid()}"
    net = f"10.203.{number % 250}"  # for the two ends of the pair alone
    try:
        _ip("netns", "add", name)
    except (OSError, subprocess.CalledProcessError):
        yield None
        return
    try:
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name)
        _ip("addr", "add", f"{net}.1/30", "dev", outer)
        _ip("link", "set", outer, "up")
        _ip("-n", name, "addr", "add", f"{net}.2/30", "dev", inner)
        _ip("-n", name, "link", "set", inner, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield Namespace(name=name, outside=f"{net}.1")
    finally:
        _ip("netns", "del", name)  # the pair goes with it


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)
