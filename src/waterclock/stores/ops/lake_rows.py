"""From the rows of lake jobs to domain values and back, and how they are searched for."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from waterclock.domain.lake import LakeDraft, LakeJob, RunSortField, Sort, SortField
from waterclock.domain.moment import Moment
from waterclock.domain.run import Attempt
from waterclock.stores.base import Row, Tx, Values
from waterclock.stores.dialect import sorted_by
from waterclock.stores.ops.rows import dumped, loaded


@dataclass(frozen=True, slots=True, kw_only=True)
class LastRuns:
    """Of one lake job: the run that lives, or else the newest, and the newest that has ended."""

    run: Attempt | None = None
    ended: Attempt | None = None
    progress: Mapping[str, object] = field(default_factory=dict)


NO_RUNS: Final = LastRuns()


def draft_row(draft: LakeDraft, now: Moment) -> dict[str, object]:
    """What an update may change."""
    return {
        "display_name": draft.display_name,
        "folded_name": folded(draft.display_name),
        "job_type": draft.job_type,
        "source_id": draft.source_id,
        "every_minutes": draft.every_minutes,
        "schedule": dumped(draft.schedule_time),
        "updated_at": now,
    }


def lake_job_of(row: Row, last: LastRuns, now: Moment) -> LakeJob:
    return LakeJob(
        id=row["id"],
        org_id=row["org_id"],
        display_name=row["display_name"],
        class_name=row["class_name"],
        job_type=row["job_type"],
        creator=row["creator"],
        definition=loaded(row["definition"]),
        created_at=row["created_at"],
        updated_at=row["updated_at"],
        next_run_at=row["next_fire_at"],
        last_run=last.run,
        last_ended=last.ended,
        now=now,
        progress=last.progress,
    )


def folded(text: str) -> str:
    """The same for texts that a person takes for the same, however they were typed."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def pattern_of(keyword: str | None) -> str:
    """For LIKE … ESCAPE '!': whatever holds the keyword, letter by letter."""
    literal = folded(keyword or "").replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return f"%{literal}%" if literal else "%"


def in_order(statement: str, sorts: Sequence[Sort[SortField]] | Sequence[Sort[RunSortField]]) -> str:
    """Its name, where it is to be sorted otherwise than it is."""
    return sorted_by(statement, [(str(sort.field), sort.descending) for sort in sorts])


async def total_of(tx: Tx, statement: str, values: Values) -> int:
    row = await tx.fetch_one(statement, values)
    return int(row["total"]) if row else 0
