"""STS and IAM on Glue's endpoint, through boto3 and as forms of our own."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from botocore import UNSIGNED
from botocore.exceptions import ClientError, ParamValidationError

from tests.faces.glue.calls import refused
from tests.faces.http.raw import Answer, request, sign
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role
from waterclock.domain.rules import GUARDED
from waterclock.faces.glue.around import iam, logs, sts
from waterclock.faces.glue.model import EXTRA
from waterclock.services.access import NewKey

STS = {"Action": "GetCallerIdentity", "Version": "2011-06-15"}
IAM = {"Action": "GetRole", "Version": "2010-05-08", "RoleName": "etl"}
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}


def ask(account: Account, form: dict[str, str] | bytes, *, service: str = "sts", path: str = "/") -> Answer:
    raw = form if isinstance(form, bytes) else urlencode(form).encode()
    headers = sign(account.served, account.key(), raw, FORM, path=path, service=service)
    return request(account.served, "POST", path, headers=headers, body=raw)


def error_of(answer: Answer) -> tuple[int, str | None]:
    root = ElementTree.fromstring(answer.raw)
    assert root.tag == "ErrorResponse"
    assert root.findtext("RequestId") == answer.headers["x-amzn-requestid"]
    assert root.findtext("Error/Message")
    return answer.status, root.findtext("Error/Code")


def test_a_caller_learns_who_it_is(account: Account) -> None:
    sts = account.client(Role.VIEWER, "ann", service="sts")
    found = sts.get_caller_identity()
    assert (found["Account"], found["Arn"]) == (account.number, f"arn:aws:iam::{account.number}:user/ann")
    assert found["UserId"] == sts.get_caller_identity()["UserId"]
    assert found["UserId"].startswith("AIDA")
    assert found["ResponseMetadata"]["RequestId"]
    other = account.client(Role.VIEWER, "a & <b>", service="sts").get_caller_identity()
    assert other["Arn"].endswith(":user/a & <b>")
    assert other["UserId"] != found["UserId"]


def test_any_legal_role_has_an_arn(account: Account) -> None:
    iam = account.client(Role.VIEWER, service="iam")
    role = iam.get_role(RoleName="GlueRole+=,.@-_1")["Role"]
    assert role["Arn"] == f"arn:aws:iam::{account.number}:role/GlueRole+=,.@-_1"
    assert (role["RoleName"], role["Path"], role["CreateDate"].year) == ("GlueRole+=,.@-_1", "/", 1970)
    assert role["AssumeRolePolicyDocument"]["Statement"][0]["Principal"] == {"Service": "glue.amazonaws.com"}
    assert role == iam.get_role(RoleName="GlueRole+=,.@-_1")["Role"]
    assert role["RoleId"] != iam.get_role(RoleName="other")["Role"]["RoleId"]


@pytest.mark.parametrize("name", ["a/b", "role name", "역할", "x" * 65, "a\x01b"])
def test_an_illegal_role_name_is_a_validation_error(account: Account, name: str) -> None:
    with refused("ValidationError", "roleName"):
        account.client(service="iam").get_role(RoleName=name)


def test_a_role_without_a_name_never_leaves_botocore_and_is_refused_by_us_too(account: Account) -> None:
    with pytest.raises(ParamValidationError):
        account.client(service="iam").get_role()
    nameless = {"Action": "GetRole", "Version": "2010-05-08"}
    assert error_of(ask(account, nameless, service="iam")) == (400, "ValidationError")
    assert error_of(ask(account, {**nameless, "RoleName": ""}, service="iam")) == (400, "ValidationError")


def test_other_actions_of_both_are_refused_by_type(account: Account) -> None:
    calls: list[Callable[[], object]] = [
        lambda: account.client(service="iam").list_roles(),
        lambda: account.client(service="iam").create_role(RoleName="a", AssumeRolePolicyDocument="{}"),
        lambda: account.client(service="sts").get_session_token(),
        lambda: account.client(service="sts").assume_role(
            RoleArn=f"arn:aws:iam::{account.number}:role/a", RoleSessionName="ab"
        ),
    ]
    for call in calls:
        with refused("InvalidAction", "Could not find operation"):
            call()


@pytest.mark.parametrize(
    ("form", "code"),
    [
        ({**STS, "Action": "Nonsense"}, "InvalidAction"),
        ({"Version": "2011-06-15"}, "MissingAction"),
        ({**STS, "Action": ""}, "MissingAction"),
        ({"Action": "GetCallerIdentity"}, "InvalidAction"),
        ({**STS, "Version": "1999-01-01"}, "InvalidAction"),
        ({**STS, "Action": "<&>\x00" + "x" * 5000}, "InvalidAction"),
        (b"", "MissingAction"),
        (b"\xff\xfe", "MalformedInput"),
        (b"Action=%FF&Version=2011-06-15", "MalformedInput"),
        (b"&a=b" * 1000, "MalformedInput"),
        (b'{"a": 1}', "MissingAction"),
    ],
)
def test_a_form_that_asks_for_nothing_we_serve_is_refused_in_xml(account: Account, form: Any, code: str) -> None:
    answer = ask(account, form)
    assert error_of(answer) == (400, code)
    assert answer.headers["content-type"] == "text/xml"
    assert len(answer.raw) < 1000


def test_parameters_that_an_action_does_not_know_are_passed_over(account: Account) -> None:
    assert ask(account, {**STS, "Bogus": "1"}).status == 200
    assert ask(account, STS, path="/glue").status == 200


def test_the_scope_of_the_signature_must_be_the_service_that_is_called(account: Account) -> None:
    assert ask(account, IAM, service="iam").status == 200
    for form, service in ((STS, "iam"), (STS, "glue"), (IAM, "sts"), (IAM, "glue"), (STS, "s3")):
        assert error_of(ask(account, form, service=service)) == (403, "SignatureDoesNotMatch")
    target = {"X-Amz-Target": "AWSGlue.GetJobs"}
    for service in ("sts", "iam", "logs"):
        headers = sign(account.served, account.key(), b"{}", target, service=service)
        answer = request(account.served, "POST", "/", headers=headers, body=b"{}")
        assert (answer.status, answer.body["__type"]) == (403, "InvalidSignatureException")


def test_signatures_are_refused_in_the_words_of_the_query_protocol(account: Account, served: Served) -> None:
    with refused("SignatureDoesNotMatch"):
        served.client(NewKey(id=account.key().id, secret="wrong"), "sts").get_caller_identity()
    with pytest.raises(ClientError) as caught:
        served.client(account.key(), "iam", signature_version=UNSIGNED).get_role(RoleName="a")
    assert caught.value.response["Error"]["Code"] == "MissingAuthenticationToken"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403
    unsigned = request(served, "POST", "/", headers=FORM, body=b"x" * (1024 * 1024 + 1))
    assert error_of(unsigned) == (413, "RequestEntityTooLarge")


def test_without_authentication_the_caller_is_the_first_admin(tmp_path: Path) -> None:
    with Served(tmp_path, GUARDED, auth=False) as served:
        key = NewKey(id="anything", secret="at all")
        assert served.client(key, "sts").get_caller_identity()["Arn"] == "arn:aws:iam::123456789012:user/admin"
        role = served.client(key, "iam").get_role(RoleName="a")["Role"]
        assert role["Arn"] == "arn:aws:iam::123456789012:role/a"
        bare = request(served, "POST", "/", headers=FORM, body=urlencode(STS).encode())
        assert bare.status == 200


def test_the_page_about_them_names_every_action_that_is_served() -> None:
    page = (Path(__file__).parents[3] / "docs/glue-around.md").read_text()
    rows = {row.split("|")[1].strip(): row for row in page.splitlines() if row.startswith("|")}
    for name, actions in (
        ("STS", sts.ACTIONS),
        ("IAM", iam.ACTIONS),
        ("CloudWatch Logs", logs.ACTIONS),
        ("Glue", EXTRA),
    ):
        assert [action for action in actions if action not in rows[name]] == []
