"""One server per test, on its own store."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.faces.api.serving import NO_TLS, PATIENCE_SECONDS, Served, served
from tests.faces.chains.hand import ChainHand


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
async def chains(server: Served) -> AsyncIterator[httpx.AsyncClient]:
    """The admin's client."""
    headers = {"authorization": f"Bearer {server.token}"}
    async with httpx.AsyncClient(
        base_url=server.url, headers=headers, timeout=PATIENCE_SECONDS, verify=NO_TLS
    ) as client:
        yield client


@pytest.fixture
def hand(server: Served) -> ChainHand:
    return ChainHand(server.database)
