"""What each kind of lake job is told to do, as it is sent in either shape and kept in the seed's."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final
from urllib.parse import quote

from waterclock.domain.errors import InvalidInput
from waterclock.domain.lake import LakeKind
from waterclock.domain.lake_secrets import check_lake_secrets
from waterclock.domain.secret import names_in, reference_to
from waterclock.faces.api.fields import Fields, several, text
from waterclock.faces.lake.fields import in_any_case, known, secret_name, words
from waterclock.faces.lake.outputs import output

LONGEST_PLACE: Final = 4_096
LONGEST_TEXT: Final = 16 * 1024 * 1024  # the body's own limit is less
MOST_OUTPUTS: Final = 100


class BuildTool(StrEnum):
    MAVEN = "maven"
    SBT = "sbt"
    GRADLE = "gradle"
    NONE = "none"


def requirements(field: str, value: object) -> object:
    """A list of them, or the text of a requirements.txt."""
    return text(LONGEST_TEXT, least=0)(field, value) if isinstance(value, str) else words(field, value)


def kept_apart(field: str, value: object) -> str | None:
    """The name of the secret that stands for a password or a key: what is stored can be read by everyone."""
    given = str(text(LONGEST_TEXT, least=0)(field, value))
    name = next(iter(names_in(given)), None)
    if given and (name is None or given != reference_to(name)):
        raise InvalidInput(
            "is not kept in the open: store it (waterclock secret set NAME) and send {{secret:NAME}}, or name it in "
            "credentials",
            field=field,
        )
    return name


PLACE: Final = text(LONGEST_PLACE, least=0)
QUERY: Final = text(LONGEST_TEXT)
OUTPUTS: Final = several(output, MOST_OUTPUTS)
CLONE_INFO: Final[Fields] = {
    "url": text(LONGEST_PLACE),
    "username": text(least=0),
    "password": kept_apart,
    "private_key": kept_apart,
    "branch": text(least=0),
}
GIT: Final[Fields] = {
    "git_url": PLACE,
    "git_clone_info": known(CLONE_INFO, required=("url",)),
    "branch": text(least=0),
    "credentials": secret_name,
}
FIELDS: Final[Mapping[LakeKind, Fields]] = {
    LakeKind.JAVA: {
        **GIT,
        "build_tool": in_any_case(BuildTool),
        "build_cmd": PLACE,
        "main_class": PLACE,
        "jar": PLACE,
        "args": words,
    },
    LakeKind.SQL: {
        "query_info": known({"query": QUERY, "outputs": OUTPUTS}, required=("query",)),
        "query": QUERY,
        "outputs": OUTPUTS,
    },
    LakeKind.PYTHON: {
        **GIT,
        "code": text(LONGEST_TEXT, least=0),
        "script": PLACE,
        "requirements": requirements,
        "entrypoint": PLACE,
        "args": words,
    },
}
# In the order in which an answer has them.
SHOWN: Final = (
    *("git_url", "branch", "credentials", "build_tool", "build_cmd", "main_class", "jar"),
    *("code", "script", "requirements", "entrypoint", "args", "query_info"),
)
# Exactly one of these must be there.
SOURCES: Final[Mapping[LakeKind, tuple[str, ...]]] = {
    LakeKind.JAVA: ("git_url",),
    LakeKind.SQL: ("query_info",),
    LakeKind.PYTHON: ("code", "script", "git_url"),
}


def task_of(kind: LakeKind, given: Mapping[str, Any], *, within: str) -> dict[str, Any]:
    """Of what was read by FIELDS, empty words left out; whether an address can be reached is found out by the run."""
    found = {**_from_later(given), **{name: value for name, value in given.items() if value != ""}}
    task: dict[str, Any] = {name: found[name] for name in SHOWN if name in found}
    _check_source(SOURCES[kind], task, within)
    try:
        check_lake_secrets(task)
    except InvalidInput as problem:
        raise InvalidInput(problem.reason, field=f"{within}{problem.field}") from None
    return task


def _check_source(sources: tuple[str, ...], task: Mapping[str, Any], within: str) -> None:
    first, *others = sources
    given = [name for name in sources if name in task]
    if not given:
        more = f", or one of {', '.join(others)}" if others else ""
        raise InvalidInput(f"is required{more}", field=f"{within}{first}")
    if given[1:]:
        raise InvalidInput(f"cannot be given together with {given[0]}", field=f"{within}{given[1]}")
    if "entrypoint" in task and "git_url" not in task:
        raise InvalidInput("names a file of a repository: it goes with git_url", field=f"{within}entrypoint")


def _from_later(given: Mapping[str, Any]) -> dict[str, Any]:
    """What the later shape says, by the seed's names."""
    found: dict[str, Any] = {}
    if clone := given.get("git_clone_info"):
        credentials = clone.get("password") or clone.get("private_key")
        user = clone.get("username", "") if credentials else ""  # one without a password would be taken for a token
        found = {"git_url": _with_user(clone["url"], user), "branch": clone.get("branch"), "credentials": credentials}
    if "query" in given:
        found["query_info"] = {"query": given["query"], "outputs": given.get("outputs", ())}
    return {name: value for name, value in found.items() if value}


def _with_user(url: str, user: str) -> str:
    """Where the seed's shape has a user: https://bob@host/path."""
    scheme, separator, rest = url.partition("://")
    is_wanted = user and scheme == "https" and "@" not in rest.partition("/")[0]
    return f"{scheme}{separator}{quote(user, safe='')}@{rest}" if is_wanted else url
