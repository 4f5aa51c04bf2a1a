"""What is known of a call afterwards: who, from where, what, about what, and what became of it."""

from dataclasses import dataclass
from typing import Final

from waterclock.domain.moment import Moment

NOBODY: Final = 0  # the organisation of a caller whom we do not know
LONGEST: Final = 255


@dataclass(slots=True, kw_only=True)
class Entry:
    """One call. `resource` is a name or an id, never the value of an argument.

    Nobody changes one; it is not frozen because there is one for every call.
    """

    at: Moment
    org_id: int
    user: str
    address: str
    face: str
    action: str
    resource: str
    status: int
    error: str | None
    ms: int
    request_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sought:
    """Which calls are looked for; what is empty does not matter."""

    user: str = ""
    action: str = ""
    resource: str = ""
    since: Moment = 0
    until: Moment = 2**62


def fit(text: str, most: int = LONGEST) -> str:
    """As a row can hold it: short, and without what moves a cursor or ends a line."""
    if len(text) > most:
        text = f"{text[: most - 1]}…"
    return text if text.isprintable() else "".join(each if each.isprintable() else "?" for each in text)
