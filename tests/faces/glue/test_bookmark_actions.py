"""GetJobBookmark and ResetJobBookmark, and the argument that says what becomes of a bookmark, through boto3."""

from typing import Any

import pytest

from tests.faces.glue.calls import make_job, make_trigger, refused
from tests.faces.http.served import SCRIPT, Account, Served
from waterclock.domain.access import Role

CONTENT = '{"gluejobbookmark": {"day": "2026-11-14"}}'


def saved(served: Served, glue: Any, job: str, content: str = CONTENT) -> str:
    run_id = str(glue.start_job_run(JobName=job)["JobRunId"])
    served.begin(run_id)
    served.end(run_id, bookmark=content)
    return run_id


def test_what_a_run_saved_is_shown_with_the_runs_that_saved(served: Served, glue: Any) -> None:
    job = make_job(glue)
    first, second = saved(served, glue, job, "1"), saved(served, glue, job)
    entry = glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]
    assert entry == {
        "JobName": "job",
        "Version": 0,
        "Run": 2,
        "Attempt": 0,
        "RunId": second,
        "PreviousRunId": first,
        "JobBookmark": CONTENT,
    }
    assert glue.get_job_bookmark(JobName=job, RunId=first)["JobBookmarkEntry"] == entry


def test_a_reset_keeps_the_entry_and_answers_it(served: Served, glue: Any) -> None:
    job = make_job(glue)
    run_id = saved(served, glue, job)
    reset = glue.reset_job_bookmark(JobName=job, RunId=run_id)["JobBookmarkEntry"]
    assert (reset["Version"], reset["JobBookmark"], reset["RunId"]) == (1, "{}", run_id)
    assert glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"] == reset
    assert glue.reset_job_bookmark(JobName=job)["JobBookmarkEntry"]["Version"] == 2


@pytest.mark.parametrize("action", ["get_job_bookmark", "reset_job_bookmark"])
def test_what_is_not_there_is_not_found(served: Served, glue: Any, action: str) -> None:
    call = getattr(glue, action)
    with refused("EntityNotFoundException", match="Job none not found"):
        call(JobName="none")
    job, other = make_job(glue), make_job(glue, "other")
    with refused("EntityNotFoundException", match="Continuation for job job not found"):
        call(JobName=job)
    run_of_other = saved(served, glue, other)
    saved(served, glue, job)
    for run_id in (run_of_other, "jr_nobody"):
        with refused("EntityNotFoundException", match=f"Job run {run_id} not found"):
            call(JobName=job, RunId=run_id)
    assert glue.get_job_bookmark(JobName=job)["JobBookmarkEntry"]["Version"] == 0


def test_a_viewer_sees_a_bookmark_and_an_operator_resets_it(served: Served, account: Account) -> None:
    glue = account.client()
    job = make_job(glue)
    saved(served, glue, job)
    viewer, operator = account.client(Role.VIEWER), account.client(Role.OPERATOR)
    assert viewer.get_job_bookmark(JobName=job)["JobBookmarkEntry"]["JobBookmark"] == CONTENT
    with refused("AccessDeniedException"):
        viewer.reset_job_bookmark(JobName=job)
    assert operator.reset_job_bookmark(JobName=job)["JobBookmarkEntry"]["Version"] == 1


def test_the_bookmark_of_another_organisation_is_not_there(served: Served, glue: Any) -> None:
    job = make_job(glue)
    saved(served, glue, job)
    stranger = served.account().client()
    for call in (stranger.get_job_bookmark, stranger.reset_job_bookmark):
        with refused("EntityNotFoundException"):
            call(JobName=job)


THREE = "job-bookmark-enable, job-bookmark-pause, job-bookmark-disable"


def test_an_unknown_option_is_refused_wherever_it_is_given(glue: Any) -> None:
    wrong = {"--job-bookmark-option": "job-bookmark-on"}
    job = make_job(glue, DefaultArguments={"--job-bookmark-option": "job-bookmark-pause"})
    with refused("InvalidInputException", match=f"--job-bookmark-option: must be one of {THREE}"):
        make_job(glue, "wrong", DefaultArguments=wrong)
    with refused("InvalidInputException", match=THREE):
        make_job(glue, "wrong", NonOverridableArguments=wrong)
    with refused("InvalidInputException", match=THREE):
        glue.update_job(JobName=job, JobUpdate={"Role": "r", "Command": SCRIPT, "DefaultArguments": wrong})
    with refused("InvalidInputException", match=THREE):
        glue.start_job_run(JobName=job, Arguments=wrong)
    with refused("InvalidInputException", match=THREE):
        make_trigger(glue, Actions=[{"JobName": job, "Arguments": wrong}])


def test_a_deleted_job_leaves_no_bookmark_to_the_next_of_its_name(served: Served, glue: Any) -> None:
    job = make_job(glue)
    saved(served, glue, job)
    glue.delete_job(JobName=job)
    make_job(glue)
    with refused("EntityNotFoundException", match="Continuation for job"):
        glue.get_job_bookmark(JobName=job)


def test_a_reference_to_a_secret_is_shown_as_it_is_and_one_that_cannot_be_read_is_refused(glue: Any) -> None:
    given = {"--url": "db://{{secret:warehouse}}", "--secret-env": "PASSWORD=warehouse"}
    job = make_job(glue, DefaultArguments=given)
    assert glue.get_job(JobName=job)["Job"]["DefaultArguments"] == given
    run_id = glue.start_job_run(JobName=job)["JobRunId"]
    assert glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]["Arguments"] == given
    with refused("InvalidInputException", match=r"--url: a reference to a secret is \{\{secret:NAME\}\}"):
        make_job(glue, "wrong", DefaultArguments={"--url": "{{secret:}}"})
