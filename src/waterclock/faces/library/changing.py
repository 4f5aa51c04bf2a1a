"""A change of a job, made from what was seen of it: whoever changed it meanwhile is not overruled unseen."""

from __future__ import annotations

from dataclasses import dataclass, replace

from waterclock.domain.library import LibraryJob, StoredJob


class ChangedMeanwhile(Exception):
    """Somebody else has changed the job: look again."""


@dataclass(frozen=True, slots=True)
class Change:
    """Called with the job as it is, held, for what becomes of it. That it has fired since is no change."""

    seen: StoredJob
    wanted: LibraryJob

    def __call__(self, stored: StoredJob) -> LibraryJob:
        if _what_is_declared(stored) != _what_is_declared(self.seen):
            raise ChangedMeanwhile
        was, now, wanted = self.seen.job, stored.job, self.wanted
        return replace(
            wanted,
            next_fire_at=now.next_fire_at if wanted.next_fire_at == was.next_fire_at else wanted.next_fire_at,
            problem=now.problem if wanted.problem == was.problem else wanted.problem,
        )


def _what_is_declared(stored: StoredJob) -> tuple[object, ...]:
    """Not what it calls, for which the version stands: the user's own arguments may not like to be compared."""
    return stored.id, stored.version, stored.job.trigger, stored.job.misfire
