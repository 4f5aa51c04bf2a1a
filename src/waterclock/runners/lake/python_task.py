"""A Python job: its code fetched, its packages installed, and then this process becomes its program.

Nothing stays between the program and its keeper: its exit code, its signals and its output are its own.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.domain.run import Phase
from waterclock.runners.lake.becoming import arguments_of, become, text_of
from waterclock.runners.lake.cache import Cache
from waterclock.runners.lake.environment import environment_for
from waterclock.runners.lake.order import Order
from waterclock.runners.lake.report import Reporter
from waterclock.runners.lake.requirements import requirements_of
from waterclock.runners.lake.rooted import under_roots
from waterclock.runners.lake.task import TaskFailed

CODE: Final = "main.py"  # the file that inline code becomes, and the entrypoint of a repository that names none
_SOURCES: Final = ("git_url", "code", "script")
_CHECKOUT: Final = "repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """What is run, and where; `repository` is the checkout, where there is one."""

    words: tuple[str, ...]
    cwd: Path
    repository: Path | None = None


def run(order: Order, folder: Path, reporter: Reporter) -> int:
    task = order.task
    words = arguments_of(task)
    reporter.phase(Phase.BUILDING)
    Cache(Path(order.cache)).sweep()
    source = _source(order, folder, reporter)
    wanted = requirements_of(task.get("requirements"), source.repository)
    python, env = _installed(order, wanted, reporter) if wanted else (sys.executable, {})
    reporter.phase(Phase.EXECUTING)
    print("== run ==", flush=True)
    become((python, *source.words, *words), source.cwd, {**os.environ, **env})


def _installed(order: Order, wanted: Sequence[str], reporter: Reporter) -> tuple[str, Mapping[str, str]]:
    """Its interpreter, and what its programs find it by."""
    print("== build ==", flush=True)
    place, fresh = environment_for(Path(order.cache), wanted, order.pip)
    if not fresh:
        print("these requirements were installed before", flush=True)
    reporter.progress(build="built" if fresh else "cached")
    path = f"{place / 'bin'}:{os.environ['PATH']}"
    return str(place / "bin" / "python"), {"VIRTUAL_ENV": str(place), "PATH": path}


def _source(order: Order, folder: Path, reporter: Reporter) -> Source:
    task = order.task
    given = [name for name in _SOURCES if task.get(name)]
    if len(given) != 1:
        found = f"it has {' and '.join(given)}" if given else "it has none of them"
        raise TaskFailed(f"a python_job runs one of git_url, code or script: {found}")
    if not isinstance(task[given[0]], str):
        raise TaskFailed(f"{given[0]} must be a text")
    if given == ["git_url"]:
        return _from_git(order, folder, reporter)
    if task.get("entrypoint"):
        raise TaskFailed("entrypoint names a file of the repository: it goes with git_url")
    script = _written(folder, task["code"]) if task.get("code") else under_roots(task["script"], order.roots)
    return Source(words=(str(script),), cwd=folder)


def _written(folder: Path, code: str) -> Path:
    path = folder / CODE
    path.write_text(code, encoding="utf-8")
    return path


def _from_git(order: Order, folder: Path, reporter: Reporter) -> Source:
    from waterclock.runners.lake import git

    task = order.task
    print("== clone ==", flush=True)
    checkout = git.clone(
        task["git_url"],
        branch=text_of(task, "branch"),
        into=folder / _CHECKOUT,
        cache=Path(order.cache),
        roots=order.roots,
        allows_private=order.allows_private,
        credentials=text_of(task, "credentials"),
    )
    print(f"{checkout.url} at {checkout.commit}", flush=True)
    reporter.progress(commit=checkout.commit)
    words = entrypoint(task.get("entrypoint") or CODE, checkout.path)
    return Source(words=words, cwd=checkout.path, repository=checkout.path)


def entrypoint(given: object, repository: Path) -> tuple[str, ...]:
    """A file of the repository, or the name of a module in it, which is run as `python -m` does."""
    if not isinstance(given, str) or given.startswith("-"):
        raise TaskFailed(f"entrypoint {given!r} must be a file of the repository, or the name of a module")
    if not given.endswith(".py") and "/" not in given:
        if not all(part.isidentifier() for part in given.split(".")):
            raise TaskFailed(f"entrypoint {given!r} is neither a file (jobs/load.py) nor a module (jobs.load)")
        return ("-m", given)
    path = (repository / given).resolve()
    if not path.is_relative_to(repository.resolve()):
        raise TaskFailed(f"entrypoint {given!r} leads out of the repository")
    if not path.is_file():
        raise TaskFailed(f"entrypoint {given!r}: there is no such file in the repository")
    return (str(path),)
