"""Watching a run of a chain to its end: drawn in place on a terminal, elsewhere told change by change. On stderr."""

import os
import sys
import time
from datetime import UTC, datetime, tzinfo
from typing import Any, Final, Protocol
from zoneinfo import ZoneInfo

import click

from waterclock import clock
from waterclock.domain.moment import to_datetime
from waterclock.faces.cli.chain.changes import Changes
from waterclock.faces.cli.chain.live import RUNNING, Shown, frame
from waterclock.faces.cli.chain.screen import Screen, painted, terminal_size
from waterclock.faces.cli.client import Client, Lost, path
from waterclock.faces.cli.following import FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS, Progress

LOOK_SECONDS: Final = 0.5
LAST_PROBES: Final = 3  # the one to come, the one that runs, and what the last one found
LATE_SECONDS: Final = 2.5  # how old the time may be that an answer tells
EARLY_SECONDS: Final = 0.5


class View(Protocol):
    def show(self, run: Shown, now: datetime) -> None: ...
    def trouble(self, words: str) -> None: ...
    def done(self) -> None: ...


class Told:
    """Line by line, each once."""

    def __init__(self, zone: tzinfo) -> None:
        self._changes = Changes(zone)
        self._progress = Progress()

    def show(self, run: Shown, now: datetime) -> None:
        for line in self._changes.since_last(run, now):
            self._progress.say(line)

    def trouble(self, words: str) -> None:
        self._progress.say(words)

    def done(self) -> None:
        """What was told stays."""


def watch(client: Client, run_id: int, zone: tzinfo) -> dict[str, Any]:
    """The run as it ended. A server that goes away is waited for."""
    view, pause = _view(zone), FIRST_PAUSE_SECONDS
    while True:
        asked_at = clock.monotonic()
        try:
            run: dict[str, Any] = client.get(path("chains", "runs", str(run_id)), probes=LAST_PROBES)
        except Lost as problem:
            view.trouble(f"{problem.message}; trying again in {pause:g} s")
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            continue
        pause = FIRST_PAUSE_SECONDS
        view.show(run, server_now(client))
        if run["status"] != RUNNING:
            view.done()
            return run
        # An answer that takes its time is asked for the less often.
        time.sleep(max(LOOK_SECONDS, 4 * (clock.monotonic() - asked_at)))


def print_frame(run: Shown, now: datetime, zone: tzinfo) -> None:
    """On stdout, whole."""
    width = terminal_size()[0] if sys.stdout.isatty() else sys.maxsize
    for line in frame(run, now, width, zone=zone):
        click.echo(painted(line) if sys.stdout.isatty() else line)


def zone_of(chain: Shown) -> tzinfo:
    """In which its times are shown, as `usually passes at` is; UTC where it has none that can be read."""
    try:
        return ZoneInfo(chain["timezone"])
    except (ValueError, OSError, KeyError):
        return UTC


def server_now(client: Client) -> datetime:
    return believed(client.server_time, to_datetime(clock.wall_us()))


def believed(server: datetime | None, ours: datetime) -> datetime:
    """The server's time. It tells whole seconds, a little late: our own clock is finer, if it does not differ."""
    if server is None or -EARLY_SECONDS <= (ours - server).total_seconds() <= LATE_SECONDS:
        return ours
    return server


def _view(zone: tzinfo) -> View:
    is_screen = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    return Screen(zone) if is_screen else Told(zone)
