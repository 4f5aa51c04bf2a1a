"""Following a run: its log on stdout, what becomes of it on stderr, from its start to its last attempt's end."""

import sys
import time
from typing import Any, Final

import click

from waterclock import clock
from waterclock.faces.cli.client import Client, Lost, path

FIRST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 5.0


class Progress:
    """States as they change, with the time since we began to look; on a terminal also a line that counts."""

    def __init__(self) -> None:
        self._began = clock.monotonic()
        self._told = ""
        self._counting = False

    def saw(self, run: dict[str, Any]) -> None:
        if self.is_news(run):
            self._told = _told(run)
            self.say(f"{run['id']} is {self._told}")
        elif sys.stderr.isatty():
            self.count(f"… {run['state']} for {self._elapsed():.0f} s")

    def is_news(self, run: dict[str, Any]) -> bool:
        return _told(run) != self._told

    def count(self, text: str) -> None:
        """On a line that the next one takes the place of."""
        click.echo(f"\r\033[K{text}", err=True, nl=False)
        self._counting = True

    def say(self, text: str) -> None:
        self.make_room()
        click.echo(f"[{self._elapsed():7.1f} s] {text}", err=True)

    def make_room(self) -> None:
        """For the log: the line that counts goes away."""
        if self._counting:
            click.echo("\r\033[K", err=True, nl=False)
            self._counting = False

    def _elapsed(self) -> float:
        return clock.monotonic() - self._began


def follow(client: Client, wire_id: str, progress: Progress | None = None) -> dict[str, Any]:
    """The run as it ended: its last attempt's."""
    progress = progress or Progress()
    while True:
        run = _follow_attempt(client, wire_id, progress)
        if run["next_attempt"] is None:
            return run
        wire_id = run["next_attempt"]
        progress.say(f"attempt {run['attempt']} is over; following {wire_id}")


def print_log(client: Client, wire_id: str) -> None:
    """As much of it as there is now."""
    offset, more = 0, True
    while more:
        page = client.get(path("runs", wire_id, "log"), offset=offset)
        click.echo(page["text"], nl=False)
        more, offset = page["next_offset"] > offset, page["next_offset"]


def reason(run: dict[str, Any]) -> str:
    """Why it ended as it did, in a few words."""
    for name, words in (("message", "{}"), ("exit_code", "exit code {}"), ("exit_signal", "signal {}")):
        if run[name] is not None:
            return words.format(run[name])
    return "no reason was recorded"


def _follow_attempt(client: Client, wire_id: str, progress: Progress) -> dict[str, Any]:
    """A server that goes away is waited for; what was shown is not shown again."""
    offset, pause, reached = 0, FIRST_PAUSE_SECONDS, False
    while True:
        try:
            for name, data in client.events(path("runs", wire_id, "log", "follow"), offset=offset):
                reached, pause = True, FIRST_PAUSE_SECONDS
                match name:
                    case "log":
                        offset = data["next_offset"]
                        progress.make_room()
                        click.echo(data["text"], nl=False)
                    case "state" | "end":
                        progress.saw(data)
                    case "error":
                        progress.say(f"{data['message']}; trying again in {pause:g} s")
                if name == "end":
                    return dict(data)
        except Lost as problem:
            if not reached:
                raise
            progress.say(f"{problem.message}; trying again in {pause:g} s")
        time.sleep(pause)
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _told(run: dict[str, Any]) -> str:
    return f"{run['state']}{_because(run)}"


def _because(run: dict[str, Any]) -> str:
    if run["wait_reason"]:
        return f": {run['wait_reason']}"
    if run["execution_seconds"] is not None:
        return f" after {run['execution_seconds']:.1f} s"
    return ""
