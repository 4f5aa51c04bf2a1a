"""docs/glue.md is what the code says, and each of its tables is so: every error in it is provoked through boto3."""

import re
import runpy
import sys
from pathlib import Path

import pytest

from tests.faces.glue.matrix import MATRIX
from tests.faces.glue.provoking import Provoking, method, store_away
from tests.faces.http.raw import exchange, request, sign, signed_call
from tests.faces.http.served import Account, Served
from waterclock.domain.access import RIGHTS, Role
from waterclock.domain.rules import GUARDED
from waterclock.faces.glue.face import HANDLERS
from waterclock.faces.glue.model import ACTIONS, declared_errors
from waterclock.faces.glue.table import DENIED, INTERNAL, NEVER, ROWS, never
from waterclock.services.access import NewKey

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "glue.md").read_text()


def rows(name: str) -> list[list[str]]:
    """Of a table of the page, without its head."""
    (text,) = re.findall(rf"<!-- {name}: .*? -->\n(.*?)<!-- end -->", PAGE, re.DOTALL)
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()[2:]]


TABLE = {action: (role, errors.split(), rules) for action, role, errors, rules in rows("actions")}
BEFORE = {name: int(status) for name, status, _ in rows("before")}
LISTED = [(action, error) for action, (_, errors, _) in TABLE.items() for error in errors]


def test_the_page_is_what_the_tool_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["glue-table", "--check"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "tools" / "glue-table"), run_name="__main__")
    assert not ended.value.code, ended.value.code


def test_all_thirty_eight_actions_are_served_and_in_the_table() -> None:
    assert len(ACTIONS) == 38
    assert list(TABLE) == list(ACTIONS) == list(ROWS)
    assert set(ACTIONS) <= HANDLERS.keys()


@pytest.mark.parametrize("action", ACTIONS)
def test_what_the_model_declares_is_either_listed_or_said_to_be_never_met(action: str) -> None:
    listed = set(TABLE[action][1]) - {DENIED}  # AWS answers it for any action and declares it for none of these
    assert listed | never(action) == declared_errors(action)
    assert not listed & never(action)


def test_every_reason_for_never_is_about_something_declared() -> None:
    for name, (actions, _) in NEVER.items():
        assert all(name in declared_errors(action) for action in actions), name
        assert any(name in never(action) for action in ACTIONS), name


@pytest.mark.parametrize("action", ACTIONS)
def test_the_least_role_that_is_listed_is_the_least_that_may(action: str) -> None:
    role, _, owners = TABLE[action][0].partition(", ")
    rule = MATRIX[action]  # which test_matrix walks, role by role
    assert (role, bool(owners)) == (next(role for role in Role if rule.needs in RIGHTS[role]), rule.is_owners)


def test_what_is_told_before_an_action_is_reached_is_told(account: Account, tmp_path: Path) -> None:
    served, key, target = account.served, account.key(), {"X-Amz-Target": "AWSGlue.GetJob"}
    signed = sign(served, key, b"{}", target)
    answers = {
        "MissingAuthenticationTokenException": request(served, "POST", headers=target, body=b"{}"),
        "IncompleteSignatureException": request(
            served, "POST", headers={**signed, "Authorization": "AWS4-HMAC-SHA256 Credential="}, body=b"{}"
        ),
        "InvalidSignatureException": signed_call(served, NewKey(id=key.id, secret="x"), "GetJob", {}),
        "UnrecognizedClientException": request(
            served, "POST", headers={**signed, "X-Amz-Security-Token": "session"}, body=b"{}"
        ),
        "UnknownOperationException": signed_call(served, key, "GetDatabase", {}),
        "SerializationException": signed_call(served, key, "GetJob", b"[]"),
        "RequestEntityTooLargeException": signed_call(served, key, "GetJob", b" " * (1024 * 1024 + 1)),
    }
    found = {name: answer.status for name, answer in answers.items() if answer.body["__type"] == name}
    with Served(tmp_path, GUARDED, body_seconds=0.2) as impatient:
        late = exchange(impatient, b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{")
    assert b"RequestTimeoutException" in late
    assert {**found, "RequestTimeoutException": int(late.split()[1])} == BEFORE


@pytest.fixture(scope="module")
def provoking(served: Served) -> Provoking:
    """What is refused changes nothing: one organisation does for all."""
    return Provoking(served.account())


@pytest.mark.parametrize(("action", "error"), LISTED)
def test_every_error_in_the_table_is_met(
    provoking: Provoking, action: str, error: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    body, client = provoking.body(action, error), provoking.client(error)
    if error == INTERNAL:
        client.get_jobs()  # so that the server knows the key by heart
        store_away(monkeypatch)
    with pytest.raises(getattr(client.exceptions, error)) as caught:
        getattr(client, method(action))(**body)
    assert caught.value.response["Error"]["Code"] == error
    assert caught.value.response["Error"]["Message"]
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == (503 if error == INTERNAL else 400)
