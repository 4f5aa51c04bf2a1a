"""What an import would do with each row, decided from what is there and what is here: nothing is read or asked."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from waterclock.domain.errors import InvalidInput
from waterclock.domain.library import LibraryJob
from waterclock.domain.moment import Moment
from waterclock.faces.cli.importing.apscheduler.children import Answer
from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.library.importing import BEYOND, library_job
from waterclock.triggers import codec

# What APScheduler has of a job, too; the rest stays as it was set here.
DEFINED: Final = ("name", "executor", "misfire_grace_time", "coalesce", "max_instances")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    id: str
    next_at: Moment | None  # as it is there; None: it is paused
    verdict: Verdict
    job: LibraryJob | None = None  # as it is to be here
    trigger: str | None = None
    reasons: tuple[str, ...] = ()  # why it cannot be carried over, or in what it differs
    notes: tuple[str, ...] = ()


def plan(answers: Iterable[Answer], here: Mapping[str, LibraryJob], namespace: str) -> tuple[Step, ...]:
    return tuple(_step(answer, here.get(answer.row.id), namespace) for answer in answers)


def _step(answer: Answer, here: LibraryJob | None, namespace: str) -> Step:
    row, told = answer.row, answer.job
    if told is None:
        return _cannot(answer, answer.reason or "nothing is known of it")
    try:
        job = library_job(told, namespace, beyond=_beyond(here))
    except (InvalidInput, KeyError, TypeError, ValueError) as refused:
        return _cannot(answer, str(refused))
    step = Step(
        id=row.id,
        next_at=row.next_at,
        verdict=Verdict.CREATE,
        job=job,
        trigger=str(codec.from_json(job.trigger)),
        notes=tuple(told["notes"]),
    )
    if here is None:
        return step
    if not (differs := differences(job, here)):
        return replace(step, verdict=Verdict.SAME, notes=())
    return replace(step, verdict=Verdict.DIFFERS, job=updated(job, here), reasons=differs)


def differences(job: LibraryJob, here: LibraryJob) -> tuple[str, ...]:
    """The fields that do not say the same. When it runs next is another thing at each look, and not compared."""
    theirs, ours = _said(job), _said(here)
    return tuple(field for field in theirs if theirs[field] != ours[field])


def updated(job: LibraryJob, here: LibraryJob) -> LibraryJob:
    """Where both have the same trigger, what was decided here already is not decided once more."""
    if job.next_fire_at is None or here.next_fire_at is None or _said(job)["trigger"] != _said(here)["trigger"]:
        return job
    return replace(job, next_fire_at=max(job.next_fire_at, here.next_fire_at))


def _cannot(answer: Answer, reason: str) -> Step:
    return Step(id=answer.row.id, next_at=answer.row.next_at, verdict=Verdict.CANNOT, reasons=(reason,))


def _beyond(here: LibraryJob | None) -> Mapping[str, Any]:
    if here is None:
        return {}
    call = here.spec.call if isinstance(here.spec.call, dict) else {}
    return {name: {**here.definition, **call}[name] for name in BEYOND if name in here.definition or name in call}


def _said(job: LibraryJob) -> dict[str, object]:
    call = job.spec.call if isinstance(job.spec.call, dict) else {}
    return {
        "func": call.get("func"),
        "arguments": {name: value for name, value in call.items() if name not in ("func", *BEYOND)},
        "trigger": _declared(job.trigger),
        **{name: job.definition.get(name) for name in DEFINED},
        "paused": job.next_fire_at is None,
    }


def _declared(trigger: Mapping[str, Any]) -> object:
    """Without what the import itself decides: the seed, and where an interval is that jitter has moved."""
    left_out = {"seed", "start_date"} if trigger.get("jitter") and trigger["trigger"] == "interval" else {"seed"}
    kept = {name: value for name, value in trigger.items() if name not in left_out}
    return {**kept, "triggers": [_declared(part) for part in kept["triggers"]]} if "triggers" in kept else kept
