"""How arguments are kept: as JSON unless the program asked for pickles, and pickles are never loaded unasked."""

import pickle
import threading
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.library.callables import Base, function
from waterclock.faces.library.references import Unloadable
from waterclock.faces.library.serializers import JsonSerializer, PickleSerializer, Serializer, serializer_for

NOON = datetime(2026, 11, 15, 12, tzinfo=UTC)
ARGS, KWARGS = (1, ("two", {3}), None), {"when": NOON, "$odd": b"\0"}


def through_a_store(kept: Mapping[str, object]) -> dict[str, Any]:
    loaded: dict[str, Any] = orjson.loads(orjson.dumps({"func": "module:function", "timeout": None, **kept}))
    return loaded


@pytest.mark.parametrize(
    "serializer", [JsonSerializer(), *(PickleSerializer(protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1))]
)
def test_arguments_come_back_as_they_were(serializer: Serializer) -> None:
    assert serializer.load(through_a_store(serializer.dump(ARGS, KWARGS))) == (ARGS, KWARGS)
    assert serializer.load(through_a_store(serializer.dump([], {}))) == ((), {})


def test_as_json_they_can_be_read() -> None:
    assert JsonSerializer().dump((1, NOON), {"a": "b"}) == {
        "args": [1, {"$datetime": "2026-11-15T12:00:00+00:00"}],
        "kwargs": {"a": "b"},
    }


def test_what_json_cannot_keep_is_refused_by_its_place_and_pickled_where_asked() -> None:
    def dumped(serializer: Serializer, *args: Any, **kwargs: Any) -> Any:
        return serializer.load(through_a_store(serializer.dump(args, kwargs)))

    with pytest.raises(
        TypeError, match=r"args\[1\]\[0\] is of type tests\.library\.callables\.Base.*serializer=\"pickle\""
    ):
        dumped(JsonSerializer(), 1, [Base()])
    with pytest.raises(TypeError, match=r"kwargs\['base'\] is of type"):
        dumped(JsonSerializer(), base=Base)
    (one, two), kwargs = dumped(PickleSerializer(), function, Base(), base=Base)
    assert one is function
    assert isinstance(two, Base)
    assert kwargs == {"base": Base}


def test_what_cannot_be_pickled_either_is_refused() -> None:
    for value in (lambda: None, threading.Lock(), (each for each in "")):
        with pytest.raises(TypeError, match="args or kwargs cannot be pickled: "):
            PickleSerializer().dump((value,), {})


class Trap:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_not_loaded_by_a_program_that_did_not_ask_for_pickles(tmp_path: Path) -> None:
    trap = tmp_path / "sprung"
    kept = through_a_store(PickleSerializer().dump((Trap(trap),), {}))
    with pytest.raises(Unloadable, match=r'they are pickled; .*serializer="pickle"'):
        JsonSerializer().load(kept)
    assert not trap.exists()
    PickleSerializer().load(kept)
    assert trap.exists()


def test_a_program_that_asks_for_pickles_later_still_loads_what_it_kept_before() -> None:
    assert PickleSerializer().load(through_a_store(JsonSerializer().dump(ARGS, KWARGS))) == (ARGS, KWARGS)


class Leaving:
    def __reduce__(self) -> tuple[Any, ...]:
        return exit, (1,)


@pytest.mark.parametrize(
    "kept",
    [
        {},
        {"args": [1]},
        {"args": 1, "kwargs": {}},
        {"args": [], "kwargs": 5},
        {"args": [{"$sundial": 1}], "kwargs": {}},
        {"pickle": "*"},
        {"pickle": 5},
        {"pickle": ""},
        {"pickle": "gASVBAAAAAAAAABLAS4="},  # 1
        PickleSerializer().dump((Leaving(),), {}),
        {"pickle": "Y25vX3N1Y2hfbW9kdWxlCmZ1bmN0aW9uCi4="},  # no_such_module.function
    ],
)
def test_what_cannot_be_read_is_unloadable(kept: dict[str, Any]) -> None:
    with pytest.raises(Unloadable, match="cannot load the arguments: "):
        PickleSerializer().load(kept)
    with pytest.raises(Unloadable, match="cannot load the arguments: "):
        JsonSerializer().load(kept)


class Own:
    def dump(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Mapping[str, object]:
        return {}

    def load(self, kept: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (), {}


def test_a_serializer_is_asked_for_by_name_or_given() -> None:
    own = Own()
    assert isinstance(serializer_for("json"), JsonSerializer)
    assert isinstance(serializer_for("pickle"), PickleSerializer)
    assert serializer_for(own) is own
    with pytest.raises(ValueError, match=r"must be 'json', 'pickle' or an object .*, not 'yaml'"):
        serializer_for("yaml")
    with pytest.raises(TypeError, match="must be 'json', 'pickle' or an object"):
        serializer_for(object())  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pickle_protocol must be one of 0–5, not 99"):
        PickleSerializer(99)
