"""Messages between workers and servers: whatever is said is understood as it was meant, and nonsense is refused."""

import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from types import NoneType
from typing import Any, cast, get_args, get_origin, get_type_hints

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from waterclock.domain.claim import Claims
from waterclock.domain.errors import InvalidInput
from waterclock.faces import work_messages
from waterclock.faces.work_codec import decoded, encoded
from waterclock.stores.ops.nodes import Answer

ANSWERS = [
    Claims,
    Answer,
    *(getattr(work_messages, name) for name in ("Adopted", "Attempts", "Values", "Texts", "Woken")),
]
QUESTIONS = [
    getattr(work_messages, name)
    for name in (
        "Beat",
        "Leave",
        "Claim",
        "GiveBack",
        "Release",
        "Adopt",
        "Record",
        "Tell",
        "Renew",
        "Stopping",
        "AskSecrets",
    )
]
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5)
WHOLE = st.integers(-(2**63), 2**63 - 1)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
PLAIN: dict[Any, st.SearchStrategy[Any]] = {
    int: WHOLE,
    str: TEXT,
    float: NUMBER,
    bool: st.booleans(),
    object: st.recursive(
        st.none() | st.booleans() | WHOLE | TEXT, lambda some: st.lists(some, max_size=2), max_leaves=3
    ),
}


def values(hint: Any) -> st.SearchStrategy[Any]:
    """Any value of this type."""
    origin, inner = get_origin(hint), get_args(hint)
    if hint in PLAIN:
        return PLAIN[hint]
    if dataclasses.is_dataclass(hint):
        return st.builds(cast(type, hint), **{name: values(each) for name, each in get_type_hints(hint).items()})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if NoneType in inner:
        return st.none() | values(inner[0])
    if origin is tuple and inner[-1] is Ellipsis:
        return st.lists(values(inner[0]), max_size=2).map(tuple)
    if origin is tuple:
        return st.tuples(*map(values, inner))
    assert origin is Mapping
    return st.dictionaries(TEXT, values(inner[1]), max_size=2)


@pytest.mark.parametrize("kind", QUESTIONS + ANSWERS, ids=lambda kind: kind.__name__)
def test_a_message_is_read_as_it_was_said(kind: type) -> None:
    @given(values(kind))
    @settings(max_examples=10, deadline=None)
    def check(message: object) -> None:
        assert decoded(kind, encoded(message), strictly=kind in QUESTIONS) == message

    check()


# In what a program says of itself nothing is wrong.
@pytest.mark.parametrize(
    "kind", [kind for kind in QUESTIONS if kind is not work_messages.Tell], ids=lambda kind: kind.__name__
)
def test_a_question_with_one_thing_wrong_is_refused_with_its_place(kind: type) -> None:
    @given(values(kind), st.data())
    @settings(max_examples=10, deadline=None)
    def check(message: object, data: st.DataObject) -> None:
        tree = orjson.loads(encoded(message))
        holder, key = data.draw(st.sampled_from(list(places(tree))))
        holder[key] = {"not": "expected"} if not isinstance(holder[key], dict) else 7
        with pytest.raises(InvalidInput) as refused:
            decoded(kind, orjson.dumps(tree), strictly=True)
        assert refused.value.field is not None
        assert str(key).rpartition(".")[2] in refused.value.field

    check()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the body is not JSON"),
        (b"[" * 100_000, "the body is not JSON"),
        (b"[]", "must be a JSON object"),
        (b'{"host": "h"}', "node: is required"),
        (b'{"host": "h", "node": "n", "nodes": 1}', "nodes: unknown field"),
        (b'{"host": "h", "node": "a\\u0000b"}', "node: must be text without a NUL"),
        (b'{"host": "h", "node": "\\ud800"}', "the body is not JSON"),
        (b'{"host": "h", "node": null}', "node: must be text"),
    ],
)
def test_nonsense_is_refused_in_words(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidInput, match=reason):
        decoded(work_messages.Leave, data, strictly=True)


def test_what_a_later_release_adds_to_an_answer_is_passed_over() -> None:
    assert decoded(Answer, b'{"skew_us": 1, "news": {}}', strictly=False) == Answer(skew_us=1)


def places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Every value inside, by its holder and its key there."""
    for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
        yield tree, key
        if isinstance(value, dict | list):
            yield from places(value)


def test_a_claim_from_a_server_of_the_version_before_has_no_tables() -> None:
    @given(values(work_messages.Adopted))
    @settings(max_examples=5, deadline=None)
    def check(message: work_messages.Adopted) -> None:
        tree = orjson.loads(encoded(message))
        for each in tree["claimed"]:
            del each["tables"]
        found = decoded(work_messages.Adopted, orjson.dumps(tree), strictly=False)
        assert found.claimed == tuple(dataclasses.replace(each, tables=()) for each in message.claimed)

    check()
