"""What a chain consists of as files and the server write it: names, kinds and defaults, in the order of an export."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final

from waterclock.domain.chain import PYTHON, TOLERATED_ERRORS, Switch


class Kind(StrEnum):
    """With the words for what is expected."""

    TEXT = "text"
    NUMBER = "a number"
    WHOLE = "a whole number"
    FLAG = "0 or 1"
    TRUTH = "true or false"
    SWITCH = "ON or OFF"
    PARTS = "a list"


ID: Final = "id"
GATES: Final = "deps"
STEPS: Final = "jobs"

CHAIN: Final[Mapping[str, Kind]] = {
    ID: Kind.WHOLE,
    "job_desc": Kind.TEXT,
    "timestr": Kind.TEXT,
    "timezone": Kind.TEXT,
    "switch": Kind.SWITCH,
    "main_flag": Kind.FLAG,
    "BKP_flag": Kind.FLAG,
    "tag": Kind.TEXT,
    "subtag": Kind.TEXT,
    "parallel": Kind.TRUTH,
    "dep_ot": Kind.NUMBER,
    "dep_err_tolerance": Kind.WHOLE,
    "probe_seconds": Kind.NUMBER,
    GATES: Kind.PARTS,
    STEPS: Kind.PARTS,
}
PARTS: Final[Mapping[str, Mapping[str, Kind]]] = {
    GATES: {"desc": Kind.TEXT, "env": Kind.TEXT, "command": Kind.TEXT, "ottime": Kind.NUMBER},
    STEPS: {
        "job_desc": Kind.TEXT,
        "step_lvl": Kind.WHOLE,
        "env": Kind.TEXT,
        "command": Kind.TEXT,
        "ottime": Kind.NUMBER,
    },
}
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "": ("timestr", STEPS),
    GATES: ("command", "ottime"),
    STEPS: ("command", "step_lvl", "ottime"),
}
DEFAULTS: Final[Mapping[str, Any]] = {
    "switch": Switch.ON.value,
    "main_flag": 1,
    "BKP_flag": 0,
    "parallel": True,
    "dep_err_tolerance": TOLERATED_ERRORS,
    GATES: [],
}
PART_DEFAULTS: Final[Mapping[str, Any]] = {"env": PYTHON}
# Where a file says nothing of these, a stored chain keeps what it has: operators switch, and the server has a zone.
KEPT: Final = ("timezone", "switch")

Body = Mapping[str, Any]


def normal(body: Body) -> dict[str, Any]:
    """Every field but the id, those not given by their defaults: two bodies mean the same if these are equal."""
    found = {name: _normal(kind, body.get(name), DEFAULTS.get(name)) for name, kind in CHAIN.items() if name != ID}
    for name, known in PARTS.items():
        found[name] = [
            {key: _normal(kind, part.get(key), PART_DEFAULTS.get(key)) for key, kind in known.items()}
            for part in found[name] or ()
        ]
    return found


def spoken(body: Body) -> dict[str, Any]:
    """What has to be said: without the fields that have their defaults. The zone and the switch always are."""
    found = {
        name: value
        for name, value in normal(body).items()
        if value is not None and (name in KEPT or value != DEFAULTS.get(name))
    }
    for name in PARTS:
        if name in found:
            found[name] = [_spoken_part(part) for part in found[name]]
    return found


def _normal(kind: Kind, value: Any, default: Any) -> Any:
    if value in (None, ""):
        return default
    match kind:
        case Kind.FLAG:
            return int(bool(value))
        case Kind.TRUTH:
            return bool(value)
        case Kind.NUMBER if float(value).is_integer():
            return int(value)  # `30`, not `30.0`
    return value


def _spoken_part(part: Body) -> dict[str, Any]:
    return {name: value for name, value in part.items() if value is not None and value != PART_DEFAULTS.get(name)}
