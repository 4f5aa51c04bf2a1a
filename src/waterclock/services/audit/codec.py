"""An entry as a line of a journal, and back. A line that is none is nobody's entry: None."""

from typing import Any

import orjson

from waterclock.domain.audit import Entry, fit

SHORT = 64


def line_of(entry: Entry) -> bytes:
    values = (
        *(entry.at, entry.org_id, entry.user, entry.address, entry.face, entry.action, entry.resource),
        *(entry.status, entry.error, entry.ms, entry.request_id),
    )
    return orjson.dumps(values) + b"\n"


def entry_of(line: bytes) -> Entry | None:
    """Whatever stands there fits a row: one bad line must not hold up the others for ever."""
    try:
        at, org_id, user, address, face, action, resource, status, error, ms, request_id = orjson.loads(line)
        return Entry(
            at=_number(at),
            org_id=_number(org_id),
            user=fit(user),
            address=fit(address, SHORT),
            face=fit(face, 16),
            action=fit(action, SHORT),
            resource=fit(resource),
            status=_number(status),
            error=None if error is None else fit(error, SHORT),
            ms=min(_number(ms), 2**31 - 1),
            request_id=fit(request_id, SHORT),
        )
    except (orjson.JSONDecodeError, ValueError, TypeError, AttributeError):
        return None


def _number(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 2**62:
        raise ValueError(value)
    return value
