"""An answer that says no, as the error that it was at the server; also one that no server of ours would give."""

import json
from typing import Any

import httpx

from waterclock.domain.access import Right
from waterclock.domain.errors import (
    CannotRun,
    Forbidden,
    InvalidInput,
    NotAllowed,
    ServerLost,
    Unauthenticated,
    WaterclockError,
)


class WrongServer(InvalidInput):
    """No server of ours, or not of a release that we can work for."""


class OlderServer(WrongServer):
    """One of ours that does not know what it was asked."""


def failure_of(server: str, response: httpx.Response) -> WaterclockError:
    """An answer that says no, as the error that it was over there."""
    status, error = response.status_code, _error(response)
    if error is None:
        if status in (502, 503, 504):  # of a proxy, with no server behind it
            return ServerLost(f"{server} answered {status}")
        where = f" (it leads to {response.headers['location']})" if "location" in response.headers else ""
        return WrongServer(f"{server} answered {status}{where}: is it a waterclock server?", field="server")
    kind, message = error
    match status, kind:
        case 401, _:
            return Unauthenticated(f"{server}: {message}")
        case 403, _:
            advice = "; make a user for it: waterclock user add NAME --role worker" if Right.WORK in message else ""
            return Forbidden(f"{server}: {message}{advice}")
        case 404, _ if message.startswith("path "):
            return OlderServer(f"{server} is of a release without workers over HTTP: upgrade it", field="server")
        case _, "wrong_protocol":
            return WrongServer(f"{server}: {message}", field="server")
        case _, "too_late":
            return ServerLost(f"{server}: {message}")
        case _, "cannot_run":
            return CannotRun(message)
        case 404 | 409, _:
            return NotAllowed(f"{server}: {message}")
    return InvalidInput(f"{server}: {message}") if status < 500 else ServerLost(f"{server}: {message}")


def _error(response: httpx.Response) -> tuple[str, str] | None:
    try:
        error: Any = json.loads(response.content)["error"]
        return str(error["type"]), str(error["message"])
    except (ValueError, KeyError, TypeError):
        return None
