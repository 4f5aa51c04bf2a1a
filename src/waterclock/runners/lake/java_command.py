"""What a Java job asks for, and what Java is told to run of what its repository holds."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from waterclock.runners.lake import jars
from waterclock.runners.lake.artefacts import Artefacts
from waterclock.runners.lake.becoming import arguments_of, text_of
from waterclock.runners.lake.build_tools import NONE
from waterclock.runners.lake.task import TaskFailed

_CLASS: Final = re.compile(r"[^\W\d][\w$]*(?:\.[^\W\d][\w$]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """All of it is looked at before anything is done."""

    url: str
    branch: str | None
    credentials: str | None
    tool: str
    command: str
    main_class: str | None
    jar: str | None
    args: tuple[str, ...]

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> "Job":
        main_class = text_of(task, "main_class")
        if main_class and not _CLASS.fullmatch(main_class):
            raise TaskFailed(f"main_class {main_class!r} is no name of a class, such as org.example.Main")
        return cls(
            url=text_of(task, "git_url") or "",
            branch=text_of(task, "branch"),
            credentials=text_of(task, "credentials"),
            tool=(text_of(task, "build_tool") or NONE).lower(),
            command=text_of(task, "build_cmd") or "",
            main_class=main_class,
            jar=text_of(task, "jar"),
            args=arguments_of(task),
        )


def words_of(job: Job, found: Artefacts, root: Path) -> Sequence[str]:
    """After Java's own options; `root` is the checkout that `found` lies in."""
    named = _matching(job.jar, found, root) if job.jar else None
    if job.main_class is None:
        return ("-jar", str(jars.chosen(named or found.jars, root)), *job.args)
    places = named or (*found.classes, *jars.programs(found.jars))
    if not any(jars.has_class(place, job.main_class) for place in places):
        raise TaskFailed(f"the class {job.main_class} is not in {jars.named(places, root) or 'the repository'}")
    return ("-cp", os.pathsep.join(map(str, places)), job.main_class, *job.args)


def _matching(pattern: str, found: Artefacts, root: Path) -> tuple[Path, ...]:
    if pattern.startswith("/") or ".." in Path(pattern).parts or not pattern.isprintable():
        raise TaskFailed(f"jar {pattern!r} must be a path in the repository, such as target/app-*.jar")
    try:
        matching = tuple(path for path in sorted(root.glob(pattern)) if path.is_file())
    except (ValueError, NotImplementedError) as problem:
        raise TaskFailed(f"jar {pattern!r} cannot be read: {problem}") from None
    if any(not path.resolve().is_relative_to(root.resolve()) for path in matching):
        raise TaskFailed(f"jar {pattern!r} leads out of the repository")
    if not matching:
        there = jars.named(found.jars, root) or "none"
        raise TaskFailed(f"no file in the repository matches jar {pattern!r}; jars that are there: {there}")
    return matching
