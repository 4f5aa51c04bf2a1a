"""Bundles: many calls in one row, from their fire until each has rows of its own.

Most calls of a program end within milliseconds, and nobody sees them run. So what its scheduler takes as it is fired is
kept as one row for all, and a call's own rows are written once, at its end. Who turns out to be long, fails, goes back
or is found after its scheduler died is given rows as any other run has them, and goes on like one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Final, cast

import orjson

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.job import Job
from waterclock.domain.moment import SECOND, Moment, seconds
from waterclock.domain.outcome import Lone
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Tx, Values
from waterclock.stores.ops.new_run import NewRun, attempt_row, run_row, settled_row
from waterclock.stores.ops.rows import NOTHING, dumped, spec_of

KEPT: Final = ("run_at", "job_name", "owner", "requested_by", "fire_id", "trigger_id", "trigger_name")
kept: Final = attrgetter(*KEPT)  # of a run


@dataclass(slots=True)
class Bundle:
    """The calls of one queue that one node has taken in one round."""

    id: int  # its first run's
    created_at: Moment  # when what is in it was fired
    calls: int = 0  # that have no rows of their own yet


@dataclass(slots=True)
class Call:
    bundle: Bundle
    run: NewRun
    run_id: int
    attempt_id: int
    wire_id: str


@dataclass(slots=True)
class Bundled(Lone):
    """As those who run it know it; they give it back with its end."""

    call: Call | None = None  # until it has rows of its own


def may_be_bundled(run: NewRun) -> bool:
    """Where nobody counts or watches it: its job goes with it, and it may take as long as it likes."""
    if not (run.lone and run.last and run.taker and run.job):
        return False
    watched = run.job.spec.timeout_seconds or run.timeout_seconds or run.notify_after_seconds
    return not (watched or run.arguments or run.settings)


def add(bundle: Bundle, run: NewRun, run_id: int, claimed: Claimed) -> Call:
    attempt = claimed.attempt
    call = Call(bundle, run, run_id, attempt.id, attempt.wire_id)
    bundle.calls += 1
    if lone := claimed.lone:
        claimed.lone = Bundled(lone.org_id, lone.run_id, lone.run_at, lone.job_id, lone.job_version, call)
    return call


def bundle_row(calls: Sequence[Call]) -> Values:
    """`calls`: of one bundle, all of them."""
    first = calls[0]
    taker = cast(Taker, first.run.taker)
    lines = [(each.run_id, each.attempt_id, each.wire_id, *_job(each.run), *kept(each.run)) for each in calls]
    return {
        "id": first.bundle.id,
        "namespace": first.run.namespace,
        "node": taker.node,
        "host": taker.host,
        "lease_until": first.bundle.created_at + seconds(taker.ttl_seconds),
        "created_at": first.bundle.created_at,
        "calls": dumped({"org_id": first.run.org_id, "calls": lines}),
    }


def _job(run: NewRun) -> tuple[int, int]:
    job = cast(Job, run.job)
    return job.id, job.version


def call_of(run: Lone | None) -> Call | None:
    return run.call if isinstance(run, Bundled) else None


def rows_of(calls: Iterable[Call]) -> Iterable[tuple[dict[str, object], dict[str, object]]]:
    for call in calls:
        settled = settled_row(cast(Job, call.run.job).spec, None)
        run = run_row(call.run, call.run_id, call.wire_id, settled, call.bundle.created_at)
        yield run, attempt_row(call.run, run, call.attempt_id, call.bundle.created_at)


async def read(tx: Tx, row: Row) -> list[Call]:
    """What was in it when it was made. The versions of the jobs are kept, for whoever claims a run reads them."""
    found = orjson.loads(row["calls"])
    jobs = {(job_id, version) for _, _, _, job_id, version, *_ in found["calls"]}
    asked = {"job_ids": sorted({job_id for job_id, _ in jobs}), "versions": sorted({version for _, version in jobs})}
    versions = {(each["job_id"], each["version"]): each for each in await tx.fetch("versions_of_jobs", asked)}
    ttl_seconds = (row["lease_until"] - row["created_at"]) / SECOND
    taker = Taker(node=row["node"], host=row["host"], room=0, ttl_seconds=ttl_seconds)
    bundle = Bundle(row["id"], row["created_at"], len(found["calls"]))
    return [
        _call(bundle, row, found["org_id"], taker, versions[each[3], each[4]], each)
        for each in found["calls"]
        if (each[3], each[4]) in versions
    ]


def _call(bundle: Bundle, row: Row, org_id: int, taker: Taker, version: Row, line: Sequence[object]) -> Call:
    run_id, attempt_id, wire_id, job_id, number, *rest = line
    named = dict(zip(KEPT, rest, strict=True))
    job = Job(
        id=cast(int, job_id),
        org_id=org_id,
        namespace=row["namespace"],
        name=str(named["job_name"]),
        owner=str(named["owner"]),
        version=cast(int, number),
        spec=spec_of(version["spec"]),
        definition=NOTHING,
        tags=NOTHING,
        created_at=row["created_at"],
        updated_at=row["created_at"],
    )
    run = NewRun(
        org_id=org_id,
        namespace=row["namespace"],
        job=job,
        state=RunState.STARTING,
        taker=taker,
        lone=True,
        last=True,
        **cast(dict[str, str], named),  # type: ignore[arg-type]
    )
    return Call(bundle, run, cast(int, run_id), cast(int, attempt_id), str(wire_id))
