"""A search through the logs of some runs: what one answer holds of it, and how far it has come."""

from collections.abc import Mapping
from typing import Final

from waterclock.domain.run import Attempt
from waterclock.faces.glue.around.filter_pattern import Matches
from waterclock.faces.glue.around.log_events import Window, filtered_event
from waterclock.faces.glue.services import Wire
from waterclock.services.logs import LogLines

MOST_BYTES: Final = 1024 * 1024  # of log for one answer; an answer may hold no event and still go on


class Search:
    def __init__(self, begin: Mapping[str, int], *, window: Window, matches: Matches, limit: int) -> None:
        self._begin = begin
        self._window = window
        self._matches = matches
        self._limit = limit
        self._read = 0
        self.events: list[Wire] = []
        self.places = dict(begin)  # by stream

    @property
    def is_full(self) -> bool:
        return len(self.events) >= self._limit or self._read >= MOST_BYTES

    @property
    def went_on(self) -> bool:
        return any(place > self._begin.get(stream, 0) for stream, place in self.places.items())

    def place(self, attempt: Attempt) -> int:
        return self.places.get(attempt.wire_id, 0)

    def take(self, attempt: Attempt, found: LogLines) -> None:
        """The lines that follow its place; those that there is no room for are left for the next answer."""
        end = found.end
        for line in found.lines:
            if len(self.events) >= self._limit:
                end = line.offset
                break
            event = filtered_event(attempt, line)
            if self._window.holds(event) and self._matches(line.text):
                self.events.append(event)
        self._read += end - self.place(attempt)
        self.places[attempt.wire_id] = end
