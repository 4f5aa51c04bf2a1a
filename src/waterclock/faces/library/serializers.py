"""How the arguments of a job are kept: as tagged JSON, or pickled where the program asked for it."""

from __future__ import annotations

import pickle
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any, Final, Protocol, runtime_checkable

from waterclock.faces.library import tagged
from waterclock.faces.library.references import Unloadable

ARGUMENTS: Final = "the arguments"
PICKLED: Final = "pickle"
NOTHING: Final[Mapping[str, object]] = {"args": [], "kwargs": {}}  # what most calls are given


@runtime_checkable
class Serializer(Protocol):
    """What it dumps becomes a part of the job's definition, and must therefore be JSON."""

    def dump(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        """TypeError that says which of them cannot be kept, and why."""

    def load(self, kept: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The same again; Unloadable where that is not possible."""


class JsonSerializer:
    """The default: nothing that is stored is executed, and people can read it."""

    def dump(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        return {"args": tagged.write(list(args), "args"), "kwargs": tagged.write(dict(kwargs), "kwargs")}

    def load(self, kept: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if kept == NOTHING:
            return (), {}
        if PICKLED in kept:
            reason = 'they are pickled; if you trust all who write to it, open the job store with serializer="pickle"'
            raise Unloadable(ARGUMENTS, reason)
        try:
            return tuple(tagged.read(kept["args"])), dict(tagged.read(kept["kwargs"]))
        except (KeyError, TypeError, ValueError, RecursionError) as problem:
            raise Unloadable(ARGUMENTS, f"{type(problem).__name__}: {problem}") from problem


class PickleSerializer:
    """Keeps whatever can be pickled. To unpickle is to execute: whoever writes to the store can run anything here.

    What was kept as JSON, before the program asked for pickles, it still loads.
    """

    def __init__(self, protocol: int = pickle.HIGHEST_PROTOCOL) -> None:
        if protocol not in range(pickle.HIGHEST_PROTOCOL + 1):
            raise ValueError(f"pickle_protocol must be one of 0–{pickle.HIGHEST_PROTOCOL}, not {protocol!r}")
        self._protocol = protocol

    def dump(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        try:
            pickled = pickle.dumps((tuple(args), dict(kwargs)), self._protocol)
        except (pickle.PicklingError, AttributeError, TypeError, ValueError, RecursionError) as problem:
            raise TypeError(f"args or kwargs cannot be pickled: {problem}") from problem
        return {PICKLED: b64encode(pickled).decode()}

    def load(self, kept: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        if PICKLED not in kept:
            return JsonSerializer().load(kept)
        try:
            args, kwargs = pickle.loads(b64decode(kept[PICKLED]))  # noqa: S301  # the program asked for it
            return tuple(args), dict(kwargs)
        except (Exception, SystemExit) as problem:  # it runs what the classes in it do, which may raise anything
            raise Unloadable(ARGUMENTS, f"{type(problem).__name__}: {problem}") from problem


def serializer_for(given: str | Serializer) -> Serializer:
    """ "json", "pickle", or an object that dumps and loads."""
    match given:
        case "json":
            return JsonSerializer()
        case "pickle":
            return PickleSerializer()
        case str():
            raise ValueError(f"serializer must be 'json', 'pickle' or an object with dump() and load(), not {given!r}")
        case Serializer():
            return given
    raise TypeError(f"serializer must be 'json', 'pickle' or an object with dump() and load(), not {given!r}")
