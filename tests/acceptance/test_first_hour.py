"""What a newcomer does in the first hour, and the likeliest mistakes."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.server import Server, running, until
from tests.services.s3 import S3Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with running(tmp_path_factory.mktemp("server"), stop_grace_seconds=0.5) as server:
        yield server


def ended(server: Server, job: str, run_id: str) -> dict[str, Any]:
    glue = server.glue()

    def is_over() -> dict[str, Any] | None:
        run: dict[str, Any] = glue.get_job_run(JobName=job, RunId=run_id)["JobRun"]
        return run if run["JobRunState"] not in ("WAITING", "STARTING", "RUNNING", "STOPPING") else None

    found: dict[str, Any] = until(is_over, f"{run_id} never ended")
    return found


def run(server: Server, name: str, location: str, command: str = "pythonshell", **more: Any) -> dict[str, Any]:
    glue = server.glue()
    glue.create_job(Name=name, Role="r", Command={"Name": command, "ScriptLocation": location}, **more)
    return ended(server, name, glue.start_job_run(JobName=name)["JobRunId"])


def log(server: Server, found: dict[str, Any]) -> str:
    return server.cli("run", "logs", found["Id"]).stdout


def test_a_trigger_with_seconds_fires_again_and_again_on_its_instants(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "tick.py"
    script.write_text("import os; print(os.environ['WATERCLOCK_FIRE_TIME'])\n")
    glue = server.glue()
    glue.create_job(Name="tick", Role="r", Command={"Name": "pythonshell", "ScriptLocation": f"file://{script}"})
    actions = [{"JobName": "tick"}]
    glue.create_trigger(Name="ticks", Type="SCHEDULED", Schedule="0/2 * * * * ?", StartOnCreation=True, Actions=actions)
    runs = until(lambda: (r := _succeeded(glue, "tick")) and len(r) >= 2 and r, "did not fire twice")
    assert all(each["TriggerName"] == "ticks" for each in runs)
    seconds = [int(log(server, each).strip()[17:19]) for each in runs]
    assert all(second % 2 == 0 for second in seconds)
    glue.stop_trigger(Name="ticks")
    assert glue.get_trigger(Name="ticks")["Trigger"]["State"] == "DEACTIVATED"


def test_a_log_is_followed_while_the_run_writes_it(server: Server, tmp_path: Path) -> None:
    script, gate = tmp_path / "talk.py", tmp_path / "gate"
    script.write_text(
        f"import os, time\nprint('one', flush=True)\n"
        f"while not os.path.exists({str(gate)!r}): time.sleep(0.01)\nprint('two')\n"
    )
    created = server.cli("job", "create", "talk", "--kind", "python", "--script", str(script))
    assert created.returncode == 0, created.stderr
    run_id = server.cli("run", "start", "talk").stdout.split()[0]
    command = [sys.executable, "-m", "waterclock", "run", "logs", run_id, "-f"]
    with subprocess.Popen(command, env=server.environment, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout
        assert following.stdout.readline() == "one\n"
        gate.touch()
        assert following.stdout.read() == "two\n"
    assert following.returncode == 0


def test_following_a_start_ends_with_its_outcome(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "fail.py"
    script.write_text("print('about to'); raise SystemExit(3)\n")
    server.cli("job", "create", "fail", "--kind", "python", "--script", str(script))
    followed = server.cli("run", "start", "fail", "--follow")
    assert followed.returncode == 1
    assert followed.stdout == "about to\n"
    assert "exit code 3" in followed.stderr


def test_a_time_out_kills_and_says_so(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import time\ntime.sleep(1000)\n")
    server.cli("job", "create", "slow", "--kind", "python", "--script", str(script), "--timeout", "1")
    followed = server.cli("run", "start", "slow", "--follow")
    assert followed.returncode == 1
    assert "TIMEOUT" in followed.stderr


@pytest.mark.parametrize(
    ("name", "location", "command", "reason"),
    [
        ("missing", "file:///no/such/script.py", "pythonshell", "does not exist"),
        ("outside", "/etc/passwd", "pythonshell", "outside its owner's folder"),
        ("unknown kind", "file:///etc/hostname", "cobol", "is not known to this worker"),
        ("needs spark", "file:///etc/hostname", "glueetl", "waterclock[spark]"),
        ("no scheme", "gopher://x/y", "pythonshell", "cannot read a script from gopher://"),
    ],
)
def test_a_run_that_cannot_start_fails_with_a_reason(
    server: Server, name: str, location: str, command: str, reason: str
) -> None:
    found = run(server, name, location, command)
    assert found["JobRunState"] == "FAILED"
    assert reason in found["ErrorMessage"]


def test_a_program_that_cannot_be_executed_fails_with_a_reason(tmp_path: Path) -> None:
    plain = tmp_path / "not-a-program"
    plain.write_text("just text")
    plain.chmod(0o755)
    with running(tmp_path, interpreters=f"odd={plain}") as server:
        found = run(server, "odd", "file:///etc/hostname", "odd")
        assert found["JobRunState"] == "FAILED"
        assert found["ErrorMessage"] == (
            f"cannot execute {str(plain)!r}: it is neither a program of this machine nor a script with a #! line"
        )


def test_output_that_is_not_utf_8_is_shown_with_replacements(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "bytes.py"
    script.write_text("import sys; sys.stdout.buffer.write(b'a\\xffb\\n')\n")
    found = run(server, "bytes", f"file://{script}")
    assert found["JobRunState"] == "SUCCEEDED"
    assert log(server, found) == "a\N{REPLACEMENT CHARACTER}b\n"


def test_a_failed_script_shows_its_last_line(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text("raise ValueError('the table is empty')\n")
    found = run(server, "broken", f"file://{script}", MaxRetries=1)
    assert found["ErrorMessage"] == "exit code 1: ValueError: the table is empty"
    second = ended(server, "broken", f"{found['Id']}_attempt_1")
    assert (second["Attempt"], second["PreviousRunId"]) == (1, found["Id"])


def test_a_job_with_packages_of_its_own_gets_them(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "uses_six.py"
    script.write_text("import six, sys; print(six.__version__, sys.prefix)\n")
    found = run(
        server,
        "packages",
        f"file://{script}",
        DefaultArguments={"--additional-python-modules": "six==1.16.0"},
    )
    assert found["JobRunState"] == "SUCCEEDED", found.get("ErrorMessage")
    version, prefix = log(server, found).split()
    assert version == "1.16.0"
    assert "venvs" in prefix


def test_a_package_that_does_not_exist_fails_the_run_with_pips_words(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "any.py"
    script.write_text("")
    modules = {"--additional-python-modules": "no-such-package-of-waterclock==0.0.1"}
    found = run(server, "no package", f"file://{script}", DefaultArguments=modules)
    assert found["JobRunState"] == "FAILED"
    assert "no-such-package-of-waterclock" in found["ErrorMessage"]


def test_a_script_is_read_from_s3(s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = s3.client()
    client.create_bucket(Bucket="jobs")
    client.put_object(Bucket="jobs", Key="nightly/load.py", Body=b"print('from s3')")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3.access_key)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3.secret_key)
    with running(tmp_path, s3_endpoint=s3.endpoint_url) as server:
        found = run(server, "load", "s3://jobs/nightly/load.py")
        assert (found["JobRunState"], log(server, found)) == ("SUCCEEDED", "from s3\n")
        gone = run(server, "gone", "s3://jobs/nightly/gone.py")
        assert gone["JobRunState"] == "FAILED"
        assert "s3://jobs/nightly/gone.py" in gone["ErrorMessage"]


def test_the_environment_of_a_program_holds_nothing_of_ours(server: Server, tmp_path: Path) -> None:
    script = tmp_path / "environment.py"
    script.write_text("import os; print(sorted(os.environ))\n")
    found = run(server, "environment", f"file://{script}")
    names = set(eval(log(server, found)))  # noqa: S307 - a list of names that this very test printed
    ours = {name for name in names if name.startswith("WATERCLOCK_")}
    told = ("JOB_NAME", "RUN_ID", "FIRE_TIME", "ATTEMPT", "FENCE", "BOOKMARK_FILE")
    assert ours == {f"WATERCLOCK_{each}" for each in told}
    assert not [name for name in names if "AWS" in name or "DB" in name]


def test_the_store_in_the_data_directory_is_for_us_alone(server: Server) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in server.data.glob("waterclock.db*")}
    assert "waterclock.db" in modes
    assert not any(mode & 0o077 for mode in modes.values())


def test_without_authentication_any_signature_or_none_passes_on_loopback(tmp_path: Path) -> None:
    with running(tmp_path, auth="none") as server:
        found = server.cli("status", "--json")
        assert found.returncode == 0, found.stderr
        assert server.glue().get_jobs()["Jobs"] == []


def test_a_second_server_on_the_same_port_says_so(server: Server, tmp_path: Path) -> None:
    said = Server(tmp_path).cli("up", "--port", str(server.port), "--data-dir", str(tmp_path / "other"))
    assert said.returncode != 0
    assert str(server.port) in said.stderr


def _succeeded(glue: Any, job: str) -> list[dict[str, Any]]:
    return [each for each in glue.get_job_runs(JobName=job)["JobRuns"] if each["JobRunState"] == "SUCCEEDED"]
