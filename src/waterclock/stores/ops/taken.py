"""The attempt of a call that nobody has claimed: there are thousands of them at a time, and little is asked of most."""

from typing import Any

from waterclock.domain.moment import Moment
from waterclock.stores.ops.new_run import NewRun, first_attempt


class TakenAttempt:
    """Has the names of the engine's `Attempt`, and is handed out as one. What few ask for is made when they do."""

    __slots__ = ("_now", "_run", "id", "job_id", "job_name", "run_at", "run_id", "wire_id")

    fence = 1

    def __init__(self, run: NewRun, run_id: int, attempt_id: int, wire_id: str, now: Moment) -> None:
        assert run.job is not None
        self._run, self._now = run, now
        self.id, self.run_id, self.wire_id = attempt_id, run_id, wire_id
        self.job_id, self.job_name, self.run_at = run.job.id, run.job_name, run.run_at

    def __getattr__(self, name: str) -> Any:
        return getattr(first_attempt(self._run, self.run_id, self.id, self.wire_id, self._now), name)
