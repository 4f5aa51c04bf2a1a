"""Jobs in a file: what a scheduler exports, and imports again, as JSON that people can read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import ExitStack
from os import PathLike
from typing import Any, Final, TextIO

import waterclock
from waterclock.domain.errors import InvalidInput
from waterclock.faces.library.declaring import approved, checked_call, checked_id
from waterclock.faces.library.keeping import DEFINITION, Declared
from waterclock.faces.library.serializers import JsonSerializer
from waterclock.job import Job
from waterclock.triggers import codec
from waterclock.triggers.dates import zone_for

VERSION: Final = 1
THEIRS: Final = "__apscheduler_class__"
File = TextIO | str | PathLike[str]


def write(jobs: Sequence[Job], outfile: File) -> None:
    """Nothing is written where one of the jobs cannot be: TypeError or ValueError that names it."""
    text = json.dumps({"version": VERSION, "scheduler_version": waterclock.__version__, "jobs": [*map(_line, jobs)]})
    with ExitStack() as stack:
        out = stack.enter_context(open(outfile, "w")) if isinstance(outfile, str | PathLike) else outfile
        out.write(text)


def read(infile: File) -> list[Declared]:
    with ExitStack() as stack:
        source = stack.enter_context(open(infile)) if isinstance(infile, str | PathLike) else infile
        kept = json.load(source)
    if not isinstance(kept, dict) or kept.get("version") != VERSION or not isinstance(kept.get("jobs"), list):
        raise ValueError(f"not a file of exported jobs (version {VERSION})")
    if any(isinstance(each, dict) and THEIRS in str(each.get("trigger")) for each in kept["jobs"]):
        raise ValueError(
            "this file was exported by APScheduler, and holds objects of its own classes: "
            "`waterclock import apscheduler URL` brings the jobs of its store here"
        )
    return [_job(each) for each in kept["jobs"]]


def _line(job: Job) -> dict[str, Any]:
    declared = job._declared
    try:
        state = job.__getstate__()
        if declared.unread is not None:
            raise ValueError(declared.unloadable)
        return {
            "version": VERSION,
            "id": job.id,
            "func": state["func"],
            "trigger": codec.to_json(job.trigger),
            "next_run_time": None if job.next_run_time is None else job.next_run_time.isoformat(),
            "timeout": job.timeout,
            **JsonSerializer().dump(job.args, job.kwargs),
            **{name: getattr(declared, name) for name in DEFINITION},
        }
    except (TypeError, ValueError, InvalidInput) as problem:
        raise type(problem)(f"job {job.id!r}: {problem}") from problem


def _job(kept: Any) -> Declared:
    """All of it is checked as what a program declares: ValueError that names the job."""
    if not isinstance(kept, dict):
        raise ValueError(f"not a file of exported jobs: {kept!r} is no job")
    try:
        args, kwargs = JsonSerializer().load(kept)
        call = checked_call(kept["func"], args, kwargs)
        told = {name: kept[name] for name in (*DEFINITION, "timeout", "next_run_time")}
        told["trigger"] = codec.from_json(kept["trigger"])
        return Declared(id=checked_id(kept["id"]), **call, **approved(told, zone_for(None)))
    except (AttributeError, InvalidInput, LookupError, TypeError, ValueError) as problem:
        raise ValueError(f"job {kept.get('id')!r} in the file is not whole: {problem}") from problem
