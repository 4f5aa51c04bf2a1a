"""A lake job in a file: JSON or YAML, as the server takes it; a time may be written as one."""

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import Any, Final

import yaml

from waterclock.domain.errors import InvalidInput
from waterclock.domain.moment import from_datetime
from waterclock.faces.cli.content import STDIN, read_content
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.lake.calling import MILLISECOND
from waterclock.faces.iso import from_iso

Job = dict[str, Any]

EXAMPLE: Final = "a job is {class_name: sql_job, display_name: …, query_info: {query: …}}"


def read_job(source: str) -> Job:
    """What is below `job`, or all of it, where there is no such field."""
    shown = "standard input" if source == STDIN else source
    try:
        given = _parsed(read_content(source), shown)
    except OSError as problem:
        raise Refused(f"{shown}: {problem.strerror}") from None
    inner = given.get("job", given) if isinstance(given, Mapping) else given
    if not isinstance(inner, Mapping) or not inner:
        raise Refused(f"{shown} holds no job: {EXAMPLE}")
    return _with_moments(dict(inner), shown)


def milliseconds(text: str, field: str) -> int:
    """ISO 8601 as the server wants it."""
    try:
        return from_datetime(from_iso(text, field=field)) // MILLISECOND
    except InvalidInput as problem:
        raise Refused(f"{field}: {problem.reason}") from None


def _parsed(text: str, shown: str) -> object:
    """JSON by its own rules; whatever is not JSON may be YAML."""
    try:
        return json.loads(text)
    except ValueError as not_json:
        try:
            return yaml.safe_load(text)
        except (yaml.YAMLError, ValueError, RecursionError) as problem:
            reason = not_json if text.lstrip().startswith("{") else problem
            raise Refused(f"{shown} is neither JSON nor YAML: {reason}") from None


def _with_moments(job: Job, shown: str) -> Job:
    """YAML reads what looks like a time as one; the server counts milliseconds."""
    schedule = job.get("schedule_time")
    if isinstance(schedule, Mapping) and isinstance(start := schedule.get("start_time"), str | date):
        job["schedule_time"] = {**schedule, "start_time": _start(start, f"{shown}: schedule_time.start_time")}
    try:
        json.dumps(job, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as problem:
        raise Refused(f"{shown} holds what JSON does not: {problem}; put it in quotes") from None
    return job


def _start(given: str | date, field: str) -> int:
    if isinstance(given, datetime):
        given = given.isoformat()
    return milliseconds(str(given), field)
