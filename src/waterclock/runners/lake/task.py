"""The seam between the program of a lake job and what its kind does."""

from pathlib import Path
from typing import Protocol

from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter


class TaskFailed(Exception):
    """Why the run ends in Error, in words for the one who defined the job; the first line is the reason."""


class Task(Protocol):
    def __call__(self, order: Order, folder: Path, reporter: Reporter) -> int:
        """In the program's own process and folder; what it prints is the run's log. Its answer is the exit code."""
        ...
