"""From a claimed attempt to a program: the script found, the command built, nothing left to look up."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from waterclock.domain.arguments import check_arguments
from waterclock.domain.bookmark import VARIABLE as BOOKMARK_FILE
from waterclock.domain.bookmark import BookmarkOption, Left, bookmark_option
from waterclock.domain.chain import KIND as CHAIN
from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun, InvalidInput
from waterclock.domain.job import CALLABLE
from waterclock.domain.lake import PROGRAMS as LAKE
from waterclock.domain.lake_secrets import check_lake_secrets, config_with, secrets_in, secrets_of, with_secrets
from waterclock.domain.lake_sync import PROBE
from waterclock.domain.masking import NOTHING_TO_MASK, Masks
from waterclock.domain.message import LONGEST_OUTPUT
from waterclock.domain.moment import to_iso
from waterclock.domain.progress import Said
from waterclock.domain.run import Attempt
from waterclock.domain.secret import Resolved, refers_to_secrets, resolve, secret_names
from waterclock.runners import bookmark_file, logs
from waterclock.runners.base import Limits, Program
from waterclock.runners.chain_program import ChainPrograms, chain_environment, timeout_of, words_of
from waterclock.runners.interpreters import PATH, PYTHON, Command, command
from waterclock.runners.lake import report
from waterclock.runners.lake.placing import LakePrograms, task_of
from waterclock.runners.logs import LocalLog
from waterclock.runners.outbox import Outbox
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces

log: Final = logging.getLogger("waterclock.runners")

LAST_WORDS: Final = 500
LOCK_SECONDS: Final = 0.5  # between two looks at who writes to a destination
MODULES: Final = "--additional-python-modules"


class SecretSource(Protocol):
    """Where the values come from that arguments refer to."""

    async def values(self, attempt: Attempt, names: Collection[str]) -> Mapping[str, str]:
        """Of all these names, which its arguments have; `CannotRun` where one of them has none."""
        ...

    async def masks(self, attempt: Attempt, names: Collection[str]) -> Masks:
        """What the output of a program that was given them must not show."""
        ...


class Locks(Protocol):
    """Of destinations: two attempts that write to one place take turns."""

    async def lock(self, attempt_id: int, fence: int, destinations: Collection[str]) -> str | None:
        """None once all of them are the attempt's, for as long as it lives; else what it has to wait for."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparer:
    scripts: Scripts
    secrets: SecretSource
    venvs: Venvs
    workspaces: Workspaces
    interpreters: Mapping[str, str]
    chains: ChainPrograms = field(default_factory=ChainPrograms)
    lake: LakePrograms = field(default_factory=LakePrograms)
    locks: Locks | None = None  # None: this process is the only one that writes
    callables: frozenset[str] = frozenset()
    outbox: Outbox | None = None  # for logs that are shipped; else they stay where they are written
    log_cap_bytes: int = 64 * 1024 * 1024
    grace_seconds: float = 10.0
    user: str | None = None

    def at_once(self, claimed: Claimed) -> Program | None:
        """The program, where nothing has to be fetched or installed; None where `prepare` must."""
        if claimed.spec.kind == CALLABLE:
            return self._callable(claimed)
        if claimed.spec.kind == CHAIN or claimed.spec.kind in LAKE:
            return None
        if _modules(claimed) and claimed.spec.kind == PYTHON:
            return None
        if refers_to_secrets(claimed.attempt.arguments):
            return None
        script = self.scripts.local(_location(claimed), claimed.attempt.owner)
        return None if script is None else self._program(claimed, _as_they_are(claimed), script, None)

    async def prepare(self, claimed: Claimed) -> Program:
        if claimed.spec.kind == CHAIN:
            return await self._of_chain(claimed)
        if claimed.spec.kind in LAKE:
            return await self._of_lake(claimed)
        location, given = _location(claimed), await self._resolved(claimed, claimed.attempt.arguments)
        modules = _modules(claimed) if claimed.spec.kind == PYTHON else None
        script = self.scripts.local(location, claimed.attempt.owner)
        if script is None:
            script = await self.scripts.fetch(location, self.workspaces.make(claimed.attempt.id))
        python = await self.venvs.python_for(modules) if modules else None
        return self._program(claimed, given, script, python)

    async def masks(self, claimed: Claimed) -> Masks:
        if claimed.spec.kind == CALLABLE:
            return NOTHING_TO_MASK
        named = _lake_secrets(claimed) if claimed.spec.kind in LAKE else frozenset[str]()
        names = named | secret_names(claimed.attempt.arguments)
        return await self.secrets.masks(claimed.attempt, names) if names else NOTHING_TO_MASK

    def bookmark(self, claimed: Claimed) -> Left:
        if _option(claimed) is not BookmarkOption.ENABLE:
            return Left()
        left = bookmark_file.take(self.workspaces.folder(claimed.attempt.id), claimed.attempt.created_at)
        return Left() if left.content == claimed.bookmark and not left.refused else left

    def log_path(self, attempt: Attempt) -> str:
        return str((self.outbox or self.workspaces).log(attempt))

    def last_words(self, log_path: str, masks: Masks) -> str:
        """The last line of its log that says something."""
        with suppress(OSError):
            lines = logs.tail(LocalLog(path=Path(log_path)), LAST_WORDS, masks).strip().splitlines()
            return lines[-1] if lines else ""
        return ""

    def output(self, log_path: str, masks: Masks) -> str | None:
        """The end of its log, as it may be shown."""
        with suppress(OSError):
            return logs.tail(LocalLog(path=Path(log_path)), LONGEST_OUTPUT, masks)
        return None

    def said(self, log_path: str) -> str | None:
        """The end of its log as the program wrote it; a log that is lost, or ends in mere blanks, tells nothing."""
        with suppress(OSError):
            log = Path(log_path)
            size, text = log.stat().st_size, logs.tail(LocalLog(path=log), LONGEST_OUTPUT)
            return text if text.strip() or size <= LONGEST_OUTPUT else None
        return None

    def report(self, attempt_id: int) -> Said:
        return report.read(self.workspaces.folder(attempt_id))

    def set_aside(self, besides: Collection[int]) -> Callable[[], None]:
        return self.workspaces.set_aside(besides)

    def clean_up(self, attempt_ids: Sequence[int]) -> None:
        for attempt_id in attempt_ids:
            self.workspaces.remove(attempt_id)

    async def _resolved(self, claimed: Claimed, arguments: Mapping[str, str]) -> Resolved:
        """With the secrets that these arguments refer to, as they are now."""
        attempt = claimed.attempt
        if not refers_to_secrets(attempt.arguments):
            return Resolved(arguments=arguments, environment={})
        try:
            check_arguments(attempt.arguments)
        except InvalidInput as refused:
            raise CannotRun(f"argument {refused}") from None
        return resolve(arguments, await self.secrets.values(attempt, secret_names(arguments)))

    async def _of_chain(self, claimed: Claimed) -> Program:
        """Bookmarks are a job's, and a chain's programs share one: they have none."""
        attempt = claimed.attempt
        given = await self._resolved(claimed, words_of(attempt))
        built = await self.chains.placed(attempt, tuple(given.arguments.values()), self.workspaces)
        folder = self.workspaces.folder(attempt.id)
        env = {**environment(attempt, folder), **chain_environment(attempt, warm=built.warm)}
        return self._made(claimed, built, env, folder)

    async def _of_lake(self, claimed: Claimed) -> Program:
        attempt, task = claimed.attempt, _lake_task(claimed)
        try:
            check_lake_secrets(task)
        except InvalidInput as refused:
            raise CannotRun(str(refused)) from None
        await self._lock(claimed)
        names = _lake_secrets(claimed)
        values = await self.secrets.values(attempt, names) if names else {}
        sources = [replace(each, config=config_with(each.config, values)) for each in claimed.sources]
        given = None if _option(claimed) is BookmarkOption.DISABLE else claimed.bookmark
        built = await self.lake.placed(
            claimed, with_secrets(task, values), self.workspaces, sources=sources, bookmark=given
        )
        folder = self.workspaces.folder(attempt.id)
        return self._made(claimed, built, environment(attempt, folder), folder)

    async def _lock(self, claimed: Claimed) -> None:
        """Returns when nobody else writes where this one will; until then its run says for whom it waits."""
        attempt, wanted, told = claimed.attempt, self.lake.destinations(claimed), ""
        while self.locks and wanted and (reason := await self.locks.lock(attempt.id, attempt.fence, wanted)):
            if reason != told:
                log.info("%s waits: %s", attempt.wire_id, reason)
            told = reason
            await asyncio.sleep(LOCK_SECONDS)

    def _program(self, claimed: Claimed, given: Resolved, script: Path, python: str | None) -> Program:
        attempt, option = claimed.attempt, _option(claimed)
        built = command(claimed.spec.kind, script, words(attempt, given.arguments), self.interpreters, python)
        folder = self.workspaces.make(attempt.id)
        bookmark = {} if option is BookmarkOption.DISABLE else {BOOKMARK_FILE: str(bookmark_file.path_in(folder))}
        if bookmark and claimed.bookmark is not None:
            bookmark_file.place(folder, claimed.bookmark, attempt.created_at)
        env = {**environment(attempt, folder), **bookmark, **given.environment}
        return self._made(claimed, built, env, folder)

    def _made(self, claimed: Claimed, built: Command, env: Mapping[str, str], folder: Path) -> Program:
        attempt = claimed.attempt
        return Program(
            attempt_id=attempt.id,
            fence=attempt.fence,
            argv=built.argv,
            warm=built.warm,
            env=env,
            cwd=str(folder),
            log_path=self.log_path(attempt),
            log_cap_bytes=self.log_cap_bytes,
            timeout_seconds=timeout_of(attempt),
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


def words(attempt: Attempt, arguments: Mapping[str, str]) -> Sequence[str]:
    """`--key value` for each argument, after the two that say which job and run this is."""
    given = [word for key, value in arguments.items() for word in ((key, value) if value else (key,))]
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


def _lake_task(claimed: Claimed) -> Mapping[str, object]:
    """A probe's question is in its arguments, for its placing to read."""
    return {} if claimed.spec.kind == PROBE else task_of(claimed)


def _lake_secrets(claimed: Claimed) -> frozenset[str]:
    return secrets_of(_lake_task(claimed)).union(*(secrets_in(each.config) for each in claimed.sources))


def _location(claimed: Claimed) -> str:
    if not claimed.spec.script:
        raise CannotRun("the job has no script: set its ScriptLocation")
    return claimed.spec.script


def _modules(claimed: Claimed) -> str | None:
    return claimed.attempt.arguments.get(MODULES) or claimed.spec.python_modules


def _as_they_are(claimed: Claimed) -> Resolved:
    return Resolved(arguments=claimed.attempt.arguments, environment={})


def _option(claimed: Claimed) -> BookmarkOption:
    try:
        return bookmark_option(claimed.attempt.arguments)
    except InvalidInput as refused:
        raise CannotRun(f"argument {refused}") from None
