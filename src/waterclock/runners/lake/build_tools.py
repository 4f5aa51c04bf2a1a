"""Maven, Gradle and sbt: how each is called without a shell, where it keeps its things, and why it says it failed."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.runners.lake.task import TaskFailed

NONE: Final = "none"
SHELL: Final = frozenset({"&&", "||", "|", ";", "&", ">", ">>", "<", "2>&1"})
LONGEST_REASON: Final = 500

_COLOURS: Final = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PREFIX: Final = re.compile(r"^\[(?:error|ERROR)\]\s*")
_HELP: Final = re.compile(r"\s*-> \[Help \d+\]$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    name: str
    program: str
    wrapper: str  # that a repository may bring
    goal: str  # where the job says none

    @property
    def names(self) -> frozenset[str]:
        return frozenset({self.name, self.program})

    @property
    def wrappers(self) -> frozenset[str]:
        return frozenset({self.wrapper, f"./{self.wrapper}"}) if self.wrapper else frozenset()


TOOLS: Final[Mapping[str, Tool]] = {
    each.name: each
    for each in (
        Tool(name="maven", program="mvn", wrapper="mvnw", goal="package"),
        Tool(name="gradle", program="gradle", wrapper="gradlew", goal="build"),
        Tool(name="sbt", program="sbt", wrapper="", goal="package"),
    )
}


def tool_of(name: str) -> Tool:
    if name not in TOOLS:
        raise TaskFailed(f"build_tool {name!r} is not known: it is {', '.join(TOOLS)} or {NONE}")
    return TOOLS[name]


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """What a job's `build_cmd` asks for."""

    tool: Tool
    program: str  # as it was named; empty where the choice is ours
    words: tuple[str, ...]

    @classmethod
    def of(cls, tool: Tool, text: str) -> "Command":
        words = _split(text)
        named = bool(words) and words[0] in tool.names | tool.wrappers
        program, words = (words[0], words[1:]) if named else ("", words)
        if all(word.startswith("-") for word in words):
            words = (*words, tool.goal)
        return cls(tool=tool, program=program, words=words)

    def found(self, checkout: Path) -> str:
        """The repository's own wrapper, where it has one and the job does not name the installed tool."""
        tool, wrapper = self.tool, checkout / self.tool.wrapper
        if tool.wrapper and self.program not in tool.names and wrapper.is_file():
            wrapper.chmod(wrapper.stat().st_mode | 0o100)
            return str(wrapper)
        if self.program in tool.wrappers:
            raise TaskFailed(f"build_cmd: there is no {tool.wrapper} in the repository")
        path = shutil.which(tool.program)
        if path is None:
            raise TaskFailed(f"build_tool {tool.name!r}: {tool.program} is not installed on this worker")
        return path

    def argv(self, program: str, home: Path, settings: str) -> list[str]:
        """`home` is the tool's in the cache: nothing is downloaded twice for one repository."""
        match self.tool.name:
            case "maven":
                own = [
                    "-B",
                    "-ntp",
                    f"-Dmaven.repo.local={home / 'repository'}",
                    *(["-s", settings] if settings else []),
                ]
            case "gradle":
                own = ["--no-daemon", "--console=plain"]  # a daemon would outlive the run
            case _:
                places = {
                    "global.base": "base",
                    "boot.directory": "boot",
                    "ivy.home": "ivy",
                    "coursier.home": "coursier",
                }
                own = ["-batch", "-no-colors", *(f"-Dsbt.{name}={home / at}" for name, at in places.items())]
        return [program, *own, *self.words]


def environment(home: Path, temporary: Path) -> dict[str, str]:
    """Also for the JVMs that a tool starts."""
    return {
        **os.environ,
        "TMPDIR": str(temporary),
        "MAVEN_OPTS": f"-XX:-UsePerfData {shlex.quote(f'-Djava.io.tmpdir={temporary}')}",
        "MAVEN_USER_HOME": str(home),
        "GRADLE_USER_HOME": str(home),
        "COURSIER_CACHE": str(home / "coursier"),
    }


def reason_of(tool: Tool, lines: Sequence[str]) -> str:
    """What the tool itself gives as the cause, in one line; else its last words."""
    plain = [_COLOURS.sub("", line).rstrip() for line in lines]
    found = {"maven": _maven, "gradle": _gradle, "sbt": _sbt}[tool.name](plain)
    return (found or next(reversed(plain), "it said nothing"))[:LONGEST_REASON]


def _maven(lines: Sequence[str]) -> str:
    errors = [_HELP.sub("", _PREFIX.sub("", line)) for line in lines if _PREFIX.match(line)]
    at = next((index for index, line in enumerate(errors) if line.startswith("Failed to execute goal")), None)
    if at is None:
        return next((line for line in errors if line), "")
    detail = next((line for line in errors[at + 1 :] if line), "") if errors[at].endswith("failure") else ""
    return f"{errors[at]}: {detail}" if detail else errors[at]


def _gradle(lines: Sequence[str]) -> str:
    if "* What went wrong:" not in lines:
        return ""
    told = lines[lines.index("* What went wrong:") + 1 :]
    end = next((index for index, line in enumerate(told) if line.startswith("* ")), len(told))
    source = next((line for line in lines if ": error: " in line), "")
    return " ".join(line.strip() for line in (*told[:end], source) if line.strip())


def _sbt(lines: Sequence[str]) -> str:
    return next((text for line in lines if _PREFIX.match(line) and (text := _PREFIX.sub("", line))), "")


def _split(text: str) -> tuple[str, ...]:
    try:
        words = tuple(shlex.split(text))
    except ValueError as problem:
        raise TaskFailed(f"build_cmd {text!r} cannot be split into words: {problem}") from None
    if shell := next((word for word in words if word in SHELL), None):
        raise TaskFailed(
            f"build_cmd is one command of the build tool, given word by word and not to a shell: {shell!r}"
        )
    if any(not word.isprintable() for word in words):
        raise TaskFailed("build_cmd holds a control character")
    return words
