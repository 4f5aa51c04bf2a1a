"""A chain: gates that say when it may begin, then steps level by level; what operators had in crontabs and mails.

Field names are those of the tables that the chains came from; minutes are minutes, and may be parts of one.
"""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import Moment
from waterclock.domain.role import Role
from waterclock.domain.schedule import Schedule, parse_schedule

NAMESPACE: Final = "chains"
KIND: Final = "chain"  # of the one job whose runs are a chain's gates and steps
PYTHON: Final = "/usr/bin/python3"
TOLERATED_ERRORS: Final = 5
IMPORTANT: Final = "important"
MOST_MINUTES: Final = 60 * 24 * 366
MOST_PARTS: Final = 1_000
HIGHEST_LEVEL: Final = 999_999
LONGEST_COMMAND: Final = 1_000


class Switch(StrEnum):
    ON = "ON"
    OFF = "OFF"


class Folder(StrEnum):
    """Below which root a program lies."""

    JOB = "jobfolder"
    DEP = "depfolder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    command: str
    ottime: float  # minutes that one probe may take
    env: str = PYTHON
    desc: str | None = None
    id: int = 0  # 0: not stored yet


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    command: str
    step_lvl: int
    ottime: float
    env: str = PYTHON
    job_desc: str | None = None
    id: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainSpec:
    """What a caller decides about a chain."""

    timestr: str
    steps: tuple[Step, ...]
    gates: tuple[Gate, ...] = ()
    job_desc: str | None = None
    timezone: str = "UTC"
    dep_ot: float | None = None  # minutes that the gates have in all; only a chain without gates has none
    switch: Switch = Switch.ON
    main_flag: bool = True
    bkp_flag: bool = False
    tag: str | None = None
    subtag: str | None = None
    parallel: bool = True
    dep_err_tolerance: int = TOLERATED_ERRORS
    probe_seconds: float | None = None  # None: as the server's settings say

    @property
    def roles(self) -> tuple[Role, ...]:
        flags = ((Role.MAIN, self.main_flag), (Role.BKP, self.bkp_flag))
        return tuple(role for role, is_set in flags if is_set)

    @property
    def is_scheduled(self) -> bool:
        """Neither flag: only a run by hand."""
        return self.switch is Switch.ON and bool(self.roles)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    id: int
    org_id: int
    owner: str
    flow_id: int
    spec: ChainSpec
    version: int
    next_fire_at: Moment | None
    created_at: Moment
    updated_at: Moment
    problem: str | None = field(default=None)  # why its timestr cannot be read: it came by an import, and is OFF
    source: str | None = None  # where an import found it

    @property
    def name(self) -> str:
        return chain_name(self.id)

    @property
    def title(self) -> str:
        return self.spec.job_desc or self.name


def chain_name(chain_id: int) -> str:
    """Of its flow, its trigger and its job."""
    return f"chain-{chain_id}"


def schedule_of(spec: ChainSpec) -> Schedule:
    """Or BadSchedule, which names the field and the reason."""
    return parse_schedule(spec.timestr, timezone=spec.timezone)


def check(spec: ChainSpec) -> None:
    """All but the timestr, which an import may bring in unreadable; each fault with its place and its remedy."""
    if not spec.steps:
        raise InvalidInput("a chain needs at least one step", field="jobs")
    if spec.gates and spec.dep_ot is None:
        raise InvalidInput("is required where there are deps: the minutes that they have in all", field="dep_ot")
    if spec.dep_ot is not None:
        _minutes(spec.dep_ot, "dep_ot")
    if spec.dep_err_tolerance < 0:
        raise InvalidInput("must be 0 or more", field="dep_err_tolerance", value=spec.dep_err_tolerance)
    if spec.probe_seconds is not None and not 0 < spec.probe_seconds <= MOST_MINUTES * 60:
        raise InvalidInput("must be more than 0 seconds", field="probe_seconds", value=spec.probe_seconds)
    for number, gate in enumerate(spec.gates):
        _program(gate.env, gate.command, gate.ottime, f"deps[{number}]")
    for number, step in enumerate(spec.steps):
        _program(step.env, step.command, step.ottime, f"jobs[{number}]")
        if not 0 <= step.step_lvl <= HIGHEST_LEVEL:
            raise InvalidInput(
                f"must be 0 to {HIGHEST_LEVEL}: levels run in ascending order",
                field=f"jobs[{number}].step_lvl",
                value=step.step_lvl,
            )


def _program(env: str, command: str, ottime: float, at: str) -> None:
    _minutes(ottime, f"{at}.ottime")
    if not env.strip():
        raise InvalidInput("name the interpreter, such as /usr/bin/python3", field=f"{at}.env", value=env)
    if len(command) > LONGEST_COMMAND:
        raise InvalidInput(f"is longer than {LONGEST_COMMAND} characters", field=f"{at}.command")
    script = script_of(command)
    if not script or script.startswith("/") or ".." in script.split("/"):
        raise InvalidInput(
            "must be a script below the folder of programs, with its arguments after semicolons: folder/script.py;a;b",
            field=f"{at}.command",
            value=command,
        )


def _minutes(value: float, at: str) -> None:
    if not 0 < value <= MOST_MINUTES:
        raise InvalidInput(f"must be more than 0 minutes, at most {MOST_MINUTES}", field=at, value=value)


def script_of(command: str) -> str:
    return command.split(";", 1)[0].strip()


def arguments_of(command: str) -> tuple[str, ...]:
    """What stands after the semicolons, as it is; an empty piece at the very end is none."""
    pieces = command.split(";")[1:]
    return tuple(pieces[:-1] if pieces and not pieces[-1] else pieces)
