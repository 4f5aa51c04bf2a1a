"""What happens where a client cannot be had."""

import pytest

from tests.clients import installing
from tests.clients.conftest import installed
from tests.clients.installing import ClientUnavailable


def unavailable() -> None:
    installing.venv("nobody")


def test_what_cannot_be_installed_says_why() -> None:
    with pytest.raises(ClientUnavailable, match=r"client-venv nobody ended with \d+: .*clients-nobody\.txt"):
        unavailable()


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_its_tests_are_skipped_on_a_desk_and_fail_in_ci(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match=r"the client: .*clients-nobody"):
        installed(request, "the client", unavailable)
