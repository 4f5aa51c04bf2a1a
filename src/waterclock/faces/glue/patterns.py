"""The model's string patterns, which are Java regular expressions over UTF-16, as Python matchers over code points.

What the translation takes care of:
- a pair of surrogate ranges means "every code point above U+FFFF": emoji are legal, lone surrogates never are;
- Java matches the whole string, so a trailing newline is never let through;
- `.` stops at every line terminator, `\\s \\w \\d` are ASCII;
- groups never capture, so `([a-z])*` is one loop over a character class: linear in time and constant in memory.
What it cannot translate faithfully (class unions, `\\p{…}`, possessive loops) it refuses, rather than match otherwise.
"""

import re
from collections.abc import Callable
from functools import cache
from typing import Final

_ASTRAL_UTF16: Final = r"\uD800\uDC00-\uDBFF\uDFFF"
_ASTRAL: Final = r"\U00010000-\U0010FFFF"
_DOT: Final = r"[^\n\r\u0085\u2028\u2029]"
_TOKEN: Final = re.compile(
    r"""(?P<unsupported> \\[pPGQEzRXhHvVk] | \\u[dD][89a-fA-F] | [*+?}][+] | \(\?[^:!=] )
      | (?P<charset> \[ (?: \\. | [^\\\]\[] )+ \] )
      | (?P<nested> \[ )
      | (?P<escape> \\. )
      | (?P<group> \( (?!\?) )
      | (?P<dot> \. )""",
    re.VERBOSE | re.DOTALL,
)
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class UntranslatablePattern(ValueError):
    """The model uses a construct that Python's `re` would read differently."""


@cache
def matcher(pattern: str) -> Callable[[str], object]:
    """A function that is truthy for strings the Java pattern matches as a whole."""
    return re.compile(to_python(pattern), re.ASCII).fullmatch


def to_python(pattern: str) -> str:
    return _TOKEN.sub(_translate, pattern.replace(_ASTRAL_UTF16, _ASTRAL))


def _translate(token: re.Match[str]) -> str:
    text = token.group()
    match token.lastgroup:
        case "unsupported" | "nested":
            raise UntranslatablePattern(f"{text!r} in {token.string!r}")
        case "charset" if "&&" in text or _SURROGATE.search(text) or re.search(r"\\[pP]", text):
            raise UntranslatablePattern(f"{text!r} in {token.string!r}")
        case "group":
            return "(?:"
        case "dot":
            return _DOT
    return text
