"""Moments as people and programs write them: ISO 8601; without an offset they mean UTC."""

from datetime import UTC, datetime
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import Moment, to_iso

_FAR: Final = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9998, 1, 1, tzinfo=UTC))


def from_iso(text: str, *, field: str) -> datetime:
    """An aware moment in UTC, or InvalidInput that names the field."""
    try:
        found = datetime.fromisoformat(text.strip())
        aware = found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput("must be a time such as 2026-11-15T12:00:00Z", field=field, value=text) from None
    if not _FAR[0] <= aware < _FAR[1]:
        raise InvalidInput("must lie between 1970 and 9997", field=field, value=text)
    return aware


def to_iso_or_none(moment: Moment | None) -> str | None:
    return None if moment is None else to_iso(moment)
