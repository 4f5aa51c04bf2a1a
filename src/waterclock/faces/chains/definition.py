"""A chain as it is sent: field by field to what a caller decides about it."""

from collections.abc import Mapping
from typing import Any, Final

from waterclock.domain.chain import LONGEST_COMMAND, MOST_PARTS, ChainSpec, Gate, Step, Switch
from waterclock.faces.api.fields import Fields, inner, integer, one_of, read, several, text
from waterclock.faces.chains.fields import as_it_is, flag, ignored, number, whole
from waterclock.faces.chains.numbers import MOST_NUMBER

LONGEST_TAG: Final = 45

PART: Final[Fields] = {"env": text(1_024), "command": text(LONGEST_COMMAND), "ottime": number, "id": ignored}
GATE: Final[Fields] = {**PART, "desc": text(255, least=0), "usual_pass": ignored}
STEP: Final[Fields] = {**PART, "step_lvl": whole, "job_desc": text(255, least=0), "usual_seconds": ignored}

# What an answer has besides; the spelling of total_stpes is the old tables' own.
SHOWN: Final = (
    *("id", "name", "owner", "total_stpes", "next_fire_at", "problem", "source", "created_at", "updated_at"),
    "last_run",
)
REQUIRED: Final = ("timestr", "jobs")
FIELDS: Final[Fields] = {
    "job_desc": text(255, least=0),
    "timestr": text(255, least=0),  # whether it is a schedule is said by who reads it
    "timezone": text(64),
    "dep_ot": number,
    "switch": one_of(Switch),
    "main_flag": flag,
    "BKP_flag": flag,
    "tag": text(LONGEST_TAG, least=0),
    "subtag": text(LONGEST_TAG, least=0),
    "parallel": flag,
    "dep_err_tolerance": whole,
    "probe_seconds": number,
    "deps": several(inner(GATE, required=("command", "ottime")), MOST_PARTS),
    "jobs": several(inner(STEP, required=("command", "step_lvl", "ottime")), MOST_PARTS),
    **dict.fromkeys(SHOWN, ignored),
}


def spec_of(given: Mapping[str, Any], *, timezone: str) -> ChainSpec:
    """`timezone` is that of a chain that names none; what else is left out is the default."""
    known = {name: value for name, value in _said(given).items() if name not in ("deps", "jobs", "BKP_flag")}
    known.setdefault("timezone", timezone)
    return ChainSpec(
        **known,
        bkp_flag=given.get("BKP_flag", False),
        gates=tuple(Gate(**_said(each)) for each in given.get("deps", ())),
        steps=tuple(Step(**_said(each)) for each in given["jobs"]),
    )


def imported_of(data: object, *, timezone: str) -> tuple[ChainSpec, int | None, tuple[str, ...]]:
    """The chain, the number that it had, and what of it could not be read; places are those within the chain."""
    given = read(data, {**FIELDS, "id": integer(1, MOST_NUMBER), "switch": as_it_is}, required=REQUIRED)
    number, switch = given.pop("id", None), given.get("switch", Switch.ON)
    readable = switch in tuple(Switch)
    given["switch"] = Switch(switch) if readable else Switch.OFF
    faults = () if readable else (f"switch: {str(switch)[:LONGEST_TAG]!r} is neither ON nor OFF",)
    return spec_of(given, timezone=timezone), number, faults


def _said(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is only shown, and without empty words."""
    return {name: value for name, value in given.items() if value is not None and (value != "" or name == "timestr")}
