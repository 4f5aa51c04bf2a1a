"""From how a program ended to how its attempt is recorded: one pure table."""

import signal
from dataclasses import replace
from typing import Final

from waterclock.domain.gate import Verdict, judge
from waterclock.domain.moment import seconds
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import RunState
from waterclock.runners.base import End, Ended

UNREADABLE: Final = "what it printed cannot be read, so that it says neither 0 (passed) nor 1 (not yet)"
UNCLEAR: Final = "it must print 0 (passed) or 1 (not yet)"


def outcome_of(ended: Ended, *, last_words: str = "") -> Outcome:
    """`last_words` is the end of the log: what a person looks for first."""
    state, message = _judged(ended, last_words)
    return Outcome(
        attempt_id=ended.attempt_id,
        fence=ended.fence,
        state=state,
        exit_code=ended.exit_code,
        exit_signal=ended.signal,
        cpu_us=seconds(ended.cpu_seconds),
        peak_rss_bytes=ended.peak_rss_bytes,
        message=message,
    )


def reasoned(found: Outcome, ended: Ended, reason: str | None) -> Outcome:
    """The outcome of a program that said itself why it failed: that first, then how it ended."""
    if reason is None or found.state not in (RunState.FAILED, RunState.TIMEOUT):
        return found
    _, how = _judged(ended, "")  # its last words are the reason once more
    return replace(found, message=f"{reason} ({how})")


def probed(found: Outcome, ended: Ended, *, said: str | None, shown: str | None) -> Outcome:
    """The outcome of a gate's probe: `said` is how its output ends, `shown` the same without secrets.

    A probe that was stopped or lost says nothing of its gate.
    """
    match ended.end:
        case End.STOPPED | End.LEASE_LOST | End.LOST:
            return found
        case End.EXITED if ended.exit_code == 0:
            verdict, message = _verdict(ended, said, shown)
            state = RunState.SUCCEEDED if verdict is Verdict.PASSED else RunState.FAILED
            return replace(found, state=state, message=message, verdict=verdict)
        case _:
            return replace(found, verdict=Verdict.ERROR)


def _verdict(ended: Ended, said: str | None, shown: str | None) -> tuple[Verdict, str | None]:
    """Silence passes only where it is known to be silence: an incomplete log may lack a `1`."""
    if ended.message or said is None:
        return Verdict.ERROR, ended.message or UNREADABLE
    verdict, message = judge(exit_code=0, output=said)
    if verdict is Verdict.ERROR:
        as_shown, message = judge(exit_code=0, output=shown or "")
        return verdict, message if as_shown is Verdict.ERROR else UNCLEAR
    return verdict, message


def _judged(ended: Ended, last_words: str) -> tuple[RunState, str | None]:
    match ended.end:
        case End.EXITED if ended.exit_code == 0:
            return RunState.SUCCEEDED, None
        case End.EXITED:
            return RunState.FAILED, _with(ended.message or _how(ended), last_words)
        case End.STOPPED:
            return RunState.STOPPED, ended.message
        case End.TIMEOUT:
            return RunState.TIMEOUT, _with(ended.message or "did not end within its time-out", last_words)
        case End.LEASE_LOST:
            return RunState.FAILED, ended.message or "killed: its lease could not be renewed"
        case End.LOST:
            return RunState.FAILED, ended.message or "killed: the process that watched over it died"
        case End.NOT_STARTED:
            return RunState.FAILED, ended.message or "could not be started"


def _how(ended: Ended) -> str:
    if ended.signal is None:
        return f"exit code {ended.exit_code}"
    try:
        name = signal.Signals(ended.signal).name
    except ValueError:
        name = "unknown"
    return f"killed by signal {ended.signal} ({name})"


def _with(message: str, last_words: str) -> str:
    return f"{message}: {last_words}" if last_words else message
