"""The matrix of callers and actions, on a real server: each call is done, refused, or finds nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.faces.glue.matrix import AROUND, MATRIX, OURS, Elsewhere, Things
from tests.faces.http.raw import Answer, signed_call
from tests.faces.http.served import Account, Served
from waterclock.domain.access import RIGHTS, Organisation, Right, Role
from waterclock.faces.glue.around.iam import IAM
from waterclock.faces.glue.around.logs import LOGS
from waterclock.faces.glue.around.sts import STS
from waterclock.faces.glue.face import HANDLERS
from waterclock.services.access import NewKey
from waterclock.stores.ops import access as access_ops
from waterclock.stores.ops import groups as group_ops

DENIED = (400, "AccessDeniedException")
SECURITY = Path(__file__).parents[3] / "docs" / "security.md"

PEOPLE = [role for role in Role if role is not Role.WORKER]


class Company:
    """An organisation whose author ann owns things: by herself, or for the group etl, in which gus is, too."""

    def __init__(self, account: Account, *, group: str | None = None) -> None:
        self.account, self.served = account, account.served
        self._org = self._organisation()
        for name in ("ann", "bob", "gus"):
            account.key(Role.AUTHOR, name)
        self._group(group)
        key = self.served.run(self.served.access.create_key(account.admin(), "ann", group=group))
        self._owner = self.served.client(key)
        self._things: Things | None = None

    @property
    def things(self) -> Things:
        if self._things is None:
            self._things = Things(self._owner, self.served, self._org)
        return self._things

    def call(self, key: NewKey, action: str) -> Answer:
        return signed_call(self.served, key, action, self.things.request(action))

    def begin_anew(self) -> None:
        """The things were changed: the next call is about others."""
        self._things = None

    def _organisation(self) -> Organisation:
        org = self.served.run(self.served.database.read(access_ops.get_organisation, org_id=self.account.org_id))
        assert org is not None
        return org

    def _group(self, name: str | None) -> None:
        if name is None:
            return
        place: Any = {"org_id": self.account.org_id, "name": name}
        self.served.run(self.served.database.write(group_ops.create_group, **place))
        for member in ("ann", "gus"):
            self.served.run(self.served.database.write(group_ops.add_member, **place, user_name=member))


def outcome(answer: Answer) -> tuple[int, str | None]:
    return answer.status, answer.body.get("__type")


def walk(company: Company, key: NewKey, role: Role, *, owns: bool) -> Iterator[tuple[str, Answer, bool]]:
    """Every action, and whether it should have been done; what was refused has left everything as it was."""
    for action, rule in MATRIX.items():
        may = rule.needs in RIGHTS[role] and (owns or not rule.is_owners)
        before = [] if may else company.things.seen()
        answer = company.call(key, action)
        yield action, answer, may
        if not may:
            assert company.things.seen() == before, f"{action} was refused and changed something all the same"
        elif rule.needs is not Right.READ:
            company.begin_anew()


def test_every_action_that_is_served_has_its_row() -> None:
    assert MATRIX.keys() == HANDLERS.keys()
    assert {service.name: tuple(sorted(service.handlers)) for service in (STS, IAM, LOGS)} == AROUND


@pytest.mark.parametrize(
    ("name", "role", "owns"),
    [
        ("viewer", Role.VIEWER, False),
        ("operator", Role.OPERATOR, False),
        ("bob", Role.AUTHOR, False),
        ("ann", Role.AUTHOR, True),
        ("admin", Role.ADMIN, True),
    ],
)
def test_each_caller_may_do_their_part_and_no_more(account: Account, name: str, role: Role, owns: bool) -> None:
    company = Company(account)
    key = account.key(role, name)
    for action, answer, may in walk(company, key, role, owns=owns):
        assert outcome(answer) == ((200, None) if may else DENIED), f"{name} {action}: {answer.body}"


def test_a_worker_may_do_nothing_here(account: Account) -> None:
    company, key = Company(account), account.key(Role.WORKER)
    for action in MATRIX:
        assert outcome(company.call(key, action)) == DENIED, action


@pytest.mark.parametrize(("name", "owns"), [("bob", False), ("gus", True)])
def test_a_groups_things_are_its_members(account: Account, name: str, owns: bool) -> None:
    """Gus is in the group; the key that he uses is his own."""
    company = Company(account, group="etl")
    for action, answer, may in walk(company, account.key(Role.AUTHOR, name), Role.AUTHOR, owns=owns):
        assert outcome(answer) == ((200, None) if may else DENIED), f"{name} {action}: {answer.body}"


def test_to_another_organisation_nothing_of_ours_is_there(account: Account, served: Served) -> None:
    company, eve = Company(account), served.account().key(Role.ADMIN)
    before = company.things.seen()
    for action, rule in MATRIX.items():
        answer = company.call(eve, action)
        expected = (400, rule.elsewhere) if rule.elsewhere is Elsewhere.NOT_FOUND else (200, None)
        assert outcome(answer) == expected, f"{action}: {answer.body}"
        assert OURS.encode() not in answer.raw, action
    assert company.things.seen() == before


def test_what_is_beside_glue_is_open_to_every_person(account: Account) -> None:
    for role in PEOPLE:
        identity = account.client(role, service="sts").get_caller_identity()
        assert identity["Arn"].endswith(f"/{role}")
        assert account.client(role, service="iam").get_role(RoleName="r")["Role"]["RoleName"] == "r"
    with pytest.raises(ClientError, match="may not read"):
        account.client(Role.WORKER, service="iam").get_role(RoleName="r")


def test_logs_are_read_by_every_person_of_their_own_organisation(account: Account, served: Served) -> None:
    run_id = Company(account).things.run_id
    place = {"logGroupName": "/aws-glue/python-jobs/output"}
    calls: Any = {
        "get_log_events": {**place, "logStreamName": run_id},
        "filter_log_events": {**place, "logStreamNames": [run_id]},
    }
    eve = served.account().client(Role.ADMIN, service="logs")
    for name, request in calls.items():
        for role in PEOPLE:
            assert getattr(account.client(role, service="logs"), name)(**request)["events"] == []
        with pytest.raises(ClientError, match="may not read"):
            getattr(account.client(Role.WORKER, service="logs"), name)(**request)
        with pytest.raises(ClientError) as caught:
            getattr(eve, name)(**request)
        assert caught.value.response["Error"]["Code"] == "ResourceNotFoundException"


def test_the_document_says_which_right_each_action_needs() -> None:
    rows = dict(re.findall(r"^\| (\w[\w ,()]*?) \| ((?:[A-Z]\w+ ?)+) \|$", SECURITY.read_text(), re.MULTILINE))
    assert {row: set(actions.split()) for row, actions in rows.items()} == {
        "read": named(lambda rule: rule.needs is Right.READ) | {each for found in AROUND.values() for each in found},
        "run": named(lambda rule: rule.needs is Right.RUN),
        "define": named(lambda rule: rule.needs is Right.DEFINE and not rule.is_owners),
        "define, and own it": named(lambda rule: rule.is_owners),
    }


def named(fits: Any) -> set[str]:
    return {action for action, rule in MATRIX.items() if fits(rule)}
