"""A real supervisor per test, in its own state directory, and the proof afterwards that it left nothing."""

import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from tests.runners.host import Host
from tests.services.account import as_account
from waterclock.runners.client import SupervisorClient


@pytest.fixture
def host(tmp_path: Path) -> Iterator[Host]:
    host = Host(tmp_path)
    yield host
    host.close()


@pytest.fixture(params=["cgroup", "plain"])
def each_host(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Host]:
    """Once with a control group per keeper, where this machine has them, and once without."""
    host = Host(tmp_path, groups=request.param)
    if request.param == "cgroup" and not host.has_cgroups():
        host.close()
        pytest.skip("no writable cgroup2 mount on this machine: the same test ran without")
    yield host
    host.close()


@pytest.fixture
async def client(host: Host) -> AsyncIterator[SupervisorClient]:
    async with host.client() as client:
        yield client


@pytest.fixture
def root_only() -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can run a program as another user")


@pytest.fixture
def open_checkout(root_only: None) -> None:
    """For what another user runs with our own interpreter and code."""
    if subprocess.run(as_account("test", "-x", sys.executable), check=False).returncode != 0:
        pytest.skip(f"{sys.executable} lies in a folder that no other user may enter")
