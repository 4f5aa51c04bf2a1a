"""Gates and steps as real programs: what they are given, the copy that they run in, and what is made of their end."""

import asyncio
import json
import sys
import threading
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import pytest

from tests.runners.chains import probe_of, put, step_of
from tests.runners.host import Host, run, until
from tests.services.s3 import S3Server
from waterclock import clock
from waterclock.domain.chain import Folder
from waterclock.domain.claim import Claimed
from waterclock.domain.errors import CannotRun
from waterclock.domain.masking import Masks
from waterclock.domain.outcome import Outcome
from waterclock.domain.run import Attempt, RunState
from waterclock.engine.flight import Flight, outcome
from waterclock.runners.base import Program
from waterclock.runners.chain_program import ChainPrograms
from waterclock.runners.client import SupervisorClient
from waterclock.runners.copying import Copy
from waterclock.runners.folders import LocalRoot, Root
from waterclock.runners.preparing import Preparer
from waterclock.runners.s3_folders import S3Root
from waterclock.runners.scripts import Scripts
from waterclock.runners.venvs import Venvs
from waterclock.runners.workspace import Workspaces

TELL = "import json, os, sys; print(json.dumps([sys.argv, os.getcwd(), dict(os.environ)], ensure_ascii=False))"


class Known:
    """One secret."""

    async def values(self, attempt: Attempt, names: Collection[str]) -> Mapping[str, str]:
        return dict.fromkeys(names, "hunter2;and more")

    async def masks(self, attempt: Attempt, names: Collection[str]) -> Masks:
        return Masks.of(["hunter2;and more"])


class Station:
    """A worker's preparer over a real supervisor: programs are put, run, and judged."""

    def __init__(self, host: Host, client: SupervisorClient, user: str = "") -> None:
        self.folder = host.folder
        self._client = client
        self.workspaces = Workspaces(work_root=host.folder / "work", log_root=host.folder / "logs", user=user)
        self.roots: dict[str, Root] = {
            each: LocalRoot(path=host.folder / each, setting=f"chains.{each}") for each in Folder
        }
        self.preparer = Preparer(
            scripts=Scripts(owners_root=host.folder / "scripts"),
            secrets=Known(),
            venvs=Venvs(host.folder / "venvs"),
            workspaces=self.workspaces,
            interpreters={},
            chains=ChainPrograms(roots=self.roots),
            grace_seconds=0.2,
            user=user or None,
        )

    def step(self, script: str, source: str) -> Path:
        return put(self.folder / Folder.JOB, script, source)

    def gate(self, script: str, source: str) -> Path:
        return put(self.folder / Folder.DEP, script, source)

    async def program(self, claimed: Claimed) -> Program:
        assert self.preparer.at_once(claimed) is None
        return replace(await self.preparer.prepare(claimed), lease_until=clock.monotonic() + 60)

    async def run(self, claimed: Claimed) -> Outcome:
        program = await self.program(claimed)
        ended = await run(self._client, program)
        flight = Flight(claimed, 0.0, log_path=program.log_path, masks=await self.preparer.masks(claimed))
        found = outcome(self.preparer, ended, flight)
        self.preparer.clean_up([claimed.attempt.id])
        return found

    def log(self, claimed: Claimed) -> str:
        return Path(self.preparer.log_path(claimed.attempt)).read_text()


@pytest.fixture
def station(host: Host, client: SupervisorClient) -> Station:
    return Station(host, client)


# What they are given


@pytest.mark.parametrize("env", [sys.executable, "python"])
async def test_a_step_is_its_interpreter_its_script_and_its_words_in_a_copy_of_its_folder(
    station: Station, env: str
) -> None:
    station.step("보고서/적재.py", TELL)
    claimed = step_of("보고서/적재.py;2026-11-16;두 단어;;a b;", env=env)
    assert (await station.run(claimed)).state is RunState.SUCCEEDED
    argv, cwd, environ = json.loads(station.log(claimed))
    assert cwd == str(station.folder / "work" / "1")
    assert argv == [f"{cwd}/적재.py", "2026-11-16", "두 단어", "", "a b"]
    told = {name.removeprefix("WATERCLOCK_"): value for name, value in environ.items() if "WATERCLOCK" in name}
    assert told == {
        "JOB_NAME": "chain-3",
        "RUN_ID": "jr_1",
        "FIRE_TIME": "2026-11-16T00:00:00Z",
        "ATTEMPT": "0",
        "FENCE": "1",
        "CHAIN_RUN_ID": "12",
        "ROLE": "main",
    }


async def test_on_the_backup_a_program_gets_bkp_before_its_own_words(station: Station) -> None:
    station.step("a/x.sh", 'echo "$WATERCLOCK_ROLE $# $1 $2"')
    claimed = step_of("a/x.sh;one", env="sh", role="bkp")
    await station.run(claimed)
    assert station.log(claimed) == "bkp 2 bkp one\n"


async def test_a_program_writes_utf_8_whatever_its_interpreter(station: Station) -> None:
    station.step("a/x.py", "import sys; print('물시계', sys.stdout.encoding)")
    for number, env in enumerate((sys.executable, "python"), start=1):
        claimed = step_of("a/x.py", env=env, id=number, wire_id=f"jr_{number}")
        await station.run(claimed)
        assert station.log(claimed) == "물시계 utf-8\n"


async def test_a_secret_is_one_argument_and_is_not_shown(station: Station) -> None:
    station.step("a/x.py", "import sys; print(len(sys.argv), sys.argv[1]); sys.exit(3)")
    claimed = step_of("a/x.py;user:{{secret:db}}", env="python")
    program = await station.program(claimed)
    assert program.argv[1:] == ("user:hunter2;and more",)
    found = await station.run(claimed)
    assert (found.message, found.output) == ("exit code 3: 2 user:***", "2 user:***\n")


async def test_a_reference_that_cannot_be_read_is_refused(station: Station) -> None:
    station.step("a/x.py", "")
    with pytest.raises(CannotRun, match="argument command: a reference to a secret is"):
        await station.program(step_of("a/x.py;{{secret:a b}}"))


# The copy


async def test_a_program_never_touches_the_original_and_leaves_nothing(station: Station) -> None:
    original = station.step("a/x.sh", "echo more >> data; cat data; echo new > new; echo > x.sh")
    data = station.step("a/data", "1\n")
    for number in (1, 2):
        claimed = step_of("a/x.sh", env="sh", id=number, wire_id=f"jr_{number}")
        assert (await station.run(claimed)).state is RunState.SUCCEEDED
        assert station.log(claimed) == f"{number}\nmore\n"
        assert data.read_text() == f"{number}\n"
        data.write_text("2\n")  # and what is changed since is what the next attempt finds
    assert original.read_text().startswith("echo more")
    assert {path.name for path in original.parent.iterdir()} == {"x.sh", "data"}
    assert list((station.folder / "work").iterdir()) == []


async def test_what_an_earlier_try_has_left_is_gone(station: Station) -> None:
    station.step("a/x.sh", "ls")
    claimed = step_of("a/x.sh", env="sh")
    put(station.folder / "work" / "1", "left/over", "")
    await station.run(claimed)
    assert station.log(claimed) == "x.sh\n"


@pytest.mark.usefixtures("root_only")
async def test_the_copy_belongs_to_the_user_that_programs_run_as(host: Host, client: SupervisorClient) -> None:
    for folder in (host.folder, *host.folder.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    station = Station(host, client, user="nobody")
    station.step("a/x.sh", "id -un; echo more >> lib/data; ls -l lib/data link | grep -c nobody").chmod(0o400)
    station.step("a/lib/data", "")
    (host.folder / Folder.JOB / "a" / "link").symlink_to("lib/data")
    claimed = step_of("a/x.sh", env="/bin/sh")
    assert (await station.run(claimed)).message is None
    assert station.log(claimed) == "nobody\n2\n"


class Slow:
    """A root that is being copied when the test looks at it."""

    def __init__(self) -> None:
        self.begun, self.go_on = threading.Event(), threading.Event()

    def copy(self, script: PurePosixPath, to: Copy) -> None:
        to.add_file("first", [b"1"], mode=0o600)
        self.begun.set()
        assert self.go_on.wait(20)
        to.add_file(script.name, [b"2"], mode=0o600)


async def test_a_stop_while_the_folder_is_copied_leaves_nothing(station: Station) -> None:
    station.roots[Folder.JOB] = slow = Slow()
    preparing = asyncio.create_task(station.program(step_of("a/x.sh", env="sh")))
    await until(slow.begun.is_set, "the copy")
    assert (station.folder / "work" / "1" / "first").exists()
    preparing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await preparing
    slow.go_on.set()
    await until(lambda: not (station.folder / "work" / "1").exists(), "the copy to be gone")


# Where they lie


@pytest.fixture
def bucket(s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
    client = s3.client()
    client.create_bucket(Bucket="chains")
    yield client
    for page in client.get_paginator("list_objects_v2").paginate(Bucket="chains"):
        for each in page.get("Contents", ()):
            client.delete_object(Bucket="chains", Key=each["Key"])
    client.delete_bucket(Bucket="chains")


def in_bucket(s3: S3Server, location: str = "s3://chains/운영/jobs") -> S3Root:
    return S3Root(location, setting="chains.jobfolder", endpoint=s3.endpoint_url, region=s3.region)


async def test_a_folder_is_fetched_from_a_bucket(
    station: Station, s3: S3Server, bucket: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def put_object(key: str, body: str) -> None:
        bucket.put_object(Bucket="chains", Key=key, Body=body.encode())

    station.roots[Folder.JOB] = in_bucket(s3)
    put_object("운영/jobs/보고서/적재.sh", "find . -type f | sort; ./lib/도구.sh $1")
    put_object("운영/jobs/보고서/lib/도구.sh", "#!/bin/sh\necho 도구 $1")
    put_object("운영/jobs/보고서/empty/", "")
    put_object("운영/jobs/보고서-2/other.sh", "echo other")
    put_object("운영/jobs/alone.sh", "ls")
    claimed = step_of("보고서/적재.sh;하나", env="sh")
    assert (await station.run(claimed)).message is None
    assert station.log(claimed) == "./lib/도구.sh\n./적재.sh\n도구 하나\n"
    alone = step_of("alone.sh", env="sh", id=2, wire_id="jr_2")
    await station.run(alone)
    assert station.log(alone) == "alone.sh\n"

    for command, words in (
        ("gone/x.sh", r"there is no folder 'gone' below s3://chains/운영/jobs \(setting chains\.jobfolder\)"),
        ("보고서/gone.sh", r"there is no script 'gone\.sh' in the folder '보고서' below s3://chains"),
        ("gone.sh", r"there is no script 'gone\.sh' directly in s3://chains"),
    ):
        with pytest.raises(CannotRun, match=words):
            await station.program(step_of(command, env="sh"))

    monkeypatch.setattr("waterclock.runners.copying.MOST_BYTES", 40)
    with pytest.raises(CannotRun, match="has more than 40 bytes"):
        await station.program(step_of("보고서/적재.sh", env="sh"))
    assert list((station.folder / "work" / "1").iterdir()) == []


def test_all_pages_of_a_listing_are_fetched(s3: S3Server, bucket: Any, tmp_path: Path) -> None:
    for number in range(5):
        bucket.put_object(Bucket="chains", Key=f"a/{number}.sh", Body=b"ls")
    root = in_bucket(s3, "s3://chains")
    client = root._connection.client()
    client.meta.events.register("provide-client-params.s3.ListObjectsV2", lambda params, **_: params | {"MaxKeys": 2})
    root.copy(PurePosixPath("a/4.sh"), Copy(folder=str(tmp_path)))
    assert {path.name for path in tmp_path.iterdir()} == {f"{number}.sh" for number in range(5)}


def test_a_bucket_that_refuses_is_told_of_and_asked_again_with_new_credentials(
    s3: S3Server, bucket: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bucket.put_object(Bucket="chains", Key="운영/jobs/a/x.sh", Body=b"ls")
    root, script = in_bucket(s3), PurePosixPath("a/x.sh")
    with monkeypatch.context() as patch:
        patch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")
        with pytest.raises(CannotRun, match=r"cannot copy the folder 'a' below s3://chains/운영/jobs .*Signature"):
            root.copy(script, Copy(folder=str(tmp_path)))
    root.copy(script, Copy(folder=str(tmp_path)))
    assert (tmp_path / "x.sh").read_text() == "ls"


async def test_what_cannot_be_prepared_is_said_with_its_place(station: Station) -> None:
    station.step("a/x.py", "")
    for claimed, words in (
        (step_of("b/x.py"), r"there is no folder 'b' below .*/jobfolder \(setting chains\.jobfolder\)"),
        (probe_of("a/x.py"), r"the folder of programs .*/depfolder \(setting chains\.depfolder\) does not exist"),
        (step_of("a/x.py", env="/usr/bin/pyton3"), "env '/usr/bin/pyton3' is not installed on this worker"),
    ):
        with pytest.raises(CannotRun, match=words):
            await station.program(claimed)


# What is made of their end


async def test_a_probe_is_judged_by_its_exit_code_and_its_words(station: Station) -> None:
    wrong_words = "it must print 0 (passed) or 1 (not yet), and printed '2'"
    cases = (
        ("echo 0", RunState.SUCCEEDED, "passed", None, "0\n"),
        ("", RunState.SUCCEEDED, "passed", None, ""),
        ("echo 어제 자료; echo 1", RunState.FAILED, "not_yet", "not yet", "어제 자료\n1\n"),
        ("echo 2", RunState.FAILED, "error", wrong_words, "2\n"),
        ("echo 0; exit 3", RunState.FAILED, "error", "exit code 3: 0", "0\n"),
        ("kill -15 $$", RunState.FAILED, "error", "killed by signal 15 (Terminated)", ""),
    )
    for number, (source, *expected) in enumerate(cases):
        station.gate("a/x.sh", source)
        found = await station.run(probe_of("a/x.sh", env="sh", id=number, wire_id=f"jr_{number}"))
        assert [found.state, found.verdict, found.message, found.output] == expected, source


async def test_a_probe_that_hangs_is_an_error_with_what_it_had_printed(station: Station) -> None:
    station.gate("a/x.sh", "echo waiting; sleep 600 & sleep 600")
    found = await station.run(probe_of("a/x.sh", env="sh", timeout_seconds=1))
    assert (found.state, found.verdict, found.output) == (RunState.TIMEOUT, "error", "waiting\n")
    assert found.message == "did not end within its time-out: waiting"


async def test_words_that_hold_a_secret_are_judged_and_not_shown(station: Station) -> None:
    station.gate("a/x.sh", "echo $1; echo 0")
    passed = await station.run(probe_of("a/x.sh;{{secret:db}}", env="sh"))
    assert (passed.verdict, passed.output) == ("passed", "***\n0\n")
    station.gate("a/x.sh", "echo $1")
    wrong = await station.run(probe_of("a/x.sh;{{secret:db}}", env="sh", id=2, wire_id="jr_2"))
    assert wrong.message == "it must print 0 (passed) or 1 (not yet), and printed '***'"


async def test_the_output_of_a_step_that_failed_is_its_last_4000_characters(station: Station) -> None:
    station.step("a/x.py", "print('앞' + '물' * 5000, end='끝'); raise SystemExit(1)")
    found = await station.run(step_of("a/x.py", env="python"))
    assert found.output == "물" * 3999 + "끝"


async def test_the_output_of_a_step_that_succeeded_is_in_its_log_only(station: Station) -> None:
    station.step("a/x.sh", "echo done")
    found = await station.run(step_of("a/x.sh", env="sh"))
    assert (found.state, found.output, found.verdict) == (RunState.SUCCEEDED, None, None)
