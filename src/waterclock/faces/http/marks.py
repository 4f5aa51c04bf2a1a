"""What a request is known by while it is answered: its id, and the face and action it turned out to be for."""

from typing import Final

from starlette.types import Scope

REQUEST_ID: Final = "waterclock.request_id"
FACE: Final = "waterclock.face"
ACTION: Final = "waterclock.action"


def request_id_of(scope: Scope) -> str:
    found: str = scope.get(REQUEST_ID, "")
    return found


def mark(scope: Scope, *, face: str, action: str = "") -> None:
    """Each one of a fixed list: they become labels of a metric."""
    scope[FACE] = face
    scope[ACTION] = action
