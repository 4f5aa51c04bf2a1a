"""Of many jobs that are added together, an error says which it is about."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from waterclock.job import Job

# The same error, with a word about the job: of what came so far, and by its place among the others.
Naming = Callable[[Exception, int, "Job | None"], Exception]
PLAIN: Final = (AttributeError, TypeError, ValueError)  # their words are ours to make


def by_name(problem: Exception, place: int, job: Job | None) -> Exception:
    if job is not None:
        problem.add_note(f"This is about job {job.id!r} ({job.name}).")
    return problem


def by_place(problem: Exception, place: int, job: Job | None) -> Exception:
    """As a program finds it in what it has given."""
    if type(problem) in PLAIN:
        return type(problem)(f"entries[{place}]: {problem}")
    problem.add_note(f"This is about entries[{place}].")
    return problem
