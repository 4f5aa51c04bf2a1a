"""What happens where a component cannot be had."""

import pytest

from tests.lake.conftest import available
from tests.services.components import ComponentUnavailable, component


def test_what_cannot_be_had_says_why() -> None:
    with pytest.raises(ComponentUnavailable, match=r"nothing: .*there is no nothing"):
        component("nothing")


@pytest.mark.parametrize(("ci", "outcome"), [("true", pytest.fail.Exception), ("", pytest.skip.Exception)])
def test_its_tests_are_skipped_on_a_desk_and_fail_in_ci(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, ci: str, outcome: type[BaseException]
) -> None:
    monkeypatch.setenv("CI", ci)
    with pytest.raises(outcome, match="the component: nothing: "):
        available(request, "the component", lambda: component("nothing"))
