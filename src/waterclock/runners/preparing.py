"""From a claimed attempt to a program: the script found, the command built, nothing left to look up."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.job import CALLABLE
from waterclock.domain.moment import to_iso
from waterclock.domain.run import Attempt
from waterclock.runners import logs
from waterclock.runners.base import Limits, Program
from waterclock.runners.interpreters import PATH, PYTHON, command
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces

LAST_WORDS: Final = 500
MODULES: Final = "--additional-python-modules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    scripts: Scripts
    venvs: Venvs
    workspaces: Workspaces
    interpreters: Mapping[str, str]
    callables: frozenset[str] = frozenset()
    log_cap_bytes: int = 64 * 1024 * 1024
    grace_seconds: float = 10.0
    user: str | None = None

    def at_once(self, claimed: Claimed) -> Program | None:
        """The program, where nothing has to be fetched or installed; None where `prepare` must."""
        if claimed.spec.kind == CALLABLE:
            return self._callable(claimed)
        if _modules(claimed) and claimed.spec.kind == PYTHON:
            return None
        script = self.scripts.local(_location(claimed), claimed.attempt.owner)
        return None if script is None else self._program(claimed, script, None)

    async def prepare(self, claimed: Claimed) -> Program:
        location = _location(claimed)
        modules = _modules(claimed) if claimed.spec.kind == PYTHON else None
        script = self.scripts.local(location, claimed.attempt.owner)
        if script is None:
            script = await self.scripts.fetch(location, self.workspaces.make(claimed.attempt.id))
        python = await self.venvs.python_for(modules) if modules else None
        return self._program(claimed, script, python)

    def log_path(self, attempt: Attempt) -> str:
        return str(self.workspaces.log(attempt.wire_id, attempt.run_at))

    def last_words(self, log_path: str) -> str:
        """The last line of its log that says something."""
        with suppress(OSError):
            lines = logs.tail(Path(log_path), LAST_WORDS).strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def clean_up(self, attempt_ids: Sequence[int]) -> None:
        for attempt_id in attempt_ids:
            self.workspaces.remove(attempt_id)

    def _program(self, claimed: Claimed, script: Path, python: str | None) -> Program:
        attempt = claimed.attempt
        built = command(claimed.spec.kind, script, words(attempt), self.interpreters, python)
        folder = self.workspaces.make(attempt.id)
        return Program(
            attempt_id=attempt.id,
            fence=attempt.fence,
            argv=built.argv,
            warm=built.warm,
            env=environment(attempt, folder),
            cwd=str(folder),
            log_path=self.log_path(attempt),
            log_cap_bytes=self.log_cap_bytes,
            timeout_seconds=attempt.timeout_seconds,
            grace_seconds=self.grace_seconds,
            user=self.user,
            limits=Limits(**claimed.spec.limits),
        )

    def _callable(self, claimed: Claimed) -> Program:
        attempt, name = claimed.attempt, claimed.spec.script or ""
        if name not in self.callables:
            raise CannotRun(f"callable {name!r} is not among this worker's setting `callables`")
        return Program(
            attempt_id=attempt.id,
            fence=attempt.fence,
            argv=(name,),
            warm=False,
            env={},
            cwd="/",
            log_path="",
            timeout_seconds=attempt.timeout_seconds,
        )


def words(attempt: Attempt) -> Sequence[str]:
    """`--key value` for each argument, after the two that say which job and run this is."""
    given = [word for key, value in attempt.arguments.items() for word in ((key, value) if value else (key,))]
    return ("--JOB_NAME", attempt.job_name, "--JOB_RUN_ID", attempt.wire_id, *given)


def environment(attempt: Attempt, folder: Path) -> dict[str, str]:
    """From scratch: nothing of ours, no database, no keys."""
    return {
        "PATH": PATH,
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONUNBUFFERED": "1",
        "WATERCLOCK_JOB_NAME": attempt.job_name,
        "WATERCLOCK_RUN_ID": attempt.wire_id,
        "WATERCLOCK_FIRE_TIME": to_iso(attempt.run_at),
        "WATERCLOCK_ATTEMPT": str(attempt.number),
        "WATERCLOCK_FENCE": str(attempt.fence),
    }


def _location(claimed: Claimed) -> str:
    if not claimed.spec.script:
        raise CannotRun("the job has no script: set its ScriptLocation")
    return claimed.spec.script


def _modules(claimed: Claimed) -> str | None:
    return claimed.attempt.arguments.get(MODULES) or claimed.spec.python_modules
