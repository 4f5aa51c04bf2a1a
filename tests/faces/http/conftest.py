"""A server for the tests of the app itself; those that need another start their own."""

from collections.abc import Iterator

import pytest

from tests.faces.http.served import Served
from waterclock.domain.rules import GUARDED


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("app"), GUARDED) as server:
        yield server
