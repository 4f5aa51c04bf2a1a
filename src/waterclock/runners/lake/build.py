"""A build of one commit, done once: what it made is kept, and the next run of the same commit takes it from there.

A run finds the same files whether it was built or kept: a fresh checkout, and in it what was made.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from waterclock.runners.lake import artefacts, tool
from waterclock.runners.lake.artefacts import Artefacts
from waterclock.runners.lake.build_tools import Command, environment, reason_of, tool_of
from waterclock.runners.lake.cache import Cache, digest_of, made
from waterclock.runners.lake.git import Checkout, pristine
from waterclock.runners.lake.task import TaskFailed

BUILDS: Final = "builds"
TOOLS: Final = "tools"


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    artefacts: Artefacts
    cached: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """Where and with what. The builds of one repository share what their tool has downloaded, and no others do."""

    tool: str
    command: str
    cache: Cache
    temporary: Path
    maven_settings: str = ""

    def done(self, checkout: Checkout) -> Built:
        command = Command.of(tool_of(self.tool), self.command)
        if self.maven_settings and not os.path.isfile(self.maven_settings):
            raise TaskFailed(f"the setting lake.maven_settings names {self.maven_settings}, which is no file here")
        key = digest_of(checkout.url, checkout.commit, self.tool, command.program, *command.words)
        with self.cache.held(BUILDS, key) as kept:
            cached = kept.is_dir()
            if not cached:
                self._build(command, checkout, kept)
            built = Built(artefacts=artefacts.place(kept, checkout.path), cached=cached)
        if not cached:
            self.cache.prune()
        return built

    def _build(self, command: Command, checkout: Checkout, kept: Path) -> None:
        before = artefacts.seen(checkout.path)
        program = command.found(checkout.path)
        with self.cache.held(TOOLS, digest_of(checkout.url, self.tool)) as home:
            home.mkdir(mode=0o700, exist_ok=True)
            self._run(command, program, home, checkout.path)
        with made(kept) as aside:
            if not artefacts.keep(checkout.path, before, aside):
                raise TaskFailed(f"the build made neither a jar nor classes: {self.tool} {' '.join(command.words)}")
        pristine(checkout)

    def _run(self, command: Command, program: str, home: Path, folder: Path) -> None:
        argv = command.argv(program, home, self.maven_settings)
        print(" ".join(argv), flush=True)
        try:
            ended = tool.run(argv, cwd=folder, env=environment(home, self.temporary))
        except OSError as problem:
            raise TaskFailed(f"cannot run {os.path.basename(program)}: {problem.strerror}") from None
        if ended.exit_code:
            raise TaskFailed(f"{reason_of(command.tool, ended.lines)} (the build ended with {ended.exit_code})")
