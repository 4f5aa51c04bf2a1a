"""One server per rule set for all tests of this face; each test has an organisation of its own on it."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.faces.http.served import Account, Served
from waterclock.domain.rules import AWS, GUARDED


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("guarded"), GUARDED) as server:
        yield server


@pytest.fixture(scope="session")
def served_as_aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with Served(tmp_path_factory.mktemp("aws"), AWS) as server:
        yield server


@pytest.fixture
def account(served: Served) -> Account:
    return served.account()


@pytest.fixture
def glue(account: Account) -> Any:
    """A boto3 client of an author."""
    return account.client()
