"""What engines and libraries say, as a person would want to read it: one line first, without a stack of Java's."""

import re
from collections.abc import Sequence
from typing import Final

LONGEST_LINE: Final = 600
LONGEST_TEXT: Final = 16_000
_JAVA: Final = re.compile(r"^(\s+at [\w.$/<>]+\(|\s*\.\.\. \d+ more|JVM stacktrace:)", re.MULTILINE)

_CLASS: Final = re.compile(r"^\((\w+\.)+[\w$]+\) ")  # of Java's exceptions, before their words
_GRPC: Final = re.compile(r'^<_.*\bdetails = "(.+?)"$', re.MULTILINE | re.DOTALL)


def text_of(error: BaseException, *, whole: bool = False) -> str:
    """The first line that says something, or all of it; an error without words is named by its class."""
    text = str(error).strip() or type(error).__name__
    return text[:LONGEST_TEXT] if whole else first_line(text)


def first_line(text: str) -> str:
    found = _GRPC.search(text)
    for line in without_java(found.group(1) if found else text).splitlines():
        if line.strip():
            return _CLASS.sub("", line.strip())[:LONGEST_LINE]
    return "the engine gave no reason"


def without_java(text: str) -> str:
    """Up to the first frame of a stack."""
    found = _JAVA.search(text)
    return text[: found.start()] if found else text


def listed(names: Sequence[str], most: int = 20) -> str:
    shown = ", ".join(sorted(names)[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
