"""What is worth saying about the rows of a chain: why it cannot come, why it comes OFF, what else to know."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

from waterclock.domain.chain import PYTHON, ChainSpec, Folder, Switch, schedule_of, script_of
from waterclock.domain.errors import BadSchedule
from waterclock.faces.cli.importing.schedulerdb.tables import GATES, STEPS, Row

_MINUTES: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{0,9})?|\.[0-9]{1,9}", re.ASCII)
_CRONTAB_FIELDS: Final = 5


class Weight(Enum):
    CANNOT = auto()  # the chain is not carried over
    OFF = auto()  # it is, switched off
    NOTE = auto()  # it is; something about it is worth knowing


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    weight: Weight
    text: str


def findings(row: Row, gates: Sequence[Row], steps: Sequence[Row], timezone: str) -> Iterator[Finding]:
    if not steps:
        yield cannot(f"it has no steps in {STEPS}: there is nothing to run")
    elif row["total_stpes"] != len(steps):
        yield _note(f"total_stpes is {row['total_stpes']}; {STEPS} has {len(steps)} steps, and all of them are carried")
    yield from _of_dep_ot(row["dep_ot"], gates)
    yield from _of_switch(row["switch"])
    yield from _of_flags(row)
    yield from _of_timestr(row["timestr"] or "", timezone)
    for gate in gates:
        yield from _of_program(gate, GATES, Folder.DEP)
    for step in steps:
        yield from _of_program(step, STEPS, Folder.JOB)
        if step["step_lvl"] is None or step["step_lvl"] < 0:
            yield cannot(f"{STEPS}#{step['id']}: step_lvl {step['step_lvl']} is below 0: levels begin at 0")


def _of_dep_ot(dep_ot: float | None, gates: Sequence[Row]) -> Iterator[Finding]:
    if dep_ot is not None and dep_ot > 0:
        return
    if gates:
        yield cannot(f"dep_ot {_plain(dep_ot)} gives its {len(gates)} gate(s) no time: set it to minutes above 0")
    else:
        yield _note(f"dep_ot {_plain(dep_ot)} is left out: it has no gates")


def _of_switch(switch: str | None) -> Iterator[Finding]:
    if switch_of(switch) not in tuple(Switch):
        yield _off(f"switch {switch!r} is neither ON nor OFF")


def _of_flags(row: Row) -> Iterator[Finding]:
    for name in ("main_flag", "BKP_flag"):
        if row[name] not in (0, 1):
            yield _note(f"{name} {row[name]} is taken as {int(bool(row[name]))}")
    match bool(row["main_flag"]), bool(row["BKP_flag"]):
        case False, False:
            yield _note("neither main_flag nor BKP_flag is set: it runs only by hand")
        case False, True:
            yield _note("only BKP_flag is set: it needs a worker with the setting node.role = bkp")


def _of_timestr(timestr: str, timezone: str) -> Iterator[Finding]:
    if problem := unreadable(timestr, timezone):
        yield _off(problem)
    elif len(timestr.split()) > _CRONTAB_FIELDS:
        yield _note(f"timestr has {len(timestr.split())} fields: it is read as Quartz's, seconds first")


def _of_program(part: Row, table: str, folder: Folder) -> Iterator[Finding]:
    at = f"{table}#{part['id']}"
    yield from _of_env(part["env"], at)
    script = script_of(part["command"] or "")
    if not script:
        yield cannot(f"{at}: command {part['command']!r} names no script")
    elif script.startswith("/") or ".." in script.split("/"):
        yield cannot(
            f"{at}: command {part['command']!r} leaves the {folder}:"
            " copy the program into a folder below it, and let the row say folder/script.py"
        )
    if not minutes_of(part["ottime"]):
        yield cannot(f"{at}: ottime {_plain(part['ottime'])} is no number of minutes above 0")


def _of_env(env: str | None, at: str) -> Iterator[Finding]:
    if env is None or not env.strip():
        yield _note(f"env is empty in {at}: it is {PYTHON}, as the old tables' default was")
        return
    words = env.split()
    if len(words) > 1 and (any(word.startswith("-") for word in words) or "/" not in words[-1]):
        yield cannot(f"{at}: env {env!r} has arguments: name one program, such as a small script that starts it so")
    elif "/" in env and not env.strip().startswith("/"):
        yield cannot(f"{at}: env {env!r} is a relative path: name the whole one")
    elif env != env.strip():
        yield _note(f"env has spaces around it in {at}: they are left out")


def switch_of(value: str | None) -> str:
    """ON however it is written; what is neither ON nor OFF stays as it is, and is said."""
    text = value or ""
    return text.strip().upper() if text.strip().upper() in tuple(Switch) else text


def minutes_of(value: object) -> float | None:
    """A varchar holds anything; None where it is no number, or none above 0."""
    text = str(value).strip()
    return (float(text) or None) if _MINUTES.fullmatch(text) else None


def unreadable(timestr: str, timezone: str) -> str | None:
    try:
        schedule_of(ChainSpec(timestr=timestr, timezone=timezone, steps=()))
    except BadSchedule as problem:
        return str(problem)
    return None


def _plain(value: object) -> str:
    """As the table shows it."""
    match value:
        case None:
            return "NULL"
        case float():
            return f"{value:g}"
    return repr(value)


def cannot(text: str) -> Finding:
    return Finding(weight=Weight.CANNOT, text=text)


def _off(text: str) -> Finding:
    return Finding(weight=Weight.OFF, text=text)


def _note(text: str) -> Finding:
    return Finding(weight=Weight.NOTE, text=text)
