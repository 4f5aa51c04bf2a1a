"""What the audit keeps of a call on this face: who, what, about what; never what was passed."""

from typing import Any

import pytest
from botocore.exceptions import ClientError

from tests.faces.glue.calls import make_job, make_trigger, refused
from tests.faces.http.raw import request, signed_call
from tests.faces.http.served import Account, Served
from waterclock.domain.access import Role
from waterclock.domain.audit import NOBODY, Entry
from waterclock.services.access import NewKey


def last(served: Served) -> Entry:
    return served.audit[-1]


def test_a_call_leaves_its_user_address_action_and_outcome(account: Account, glue: Any) -> None:
    make_job(glue, "nightly")
    answer = glue.get_job(JobName="nightly")
    entry = last(account.served)
    assert (entry.org_id, entry.user, entry.address, entry.face) == (account.org_id, "author", "127.0.0.1", "glue")
    assert (entry.action, entry.resource, entry.status, entry.error) == ("GetJob", "nightly", 200, None)
    assert entry.request_id == answer["ResponseMetadata"]["RequestId"]


def test_each_call_leaves_one_entry(account: Account, glue: Any) -> None:
    before = len(account.served.audit)
    make_job(glue)
    glue.get_jobs()
    with refused("EntityNotFoundException"):
        glue.get_job(JobName="nope")
    assert [entry.action for entry in account.served.audit[before:]] == ["CreateJob", "GetJobs", "GetJob"]


def test_a_run_is_named_with_its_job_also_by_the_call_that_starts_it(account: Account, glue: Any) -> None:
    make_job(glue, "nightly", ExecutionProperty={"MaxConcurrentRuns": 2})
    run_id = glue.start_job_run(JobName="nightly")["JobRunId"]
    assert last(account.served).resource == f"nightly/{run_id}"
    again = glue.start_job_run(JobName="nightly", JobRunId=run_id)["JobRunId"]
    assert last(account.served).resource == f"nightly/{again}"
    glue.get_job_run(JobName="nightly", RunId=run_id)
    assert last(account.served).resource == f"nightly/{run_id}"
    glue.batch_stop_job_run(JobName="nightly", JobRunIds=[run_id, again])
    assert last(account.served).resource == f"nightly/{run_id}, {again}"


def test_batches_name_as_much_as_fits(account: Account, glue: Any) -> None:
    glue.batch_get_jobs(JobNames=["a", "b"])
    assert last(account.served).resource == "a, b"
    glue.batch_get_triggers(TriggerNames=["x" * 200, "y" * 200])
    assert (len(last(account.served).resource), last(account.served).resource[-1]) == (255, "…")
    glue.list_jobs()
    assert last(account.served).resource == ""


def test_a_refusal_is_kept_with_its_type_and_its_user(account: Account, glue: Any) -> None:
    make_job(glue)
    with refused("AccessDeniedException"):
        account.client(Role.VIEWER).delete_job(JobName="job")
    entry = last(account.served)
    assert (entry.user, entry.action, entry.resource) == ("viewer", "DeleteJob", "job")
    assert (entry.status, entry.error) == (400, "AccessDeniedException")
    with refused("InvalidInputException"):
        make_trigger(glue, "t", Type="SCHEDULED", Schedule="nonsense")
    assert (last(account.served).resource, last(account.served).error) == ("t", "InvalidInputException")


def test_what_is_no_action_is_kept_too(account: Account) -> None:
    signed_call(account.served, account.key(), "Nonsense", {})
    entry = last(account.served)
    assert (entry.user, entry.action, entry.error) == ("author", "", "UnknownOperationException")


@pytest.mark.parametrize("path", ["/", "/glue"])
def test_a_caller_whom_we_do_not_know_has_no_organisation(served: Served, path: str) -> None:
    wrong = NewKey(id="AKWCUNKNOWN", secret="x")
    answer = signed_call(served, wrong, "GetJob", {"JobName": "nightly"}, path=path)
    entry = last(served)
    assert (entry.org_id, entry.user, entry.resource) == (NOBODY, "", "")
    assert (entry.status, entry.error) == (403, "InvalidSignatureException")
    assert entry.request_id == answer.headers["x-amzn-requestid"]


def test_what_monitors_ask_is_not_kept(served: Served) -> None:
    before = len(served.audit)
    for path in ("/healthz", "/readyz", "/metrics", "/favicon.ico"):
        request(served, "GET", path)
    assert len(served.audit) == before


def test_no_value_of_an_argument_is_kept(account: Account, glue: Any) -> None:
    before = len(account.served.audit)
    hidden = {"--password": "hunter2"}
    make_job(glue, DefaultArguments=hidden, Description="hunter2", Tags={"hunter2": "hunter2"})
    glue.start_job_run(JobName="job", Arguments=hidden)
    make_trigger(glue, Actions=[{"JobName": "job", "Arguments": hidden}])
    with refused("AlreadyExistsException"):
        make_job(glue, DefaultArguments=hidden)
    made = account.served.audit[before:]
    assert len(made) == 4
    assert "hunter2" not in str(made)


def test_what_is_served_beside_glue_is_kept_under_its_own_name(account: Account) -> None:
    def client(service: str) -> Any:
        return account.client(service=service)

    client("sts").get_caller_identity()
    assert (last(account.served).face, last(account.served).action) == ("sts", "GetCallerIdentity")
    client("iam").get_role(RoleName="runner")
    assert (last(account.served).face, last(account.served).resource) == ("iam", "runner")
    with pytest.raises(ClientError):
        client("logs").get_log_events(logGroupName="/aws-glue/jobs/output", logStreamName="jr_x")
    entry = last(account.served)
    assert (entry.face, entry.action, entry.user, entry.resource) == ("logs", "GetLogEvents", "author", "jr_x")
