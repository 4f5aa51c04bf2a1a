"""What a request is known by while it is answered: its id, the face and action it is for, who calls about what."""

import random
from typing import Final

from starlette.types import Scope

from waterclock.domain.access import Caller

_FREE_BITS: Final = ~(0xF << 76 | 0x3 << 62)  # of a UUID of version 4
_VERSION_4: Final = 0x4 << 76 | 0x2 << 62

REQUEST_ID: Final = "waterclock.request_id"
FACE: Final = "waterclock.face"
ACTION: Final = "waterclock.action"
CALLER: Final = "waterclock.caller"
RESOURCE: Final = "waterclock.resource"
ERROR: Final = "waterclock.error"
ROUTINE: Final = "waterclock.routine"
FIELDS: Final = "waterclock.fields"  # the headers by name, where each came once


def new_request_id() -> str:
    """Unlike, not unguessable: asking the kernel for each would hand the interpreter to another thread each time."""
    drawn = random.getrandbits(128) & _FREE_BITS | _VERSION_4
    text = f"{drawn:032x}"
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}"


def request_id_of(scope: Scope) -> str:
    found: str = scope.get(REQUEST_ID, "")
    return found


def mark(scope: Scope, *, face: str, action: str = "") -> None:
    """Each one of a fixed list: they become labels of a metric."""
    scope[FACE] = face
    scope[ACTION] = action


def mark_caller(scope: Scope, caller: Caller) -> None:
    scope[CALLER] = caller


def mark_resource(scope: Scope, name: str) -> None:
    """The job, trigger, run … that the call is about, for the audit: never the value of an argument."""
    scope[RESOURCE] = name


def mark_error(scope: Scope, name: str) -> None:
    """The type that the caller was told."""
    scope[ERROR] = name


def mark_routine(scope: Scope) -> None:
    """What a worker does all the time: the runs themselves tell it, the audit does not repeat it."""
    scope[ROUTINE] = True
