"""What a call is about, for the audit: names and ids, never the values of arguments."""

from collections.abc import Mapping
from typing import Any, Final

# The first that is given: a job, trigger, workflow or crawler; what is tagged; IAM's role; the log of a run.
NAMES: Final = ("JobName", "Name", "ResourceArn", "RoleName", "logStreamName", "logGroupName")
LISTS: Final = ("JobNames", "TriggerNames", "Names", "CrawlerNames", "logStreamNames")
RUNS: Final = ("JobRunId", "RunId")


def resource_of(given: Mapping[str, Any]) -> str:
    """A run as its job's name, a slash and its id."""
    name = _first(given, NAMES) or _several(given, LISTS)
    run = _run(given) or _several(given, ("JobRunIds",))
    return f"{name}/{run}" if run else str(name)


def resource_made(given: Mapping[str, Any], result: Mapping[str, Any]) -> str | None:
    """The run that the call has started, where it started one."""
    run = _run(result)
    return f"{_first(given, NAMES) or ''}/{run}" if run else None


def _run(members: Mapping[str, Any]) -> str | None:
    return _first(members, RUNS)


def _first(members: Mapping[str, Any], names: tuple[str, ...]) -> str | None:
    for each in names:
        if each in members:
            return members[each]  # type: ignore[no-any-return]
    return None


def _several(given: Mapping[str, Any], lists: tuple[str, ...]) -> str:
    return ", ".join(str(item) for each in lists for item in given.get(each, ()))
