"""Bookmarks: how far a job got, kept for its next run. The program says it in a file; an argument may say otherwise."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import Moment

ARGUMENT: Final = "--job-bookmark-option"
VARIABLE: Final = "WATERCLOCK_BOOKMARK_FILE"
MOST_BYTES: Final = 256 * 1024


class BookmarkOption(StrEnum):
    ENABLE = "job-bookmark-enable"  # given and saved; so it is, too, where nothing is said
    PAUSE = "job-bookmark-pause"  # given, not saved
    DISABLE = "job-bookmark-disable"  # neither


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """A job's entry: what was saved last, and by which attempt."""

    job_id: int
    job_name: str
    version: int  # counts the resets
    runs: int  # that saved one
    attempt: int
    wire_id: str | None  # None: set by a call
    previous_wire_id: str | None
    content: str | None  # None since it was reset
    updated_at: Moment


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """What a program left in its bookmark file: something to save, or the reason why it cannot be saved, or neither."""

    content: str | None = None
    refused: str | None = None


def bookmark_option(arguments: Mapping[str, str]) -> BookmarkOption:
    given = arguments.get(ARGUMENT)
    if given is None:
        return BookmarkOption.ENABLE
    try:
        return BookmarkOption(given)
    except ValueError:
        raise InvalidInput(f"must be one of {', '.join(BookmarkOption)}", field=ARGUMENT, value=given) from None


def check_content(content: str) -> None:
    if why := refusal_of(content):
        raise InvalidInput(why, field="content")


def refusal_of(content: str) -> str | None:
    """Why it cannot be a bookmark."""
    try:
        size = len(content.encode())
    except UnicodeEncodeError:
        return "is not UTF-8"
    if size > MOST_BYTES:
        return f"has {size} bytes; the most is {MOST_BYTES}"
    return "holds a NUL" if "\0" in content else None
