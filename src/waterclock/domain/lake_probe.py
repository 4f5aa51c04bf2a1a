"""A probe: one question to a source, asked by a run of its own, whose progress is the answer.

The question travels as the run's arguments. With them go references to the source's secrets, as with any lake job
(`lake_secrets`): so whoever hands out secrets, or shows a log, knows them.

    test      {"message": what answered}
    tables    {"tables": [names]}
    preview   {"columns": [{"name", "type"}], "rows": [[…]]}
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import CannotRun
from waterclock.domain.lake_secrets import secret_arguments
from waterclock.domain.lake_sync import PROBE, LakeSource

NAMESPACE: Final = PROBE  # not the lake's: no list of its jobs or runs has to pass over what is nobody's
ACTION: Final = "--action"
SOURCE: Final = "--source"
WHAT: Final = "--what"


class Action(StrEnum):
    TEST = "test"
    TABLES = "tables"
    PREVIEW = "preview"


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """`what` is to be read: fields of a sync job's task, and how many `rows`."""

    action: Action
    source_id: int
    what: Mapping[str, object] = field(default_factory=dict)


def probe_arguments(probe: Probe, source: LakeSource) -> dict[str, str]:
    asked = {ACTION: probe.action.value, SOURCE: str(probe.source_id), WHAT: json.dumps(dict(probe.what))}
    return asked | secret_arguments(source.config)


def probe_of(arguments: Mapping[str, str]) -> Probe:
    """Of the arguments of its run."""
    try:
        what = json.loads(arguments.get(WHAT, "{}"))
        found = Probe(action=Action(arguments[ACTION]), source_id=int(arguments[SOURCE]), what=what)
    except (KeyError, ValueError):
        raise CannotRun("this is no probe of a source: ask for one with `waterclock lake source test`") from None
    if not isinstance(found.what, dict):
        raise CannotRun("what a probe is to read must be an object")
    return found
