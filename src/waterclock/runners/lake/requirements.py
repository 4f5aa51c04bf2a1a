"""What a Python job wants installed: packages, as a list or as the lines of a requirements.txt; options are refused."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from waterclock.runners.lake.task import TaskFailed

FILE: Final = "requirements.txt"
LARGEST: Final = 1024 * 1024

_COMMENT: Final = re.compile(r"(^|\s)#.*$")
_CONTINUED: Final = re.compile(r"\\[ \t]*\r?\n")
_PATH: Final = re.compile(r"^[./~]|@\s*file:|^file:", re.IGNORECASE)


def requirements_of(given: object, repository: Path | None) -> tuple[str, ...]:
    """Each on a line of its own; `repository`: where a file of that name is looked for."""
    match given:
        case None:
            return ()
        case str() if given.strip() == FILE:
            return _checked(_lines(_file(repository)))
        case str():
            return _checked(_lines(given))
        case list() | tuple() if all(isinstance(each, str) for each in given):
            return _checked(line for each in given for line in _lines(each))
    raise TaskFailed(f"requirements must be a list of packages, their lines as one text, or {FILE!r}")


def _file(repository: Path | None) -> str:
    if repository is None:
        raise TaskFailed(f"requirements: {FILE!r} is a file of the repository, and the job has no git_url")
    path = repository / FILE
    if not path.resolve().is_relative_to(repository.resolve()) or not path.is_file():
        raise TaskFailed(f"requirements: there is no {FILE} in the repository")
    with path.open("rb") as file:
        return file.read(LARGEST).decode(errors="replace")


def _lines(text: str) -> Sequence[str]:
    whole = _CONTINUED.sub(" ", text)
    lines = (_COMMENT.sub("", line).strip() for line in whole.splitlines())
    return [" ".join(line.split()) for line in lines if line]


def _checked(lines: Iterable[str]) -> tuple[str, ...]:
    """What lies in a folder may change, and the environment that is kept would not."""
    wanted = tuple(lines)
    for line in wanted:
        if line.startswith("-"):
            raise TaskFailed(f"requirements: {line!r} is an option, not a package")
        if _PATH.search(line):
            raise TaskFailed(f"requirements: {line!r} is a path; name a package, or put its code into the repository")
        if "\0" in line:
            raise TaskFailed("requirements: a line holds a NUL character")
    return wanted
