"""Who may do what: signatures, roles, owners, organisations."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson
import pytest
from botocore import UNSIGNED
from botocore.exceptions import ClientError

from tests.faces.glue.calls import make_job, make_trigger, refused
from tests.faces.http.raw import Answer, request, sign, signed_call
from tests.faces.http.served import SCRIPT, Account, Served
from waterclock.domain.access import Role
from waterclock.domain.rules import GUARDED
from waterclock.faces.glue.face import HANDLERS
from waterclock.faces.glue.model import ACTIONS, EXTRA
from waterclock.services.access import NewKey

# What is called, as it is said: in a header, or in the body of a form.
TARGETS = (
    *(f"AWSGlue.{action}" for action in HANDLERS),
    *("Logs_20140328.FilterLogEvents", "Logs_20140328.GetLogEvents", "AWSGlue.Nonsense", "Nonsense", ""),
)
FORM = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
FORMS = (b"Action=GetCallerIdentity&Version=2011-06-15", b"Action=GetRole&Version=2010-05-08&RoleName=r")


def call(served: Served, headers: dict[str, str], body: bytes = b"{}", path: str = "/") -> Answer:
    return request(served, "POST", path, headers=headers, body=body)


def signed(account: Account, **changed: str) -> dict[str, str]:
    target = {"X-Amz-Target": "AWSGlue.GetJobs"}
    return {**sign(account.served, account.key(), b"{}", target), **changed}


def test_every_action_of_the_model_is_served() -> None:
    assert HANDLERS.keys() == {*ACTIONS, *EXTRA}


@pytest.mark.parametrize("path", ["/", "/glue"])
def test_every_action_walked_without_a_signature_is_refused(served: Served, path: str) -> None:
    requests = [({"X-Amz-Target": target}, b"{}") for target in TARGETS] + [(FORM, body) for body in FORMS]
    for headers, body in [*requests, ({}, b"")]:
        for authorization in ({}, {"Authorization": "Bearer wct_x"}, {"Authorization": "AWS4-HMAC-SHA256 x"}):
            answer = call(served, {**headers, **authorization}, body, path)
            assert answer.status in (401, 403), f"{headers} {body!r}: {answer.status}"


@pytest.mark.parametrize("name", [r"a\u0000b", r"\u0000", r"a\u000ab", r"\ud800"])
def test_a_name_that_is_no_text_is_refused_by_type(account: Account, name: str) -> None:
    for action in ("GetJob", "StartJobRun", "DeleteJob"):
        answer = signed_call(account.served, account.key(), action, f'{{"JobName": "{name}"}}'.encode())
        assert answer.status == 400
        assert answer.body["__type"] in ("InvalidInputException", "SerializationException"), answer.body


@pytest.mark.parametrize("action", ["GetDatabase", "Nonsense", "", "getjob"])
def test_an_unknown_action_is_refused_by_type(account: Account, action: str) -> None:
    answer = signed_call(account.served, account.key(), action, {})
    assert (answer.status, answer.body["__type"]) == (400, "UnknownOperationException")
    assert answer.headers["x-amzn-requestid"]


def test_only_the_owner_or_an_admin_changes_and_deletes(account: Account) -> None:
    ann, bob = account.client(Role.AUTHOR, "ann"), account.client(Role.AUTHOR, "bob")
    make_job(ann)
    make_trigger(ann)
    changes: list[Callable[[], object]] = [
        lambda: bob.update_job(JobName="job", JobUpdate={"Command": SCRIPT}),
        lambda: bob.delete_job(JobName="job"),
        lambda: bob.update_trigger(Name="trigger", TriggerUpdate={"Description": "mine"}),
        lambda: bob.delete_trigger(Name="trigger"),
    ]
    for change in changes:
        with refused("AccessDeniedException", "'ann'"):
            change()
    assert bob.get_job(JobName="job")["Job"]["Name"] == "job"
    bob.start_trigger(Name="trigger")
    admin = account.client(Role.ADMIN)
    admin.update_trigger(Name="trigger", TriggerUpdate={"Description": "by admin"})
    admin.delete_trigger(Name="trigger")


def test_another_organisation_sees_and_touches_nothing(account: Account, served: Served) -> None:
    ours, theirs = account.client(), served.account().client(Role.ADMIN)
    make_job(ours)
    make_trigger(ours)
    run_id = ours.start_job_run(JobName="job")["JobRunId"]
    calls: list[Callable[[], object]] = [
        lambda: theirs.get_job(JobName="job"),
        lambda: theirs.update_job(JobName="job", JobUpdate={}),
        lambda: theirs.start_job_run(JobName="job"),
        lambda: theirs.get_job_run(JobName="job", RunId=run_id),
        lambda: theirs.get_job_runs(JobName="job"),
        lambda: theirs.get_trigger(Name="trigger"),
        lambda: theirs.update_trigger(Name="trigger", TriggerUpdate={}),
        lambda: theirs.start_trigger(Name="trigger"),
        lambda: theirs.stop_trigger(Name="trigger"),
        lambda: make_trigger(theirs),
    ]
    for call in calls:
        with refused("EntityNotFoundException"):
            call()
    assert theirs.list_jobs()["JobNames"] == theirs.list_triggers()["TriggerNames"] == []
    assert theirs.batch_get_jobs(JobNames=["job"])["JobsNotFound"] == ["job"]
    stopped = theirs.batch_stop_job_run(JobName="job", JobRunIds=[run_id])
    assert stopped["Errors"][0]["ErrorDetail"]["ErrorCode"] == "EntityNotFoundException"
    theirs.delete_job(JobName="job")
    theirs.delete_trigger(Name="trigger")
    assert ours.get_job_run(JobName="job", RunId=run_id)["JobRun"]["JobRunState"] == "STARTING"
    assert ours.get_trigger(Name="trigger")["Trigger"]["State"] == "CREATED"
    make_job(theirs)
    with refused("EntityNotFoundException"):
        theirs.start_job_run(JobName="job", JobRunId=run_id)


def test_an_unknown_key_and_a_wrong_secret_look_the_same(account: Account, served: Served) -> None:
    known = account.key()
    seen = []
    for key in (
        NewKey(id=known.id, secret="x" * 40),
        NewKey(id="AKWC" + "Q" * 16, secret=known.secret),
        NewKey(id="no key could be this;", secret=known.secret),
    ):
        answer = signed_call(served, key, "GetJobs", {})
        del answer.headers["x-amzn-requestid"], answer.headers["date"]
        seen.append((answer.status, answer.headers, answer.raw))
    assert seen[0] == seen[1] == seen[2]
    assert (seen[0][0], orjson.loads(seen[0][2])["__type"]) == (403, "InvalidSignatureException")


def test_a_boto3_client_with_a_wrong_secret_meets_an_error_it_knows(account: Account, served: Served) -> None:
    with refused("InvalidSignatureException"):
        served.client(NewKey(id=account.key().id, secret="wrong")).get_jobs()


def test_an_unsigned_request_is_refused(served: Served, account: Account) -> None:
    with pytest.raises(ClientError) as caught:
        served.client(account.key(), signature_version=UNSIGNED).get_jobs()
    assert caught.value.response["Error"]["Code"] == "MissingAuthenticationTokenException"
    assert caught.value.response["ResponseMetadata"]["HTTPStatusCode"] == 403


def test_an_old_signature_is_refused(account: Account) -> None:
    old = (datetime.now(UTC) - timedelta(minutes=6)).strftime("%Y%m%dT%H%M%SZ")
    answer = call(account.served, signed(account, **{"X-Amz-Date": old}))
    assert (answer.status, answer.body["__type"]) == (403, "InvalidSignatureException")


def test_what_was_signed_cannot_be_changed(account: Account) -> None:
    served = account.served
    assert call(served, signed(account)).status == 200
    assert call(served, signed(account), b'{"MaxResults":1}').status == 403
    assert call(served, signed(account, **{"X-Amz-Target": "AWSGlue.ListJobs"})).status == 403
    assert call(served, signed(account), path="/glue").status == 403


def test_the_face_answers_on_its_second_path_too(account: Account) -> None:
    answer = signed_call(account.served, account.key(), "GetJobs", {}, path="/glue")
    assert (answer.status, answer.body) == (200, {"Jobs": []})
    assert answer.headers["content-type"] == "application/x-amz-json-1.1"


def test_a_revoked_key_is_refused(account: Account) -> None:
    served, key = account.served, account.key()
    assert signed_call(served, key, "GetJobs", {}).status == 200
    served.run(served.access.revoke_key(account.admin(), "author", key.id))
    assert signed_call(served, key, "GetJobs", {}).status == 403


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "SerializationException"),
        (b"not json", "SerializationException"),
        (b"[]", "SerializationException"),
        (b'{"JobName": "a"', "SerializationException"),
        (b'{"JobName": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "SerializationException"),
        (b'{"JobName": "\xff"}', "SerializationException"),
        (b"{}", "InvalidInputException"),
        (b'{"JobName": 7}', "InvalidInputException"),
        (b'{"JobName": "a", "Bogus": 1}', "InvalidInputException"),
    ],
)
def test_a_body_that_is_not_one_is_refused_by_type(account: Account, body: bytes, code: str) -> None:
    answer = signed_call(account.served, account.key(), "GetJob", body)
    assert (answer.status, answer.body["__type"]) == (400, code)


def test_without_authentication_anything_passes_as_the_first_admin(tmp_path: Path) -> None:
    with Served(tmp_path, GUARDED, auth=False) as served:
        client = served.client(NewKey(id="anything", secret="at all"))
        make_job(client)
        bare = {"X-Amz-Target": "AWSGlue.GetJob"}
        old = {"X-Amz-Date": "20150830T123600Z", "Authorization": "AWS4-HMAC-SHA256 nonsense"}
        for headers in (bare, {**bare, **old}):
            assert call(served, headers, b'{"JobName": "job"}').body["Job"]["Name"] == "job"
        for page in ({"Origin": "http://evil.example"}, {"Host": "evil.example:8470"}):
            answer = call(served, {**bare, **page}, b'{"JobName": "job"}')
            assert answer.body["__type"] == "AccessDeniedException"
