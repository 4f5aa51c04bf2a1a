"""Recording: what the faces call after every call. It never raises, and it never waits."""

import logging
from typing import Final

from waterclock import clock
from waterclock.domain.audit import NOBODY, Entry
from waterclock.services.audit.codec import line_of
from waterclock.services.audit.journal import Journal

STRANGERS: Final = 50  # lines a second for callers whom we do not know: a flood must not fill the disk

log: Final = logging.getLogger("waterclock.audit")


class Recorder:
    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._lost = 0
        self._second = 0
        self._strangers = 0  # in this second

    def record(self, entry: Entry) -> None:
        if entry.org_id == NOBODY and not self._admits_stranger(int(clock.monotonic())):
            return
        self._write(entry)

    def settle(self) -> None:
        """Say how many strangers were passed over, once their second is over."""
        self._begin_second(int(clock.monotonic()))

    def _admits_stranger(self, second: int) -> bool:
        self._begin_second(second)
        self._strangers += 1
        return self._strangers <= STRANGERS

    def _begin_second(self, second: int) -> None:
        if second == self._second:
            return
        passed_over, self._second, self._strangers = self._strangers - STRANGERS, second, 0
        if passed_over > 0:
            self._write(_flood(passed_over))

    def _write(self, entry: Entry) -> None:
        try:
            self._journal.append(line_of(entry))
        except (OSError, TypeError) as problem:  # TypeError: what cannot be written as UTF-8
            if not self._lost:
                log.error("the audit cannot be written: %s; calls go on without it", problem)
            self._lost += 1
        else:
            if self._lost:
                log.error("the audit is written again; %d calls are missing from it", self._lost)
                self._lost = 0


def _flood(count: int) -> Entry:
    return Entry(
        at=clock.wall_us(),
        org_id=NOBODY,
        user="",
        address="",
        face="",
        action="refused",
        resource=f"{count} more calls",
        status=403,
        error=None,
        ms=0,
        request_id="",
    )
