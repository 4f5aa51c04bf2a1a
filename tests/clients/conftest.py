"""A server for each module, and the clients: installed when first asked for, which the terminal is told."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.acceptance.server import Server, running
from tests.clients import installing
from tests.clients.installing import ClientUnavailable, Node

T = TypeVar("T")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with running(tmp_path_factory.mktemp("server"), stop_grace_seconds=0.5) as server:
        yield server


@pytest.fixture(scope="session")
def aws_program(request: pytest.FixtureRequest) -> Path:
    return installed(request, "the aws CLI", lambda: installing.venv("awscli") / "bin/aws")


@pytest.fixture(scope="session")
def node(request: pytest.FixtureRequest) -> Node:
    return installed(request, "@aws-sdk/client-glue", installing.node)


@pytest.fixture(scope="session")
def airflow_python(request: pytest.FixtureRequest) -> Path:
    return installed(request, "Airflow with its Amazon provider", lambda: installing.venv("airflow") / "bin/python")


def installed(request: pytest.FixtureRequest, what: str, install: Callable[[], T]) -> T:
    """Where it cannot be had its tests are skipped with the reason; a CI that skipped them would promise too much."""
    terminal = request.config.pluginmanager.getplugin("capturemanager")
    assert terminal is not None
    with terminal.global_and_fixture_disabled():
        print(f"\n[{what}: installing it unless .cache/clients has it] ", end="", flush=True)
    try:
        return install()
    except ClientUnavailable as why:
        if os.environ.get("CI") == "true":
            pytest.fail(f"{what}: {why}")
        pytest.skip(f"{what}: {why}")
