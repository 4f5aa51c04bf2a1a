"""Real engines and servers for the lake: fetched and started when first asked for, which the terminal is told."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.lake.syncs import Program
from tests.lake.writers import Outputs, Writers
from tests.services.build_tools import BuildTools, build_tools
from tests.services.chdb import ChdbServer
from tests.services.clickhouse import ClickhouseServer
from tests.services.components import ComponentUnavailable, component
from tests.services.google import GoogleStandIn
from tests.services.hdfs import HdfsServer
from tests.services.sftp import SftpServer

T = TypeVar("T")


@pytest.fixture(scope="session")
def lake_python(request: pytest.FixtureRequest) -> Path:
    """An interpreter that has the SQL engines, and waterclock."""
    return available(request, "the SQL engines", lambda: component("engines") / "bin/python")


@pytest.fixture(scope="session")
def java_home(request: pytest.FixtureRequest) -> Path:
    """A JDK of at least 17, which Spark needs in JAVA_HOME."""
    return available(request, "a JDK", lambda: component("java"))


@pytest.fixture(scope="session")
def hdfs(request: pytest.FixtureRequest) -> Iterator[HdfsServer]:
    """Shared by all tests: whoever stops it starts it again."""
    with available(request, "HDFS", HdfsServer) as server:
        yield server


@pytest.fixture(scope="session")
def clickhouse(request: pytest.FixtureRequest) -> Iterator[ClickhouseServer]:
    """18.16, which many still run: no Parquet, no EXCHANGE, no CREATE OR REPLACE."""
    with available(request, "ClickHouse", ClickhouseServer) as server:
        yield server


@pytest.fixture(scope="session")
def chdb_server(lake_python: Path) -> Iterator[ChdbServer]:
    """The engine of a modern ClickHouse behind its HTTP protocol; the server around it is the tests' own."""
    with ChdbServer(lake_python) as server:
        yield server


@pytest.fixture
def google() -> Iterator[GoogleStandIn]:
    """Not Google, but as strict about what is signed; put spreadsheets of your own into it."""
    with GoogleStandIn() as server:
        yield server


@pytest.fixture(scope="session")
def sftp(lake_python: Path) -> Iterator[SftpServer]:
    """Shared by all tests: put your files into a folder of their own below `files`."""
    with SftpServer(lake_python) as server:
        yield server


@pytest.fixture(scope="session")
def writers(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Writers]:
    made = Writers(lake_python, tmp_path_factory.mktemp("writers"))
    yield made
    made.close()


@pytest.fixture(scope="session")
def sync_program(lake_python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """Runs syncs as a worker's program does, and dies or stops where it is told."""
    made = Program(lake_python, tmp_path_factory.mktemp("syncs"))
    yield made
    made.close()


@pytest.fixture
def outputs(writers: Writers) -> Iterator[Callable[..., Outputs]]:
    """Makes what a query's outputs would be: `outputs(one, other, job=7, **order)`."""
    made: list[Outputs] = []

    def make(*given: Mapping[str, Any], job: int = 7, **order: object) -> Outputs:
        made.append(Outputs(writers, given, {"allows_private": True, **order}, job))
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture(scope="session")
def build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> BuildTools:
    """Maven and Gradle, with a folder for PATH."""
    return available(request, "Maven and Gradle", lambda: build_tools(tmp_path_factory.mktemp("build")))


@pytest.fixture(scope="session")
def maven_settings(build: BuildTools) -> Path:
    """A settings.xml by which Maven takes everything from Debian's packages, and keeps it in a folder of the tests."""
    return build.maven_settings


def available(request: pytest.FixtureRequest, what: str, make: Callable[[], T]) -> T:
    """Where it cannot be had its tests are skipped with the reason; a CI that skipped them would promise too much."""
    terminal = request.config.pluginmanager.getplugin("capturemanager")
    assert terminal is not None
    with terminal.global_and_fixture_disabled():
        print(f"\n[{what}: fetching it unless .cache has it] ", end="", flush=True)
    try:
        return make()
    except ComponentUnavailable as why:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what}: {why}")
        pytest.skip(f"{what}: {why}")
