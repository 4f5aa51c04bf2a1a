"""The program of a gate or a step: the interpreter that it names, its script in a fresh copy of its folder, its words.

A copy is made for every attempt, in a thread, and is gone with the attempt's folder.
"""

import asyncio
import os
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from waterclock.domain.chain import arguments_of, script_of
from waterclock.domain.chain_graph import COMMAND, ENV, FIRE_AT, FLOW_RUN, FOLDER
from waterclock.domain.errors import CannotRun
from waterclock.domain.moment import SECOND, to_iso
from waterclock.domain.role import Role
from waterclock.domain.run import Attempt
from waterclock.runners.copying import Copy
from waterclock.runners.folders import Root, script_path
from waterclock.runners.interpreters import PYTHON, Command, located
from waterclock.runners.workspace import Workspaces

COPIES_AT_ONCE: Final = 8
LAST_LOOK_SECONDS: Final = 10.0  # what the last probe of a gate has, though its time is over


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainPrograms:
    """`roots` by the names that chains have for them: jobfolder, depfolder."""

    roots: Mapping[str, Root] = field(default_factory=dict)
    # Of their own: nobody else waits while a bucket does not answer.
    threads: Executor = field(default_factory=lambda: ThreadPoolExecutor(COPIES_AT_ONCE, thread_name_prefix="copying"))

    async def placed(self, attempt: Attempt, words: Sequence[str], workspaces: Workspaces) -> Command:
        """Its folder copied into the attempt's own. What was copied for an attempt that is stopped meanwhile goes."""
        loop, abandoned = asyncio.get_running_loop(), threading.Event()
        try:
            return await loop.run_in_executor(self.threads, self._placed, attempt, words, workspaces, abandoned)
        except asyncio.CancelledError:
            abandoned.set()
            loop.run_in_executor(self.threads, workspaces.remove, attempt.id)  # the copy may have been whole already
            raise

    def _placed(
        self, attempt: Attempt, words: Sequence[str], workspaces: Workspaces, abandoned: threading.Event
    ) -> Command:
        try:
            env = interpreter(attempt.arguments[ENV])
            script = script_path(script_of(attempt.arguments[COMMAND]))
            folder = _filled(self._root(attempt.arguments[FOLDER]), script, attempt.id, workspaces, abandoned)
            return command(env, folder / script.name, attempt.role, words)
        finally:
            if abandoned.is_set():
                workspaces.remove(attempt.id)

    def _root(self, name: str) -> Root:
        if name not in self.roots:
            raise CannotRun(f"this worker has no {name!r} for the programs of chains")
        return self.roots[name]


def _filled(
    root: Root, script: PurePosixPath, attempt_id: int, workspaces: Workspaces, abandoned: threading.Event
) -> Path:
    try:
        folder = workspaces.fresh(attempt_id)
        root.copy(script, Copy(folder=str(folder), owner=workspaces.owner(), abandoned=abandoned))
        return workspaces.make(attempt_id)
    except OSError as problem:
        raise CannotRun(f"cannot make the folder that it runs in: {problem}") from None


def command(env: str, script: Path, role: str, words: Sequence[str]) -> Command:
    """`env` as `interpreter` found it; on the backup the first word says so."""
    given = (str(script), *(("bkp",) if role == Role.BKP else ()), *words)
    return Command(argv=given, warm=True) if env == PYTHON else Command(argv=(env, *given))


def interpreter(env: str) -> str:
    """Its path on this worker; `python` alone is our own, which is warm."""
    if env == PYTHON:
        return env
    if "\0" in env or ("/" in env and not env.startswith("/")):
        raise CannotRun(f"env {env!r} must be a whole path, such as /usr/bin/python3, or a name without slashes")
    path = env if env.startswith("/") else located(env)
    if path is None or not os.path.exists(path):
        raise CannotRun(f"env {env!r} is not installed on this worker: it names the one program that runs the script")
    if not os.path.isfile(path) or not os.access(path, os.X_OK):
        raise CannotRun(f"env {env!r} is not a program that this worker may run")
    return path


def words_of(attempt: Attempt) -> dict[str, str]:
    """The arguments of its command, numbered: a secret that holds a semicolon stays one of them."""
    if not {ENV, COMMAND, FOLDER} <= attempt.arguments.keys():
        raise CannotRun("the job of a chain runs as a part of its chain only: run the chain")
    words = arguments_of(attempt.arguments[COMMAND])
    return {f"argument {number}": word for number, word in enumerate(words, start=1)}


def chain_environment(attempt: Attempt, *, warm: bool) -> dict[str, str]:
    """What a chain's program is told beside the rest; whoever is not the backup stands for main."""
    told = {"WATERCLOCK_ROLE": attempt.role or Role.MAIN}
    if isinstance(due_at := attempt.settings.get(FIRE_AT), int):
        told["WATERCLOCK_FIRE_TIME"] = to_iso(due_at)
    if FLOW_RUN in attempt.settings:
        told["WATERCLOCK_CHAIN_RUN_ID"] = str(attempt.settings[FLOW_RUN])
    return told if warm else {**told, "PYTHONIOENCODING": "utf-8"}  # the warm one writes UTF-8 as it is


def timeout_of(attempt: Attempt) -> float | None:
    """A probe has its own, but not much longer than its gate has; it may have been claimed long after it was due."""
    if attempt.probe_until is None:
        return attempt.timeout_seconds
    left = max(LAST_LOOK_SECONDS, (attempt.probe_until - max(attempt.due_at, attempt.updated_at)) / SECOND)
    return left if attempt.timeout_seconds is None else min(attempt.timeout_seconds, left)
