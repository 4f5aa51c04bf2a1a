"""Filter patterns: words and phrases, and a clear refusal of the rest of CloudWatch's language."""

import pytest

from waterclock.domain.errors import InvalidInput
from waterclock.faces.glue.around.filter_pattern import matcher


@pytest.mark.parametrize(
    ("pattern", "message", "matches"),
    [
        ("", "anything", True),
        ("   ", "anything", True),
        ("ERROR", "an ERROR here", True),
        ("ERROR", "an error here", False),
        ("ERROR timeout", "timeout: ERROR", True),
        ("ERROR timeout", "ERROR", False),
        ('"exit code 3"', "ended with exit code 3", True),
        ('"exit code 3"', "exit 3 code", False),
        ('"say \\"hi\\"" x', 'say "hi" x', True),
        (" 물 ", "물시계", True),
        ('""', "anything", True),
    ],
)
def test_all_words_and_phrases_must_be_there(pattern: str, message: str, matches: bool) -> None:
    assert matcher(pattern)(message) is matches


@pytest.mark.parametrize(
    "pattern", ["?a ?b", "-debug", "{ $.level = 3 }", "[a, b]", "%reg.*ex%", "a.b", '"open', '"a"b', "a*", '"' * 1023]
)
def test_anything_else_is_refused_with_what_is_supported(pattern: str) -> None:
    with pytest.raises(InvalidInput, match=r"filterPattern.*words.*phrases") as refused:
        matcher(pattern)
    assert refused.value.field == "filterPattern"
