"""Evidence: what programs wrote about themselves, a line at their start and one at their end."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from waterclock.domain.moment import SECOND, Moment, from_datetime

START: Final = "start"
END: Final = "end"
ALIVE: Final = "alive"  # a program that was told to may say so in between

PROGRAM: Final = """
import json, os, sys, time

NAMES = ("run_id", "fire_time", "attempt", "fence", "role")
PATH = {path!r}
WORK = sys.argv[sys.argv.index("--work") + 1] if "--work" in sys.argv else {work!r}  # a call may name its own


def mark(event):
    told = {{name: os.environ.get("WATERCLOCK_" + name.upper(), "") for name in NAMES}}
    line = dict(told, event=event, work=WORK, arguments=sys.argv[1:], at=time.time())
    file = os.open(PATH, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666) if PATH else os.dup(1)
    os.write(file, json.dumps(line).encode() + b"\\n")
    os.close(file)


mark("start")
{body}
mark("end")
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """One line. `work` names what was to run (a trigger's action, a chain's step): one run of it for each instant."""

    event: str
    work: str
    run: str
    attempt: int
    fence: int
    fire_at: Moment
    at: Moment
    role: str = ""
    arguments: tuple[str, ...] = ()

    @property
    def of(self) -> tuple[str, int]:
        """The attempt that it is about."""
        return self.run, self.attempt

    @property
    def late_us(self) -> int:
        return self.at - self.fire_at

    def __str__(self) -> str:
        return f"{self.work} of {self.fire_at} ({self.run}, attempt {self.attempt}, fence {self.fence})"


def program(work: str, path: Path | None, body: str = "") -> str:
    """A Python script that leaves its marks in the file at `path`, or in its log; one that is killed leaves no end."""
    return PROGRAM.format(work=work, path="" if path is None else str(path), body=body)


def read(path: Path) -> list[Mark]:
    return parsed(path.read_text() if path.exists() else "")


def parsed(text: str) -> list[Mark]:
    """The lines that are whole: one may just be on its way."""
    return [_mark(json.loads(line)) for line in text[: text.rfind("\n") + 1].splitlines()]


def _mark(line: dict[str, Any]) -> Mark:
    return Mark(
        event=line["event"],
        work=line["work"],
        run=line["run_id"].partition("_attempt_")[0],
        attempt=int(line["attempt"]),
        fence=int(line["fence"]),
        fire_at=from_datetime(datetime.fromisoformat(line["fire_time"])),
        at=round(line["at"] * SECOND),
        role=line["role"],
        arguments=tuple(line["arguments"]),
    )
