"""Calls that are to be made at once: stored as taken by the process that asks for them, in one row for all.

It is what a fire would leave of them, and no more. Such a call needs no trigger to become due and no job to be fired
again, so that it has neither; its run is asked for, like one that somebody starts by hand. What it runs is in the
bundle, and becomes a version of its own only where it is given rows while it lives.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, cast

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.job import Job
from waterclock.domain.library import ToRun
from waterclock.domain.moment import Moment, seconds
from waterclock.domain.run import Attempt, run_wire_id
from waterclock.stores.base import Kind, Tx
from waterclock.stores.ops.bundle import Bundle, Bundled, Call, submitted_row, submitted_run
from waterclock.stores.ops.new_run import NewRun
from waterclock.stores.ops.taken import TakenAttempt

LARGEST: Final = 500  # calls in one bundle
ENTROPY: Final = 26  # bytes of a run's id


@dataclass(frozen=True, slots=True, kw_only=True)
class Submitted:
    job_ids: Sequence[int]  # of the calls, in their order: what their runs are found by
    claimed: tuple[Claimed, ...] = ()  # to be started by the one who asked; none where they wait to be claimed


async def submit_calls(tx: Tx, *, namespace: str, calls: Sequence[ToRun], run_at: Moment, taker: Taker) -> Submitted:
    """All of them or none; of one queue. It is one statement, and may be sent as such."""
    numbers = iter(await tx.numbers(Kind.RUN, 2 * len(calls)))
    job_ids = list(await tx.numbers(Kind.JOB, len(calls)))
    entropy = secrets.token_bytes(ENTROPY * len(calls))
    new = [
        (submitted_run(namespace, call, job_id, run_at, taker), next(numbers), next(numbers), run_wire_id(run_at, own))
        for call, job_id, own in zip(calls, job_ids, _pieces(entropy), strict=True)
    ]
    parts = [new[first : first + LARGEST] for first in range(0, len(new), LARGEST)]
    rows = [submitted_row(part) for part in parts]
    ttl_us = seconds(taker.ttl_seconds)
    now = await tx.stamped("submit_bundle", [{**row, "ttl_us": ttl_us} for row in rows])
    return Submitted(job_ids=job_ids, claimed=tuple(each for part in parts for each in _taken(part, now)))


def _pieces(entropy: bytes) -> list[bytes]:
    return [entropy[first : first + ENTROPY] for first in range(0, len(entropy), ENTROPY)]


def _taken(part: Sequence[tuple[NewRun, int, int, str]], now: Moment) -> list[Claimed]:
    bundle = Bundle(part[0][1], now, is_submitted=True)
    taken: list[Claimed] = []
    for run, run_id, attempt_id, wire_id in part:
        attempt = cast(Attempt, TakenAttempt(run, run_id, attempt_id, wire_id, now))
        call = Call(bundle, run, run_id, attempt_id, wire_id)
        job = cast(Job, run.job)
        lone = Bundled(run.org_id, run_id, run.run_at, job.id, None, call)
        taken.append(Claimed(attempt=attempt, spec=job.spec, lone=lone))
    bundle.calls = len(taken)
    return taken
