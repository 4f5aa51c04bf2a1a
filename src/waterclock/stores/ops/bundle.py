"""Bundles: many calls in one row, from their fire until each has rows of its own.

Most calls of a program end within milliseconds, and nobody sees them run. So what its scheduler takes as it is fired is
kept as one row for all, and a call's own rows are written once, at its end. Who turns out to be long, fails, goes back
or is found after its scheduler died is given rows as any other run has them, and goes on like one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, cast

import orjson

from waterclock.domain.claim import Claimed, Taker
from waterclock.domain.job import Job, JobSpec
from waterclock.domain.library import ORGANISATION, OWNER, ToRun
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
    is_submitted: bool = False  # nobody has fired them: what they run is kept in the bundle alone


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


def submitted_row(new: Sequence[tuple[NewRun, int, int, str]]) -> dict[str, object]:
    """Of calls that nobody has fired, each with its numbers and its wire id; but for its times.

    What they run is there once for all that run the same.
    """
    first, taker = new[0][0], cast(Taker, new[0][0].taker)
    specs: dict[int, tuple[int, JobSpec]] = {}  # by identity: all of them live as long as this call
    lines = []
    for run, run_id, attempt_id, wire_id in new:
        job = cast(Job, run.job)
        place, _ = specs.setdefault(id(job.spec), (len(specs), job.spec))
        lines.append((run_id, attempt_id, wire_id, job.id, job.name, place))
    told = {"org_id": first.org_id, "run_at": first.run_at, "specs": [spec for _, spec in specs.values()]}
    return {
        "id": new[0][1],
        "namespace": first.namespace,
        "node": taker.node,
        "host": taker.host,
        "calls": dumped({**told, "submitted": lines}),
    }


def _job(run: NewRun) -> tuple[int, int]:
    job = cast(Job, run.job)
    return job.id, job.version


def submitted_run(namespace: str, call: ToRun, job_id: int, run_at: Moment, taker: Taker) -> NewRun:
    """It has no fire: somebody asked for it."""
    job = Job(
        id=job_id,
        org_id=ORGANISATION,
        namespace=namespace,
        name=call.name,
        owner=OWNER,
        version=1,
        spec=call.spec,
        definition=NOTHING,
        tags=NOTHING,
        created_at=run_at,
        updated_at=run_at,
    )
    return NewRun(
        org_id=ORGANISATION,
        namespace=namespace,
        job=job,
        job_name=call.name,
        owner=OWNER,
        requested_by=OWNER,
        run_at=run_at,
        state=RunState.STARTING,
        arguments=NOTHING,
        settings=NOTHING,
        taker=taker,
        lone=True,
        last=True,
    )


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
    if "submitted" in found:
        return _submitted(row, found)
    jobs = {(job_id, version) for _, _, _, job_id, version, *_ in found["calls"]}
    asked = {"job_ids": sorted({job_id for job_id, _ in jobs}), "versions": sorted({version for _, version in jobs})}
    versions = {(each["job_id"], each["version"]): each for each in await tx.fetch("versions_of_jobs", asked)}
    taker, bundle = _taker(row), Bundle(row["id"], row["created_at"], len(found["calls"]))
    return [
        _call(bundle, row, found["org_id"], taker, versions[each[3], each[4]], each)
        for each in found["calls"]
        if (each[3], each[4]) in versions
    ]


def _submitted(row: Row, found: Mapping[str, Any]) -> list[Call]:
    specs = [spec_of(dumped(each)) for each in found["specs"]]
    taker, bundle = _taker(row), Bundle(row["id"], row["created_at"], len(found["submitted"]), is_submitted=True)
    return [
        Call(
            bundle,
            submitted_run(row["namespace"], ToRun(name, specs[place]), job_id, found["run_at"], taker),
            run_id,
            attempt_id,
            wire_id,
        )
        for run_id, attempt_id, wire_id, job_id, name, place in found["submitted"]
    ]


def _taker(row: Row) -> Taker:
    ttl_seconds = (row["lease_until"] - row["created_at"]) / SECOND
    return Taker(node=row["node"], host=row["host"], room=0, ttl_seconds=ttl_seconds)


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
