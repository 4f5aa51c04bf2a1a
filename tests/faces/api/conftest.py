"""One server per test, on its own store."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.faces.api.serving import Served, served


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Served]:
    async with served(tmp_path) as running:
        yield running


@pytest.fixture
def api(server: Served) -> httpx.AsyncClient:
    """The admin's client."""
    return server.client
