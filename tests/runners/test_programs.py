"""A program is run as it was ordered, and what it did is recorded."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.runners.host import Ear, Host, run
from waterclock.runners import proc
from waterclock.runners.base import End, Limits
from waterclock.runners.client import SupervisorClient


async def test_a_warm_script_and_an_executed_program_leave_their_exit_code_and_output(
    host: Host, client: SupervisorClient
) -> None:
    script = host.script("import sys; print('hello', *sys.argv[1:]); sys.exit(7)")
    warm = await run(client, host.program(1, script, "--key", "value"))
    cold = await run(client, host.program(2, "/bin/sh", "-c", "echo out; echo err >&2; exit 3", warm=False))
    assert (warm.end, warm.exit_code, warm.signal) == (End.EXITED, 7, None)
    assert host.log(1).read_text() == "hello --key value\n"
    assert (cold.end, cold.exit_code) == (End.EXITED, 3)
    assert host.log(2).read_text() == "out\nerr\n"


async def test_begun_names_the_process_and_comes_before_the_end(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    await client.start([host.program(1, host.script("import os; print(os.getpid())"))])
    begun = await ear.begun(1)
    await ear.ended(1)
    assert host.log(1).read_text() == f"{begun.pid}\n"
    assert begun.pid_started_at > 0
    assert [type(event).__name__ for event in ear.heard] == ["Begun", "Ended"]


async def test_a_program_that_dies_by_a_signal_says_which(host: Host, client: SupervisorClient) -> None:
    warm = await run(client, host.program(1, host.script("import os; os.kill(os.getpid(), 15)")))
    cold = await run(client, host.program(2, "/bin/sh", "-c", "kill -9 $$", warm=False))
    assert (warm.end, warm.exit_code, warm.signal) == (End.EXITED, None, signal.SIGTERM)
    assert cold.signal == signal.SIGKILL
    assert "out of memory" in (cold.message or "")


@pytest.mark.parametrize("warm", [True, False])
async def test_the_environment_is_exactly_what_was_given(host: Host, client: SupervisorClient, warm: bool) -> None:
    script = host.script("import json, os; print(json.dumps([dict(os.environ), os.popen('env -0').read()]))")
    argv = (script,) if warm else (sys.executable, script)
    program = host.program(1, *argv, warm=warm, env={"GREETING": "xin chào", "PATH": os.environ["PATH"]})
    assert (await run(client, program)).exit_code == 0
    seen, inherited = json.loads(host.log(1).read_text())
    seen.pop("LC_CTYPE", None)  # python's own doing in a C locale
    assert seen == dict(program.env)
    names = {entry.partition("=")[0] for entry in inherited.split("\0") if entry}
    assert names - {"PWD", "SHLVL", "_", "OLDPWD", "LC_CTYPE"} == set(program.env)


async def test_a_program_cannot_find_the_workers_environment_in_its_own_proc(
    host: Host, client: SupervisorClient
) -> None:
    script = host.script("print(open('/proc/self/environ').read().split(chr(0)))")
    await run(client, host.program(1, script))
    seen = host.log(1).read_text()
    assert "SECRET" not in seen
    assert f"WATERCLOCK_RUN_ID={host.mark}-1" in seen


@pytest.mark.parametrize("warm", [True, False])
async def test_no_descriptor_of_ours_is_open_in_a_program(host: Host, client: SupervisorClient, warm: bool) -> None:
    source = """
        import os
        for name in sorted(os.listdir('/proc/self/fd'), key=int):
            try:
                print(name, os.readlink(f'/proc/self/fd/{name}'))
            except FileNotFoundError:
                pass  # the listing itself
    """
    script = host.script(source)
    await run(client, host.program(1, *((script,) if warm else (sys.executable, script)), warm=warm))
    lines = [line.split() for line in host.log(1).read_text().splitlines()]
    assert [line[0] for line in lines] == ["0", "1", "2"]
    assert lines[0][1] == "/dev/null"
    assert lines[1][1].startswith("pipe:")


def signal_sets(status: str) -> set[int]:
    """Without 32 and 33, which belong to the C library: what `make` starts inherits them as ignored."""
    of_the_library = 1 << 31 | 1 << 32
    return {int(line.split()[1], 16) & ~of_the_library for line in status.splitlines() if line}


async def test_signals_have_their_default_effect_in_an_executed_program(host: Host, client: SupervisorClient) -> None:
    await run(client, host.program(1, "/bin/grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status", warm=False))
    assert signal_sets(host.log(1).read_text()) == {0}


async def test_a_warm_script_ignores_what_the_interpreter_ignores(host: Host, client: SupervisorClient) -> None:
    source = "print(*[line for line in open('/proc/self/status') if line.startswith(('SigBlk', 'SigIgn'))], sep='')"
    await run(client, host.program(1, host.script(source)))
    ignored = 1 << (signal.SIGPIPE - 1) | 1 << (signal.SIGXFSZ - 1)
    assert signal_sets(host.log(1).read_text()) == {0, ignored}


async def test_a_program_leads_its_own_session_in_its_own_folder(host: Host, client: SupervisorClient) -> None:
    script = host.script("import os; print(os.getsid(0) == os.getpid() == os.getpgid(0), os.getcwd())")
    await run(client, host.program(1, script))
    assert host.log(1).read_text() == f"True {host.folder}\n"


def bad_interpreter(folder: Path) -> str:
    path = folder / "broken.sh"
    path.write_text("#!/no/such/shell -e\n")
    path.chmod(0o755)
    return str(path)


def not_executable(folder: Path) -> str:
    path = folder / "data.txt"
    path.write_text("just text")
    return str(path)


def no_program(folder: Path) -> str:
    path = folder / "text-with-a-mode"
    path.write_text("just text")
    path.chmod(0o755)
    return str(path)


async def test_what_cannot_be_executed_says_why(host: Host, client: SupervisorClient) -> None:
    expected = {
        "/no/such/program": "cannot execute '/no/such/program': there is no such file",
        bad_interpreter(host.folder): "its interpreter '/no/such/shell' does not exist",
        not_executable(host.folder): "it is not executable by this user",
        no_program(host.folder): "neither a program of this machine nor a script with a #! line",
        str(host.folder): "it is a directory",
    }
    for number, (path, words) in enumerate(expected.items(), start=1):
        ended = await run(client, host.program(number, path, warm=False))
        assert (ended.end, ended.exit_code) == (End.NOT_STARTED, None)
        assert words in (ended.message or "")


async def test_a_missing_script_folder_or_log_folder_says_why(host: Host, client: SupervisorClient) -> None:
    script = host.script("pass")
    missing = await run(client, host.program(1, "/no/such/script.py"))
    nowhere = await run(client, host.program(2, script, cwd="/no/such/folder"))
    logless = await run(client, host.program(3, script, log_path="/proc/no/such/log"))
    nul = await run(client, host.program(4, "/bin/echo", "a\0b", warm=False))
    assert [each.end for each in (missing, nowhere, logless, nul)] == [End.NOT_STARTED] * 4
    assert missing.message == "cannot read the script '/no/such/script.py': No such file or directory"
    assert "working directory '/no/such/folder': No such file" in (nowhere.message or "")
    assert "cannot write the log" in (logless.message or "")
    assert "null byte" in (nul.message or "")


async def test_cpu_time_and_peak_memory_count_children_too(host: Host, client: SupervisorClient) -> None:
    source = """
        import subprocess, sys, time
        subprocess.run([sys.executable, '-c', '''
        import time
        hold = bytearray(80_000_000)
        end = time.process_time() + 0.3
        while time.process_time() < end: pass
        '''.replace("\\n        ", "\\n")], check=True)
    """
    ended = await run(client, host.program(1, host.script(source)))
    assert ended.exit_code == 0, host.log(1).read_text()
    assert ended.cpu_seconds >= 0.3
    assert 80_000_000 <= ended.peak_rss_bytes < 400_000_000


async def test_each_limit_holds(host: Host, client: SupervisorClient) -> None:
    source = """
        import resource
        for kind in ('AS', 'NOFILE', 'CPU'):
            print(kind, *resource.getrlimit(getattr(resource, 'RLIMIT_' + kind)))
    """
    limits = Limits(memory_bytes=300_000_000, cpu_seconds=5, open_files=64)
    await run(client, host.program(1, host.script(source), limits=limits))
    assert host.log(1).read_text().splitlines() == ["AS 300000000 300000000", "NOFILE 64 64", "CPU 5 6"]


async def test_a_program_with_more_processes_than_it_may_have_is_killed_whole_and_alone(
    host: Host, client: SupervisorClient
) -> None:
    source = """
        import os, time
        for _ in range(30):
            if os.fork() == 0:
                os.setsid()
                time.sleep(60)
        time.sleep(60)
    """
    ear = Ear(client)
    crowd = host.program(1, host.script(source, "crowd.py"), limits=Limits(processes=10))
    pair = host.program(2, "/bin/sh", "-c", "/bin/true; /bin/true", warm=False, limits=Limits(processes=2))
    await client.start([crowd, pair])
    ended = await ear.ended(1)
    assert (ended.end, ended.exit_code, ended.signal) == (End.EXITED, None, signal.SIGKILL)
    assert ended.message == "killed: it had more than 10 processes at once, its limit"
    assert not proc.with_environment([f"WATERCLOCK_RUN_ID={host.mark}-1"])
    assert (await ear.ended(2)).exit_code == 0  # the crowd is not counted among its own


async def test_a_memory_hog_fails_with_the_reason_and_its_neighbour_is_unhurt(
    host: Host, client: SupervisorClient
) -> None:
    ear = Ear(client)
    hog = host.program(1, host.script("bytearray(10**10)", "hog.py"), limits=Limits(memory_bytes=300_000_000))
    await client.start([hog, host.program(2, host.script("print('fine')"))])
    assert (await ear.ended(1)).exit_code == 1
    assert "MemoryError" in host.log(1).read_text()
    assert (await ear.ended(2)).exit_code == 0


async def test_a_program_that_uses_up_its_cpu_time_says_so(host: Host, client: SupervisorClient) -> None:
    ended = await run(client, host.program(1, host.script("while True: pass"), limits=Limits(cpu_seconds=1)))
    assert ended.signal == signal.SIGXCPU
    assert ended.message == "killed: it used up its CPU time"


@pytest.mark.usefixtures("root_only")
@pytest.mark.parametrize("warm", [True, False])
async def test_a_program_runs_as_the_user_that_was_named(host: Host, client: SupervisorClient, warm: bool) -> None:
    for folder in (host.folder, *host.folder.parents):
        if folder.stat().st_uid == 0 and folder != Path("/"):
            folder.chmod(folder.stat().st_mode | 0o055)
    script = host.script("import os; print(os.getresuid(), os.getgroups() == [os.getgid()])")
    argv = (script,) if warm else ("/usr/bin/id", "-un")
    ended = await run(client, host.program(1, *argv, warm=warm, user="nobody"))
    assert ended.exit_code == 0, ended
    assert host.log(1).read_text() == ("(65534, 65534, 65534) True\n" if warm else "nobody\n")


async def test_an_unknown_user_is_a_program_that_cannot_start(host: Host, client: SupervisorClient) -> None:
    ended = await run(client, host.program(1, "/bin/true", warm=False, user="no-such-user"))
    assert (ended.end, ended.message) == (
        End.NOT_STARTED,
        "cannot run as user 'no-such-user': this host has no such user",
    )
