"""The reporter: tells the cluster how far programs have come that say so of themselves, while they run.

What it says last of each is stored with its end, by the recorder: nothing is lost where this one is late.
"""

import asyncio
from typing import Final

from waterclock.domain.progress import Report
from waterclock.engine.attempt import Attempts
from waterclock.engine.work import Work

LOOK_SECONDS: Final = 0.5
REST_SECONDS: Final = 3600.0  # it is woken when such a program starts


class Reporter:
    name = "reporter"

    def __init__(self, work: Work, attempts: Attempts) -> None:
        self._work = work
        self._attempts = attempts
        self._told: dict[int, Report] = {}

    async def tick(self) -> float:
        look = self._attempts.reports()
        if look is None:
            self._told.clear()
            return REST_SECONDS
        found = {report.attempt_id: report for report in await asyncio.to_thread(look)}
        self._told = {number: told for number, told in self._told.items() if number in found}
        if news := [report for report in found.values() if self._is_news(report)]:
            taken = await self._work.report(news)
            self._told.update({report.attempt_id: report for report in news if report.attempt_id in taken})
        return LOOK_SECONDS

    def _is_news(self, report: Report) -> bool:
        """A program that has said nothing yet is as the store has it."""
        nothing = Report(attempt_id=report.attempt_id, fence=report.fence)
        return report != self._told.get(report.attempt_id, nothing)
