"""CloudWatch's filter patterns, as far as they are words: `ERROR`, `ERROR timeout` (both), `"exit code 3"`."""

import re
from collections.abc import Callable
from typing import Final

from waterclock.domain.errors import InvalidInput

Matches = Callable[[str], bool]

_WORD: Final = re.compile(r'\s*(?:"((?:[^"\\]|\\.)*)"|(\w+))(?=\s|$)', re.DOTALL)
_ESCAPED: Final = re.compile(r"\\(.)", re.DOTALL)


def matcher(pattern: str) -> Matches:
    """Whether a message holds all the words and phrases, each as it is written; no words, no condition."""
    wanted = tuple(_words(pattern))
    return lambda message: all(word in message for word in wanted)


def _words(pattern: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(pattern.rstrip())
    while at < end:
        word = _WORD.match(pattern, at)
        if word is None:
            supported = 'words of letters, digits and _, and "phrases in quotes", all of which a message must hold'
            raise InvalidInput(f"here only {supported}", field="filterPattern", value=pattern)
        found.append(_ESCAPED.sub(r"\1", word[1]) if word[1] is not None else word[2])
        at = word.end()
    return found
