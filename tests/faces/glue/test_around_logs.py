"""CloudWatch Logs on Glue's endpoint: a run's real log as events, by boto3 and its paginator."""

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.faces.glue.calls import make_job, refused
from tests.faces.http.raw import request, sign
from tests.faces.http.served import SCRIPT, Account, Served
from waterclock.domain.access import Role
from waterclock.domain.run import RunState
from waterclock.services.secrets import Secrets

OUTPUT, ERROR = "/aws-glue/python-jobs/output", "/aws-glue/python-jobs/error"
LINES = [f"line {number} 물 💧\n" for number in range(25)]

_files = itertools.count(1)


class Run:
    """A run of a job, and the log that a worker would write for it."""

    def __init__(self, account: Account, **arguments: str) -> None:
        self.served, self.glue = account.served, account.client()
        given = {f"--{name}": value for name, value in arguments.items()}
        self.id: str = self.glue.start_job_run(JobName="job", Arguments=given)["JobRunId"]
        self.path = self.served.logs / f"{next(_files)}.log"
        self.path.parent.mkdir(exist_ok=True)

    def write(self, data: str | bytes) -> "Run":
        with self.path.open("ab") as log:
            log.write(data if isinstance(data, bytes) else data.encode())
        return self

    def begin(self) -> "Run":
        self.served.begin(self.id, log_path=self.path.name)
        return self

    def end(self, state: RunState = RunState.SUCCEEDED) -> "Run":
        self.served.end(self.id, state)
        return self

    def times(self) -> tuple[int, int]:
        shown = self.glue.get_job_run(JobName="job", RunId=self.id)["JobRun"]
        return round(shown["StartedOn"].timestamp() * 1000), round(shown["CompletedOn"].timestamp() * 1000)


@pytest.fixture
def logs(account: Account) -> Any:
    make_job(account.client())
    return account.client(service="logs")


def ended(account: Account, data: str | bytes) -> Run:
    return Run(account).write(data).begin().end()


def messages(answer: Any) -> list[str]:
    return [event["message"] for event in answer["events"]]


def read_on(logs: Any, run: Run, *, backwards: bool = False, **asked: Any) -> list[str]:
    """All pages, until the same token comes again."""
    token, found = "nextBackwardToken" if backwards else "nextForwardToken", list[str]()
    page = logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id, startFromHead=not backwards, **asked)
    while True:
        found = messages(page) + found if backwards else found + messages(page)
        was, asked = page[token], {**asked, "nextToken": page[token]}
        page = logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id, **asked)
        if page[token] == was:
            assert page["events"] == []
            return found


@pytest.mark.parametrize("limit", [1, 7, 25, 10_000])
@pytest.mark.parametrize("backwards", [False, True])
def test_pages_hold_every_line_once_whichever_way_they_are_read(
    logs: Any, account: Account, limit: int, backwards: bool
) -> None:
    run = ended(account, "".join(LINES))
    assert read_on(logs, run, backwards=backwards, limit=limit) == LINES


def test_a_reader_turns_round_at_any_page(logs: Any, account: Account) -> None:
    run = ended(account, "".join(LINES))
    asked: dict[str, Any] = {"logGroupName": OUTPUT, "logStreamName": run.id, "limit": 10}
    last = logs.get_log_events(**asked)
    before = logs.get_log_events(**asked, nextToken=last["nextBackwardToken"])
    again = logs.get_log_events(**asked, nextToken=before["nextForwardToken"])
    assert (messages(last), messages(before)) == (LINES[15:], LINES[5:15])
    assert again["events"] == last["events"]


def test_times_never_decrease_and_lie_between_start_and_end(logs: Any, account: Account) -> None:
    run = ended(account, "x" * 1000 + "\n" + ("y" * 999 + "\n") * 400)
    started, completed = run.times()
    events = logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id, startFromHead=True)["events"]
    times = [event["timestamp"] for event in events]
    assert times == sorted(times)
    assert started <= times[0]
    assert times[-1] <= completed
    filtered = logs.filter_log_events(logGroupName=OUTPUT, logStreamNames=[run.id])["events"]
    assert [event["timestamp"] for event in filtered] == times
    assert len({event["eventId"] for event in filtered}) == len(times)


def test_times_can_be_asked_for(logs: Any, account: Account) -> None:
    run = ended(account, "one\n")
    at = logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id)["events"][0]["timestamp"]

    def filtered(**asked: int) -> list[str]:
        return messages(logs.filter_log_events(logGroupName=OUTPUT, logStreamNames=[run.id], **asked))

    def got(**asked: int) -> list[str]:
        return messages(logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id, **asked))

    assert filtered(startTime=at, endTime=at) == got(startTime=at, endTime=at + 1) == ["one\n"]
    assert filtered(startTime=at + 1) == filtered(endTime=at - 1) == []
    assert got(startTime=at + 1) == got(endTime=at) == []


def test_a_poll_goes_on_where_the_last_one_ended_as_airflow_does_it(logs: Any, account: Account) -> None:
    run = Run(account)
    paginator, token, seen = logs.get_paginator("filter_log_events"), None, list[list[str]]()

    def poll() -> None:
        nonlocal token
        found: list[str] = []
        config = {"StartingToken": token}
        for page in paginator.paginate(logGroupName=OUTPUT, logStreamNames=[run.id], PaginationConfig=config):
            found += messages(page)
            token = page.get("nextToken") or token
        seen.append(found)

    poll()
    run.write("one\ntwo\nthr").begin()
    poll()
    poll()
    run.write("ee\n")
    poll()
    run.write("no end").end()
    poll()
    poll()
    assert seen == [[], ["one\n", "two\n"], [], ["three\n"], ["no end"], []]


def test_a_live_log_is_read_on_by_its_forward_token(logs: Any, account: Account) -> None:
    run = Run(account).write("one\n").begin()
    asked: dict[str, Any] = {"logGroupName": OUTPUT, "logStreamName": run.id, "startFromHead": True}
    first = logs.get_log_events(**asked)
    token = first["nextForwardToken"]
    assert logs.get_log_events(**asked, nextToken=token)["nextForwardToken"] == token
    run.write("two\n")
    assert messages(logs.get_log_events(**asked, nextToken=token)) == ["two\n"]


def test_the_error_group_of_a_run_is_empty(logs: Any, account: Account) -> None:
    run = ended(account, "one\n")
    answer = logs.filter_log_events(logGroupName=ERROR, logStreamNames=[run.id])
    assert (answer["events"], answer.get("nextToken")) == ([], None)
    first = logs.get_log_events(logGroupName=ERROR, logStreamName=run.id)
    assert first["events"] == []
    again = logs.get_log_events(logGroupName=ERROR, logStreamName=run.id, nextToken=first["nextForwardToken"])
    assert again["nextForwardToken"] == first["nextForwardToken"]


def test_a_filter_finds_words_and_phrases_page_by_page(logs: Any, account: Account) -> None:
    run = ended(account, "".join(f"{'ERROR' if n % 5 == 0 else 'fine'} exit code {n}\n" for n in range(20)))
    asked: dict[str, Any] = {"logGroupName": OUTPUT, "logStreamNames": [run.id]}
    pages = logs.get_paginator("filter_log_events").paginate(**asked, filterPattern="ERROR", limit=3)
    found = [messages(page) for page in pages]
    assert found == [[f"ERROR exit code {n}\n" for n in (0, 5, 10)], ["ERROR exit code 15\n"], []]
    assert messages(logs.filter_log_events(**asked, filterPattern='"code 7"')) == ["fine exit code 7\n"]
    with refused("InvalidParameterException", "words"):
        logs.filter_log_events(**asked, filterPattern="{ $.a = 1 }")


def test_several_streams_and_the_retries_of_a_run_are_searched_together(account: Account) -> None:
    glue, logs = account.client(), account.client(service="logs")
    make_job(glue, MaxRetries=1, ExecutionProperty={"MaxConcurrentRuns": 5})
    first, other = Run(account).write("first\n").begin(), ended(account, "other\n")
    first.end(RunState.FAILED)
    retry = account.served.logs / f"{next(_files)}.log"
    retry.write_text("second\n")
    account.served.begin(f"{first.id}_attempt_1", log_path=retry.name)

    def search(**asked: Any) -> list[tuple[str, str]]:
        pages = logs.get_paginator("filter_log_events").paginate(logGroupName=OUTPUT, **asked)
        return [(event["logStreamName"], event["message"]) for page in pages for event in page["events"]]

    mine, again = (first.id, "first\n"), (f"{first.id}_attempt_1", "second\n")
    assert search(logStreamNamePrefix=first.id) == [mine, again]
    assert search(logStreamNames=[other.id, first.id]) == [mine, (other.id, "other\n")]
    assert search(logStreamNames=[other.id, first.id], limit=1) == [mine, (other.id, "other\n")]
    assert search(logStreamNamePrefix="jr_nothing") == []


def test_a_group_may_be_named_by_its_arn(logs: Any, account: Account) -> None:
    run = ended(account, "one\n")
    arn = f"arn:aws:logs:us-east-1:{account.number}:log-group:{OUTPUT}"
    for identifier in (OUTPUT, arn):
        assert messages(logs.get_log_events(logGroupIdentifier=identifier, logStreamName=run.id)) == ["one\n"]
    with refused("ResourceNotFoundException"):
        logs.get_log_events(logGroupIdentifier=arn.replace(account.number, "999999999999"), logStreamName=run.id)


def test_a_job_of_another_kind_has_its_log_in_the_other_group(account: Account) -> None:
    glue, logs = account.client(), account.client(service="logs")
    make_job(glue, Command={**SCRIPT, "Name": "shell"})
    run = ended(account, "one\n")
    group = glue.get_job_run(JobName="job", RunId=run.id)["JobRun"]["LogGroupName"]
    assert messages(logs.get_log_events(logGroupName=f"{group}/output", logStreamName=run.id)) == ["one\n"]
    with refused("ResourceNotFoundException", "log stream"):
        logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id)


def test_what_is_not_there_or_is_anothers_is_not_found(logs: Any, account: Account, served: Served) -> None:
    run = ended(account, "one\n")
    theirs = served.account().client(Role.ADMIN, service="logs")
    for client, group, stream in (
        (logs, OUTPUT, "jr_nothing"),
        (logs, "/aws-glue/python-jobs", run.id),
        (logs, "/other/output", run.id),
        (theirs, OUTPUT, run.id),
    ):
        with refused("ResourceNotFoundException"):
            client.get_log_events(logGroupName=group, logStreamName=stream)
        with refused("ResourceNotFoundException"):
            client.filter_log_events(logGroupName=group, logStreamNames=[stream])


def test_bad_parameters_are_refused_by_type(logs: Any, account: Account) -> None:
    run, other = ended(account, "one\n"), ended(account, "two\n")
    get: dict[str, Any] = {"logGroupName": OUTPUT, "logStreamName": run.id}
    search: dict[str, Any] = {"logGroupName": OUTPUT, "logStreamNames": [run.id]}
    others = logs.get_log_events(logGroupName=OUTPUT, logStreamName=other.id)["nextForwardToken"]
    for more in ({"limit": 10_001}, {"nextToken": "x"}, {"nextToken": "f/-1/x"}, {"nextToken": others}):
        with refused("InvalidParameterException"):
            logs.get_log_events(**get, **more)
    token = logs.filter_log_events(**search)["nextToken"]
    for more in (
        {"logGroupIdentifier": OUTPUT},
        {"logStreamNamePrefix": run.id},
        {"nextToken": "x"},
        {"logGroupName": ERROR, "nextToken": token},
        {"logStreamNames": ["a"] * 101},
        {"logStreamNames": ["a:b"]},
    ):
        with refused("InvalidParameterException"):
            logs.filter_log_events(**{**search, **more})
    for missing in ({"logGroupName": OUTPUT}, {"logStreamNames": [run.id]}):
        with refused("InvalidParameterException", "give either"):
            logs.filter_log_events(**missing)


def test_other_actions_and_bodies_are_refused_in_the_words_of_this_service(logs: Any, account: Account) -> None:
    with refused("UnknownOperationException"):
        logs.describe_log_groups()
    for body, code in ((b"[]", "SerializationException"), (b'{"bogus": 1}', "InvalidParameterException")):
        target = {"X-Amz-Target": "Logs_20140328.GetLogEvents"}
        headers = sign(account.served, account.key(), body, target, service="logs")
        answer = request(account.served, "POST", "/", headers=headers, body=body)
        assert (answer.status, answer.body["__type"]) == (400, code)
        assert answer.body["message"]
        wrong = sign(account.served, account.key(), body, target, service="glue")
        refused_ = request(account.served, "POST", "/", headers=wrong, body=body)
        assert (refused_.status, refused_.body["__type"]) == (403, "InvalidSignatureException")


@pytest.mark.parametrize("limit", [1, 2, 10_000])
@pytest.mark.parametrize("backwards", [False, True])
def test_secrets_are_masked_also_where_a_page_ends_within_one(
    logs: Any, account: Account, limit: int, backwards: bool
) -> None:
    secrets = Secrets(account.served.database, account.served.box)
    account.served.run(secrets.put(account.admin(), "password", "hunter2\nfoxtrot"))
    run = Run(account, password="{{secret:password}}").write("login hunter2\nfoxtrot ok\nend\n").begin().end()
    found = read_on(logs, run, backwards=backwards, limit=limit)
    assert (len(found), found[2]) == (3, "end\n")
    assert found[0].startswith("login ")
    assert found[1].endswith(" ok\n")
    assert not any(part in "".join(found) for part in ("unter", "oxtro"))


def test_bytes_that_are_no_text_and_lines_that_are_too_long_are_still_events(logs: Any, account: Account) -> None:
    long = "물" * 200_000
    run = ended(account, b"\xff\xfe bad\n\x00\n" + long.encode() + b"\nend\n")
    found = read_on(logs, run)
    assert found[:2] == ["\ufffd\ufffd bad\n", "\x00\n"]
    assert "".join(found[2:]) == f"{long}\nend\n"
    assert found[-1] == "end\n"
    assert read_on(logs, run, backwards=True)[-1] == "end\n"


def test_a_log_larger_than_an_answer_comes_in_answers_of_bounded_size(logs: Any, account: Account) -> None:
    run = ended(account, b"".join(b"%06d " % n + b"x" * 993 + b"\n" for n in range(2500)))
    pages = list(logs.get_paginator("filter_log_events").paginate(logGroupName=OUTPUT, logStreamNames=[run.id]))
    assert [int(message[:6]) for page in pages for message in messages(page)] == list(range(2500))
    assert max(sum(map(len, messages(page))) for page in pages) <= 1024 * 1024


def test_a_log_that_was_pruned_is_empty(logs: Any, account: Account) -> None:
    run = ended(account, "one\n")
    Path(run.path).unlink()
    assert logs.filter_log_events(logGroupName=OUTPUT, logStreamNames=[run.id])["events"] == []
    assert logs.get_log_events(logGroupName=OUTPUT, logStreamName=run.id)["events"] == []
