"""How a claimed attempt becomes a simulated program: `Preparation` for the attempts of the engine."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from typing import Final

from tests.chaos.simulation.jobs import JOBS, Behaviour
from waterclock.domain.bookmark import Left
from waterclock.domain.claim import Claimed
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.progress import Said
from waterclock.domain.run import Attempt
from waterclock.runners.base import Program

GRACE_SECONDS: Final = 0.5
CALL: Final = "--call"  # the argument that names a run which somebody called for


class Preparing:
    """Nothing is fetched or installed; some jobs take their time all the same."""

    def at_once(self, claimed: Claimed) -> Program | None:
        return None if behaviour_of(claimed).preparing_seconds else _program(claimed)

    async def prepare(self, claimed: Claimed) -> Program:
        await asyncio.sleep(behaviour_of(claimed).preparing_seconds)
        return _program(claimed)

    async def masks(self, claimed: Claimed) -> Masks:
        return NOTHING_TO_MASK

    def log_path(self, attempt: Attempt) -> str:
        return f"/logs/{attempt.id}"

    def last_words(self, log_path: str, masks: Masks) -> str:
        return ""

    def output(self, log_path: str, masks: Masks) -> str | None:
        return ""

    def said(self, log_path: str) -> str | None:
        return ""

    def bookmark(self, claimed: Claimed) -> Left:
        return Left()

    def report(self, attempt_id: int) -> Said:
        return Said()

    def set_aside(self, besides: Collection[int]) -> Callable[[], None]:
        return lambda: None

    def clean_up(self, attempt_ids: Sequence[int]) -> None: ...


def behaviour_of(claimed: Claimed) -> Behaviour:
    return JOBS[claimed.attempt.job_name].behaviour


def work_of(trigger_name: str | None, job_name: str, call: str | None) -> str:
    """What the checker knows it by: a trigger's action, or a call."""
    return f"{trigger_name}/{job_name}" if trigger_name else call or "?"


def _program(claimed: Claimed) -> Program:
    attempt = claimed.attempt
    env = {
        "run": attempt.wire_id.partition("_attempt_")[0],
        "number": str(attempt.number),
        "fire_at": str(attempt.run_at),
        "job": attempt.job_name,
        "work": work_of(attempt.trigger_name, attempt.job_name, attempt.arguments.get(CALL)),
    }
    return Program(
        attempt_id=attempt.id,
        fence=attempt.fence,
        argv=(attempt.job_name,),
        warm=False,
        env=env,
        cwd="/",
        log_path=f"/logs/{attempt.id}",
        grace_seconds=GRACE_SECONDS,
    )
