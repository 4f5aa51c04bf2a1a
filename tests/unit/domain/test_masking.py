"""What is masked is a fact of the whole text: pages say together what the whole says, and never a secret."""

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from waterclock.domain.masking import MASK, NOTHING_TO_MASK, Masks

LETTERS = "abé\n"  # few, so that secrets overlap, repeat and lie inside each other
secrets = st.lists(st.text(LETTERS, min_size=4, max_size=9).filter(str.strip), min_size=1, max_size=4)


def hidden(text: bytes, needles: list[bytes]) -> bytes:
    """Slow and plain: each byte inside an occurrence that ends no line, then one mask for those in a row."""
    covered = bytearray(len(text))
    for needle in needles:
        for at in range(len(text)):
            if text.startswith(needle, at):
                covered[at : at + len(needle)] = b"\1" * len(needle)
    covered = bytearray(hide and byte != ord("\n") for hide, byte in zip(covered, text, strict=True))
    shown = re.compile(b"\1+").sub(b"\1", bytes(1 if covered[i] else 2 for i in range(len(text))))
    plain = iter(byte for place, byte in enumerate(text) if not covered[place])
    return b"".join(MASK if mark == 1 else bytes([next(plain)]) for mark in shown)


def needles_of(values: list[str]) -> list[bytes]:
    lines = [line.strip() for value in values for line in value.splitlines()]
    return [each.encode() for each in (*values, *(line for line in lines if len(line) >= 4))]


def paged(masks: Masks, text: bytes, cuts: list[int]) -> bytes:
    """As a reader does it: each page with no more around it than `reach`."""
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    pages = []
    for begin, end in pairwise(places):
        before = max(0, begin - masks.reach)
        window = text[before : end + masks.reach]
        page, shown_to = masks.page(window, begin - before, end - before, growing=False)
        assert shown_to == end - before
        pages.append(page)
    return b"".join(pages)


@given(text=st.text(LETTERS, max_size=60), values=secrets, cuts=st.lists(st.integers(0, 70), max_size=8))
@example(text="abababababab", values=["abab"], cuts=[3, 4])
@example(text="aaaaabaaaaaab", values=["aaaa", "aaab"], cuts=[5])
def test_pages_of_any_cut_say_what_the_masked_whole_says_and_no_secret(
    text: str, values: list[str], cuts: list[int]
) -> None:
    masks = Masks.of(values)
    whole = masks.text(text)
    assert whole.encode() == hidden(text.encode(), needles_of(values))
    assert not [value for value in values if value in whole]
    assert whole.count("\n") == text.count("\n")
    assert paged(masks, text.encode(), cuts).decode() == whole


@given(text=st.text(LETTERS, max_size=50), values=secrets, steps=st.lists(st.integers(1, 9), max_size=20))
def test_a_log_read_while_it_grows_never_shows_what_becomes_a_secret(
    text: str, values: list[str], steps: list[int]
) -> None:
    masks, data = Masks.of(values), text.encode()
    shown, at, written = b"", 0, 0
    for step in steps:
        written = min(len(data), written + step)
        page, at = masks.page(data[:written], at, written, growing=True)
        shown += page
        assert not [value for value in values if value.encode() in shown]
    rest, _ = masks.page(data, at, len(data), growing=False)
    assert (shown + rest).decode() == masks.text(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("the password is hunter2!", "the password is ***!"),
        ("hunter2hunter2", "***"),
        ("hunter", "hunter"),
        ("xhunter22", "x***2"),
        ("", ""),
    ],
)
def test_a_secret_is_shown_as_one_mask(text: str, shown: str) -> None:
    assert Masks.of(["hunter2"]).text(text) == shown


def test_of_a_secret_with_lines_the_whole_and_each_line_is_masked() -> None:
    masks = Masks.of(["-----BEGIN-----\n  MIIEow==\r\nab\n"])
    assert masks.text("-----BEGIN-----\n  MIIEow==\r\nab\n") == "***\n***\n***\n"
    assert masks.text("> MIIEow== <\n> ab <") == "> *** <\n> ab <"


def test_of_a_secret_in_another_the_longer_is_masked() -> None:
    assert Masks.of(["pass", "password"]).text("password, pass, passw") == "***, ***, ***w"


def test_what_may_become_a_secret_waits_until_more_is_there() -> None:
    masks = Masks.of(["hunter2"])
    assert masks.page(b"it is hunt", 0, 10, growing=True) == (b"it is ", 6)
    assert masks.page(b"it is hunt", 0, 10, growing=False) == (b"it is hunt", 10)
    assert masks.page(b"it is hunted", 0, 12, growing=True) == (b"it is hunted", 12)
    assert masks.page(b"it is hunter2", 6, 13, growing=True) == (b"***", 13)


def test_without_secrets_nothing_changes() -> None:
    assert not NOTHING_TO_MASK
    assert NOTHING_TO_MASK.text("hunter2") == "hunter2"
    assert NOTHING_TO_MASK.page(b"hunter2", 2, 5, growing=True) == (b"nte", 5)
    assert not Masks.of([])


def test_text_that_no_encoding_takes_is_masked_too() -> None:
    assert Masks.of(["hunter2"]).text("\udc80hunter2\udcff") == "\udc80***\udcff"


def test_texts_that_repeat_cost_no_more_than_others() -> None:
    """Each of these takes minutes where occurrences are looked for one by one."""
    long = "a" * 32_768
    half = "a" * 16_000 + "b" + "a" * 16_000
    assert Masks.of([long]).text("a" * 1_000_000) == "***"
    assert Masks.of([half]).text("a" * 1_000_000) == "a" * 1_000_000
    assert Masks.of([long]).page(b"a" * 32_767, 0, 32_767, growing=True) == (b"", 0)
