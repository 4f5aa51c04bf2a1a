"""A gate: a program that says whether a chain may begin. What one probe says, and whether another follows it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.moment import Moment
from waterclock.domain.outcome import Retry
from waterclock.domain.run import RunState

LONGEST_SAID: Final = 80


class Verdict(StrEnum):
    """What one probe found."""

    PASSED = "passed"
    NOT_YET = "not_yet"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """How a gate is probed: how often, for how long in all, and how many errors are borne."""

    every_seconds: float
    for_seconds: float
    tolerates: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Probed:
    """A probe that has ended; without a verdict its worker was lost, and nobody knows what it would have said."""

    verdict: Verdict | None
    state: RunState
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEnd:
    """No other probe follows: so the gate has ended."""

    state: RunState
    message: str | None


def judge(*, exit_code: int | None, output: str) -> tuple[Verdict, str | None]:
    """The exit code first, then the last line that says something: `0` or silence passes, `1` is not yet."""
    if exit_code != 0:
        return Verdict.ERROR, None
    lines = output.strip().splitlines()
    match lines[-1].strip() if lines else "":
        case "" | "0":
            return Verdict.PASSED, None
        case "1":
            return Verdict.NOT_YET, "not yet"
        case said:
            return Verdict.ERROR, f"it must print 0 (passed) or 1 (not yet), and printed {said[:LONGEST_SAID]!r}"


def plan_probe(
    probed: Probed,
    *,
    was: RunState,
    number: int,
    errors: int,
    tolerates: int,
    pause_us: int,
    until: Moment,
    now: Moment,
) -> Retry | GateEnd:
    """The next probe is after the pause, and the last one at the very end; `errors` are those before this one."""
    if was is RunState.STOPPING or probed.state is RunState.STOPPED:
        return GateEnd(state=RunState.STOPPED, message=probed.message)
    if probed.verdict is Verdict.PASSED:
        return GateEnd(state=RunState.SUCCEEDED, message=None)
    if probed.verdict is Verdict.ERROR and errors >= tolerates:
        last = f"; the last: {probed.message}" if probed.message else ""
        return GateEnd(state=RunState.FAILED, message=f"{errors + 1} error(s), {tolerates} borne{last}")
    if now >= until:
        return GateEnd(state=RunState.TIMEOUT, message="not passed before dep_ot was over")
    return Retry(number=number + 1, due_at=min(now + pause_us, until))
