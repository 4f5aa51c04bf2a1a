"""Both engines asked the whole corpus, each in a process of its own, side by side."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.lake.corpus.comparing import Answer
from tests.services.account import dying_with_us
from tests.services.components import PROJECT

ENGINES: Final = ("sail", "spark")
PATIENCE_SECONDS: Final = 380.0
QUICK_START: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"  # a hundred small queries are no reason to optimise

Answers = Mapping[str, Answer]


class EngineSilent(Exception):
    """It ended before it had answered; with the end of what it said."""


def answers_of_both(python: Path, java_home: Path, folder: Path) -> tuple[Answers, Answers]:
    """Sail's and Spark's, by the query's name, over tables that are made in `folder`."""
    chosen = {"PYTHONPATH": str(PROJECT), "JAVA_HOME": str(java_home), "JAVA_TOOL_OPTIONS": QUICK_START, "TZ": "UTC"}
    environment = {**os.environ, **chosen}

    def started(part: str, *arguments: str) -> subprocess.Popen[str]:
        """In a folder of its own, for Spark writes to where it is."""
        own = folder.joinpath(part, *arguments)
        own.mkdir(parents=True)
        command = dying_with_us(python, "-m", f"tests.lake.corpus.{part}", *arguments, folder)
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, cwd=own, stdout=pipe, stderr=pipe, text=True)

    _said(started("tables"))
    both = [started("answers", engine) for engine in ENGINES]
    try:
        sail, spark = map(_said, both)
    finally:
        for engine in both:
            engine.kill()
            engine.communicate()
    return json.loads(sail), json.loads(spark)


def _said(program: subprocess.Popen[str]) -> str:
    out, err = program.communicate(timeout=PATIENCE_SECONDS)
    if program.returncode:
        raise EngineSilent(err[-4000:])
    return out
