"""Quartz 2.3.2 as a contestant: its clustered JDBC job store on PostgreSQL, with batches of 1 and of 100.

The programs are in `quartz/`, compiled against Debian's jars; whatever of that cannot be had is a BenchProblem.
"""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Final

from bench.contest.contestant import PEER, BenchProblem, Contestant, Figures
from bench.contest.program import figures_of
from bench.harness import ROOT

SOURCES: Final = Path(__file__).parent / "quartz"
CLASSES: Final = ROOT / ".cache" / "peers" / "quartz"
PACKAGES: Final = ("libquartz2-java", "libpostgresql-jdbc-java", "libslf4j-java")
JARS: Final = ("quartz2", "slf4j-api", "slf4j-nop", "HikariCP", "postgresql")
TIMEOUT_SECONDS: Final = 600.0

Options = Mapping[str, int | float | str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """How a scheduler is set up: how many triggers it takes at once, and its threads."""

    name: str
    batch: int
    threads: int


SETTINGS: Final = (
    Setting(name="quartz, batch 1", batch=1, threads=10),
    Setting(name="quartz, batch 100", batch=100, threads=50),
)


def contestants(
    workload: str, *, settings: Sequence[Setting] = SETTINGS, **options: int | float | str
) -> list[Contestant]:
    """Quartz at W1, W2, W3, W4 or W6, once for each setting; `options` are those of the program (`count=5_000`)."""
    return [
        Contestant(name=setting.name, role=PEER, measure=partial(measure, workload, setting, options))
        for setting in settings
    ]


def measure(workload: str, setting: Setting, options: Options) -> Figures:
    """One round on a PostgreSQL of its own, fsync on."""
    from tests.services.postgres import PostgresServer

    with PostgresServer() as server, server.fresh_database() as url:
        place: Options = {"url": url, "postmaster": server.pid, "batch": setting.batch, "threads": setting.threads}
        return figures_of(command(workload, {**place, **options}), TIMEOUT_SECONDS)


def command(workload: str, options: Options) -> list[str]:
    """What starts the program; Debian's packages are fetched and it is compiled where that has not been done."""
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    return [str(_java() / "bin/java"), "-cp", f"{_classes()}:{_jars()}", "Peer", workload, *words]


@lru_cache(maxsize=1)
def _java() -> Path:
    return Path(_tool("lake-component", "java"))


@lru_cache(maxsize=1)
def _jars() -> str:
    tree = _tool("debian-packages", "--jars", "quartz", "usr/share/java/postgresql.jar", *PACKAGES)
    return ":".join(f"{tree}/usr/share/java/{jar}.jar" for jar in JARS)


@lru_cache(maxsize=1)
def _classes() -> Path:
    """The programs, compiled; where they were compiled before, as they are now, those are taken."""
    sources = sorted(SOURCES.glob("*.java"))
    target = CLASSES / hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()[:16]
    if not (target / "Peer.class").exists():
        compiler = [str(_java() / "bin/javac"), "-cp", _jars(), "-d", str(target), *map(str, sources)]
        done = subprocess.run(compiler, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BenchProblem(f"Quartz's programs were not compiled: {done.stderr[-500:]}")
    return target


def _tool(name: str, *words: str) -> str:
    done = subprocess.run([str(ROOT / "tools" / name), *words], stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise BenchProblem(f"tools/{name} {' '.join(words)} could not fetch what Quartz needs")
    return done.stdout.strip()


def main() -> None:
    """`python -m bench.peers.quartz W1 count=5000 limit=60`: all settings, once, for a look."""
    workload, *words = sys.argv[1:]
    options = dict(word.split("=", 1) for word in words)
    for setting in SETTINGS:
        print(setting.name, json.dumps(dict(measure(workload, setting, options))), flush=True)


if __name__ == "__main__":
    main()
