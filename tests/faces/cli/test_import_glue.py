"""`waterclock import glue` from one real server to another: shown first, made when asked, repeatable."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.acceptance.server import free_port
from tests.faces.cli.conftest import Said
from tests.faces.http.served import SCRIPT, Account, Served
from waterclock.domain.access import Role
from waterclock.domain.rules import AWS, GUARDED
from waterclock.faces.cli import main
from waterclock.faces.cli.importing.endpoint import Endpoint
from waterclock.services.access import NewKey

AFTER = {
    "Logical": "ANY",
    "Conditions": [
        {"LogicalOperator": "EQUALS", "JobName": "load", "State": state} for state in ("SUCCEEDED", "FAILED")
    ],
}


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, Served]]:
    with (
        Served(tmp_path_factory.mktemp("there"), AWS) as there,
        Served(tmp_path_factory.mktemp("here"), GUARDED) as here,
    ):
        yield there, here


class Import:
    """`waterclock import glue` between two organisations that nobody else uses."""

    def __init__(self, there: Account, here: Account, folder: Path) -> None:
        self.there, self.here = there.client(), here.client()
        self.urls = there.served.url, here.served.url
        self._account = here.served.client(here.key(), "sts").get_caller_identity()["Account"]
        self._folder = folder
        self.keys(there.key())
        write_keys(folder / "credentials", here.key())

    def keys(self, key: NewKey) -> None:
        self._environ = {"AWS_ACCESS_KEY_ID": key.id, "AWS_SECRET_ACCESS_KEY": key.secret}

    def __call__(self, *more: str, source: str | None = None) -> Said:
        arguments = ["import", "glue", "--from-endpoint", source or self.urls[0], *more]
        return said(arguments, self._folder, WATERCLOCK_SERVER=self.urls[1], **self._environ)

    def arn(self, resource: str) -> str:
        """Of something here."""
        return f"arn:aws:glue:us-east-1:{self._account}:{resource}"

    def json(self, *more: str) -> Any:
        return json.loads(self("--json", *more).out)


def said(arguments: list[str], folder: Path, **environ: str) -> Said:
    quiet = {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": "/dev/null", "AWS_PROFILE": None}
    files = {"WATERCLOCK_DATA_DIR": str(folder), "AWS_SHARED_CREDENTIALS_FILE": str(folder / "nobody's")}
    ran = CliRunner(env={**quiet, **files, **environ}).invoke(main, arguments)
    assert ran.exception is None or isinstance(ran.exception, SystemExit), ran.exception
    return Said(code=ran.exit_code, out=ran.stdout, err=ran.stderr)


def write_keys(path: Path, key: NewKey, profile: str = "default") -> None:
    path.write_text(f"[{profile}]\naws_access_key_id = {key.id}\naws_secret_access_key = {key.secret}\n")


@pytest.fixture
def bring(servers: tuple[Served, Served], tmp_path: Path) -> Import:
    return Import(servers[0].account(), servers[1].account(), tmp_path)


def furnish(glue: Any) -> None:
    """Two jobs, a workflow, and triggers of each type."""
    for name in ("load", "report 🚀"):
        glue.create_job(Name=name, Role="r", Command=SCRIPT, DefaultArguments={"--day": "1"}, Tags={"team": name[:4]})
    glue.create_workflow(Name="flow", Description="both", DefaultRunProperties={"a": "1"}, Tags={"team": "x"})
    actions = [{"JobName": "load"}]
    glue.create_trigger(Name="begin", Type="ON_DEMAND", WorkflowName="flow", Actions=actions)
    more: dict[str, Any] = {"Type": "CONDITIONAL", "WorkflowName": "flow", "Predicate": AFTER}
    glue.create_trigger(Name="then", Actions=[{"JobName": "report 🚀"}], StartOnCreation=True, **more)
    timed = {"Type": "SCHEDULED", "Schedule": "cron(15 12 * * ? *)", "StartOnCreation": True, "Tags": {"team": "y"}}
    glue.create_trigger(Name="nightly", Actions=[*actions, {"JobName": "report 🚀", "Timeout": 5}], **timed)


def shown(glue: Any) -> Any:
    """All that an endpoint holds, without what differs from one to another."""
    own = {"CreatedOn", "LastModifiedOn", "Id", "State"}
    things = [
        *glue.get_jobs()["Jobs"],
        *glue.get_triggers()["Triggers"],
        *(glue.get_workflow(Name=name)["Workflow"] for name in glue.list_workflows()["Workflows"]),
    ]
    return [{name: value for name, value in thing.items() if name not in own} for thing in things]


def states(glue: Any) -> dict[str, str]:
    return {trigger["Name"]: trigger["State"] for trigger in glue.get_triggers()["Triggers"]}


def test_a_dry_run_shows_all_and_makes_nothing(bring: Import) -> None:
    furnish(bring.there)
    run = bring()
    assert run.code == 0
    for line in ("job       load       create", "trigger   nightly    create", "workflow  flow       create"):
        assert line in run.out
    assert "note: changes meaning: under glue.rules = guarded" in run.out
    assert "6 to create" in run.out
    assert "read 2 jobs, 1 workflows, 3 triggers" in run.err
    assert "nothing was changed" in run.err
    assert shown(bring.here) == []


def test_what_is_applied_is_the_same_here_and_a_second_time_nothing_is_done(bring: Import) -> None:
    furnish(bring.there)
    run = bring("--apply")
    assert (run.code, run.out) == (0, ""), run
    assert "[1/6] job 'load' created" in run.err
    assert "6 created" in run.err
    assert shown(bring.here) == shown(bring.there)
    assert set(states(bring.here).values()) == {"CREATED"}
    again = bring("--apply")
    assert again.code == 0
    assert "waterclock: 6 same\n" in again.err
    assert {step["verdict"] for step in bring.json()["steps"]} == {"same"}


def test_tags_come_along(bring: Import) -> None:
    furnish(bring.there)
    bring("--apply")
    assert bring.here.list_jobs(Tags={"team": "load"})["JobNames"] == ["load"]
    assert bring.here.list_triggers(Tags={"team": "y"})["TriggerNames"] == ["nightly"]


def test_triggers_are_started_last_and_only_when_asked(bring: Import) -> None:
    furnish(bring.there)
    assert bring("--apply").code == 0
    run = bring("--apply", "--start")
    assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 6 same, 2 started")
    assert states(bring.here) == {"begin": "CREATED", "nightly": "ACTIVATED", "then": "ACTIVATED"}
    assert bring.here.get_job_runs(JobName="load")["JobRuns"] == []
    assert "started" not in bring("--apply", "--start").err


def test_what_differs_is_named_and_left_until_an_update_is_asked_for(bring: Import) -> None:
    furnish(bring.there)
    assert bring("--apply").code == 0
    bring.there.update_job(JobName="report 🚀", JobUpdate={"Role": "r", "Command": SCRIPT, "Timeout": 7})
    bring.there.update_workflow(Name="flow", Description="changed", DefaultRunProperties={"a": "2"})
    bring.here.tag_resource(ResourceArn=bring.arn("trigger/nightly"), TagsToAdd={"team": "z", "only": "here"})
    run = bring("--apply")
    assert run.code == 0
    assert "job 'report 🚀' left as it is: differs in DefaultArguments, Timeout" in run.err
    assert bring.here.get_job(JobName="report 🚀")["Job"]["Timeout"] == 2880
    run = bring("--apply", "--update")
    assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 3 updated, 3 same"), run
    assert shown(bring.here) == shown(bring.there)
    assert bring.here.get_tags(ResourceArn=bring.arn("trigger/nightly"))["Tags"] == {"team": "y"}


def test_an_update_that_is_refused_here_fails_alone(bring: Import) -> None:
    furnish(bring.there)
    assert bring("--apply", "--start").code == 0
    bring.there.stop_trigger(Name="nightly")
    bring.there.update_trigger(Name="nightly", TriggerUpdate={"Description": "new"})
    bring.there.update_job(JobName="load", JobUpdate={"Role": "r", "Command": SCRIPT, "Description": "new"})
    run = bring("--apply", "--update")
    assert run.code == 1
    assert "trigger 'nightly' failed: InvalidInputException: trigger 'nightly' is RUNNING: stop it first" in run.err
    assert "2 failed" in run.err.splitlines()[-1]


def test_a_trigger_of_another_type_is_not_turned_into_this_one(bring: Import) -> None:
    for glue in (bring.there, bring.here):
        glue.create_job(Name="load", Role="r", Command=SCRIPT)
    bring.there.create_trigger(Name="t", Type="ON_DEMAND", Actions=[{"JobName": "load"}])
    bring.here.create_trigger(Name="t", Type="SCHEDULED", Schedule="rate(1 day)", Actions=[{"JobName": "load"}])
    run = bring("--apply", "--update")
    assert run.code == 1
    assert "trigger 't' failed: Type cannot be changed: delete the trigger here first" in run.err


def test_only_what_is_asked_for_is_read_and_what_it_lacks_is_said(bring: Import) -> None:
    furnish(bring.there)
    assert {step["kind"] for step in bring.json("--only", "jobs,workflows")["steps"]} == {"job", "workflow"}
    assert [step["name"] for step in bring.json("--names", "rep*")["steps"]] == ["report 🚀"]
    found = bring.json("--only", "triggers", "--names", "nightly")
    assert found["steps"][0]["verdict"] == "cannot"
    assert "job 'load'" in found["steps"][0]["reason"]
    assert found["summary"] == {"create": 0, "same": 0, "differs": 0, "cannot": 1}
    run = bring("--only", "triggers", "--names", "nightly", "--apply")
    assert (run.code, run.err.splitlines()[-1]) == (1, "waterclock: 1 left out")


def test_stopped_in_the_middle_it_says_what_was_done_and_goes_on_the_next_time(
    bring: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(bring.there)
    calling, left = Endpoint.call, iter(range(3))

    def interrupted(self: Endpoint, action: str, **given: Any) -> Any:
        if action.startswith("create_") and next(left, None) is None:
            raise KeyboardInterrupt
        return calling(self, action, **given)

    with monkeypatch.context() as patched:
        patched.setattr(Endpoint, "call", interrupted)
        run = bring("--apply")
    assert run.code == 130
    assert "waterclock: 3 created\n" in run.err
    run = bring("--apply")
    assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 3 created, 3 same")


def test_a_creation_whose_answer_was_lost_counts_once_it_is_seen_here(
    bring: Import, monkeypatch: pytest.MonkeyPatch
) -> None:
    bring.there.create_job(Name="load", Role="r", Command=SCRIPT, Tags={"a": "1"})
    calling = Endpoint.call

    def twice(self: Endpoint, action: str, **given: Any) -> Any:
        if action == "create_job":
            calling(self, action, **given)
        return calling(self, action, **given)

    with monkeypatch.context() as patched:
        patched.setattr(Endpoint, "call", twice)
        run = bring("--apply")
    assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 1 created")


def test_more_than_a_page_and_a_batch_are_read(bring: Import) -> None:
    for number in range(101):
        bring.there.create_job(Name=f"job {number:03}", Role="r", Command=SCRIPT)
    for number in range(26):
        bring.there.create_workflow(Name=f"flow {number:02}")
    assert bring.json()["summary"]["create"] == 127


def test_without_the_right_to_read_tags_the_rest_comes(bring: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(bring.there)
    monkeypatch.setattr(Endpoint, "account", lambda self: "999999999999")  # nobody's tags are found there
    run = bring("--apply")
    assert run.code == 0
    assert "tags are neither compared nor carried over" in run.err
    assert bring.here.list_jobs(Tags={"team": "load"})["JobNames"] == []


def test_a_profile_may_sign_for_either_side(bring: Import, servers: tuple[Served, Served], tmp_path: Path) -> None:
    there, here = servers[0].account(), servers[1].account()
    furnish(there.client())
    profiles = tmp_path / "profiles"
    parts = []
    for name, key in (("old", there.key()), ("new", here.key())):
        write_keys(profiles, key, name)
        parts.append(profiles.read_text())
    profiles.write_text("\n".join(parts))
    arguments = ["--from-profile", "old", "--to-endpoint", bring.urls[1], "--to-profile", "new", "--apply"]
    run = said(
        ["import", "glue", "--from-endpoint", bring.urls[0], *arguments],
        tmp_path / "elsewhere",
        AWS_SHARED_CREDENTIALS_FILE=str(profiles),
    )
    assert run.code == 0, run
    assert len(here.client().list_jobs()["JobNames"]) == 2


def test_a_server_that_asks_for_no_keys_is_given_none(bring: Import, tmp_path: Path) -> None:
    bring.there.create_job(Name="load", Role="r", Command=SCRIPT)
    (tmp_path / "credentials").unlink()
    with Served(tmp_path, GUARDED, auth=False) as open_to_all:
        run = bring("--server", open_to_all.url, "--apply")
        assert (run.code, run.err.splitlines()[-1]) == (0, "waterclock: 1 created")


def told(run: Said) -> str:
    """One line, whatever went wrong."""
    assert run.out == ""
    (line,) = run.err.splitlines()
    return line


def test_an_endpoint_that_does_not_answer_is_named(bring: Import) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    run = bring(source=url)
    assert (run.code, told(run)) == (
        1,
        f"waterclock: nothing answers at {url}: see that the address is right and that it serves",
    )
    run = bring("--server", url)
    assert f"nothing answers at {url}" in told(run)


def test_credentials_that_are_not_taken_are_named_for_each_side(bring: Import, tmp_path: Path) -> None:
    wrong = NewKey(id="AKWC" + "Q" * 16, secret="x")
    write_keys(tmp_path / "credentials", wrong)
    run = bring()
    assert (run.code, "--data-dir" in told(run)) == (2, True), run
    (tmp_path / "credentials").unlink()
    assert "(MissingAuthenticationTokenException)" in told(bring())
    bring.keys(wrong)
    run = bring()
    assert (run.code, "--from-profile" in told(run)) == (2, True), run


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say where to read"),
        (["--from-profile", "nobody"], "nobody"),
        (["--region", "mars-1"], "'mars-1' is no region"),
        (["--from-endpoint", "http://127.0.0.1:1"], "no credentials for http://127.0.0.1:1"),
        (["--from-endpoint", "nonsense"], "nonsense"),
        (["--from-endpoint", "http://127.0.0.1:1", "--only", "crawlers"], "'crawlers' is none of"),
        (["--from-endpoint", "http://127.0.0.1:1", "--update"], "--apply"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    run = said(["import", "glue", *arguments], tmp_path)
    assert run.code == 2
    assert words in told(run)


def test_what_is_no_glue_endpoint_is_told_so(bring: Import) -> None:
    run = bring(source=f"{bring.urls[0]}/healthz")
    assert run.code == 1
    assert "is it a Glue endpoint?" in told(run)


def test_who_may_only_look_is_told_for_each_thing(
    bring: Import, servers: tuple[Served, Served], tmp_path: Path
) -> None:
    bring.there.create_job(Name="load", Role="r", Command=SCRIPT)
    write_keys(tmp_path / "credentials", servers[1].account().key(Role.VIEWER))
    run = bring("--apply")
    assert (run.code, run.err.splitlines()[-1]) == (1, "waterclock: 1 failed")
    assert "job 'load' failed: AccessDeniedException" in run.err
