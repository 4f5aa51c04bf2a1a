"""Every served action with every kind of wrong request, raw and signed, against a real server: never a 500."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import SystemRandom
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger
from tests.faces.glue.generating import Chance, Request, single_faults
from tests.faces.glue.matrix import MATRIX, OURS, Things
from tests.faces.http.raw import Answer, Line, signed_call
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role
from waterclock.domain.rules import GUARDED
from waterclock.faces.glue.face import HANDLERS
from waterclock.faces.glue.model import input_shape, shape
from waterclock.stores.ops import access as access_ops

ACTIONS = tuple(sorted(HANDLERS, key=lambda action: action.startswith("Delete")))  # the others want it alive
# Those whose token is of one and the same list.
LISTS = {
    "jobs": ("GetJobs", "ListJobs"),
    "triggers": ("GetTriggers", "ListTriggers"),
    "workflows": ("ListWorkflows",),
    "crawlers": ("GetCrawlers", "ListCrawlers"),
    "runs": ("GetJobRuns",),
    "workflow runs": ("GetWorkflowRuns",),
}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Not that of the other tests: thousands of requests leave much behind."""
    with Served(tmp_path_factory.mktemp("generated"), GUARDED) as server:
        yield server


@pytest.fixture
def things(account: Account) -> Things:
    return things_of(account)


def things_of(account: Account) -> Things:
    served = account.served
    organisation = served.run(served.database.read(access_ops.get_organisation, org_id=account.org_id))
    assert organisation is not None
    return Things(account.client(), served, organisation)


@pytest.fixture
def seed() -> int:
    """Of this run, or of the one that shall be repeated."""
    return int(os.environ.get("WATERCLOCK_SEED") or SystemRandom().randrange(2**32))


def answered(
    account: Account, requests: Iterable[Request], role: Role = Role.AUTHOR
) -> Iterator[tuple[Request, Answer]]:
    with Line(account.served, account.key(role)) as line:
        for request in requests:
            yield request, line.call(request.action, request.body)
    assert signed_call(account.served, account.key(role), "GetJobs", {}).status == 200, "it does not answer any more"


def test_every_single_fault_is_refused_by_type_and_what_meets_its_bounds_is_not(
    account: Account, things: Things
) -> None:
    wrong, done, asked = [], set(), 0
    for request, answer in answered(account, single_faults(ACTIONS, things)):
        asked += 1
        if complaint := request.complaint(answer):
            wrong.append(complaint)
        if answer.status == 200:
            done.add(request.action)
    assert wrong == []
    assert set(ACTIONS) - done == set(), "nothing of these was legal: the requests never reached their handlers"
    assert asked > 8_000


def test_nothing_that_chance_puts_together_brings_an_action_down(account: Account, things: Things, seed: int) -> None:
    requests = Chance(seed, things, ACTIONS).requests(2_000)
    wrong = [found for request, answer in answered(account, requests) if (found := request.complaint(answer))]
    assert wrong == [], f"again with WATERCLOCK_SEED={seed}"


@pytest.mark.parametrize("store", ["postgres_url", "mariadb_url"])
def test_nor_on_the_other_stores(request: pytest.FixtureRequest, store: str, seed: int, tmp_path: Path) -> None:
    with Served(tmp_path, GUARDED, url=request.getfixturevalue(store)) as served:
        account = served.account()
        found = answered(account, Chance(seed, things_of(account), ACTIONS).requests(500))
        assert [wrong for asked, answer in found if (wrong := asked.complaint(answer))] == [], f"WATERCLOCK_SEED={seed}"


def test_whatever_strangers_send_they_see_and_change_nothing(
    account: Account, served: Served, things: Things, seed: int
) -> None:
    before, strangers = things.seen(), served.account()
    for request, answer in answered(strangers, Chance(seed, things, ACTIONS).requests(1_000), Role.ADMIN):
        assert request.complaint(answer) is None, f"again with WATERCLOCK_SEED={seed}"
        told = OURS.encode() in answer.raw and OURS.encode() not in request.body  # an echo tells nothing
        assert not told, f"{request}: again with WATERCLOCK_SEED={seed}"
    assert things.seen() == before


@pytest.fixture
def tokens(account: Account, things: Things) -> dict[str, tuple[str, dict[str, Any]]]:
    """Of each list a token, and what else the request for it says."""
    glue = account.client()
    make_job(glue, "second")
    make_trigger(glue, "second", jobs=("second",))
    glue.create_crawler(Name="second", Role="r", Targets={})
    runs, flow = things.request("GetJobRuns"), things.request("GetWorkflowRuns")
    bodies: dict[str, dict[str, Any]] = {
        "jobs": {},
        "triggers": {},
        "workflows": {},
        "crawlers": {},
        "runs": runs,
        "workflow runs": flow,
    }
    found = {}
    for name, body in bodies.items():
        page = signed_call(account.served, account.key(), LISTS[name][0], {**body, "MaxResults": 1})
        found[name] = (page.body["NextToken"], body)
    return found


@pytest.mark.parametrize("name", LISTS)
def test_a_token_of_another_list_is_refused(
    account: Account, tokens: dict[str, tuple[str, dict[str, Any]]], name: str
) -> None:
    for other, (token, _) in tokens.items():
        for action in LISTS[name]:
            answer = signed_call(account.served, account.key(), action, {**tokens[name][1], "NextToken": token})
            expected = (200, None) if other == name else (400, "InvalidInputException")
            assert (answer.status, answer.body.get("__type")) == expected, f"{action} with the token of {other}"


def test_every_action_that_takes_a_token_is_tried_with_others() -> None:
    taking = {action for action in MATRIX if "NextToken" in shape(input_shape(action))["members"]}
    assert taking == {action for actions in LISTS.values() for action in actions}
