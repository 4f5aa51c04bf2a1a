"""Java patterns over UTF-16, read as Java reads them."""

import sys
from collections.abc import Iterator

import pytest

from waterclock.faces.glue.around.iam import IAM
from waterclock.faces.glue.around.logs import LOGS
from waterclock.faces.glue.model import GLUE, shape
from waterclock.faces.glue.patterns import UntranslatablePattern, matcher, to_python
from waterclock.faces.glue.service_model import ServiceModel
from waterclock.faces.glue.shapes import Shape

NAME = r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\t]*"


def is_name_character(code: int) -> bool:
    return code == 9 or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000


def all_patterns() -> set[str]:
    beside = [model.shape(member["shape"]) for model in (IAM.model, LOGS.model) for member in members_of(model)]
    return {of["pattern"] for of in (*GLUE.shapes.values(), *beside) if "pattern" in of}


def members_of(model: ServiceModel) -> Iterator[Shape]:
    for action in model.actions:
        yield from model.shape(model.input_shape(action))["members"].values()


def test_the_name_pattern_agrees_with_its_definition_on_every_code_point() -> None:
    matches = matcher(NAME)
    wrong = [code for code in range(sys.maxunicode + 1) if bool(matches(chr(code))) != is_name_character(code)]
    assert wrong == []


@pytest.mark.parametrize(
    ("pattern", "text", "legal"),
    [
        ("^[A-Za-z0-9]+$", "abc\n", False),
        ("[A-Za-z0-9_-]*", "", True),
        ("[A-Za-z0-9_-]*", "a b", False),
        (".*", "one line", True),
        (".*", "two\nlines", False),
        (".*", "two\u2028lines", False),
        (".*", "two\rlines", False),
        ("[\\s\\S]*", "two\nlines 🚀", True),
        ("([^\\r\\n])*", "any\u2028thing", True),
        ("([^\\r\\n])*", "any\nthing", False),
        ("^([2-3]|3[.]9)$", "3.9", True),
        ("^([2-3]|3[.]9)$", "3x9", False),
        ("^((\\w+\\.)+\\w+|auto)$", "4.0", True),
        ("^((\\w+\\.)+\\w+|auto)$", "４.0", False),
        ("^((\\w+\\.)+\\w+|auto)$", "auto", True),
        ("arn:aws(-(cn|us-gov|iso(-[bef])?))?:glue:.*", "arn:aws-us-gov:glue:x", True),
        ("arn:aws(-(cn|us-gov|iso(-[bef])?))?:glue:.*", "x arn:aws:glue:x", False),
        ("^(Sun|Mon|Tue|Wed|Thu|Fri|Sat):([01]?[0-9]|2[0-3])$", "Mon:23", True),
        ("^(Sun|Mon|Tue|Wed|Thu|Fri|Sat):([01]?[0-9]|2[0-3])$", "Mon:24", False),
    ],
)
def test_a_pattern_matches_the_whole_string_as_java_does(pattern: str, text: str, legal: bool) -> None:
    assert bool(matcher(pattern)(text)) is legal


@pytest.mark.parametrize(
    "pattern", [r"[\p{L}]*", r"\p{L}", "[a-z&&[^b]]", "[a[b]]", r"[\uD800]", r"\uDC00", "a*+", "(?i)a"]
)
def test_what_python_would_read_differently_is_refused_not_guessed(pattern: str) -> None:
    with pytest.raises(UntranslatablePattern):
        to_python(pattern)


def test_every_pattern_of_the_model_is_translated_without_captures() -> None:
    patterns = all_patterns()
    assert len(patterns) >= 16
    for pattern in patterns:
        assert matcher(pattern).__self__.groups == 0  # type: ignore[attr-defined]


def test_a_megabyte_made_to_provoke_backtracking_is_answered_by_every_pattern() -> None:
    # Anything worse than linear would not end within the time limit of a test.
    for pattern in all_patterns():
        for provoking in (
            "a" * 1_000_000 + "\0",
            "a." * 500_000 + "\0",
            "arn:aws:glue:" + ":" * 1_000_000 + "\n",
            "-" * 1_000_000,
        ):
            matcher(pattern)(provoking)


def test_the_longest_legal_text_is_accepted() -> None:
    longest = "a" * shape("ColumnTypeString")["max"]
    assert matcher(shape("ColumnTypeString")["pattern"])(longest)
