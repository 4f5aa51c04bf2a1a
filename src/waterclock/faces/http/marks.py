"""What a request is known by while it is answered: its id, and the face and action it turned out to be for."""

import random
from typing import Final
from uuid import UUID

from starlette.types import Scope

REQUEST_ID: Final = "waterclock.request_id"
FACE: Final = "waterclock.face"
ACTION: Final = "waterclock.action"


def new_request_id() -> str:
    """Unlike, not unguessable: asking the kernel for each would hand the interpreter to another thread each time."""
    return str(UUID(int=random.getrandbits(128), version=4))


def request_id_of(scope: Scope) -> str:
    found: str = scope.get(REQUEST_ID, "")
    return found


def mark(scope: Scope, *, face: str, action: str = "") -> None:
    """Each one of a fixed list: they become labels of a metric."""
    scope[FACE] = face
    scope[ACTION] = action
