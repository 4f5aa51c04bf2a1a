"""Values as tagged JSON: every type that is kept comes back as itself, everything else is refused by its place."""

import enum
import json
import uuid
from collections import OrderedDict, namedtuple
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID
from zoneinfo import TZPATH, ZoneInfo

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from waterclock.faces.library.tagged import (
    DEEPEST,
    LARGEST_REPR,
    LARGEST_RESULT,
    Described,
    dumps,
    dumps_result,
    loads,
    loads_result,
)

NAIVE = datetime.fromisoformat("2026-11-15T12:00:00")
BERLIN = ZoneInfo("Europe/Berlin")
offsets = st.integers(-86_399, 86_399).map(lambda seconds: timezone(timedelta(seconds=seconds)))
named_offsets = st.builds(
    timezone, st.just(timedelta(hours=9)), st.sampled_from(["KST", "한국", "", "UTC+09:00", "\ud800"])
)
zones = st.one_of(st.none(), st.just(UTC), st.just(ZoneInfo("UTC")), st.just(BERLIN), offsets, named_offsets)
datetimes = st.builds(
    lambda moment, zone, fold: moment.replace(tzinfo=zone, fold=fold), st.datetimes(), zones, st.integers(0, 1)
)
# Lone surrogates and NUL included, which neither JSON nor databases take.
texts = st.text(st.characters(codec=None), max_size=8) | st.sampled_from(
    ["", "\0", "$tuple", "$dict", "\ud800", "é\0", "💧"]
)
hashables: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(allow_nan=False, allow_infinity=False),
        texts,
        st.binary(max_size=8),
        st.decimals(),
        st.uuids(),
        st.dates(),
        st.timedeltas(),
        datetimes,
    ).filter(lambda value: not (isinstance(value, Decimal) and value.is_snan())),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3),
    max_leaves=4,
)
values = st.recursive(
    hashables,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(texts, inner, max_size=3),
        st.sets(hashables, max_size=3),
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """All that there is to a value: its type and its parts; of sets in some order, of floats and zones every bit."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, [shape(each) for each in value]
    if kind in (set, frozenset):
        return kind, sorted((shape(each) for each in value), key=repr)
    if kind is dict:
        return kind, [(key, shape(each)) for key, each in value.items()]
    if kind is datetime and value.tzinfo is not None:
        return kind, repr(value.replace(tzinfo=None)), type(value.tzinfo), str(value.tzinfo), value.utcoffset()
    return kind, hex(value) if kind is int else repr(value)


@given(values)
@example((1 << 64, -(1 << 63) - 1, (1 << 64) - 1, -(1 << 63), 7**9000, -0.0, 5e-324, 1.7976931348623157e308))
@example([timedelta.max, timedelta.min, date.min, Decimal("-0E+9"), Decimal("sNaN12")])
@example({"$tuple": [1], "when": {"$datetime": "2026-11-15"}, "": {"\0": 1, "\ud800": 2}})
@example([{}, [], (), set(), frozenset(), "", b"", {"$dict": [["a", 1]]}])
def test_a_value_comes_back_as_itself(value: Any) -> None:
    text = dumps(value)
    assert shape(loads(text)) == shape(value)
    assert dumps_result(value) == text
    assert shape(loads_result(text)) == shape(value)
    assert "\\u0000" not in text
    text.encode()  # no lone surrogate is left: every database takes it
    assert json.loads(text) == orjson.loads(text), "and every parser reads the same in it"


@given(values)
def test_the_same_value_is_the_same_text(value: Any) -> None:
    assert dumps(loads(dumps(value))) == dumps(value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"when": datetime(2026, 11, 15, 12, tzinfo=UTC)}, '{"when":{"$datetime":"2026-11-15T12:00:00+00:00"}}'),
        (NAIVE, '{"$datetime":"2026-11-15T12:00:00"}'),
        (
            datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=1),
            '{"$datetime":{"local":"2026-10-25T02:30:00","fold":1,"zone":"Europe/Berlin"}}',
        ),
        ((1, "é", None), '{"$tuple":[1,"é",null]}'),
        ({b"b", b"a"}, '{"$set":[{"$bytes":"YQ=="},{"$bytes":"Yg=="}]}'),
        (timedelta(days=-1, seconds=5), '{"$timedelta":[-1,5,0]}'),
        (Decimal("1.10"), '{"$decimal":"1.10"}'),
        (UUID(int=5), '{"$uuid":"00000000-0000-0000-0000-000000000005"}'),
        (date(2026, 11, 15), '{"$date":"2026-11-15"}'),
        (1 << 64, '{"$int":"0x10000000000000000"}'),
        ({"$set": 1}, '{"$dict":[["$set",1]]}'),
        ("a\0", '{"$text":"YQA="}'),
    ],
)
def test_what_is_kept_can_be_read_by_people_and_never_changes(value: Any, text: str) -> None:
    """Stores hold such texts already: each of these must be read for ever."""
    assert dumps(value) == text
    assert shape(loads(text)) == shape(value)


class Colour(enum.IntEnum):
    RED = 1


class Mood(enum.StrEnum):
    FINE = "fine"


class Text(str):
    __slots__ = ()


class Special(datetime):
    pass


class Custom:
    pass


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    ("value", "where", "what"),
    [
        (Custom(), "args", "tests.library.test_tagged.Custom"),
        ([1, {"when": Custom()}], "args[1]['when']", "tests.library.test_tagged.Custom"),
        ((0, [time(12)]), "args[1][0]", "datetime.time"),
        ([{1, (2, Colour.RED)}], "args[0]{…}[1]", "Colour"),
        (Mood.FINE, "args", "Mood"),
        ({Mood.FINE: 1}, "args", "a dict with a key of type tests.library.test_tagged.Mood"),
        ({"a": {1: 2}}, "args['a']", "a dict with a key of type int"),
        (Text("x"), "args", "Text"),
        (Point(1, 2), "args", "Point"),
        (OrderedDict(a=1), "args", "collections.OrderedDict"),
        (Special(2026, 1, 1), "args", "Special"),
        ([float("nan")], "args[0]", "the float nan"),
        (float("-inf"), "args", "the float -inf"),
        (bytearray(b"x"), "args", "bytearray"),
        (print, "args", "builtin_function_or_method"),
        (1j, "args", "complex"),
        (object, "args", "type"),
    ],
)
def test_anything_else_is_refused_with_its_place_its_type_and_the_way_out(value: Any, where: str, what: str) -> None:
    with pytest.raises(TypeError) as refused:
        dumps(value, "args")
    said = str(refused.value)
    assert said.startswith(f"{where} is ")
    assert what in said
    assert 'serializer="pickle"' in said


class Lunar(tzinfo):
    def utcoffset(self, moment: datetime | None) -> timedelta:
        return timedelta(hours=12.5)

    def dst(self, moment: datetime | None) -> timedelta | None:
        return None

    def tzname(self, moment: datetime | None) -> str:
        return "Moon"


def test_a_zone_that_has_no_name_is_refused() -> None:
    rules = next(path for root in TZPATH if (path := Path(root, "Europe/Berlin")).is_file())
    with rules.open("rb") as file:
        unnamed = ZoneInfo.from_file(file)
        file.seek(0)
        own = ZoneInfo.from_file(file, key="Office/Berlin")
    for zone in (unnamed, own, Lunar(), timezone(timedelta(microseconds=1))):
        with pytest.raises(TypeError, match="when is a datetime in the zone"):
            dumps(datetime(2026, 11, 15, tzinfo=zone), "when")


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"$": value}  # three levels of JSON each
    return value


def test_a_value_may_be_nested_as_deep_as_json_can_be_written_and_no_deeper() -> None:
    deepest = nested(DEEPEST - 1)
    assert loads(dumps({"call": deepest}["call"])) == deepest
    endless: list[Any] = []
    endless.append(endless)
    for value in (nested(DEEPEST), nested(5000), endless):
        with pytest.raises(TypeError, match="nested deeper"):
            dumps(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "NaN",
        '{"$sundial":1}',
        '{"$tuple":[],"more":1}',
        '{"a":1,"$tuple":[]}',
        '{"$tuple":5}',
        '{"$set":[[]]}',
        '{"$int":"x"}',
        '{"$decimal":"x"}',
        '{"$uuid":5}',
        '{"$bytes":"*"}',
        '{"$text":"/w=="}',
        '{"$dict":[1]}',
        '{"$timedelta":[1e99]}',
        '{"$datetime":"soon"}',
        '{"$datetime":{"zone":"UTC"}}',
        '{"$datetime":{"local":"2026-11-15T12:00:00","zone":"Mars/Olympus"}}',
        "[" * 900 + "]" * 900,
    ],
)
def test_a_text_that_nobody_wrote_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)


class Frame:
    def __init__(self, shown: str) -> None:
        self._shown = shown

    def __repr__(self) -> str:
        return self._shown


class Unprintable:
    def __repr__(self) -> str:
        raise ZeroDivisionError


def endless() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


@pytest.mark.parametrize(
    ("result", "described"),
    [
        (Frame("<Frame of 3 rows>"), "<Frame of 3 rows>"),
        ({"frame": Frame("<Frame>"), "rows": 3}, "{'frame': <Frame>, 'rows': 3}"),
        (float("inf"), "inf"),
        (Colour.RED, "<Colour.RED: 1>"),
        (endless(), "[[...]]"),
        (Frame("a\0b\ud800"), "a\\x00b\\ud800"),
    ],
)
def test_a_result_that_cannot_be_kept_is_described(result: Any, described: str) -> None:
    kept = loads_result(dumps_result(result))
    assert kept == Described(described)
    assert repr(kept) == described


def test_a_result_whose_description_fails_is_no_error() -> None:
    assert "Unprintable instance" in repr(loads_result(dumps_result(Unprintable())))
    assert isinstance(loads_result(dumps_result(nested(5000))), Described)


@pytest.mark.parametrize("result", [Frame("x" * 300_000), Frame("é" * 300_000), "x" * LARGEST_RESULT, ["é"] * 600_000])
def test_a_large_result_is_described_in_brief(result: Any) -> None:
    kept = loads_result(dumps_result(result))
    assert isinstance(kept, Described)
    assert LARGEST_REPR * 0.9 < len(kept.text.encode()) <= LARGEST_REPR


def test_a_result_that_looks_like_a_description_is_none() -> None:
    assert loads_result(dumps_result({"$repr": "x"})) == {"$repr": "x"}


def test_a_uuid_that_says_how_it_was_made_is_kept() -> None:
    made = uuid.uuid1()
    assert loads(dumps(made)) == made
