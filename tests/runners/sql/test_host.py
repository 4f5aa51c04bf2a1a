"""The SQL host with a stand-in engine (tests/runners/sql/standin.py): its protocol, its kills, its own life."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.server import alive, until
from tests.runners.sql.hosted import Hosted, Thin, mark, mode, names, open_folder, owner, owner_of, rooms
from waterclock.domain.errors import CannotRun
from waterclock.runners import proc
from waterclock.runners.sql import door, hosting
from waterclock.runners.sql.hosting import SqlHost


@pytest.fixture
def hosted(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Hosted]:
    hosted = Hosted(tmp_path, getattr(request, "param", "dies"))
    yield hosted
    hosted.close()


def executor_of(log: str) -> str:
    found = re.search(r"engine: stand-in (\d+)", log)
    assert found, log
    return found.group(1)


async def test_rows_go_to_all_outputs_and_the_report_says_how_many(hosted: Hosted, tmp_path: Path) -> None:
    socket = await hosted.hosting().ensure()
    thin = hosted.ask(socket, "rows 3;", f"{tmp_path}/a", f"{tmp_path}/b")
    code, log = thin.end()
    assert (code, (tmp_path / "a").read_text(), (tmp_path / "b").read_text()) == (0, "3", "3")
    assert f"{tmp_path}/b: 3 rows, 1 bytes" in log
    assert {name: thin.said.progress[name] for name in ("rows_read", "rows_written", "bytes_written")} == {
        "rows_read": 3,
        "rows_written": 6,
        "bytes_written": 2,
    }


async def test_a_query_that_fails_says_why_first_and_all_in_its_log(hosted: Hosted) -> None:
    thin = hosted.ask(await hosted.hosting().ensure(), "fail no such table")
    code, log = thin.end()
    assert (code, thin.said.reason) == (1, "no such table")
    assert "all that was said" in log


@pytest.mark.parametrize("hosted", ["dies", "told", "deaf"], indirect=True)
@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGKILL])
async def test_a_query_that_is_stopped_or_whose_program_is_killed_leaves_nothing(
    hosted: Hosted, tmp_path: Path, way: signal.Signals
) -> None:
    hosting = hosted.hosting()
    thin = hosted.ask(await hosting.ensure(), f"wait {tmp_path}/begun", f"{tmp_path}/out")
    executor = int(mark(tmp_path / "begun"))
    assert names(tmp_path)
    thin.process.send_signal(way)
    code, log = thin.end()
    if way is signal.SIGTERM:
        assert code == 128 + signal.SIGTERM, log
        assert not names(tmp_path), "it said that nothing is left"
        assert hosted.kind == "told" or not alive(executor)
    until(lambda: not names(tmp_path), "what it left aside is still there")
    until(lambda: hosted.kind == "told" or not alive(executor), "its executor lives")
    until(lambda: hosted.kind == "told" or str(executor) not in rooms(tmp_path), "its room on the disk is left")
    assert (tmp_path / "buried").exists() is (hosted.kind == "deaf")
    hosting.close()


async def test_a_query_that_waits_for_an_executor_can_be_stopped(hosted: Hosted, tmp_path: Path) -> None:
    socket = await hosted.hosting(warm=0).ensure()
    (host,) = hosted.hosts()
    os.kill(host, signal.SIGSTOP)
    thin = hosted.ask(socket, "rows 1", f"{tmp_path}/out")
    until(lambda: thin.said.phase, "it never began")
    thin.process.send_signal(signal.SIGTERM)
    os.kill(host, signal.SIGCONT)
    code, _ = thin.end()
    assert code in (0, 128 + signal.SIGTERM)


async def test_a_query_whose_program_is_killed_ends_though_the_host_is_stopped(hosted: Hosted, tmp_path: Path) -> None:
    thin = hosted.ask(await hosted.hosting().ensure(), f"wait {tmp_path}/begun", f"{tmp_path}/out")
    executor, (host,) = int(mark(tmp_path / "begun")), hosted.hosts()
    os.kill(host, signal.SIGSTOP)
    thin.process.kill()
    thin.end()
    until(lambda: not alive(executor), "its executor lives")
    os.kill(host, signal.SIGCONT)
    until(lambda: not names(tmp_path), "what it left aside is still there")


async def test_two_queries_run_side_by_side(hosted: Hosted, tmp_path: Path) -> None:
    socket = await hosted.hosting().ensure()
    both = [hosted.ask(socket, f"meet {tmp_path}/{mine} {tmp_path}/{theirs}") for mine, theirs in ("ab", "ba")]
    assert [thin.end()[0] for thin in both] == [0, 0]


async def test_an_executor_serves_one_organisation_again_but_no_other(hosted: Hosted) -> None:
    hosting = hosted.hosting()
    socket = await hosting.ensure()
    first, again, other = (executor_of(hosted.ask(socket, "rows 1", org_id=org_id).end()[1]) for org_id in (1, 1, 2))
    assert (first == again, first == other) == (True, False)


async def test_a_query_whose_executor_dies_says_so_and_leaves_nothing(hosted: Hosted, tmp_path: Path) -> None:
    thin = hosted.ask(await hosted.hosting().ensure(), f"die {tmp_path}/dying", f"{tmp_path}/out")
    assert thin.end()[0] == 1
    assert "died (signal 9)" in thin.said.reason
    assert not names(tmp_path)


async def test_a_stop_while_a_dead_query_is_cleaned_up_changes_nothing(hosted: Hosted, tmp_path: Path) -> None:
    socket = await hosted.hosting().ensure()
    hold = tmp_path / "held.hold"
    hold.touch()
    thin = hosted.ask(socket, f"die {tmp_path}/dying", f"{tmp_path}/held")
    executor, (host,) = int(mark(tmp_path / "dying")), hosted.hosts()
    until(lambda: executor not in proc.children(host), "it is not buried")
    thin.process.send_signal(signal.SIGTERM)
    hold.unlink()
    assert thin.end()[0] == 1
    assert hosted.ask(socket, "rows 1").end()[0] == 0, "the host goes on"


async def test_a_query_that_outgrows_the_memory_of_its_job_is_killed(hosted: Hosted, tmp_path: Path) -> None:
    thin = hosted.ask(await hosted.hosting().ensure(), "grow 200", f"{tmp_path}/out", memory_mib=150)
    assert thin.end()[0] == 1
    assert "more memory than the job may have: 150 MiB" in thin.said.reason
    assert names(tmp_path) == []


async def test_a_host_that_is_killed_takes_its_executors_along_and_the_next_query_has_a_new_one(
    hosted: Hosted, tmp_path: Path
) -> None:
    hosting = hosted.hosting()
    thin = hosted.ask(await hosting.ensure(), f"wait {tmp_path}/begun", f"{tmp_path}/out")
    executor = int(mark(tmp_path / "begun"))
    (host,) = hosted.hosts()
    os.kill(host, signal.SIGKILL)
    assert thin.end()[0] == 1
    assert "the SQL host died" in thin.said.reason
    until(lambda: not alive(executor), "its executor lives")
    thin = hosted.ask(await hosting.ensure(), "rows 2", f"{tmp_path}/out")
    assert thin.end()[0] == 0
    assert names(tmp_path) == ["out"], "the next run removes what the last one left"


async def test_a_query_outlives_the_worker_that_brought_it(hosted: Hosted, tmp_path: Path) -> None:
    first = hosted.hosting()
    thin = hosted.ask(await first.ensure(), f"meet {tmp_path}/a {tmp_path}/b")
    until((tmp_path / "a").exists, "it never began")
    first.close()
    before = hosted.hosts()
    second = hosted.hosting()
    await second.ensure()
    assert hosted.hosts() == before
    (tmp_path / "b").touch()
    assert thin.end()[0] == 0


async def test_a_host_that_nobody_needs_leaves(hosted: Hosted, tmp_path: Path) -> None:
    hosting = hosted.hosting()
    path = await hosting.ensure()
    hosting.close()
    await asyncio.to_thread(until, lambda: not hosted.hosts(), "it stays")
    assert names(tmp_path / "sql", "*.sock") == []
    assert await hosting.ensure() == path, "and is started again"


async def test_two_workers_that_start_at_once_share_one_host(hosted: Hosted) -> None:
    assert len({*await asyncio.gather(*(hosted.hosting().ensure() for _ in range(3)))}) == 1
    assert len(hosted.hosts()) == 1


async def test_its_socket_is_for_one_user(hosted: Hosted) -> None:
    path = await hosted.hosting().ensure()
    assert (mode(path), mode(os.path.dirname(path))) == (0o600, 0o700)


async def test_as_root_it_runs_as_the_user_of_programs(open_checkout: None) -> None:
    with open_folder() as folder:
        hosted = Hosted(folder)
        path = await hosted.hosting(user="nobody").ensure()
        assert [owner(path), *map(owner_of, hosted.hosts())] == ["nobody", "nobody"]
        hosted.close()
        folder.chmod(0o700)
        with pytest.raises(CannotRun, match=r"must be passable for the user that programs run as"):
            await SqlHost(folder / "sql", engine="sail", user="nobody").ensure()


async def test_what_is_no_message_only_ends_its_own_line(hosted: Hosted) -> None:
    socket = await hosted.hosting().ensure()
    with door.connect(Path(socket)) as line:
        line.sendall(b"GET / HTTP/1.1\r\n\r\n")
        assert line.recv(10) == b""
    assert hosted.ask(socket, "rows 1").end()[0] == 0


@pytest.mark.parametrize("hosted", ["broken"], indirect=True)
async def test_an_engine_that_does_not_open_fails_the_query_with_its_words(hosted: Hosted) -> None:
    thin = hosted.ask(await hosted.hosting().ensure(), "rows 1")
    assert thin.end()[0] == 1
    assert "it has no key to start with" in thin.said.reason


async def test_an_engine_that_is_not_installed_is_named_with_what_to_install(tmp_path: Path) -> None:
    """Also where it happens to be installed: this interpreter does not find it."""
    (tmp_path / "pysail.py").write_text("raise ModuleNotFoundError('hidden', name='pysail')")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    with pytest.raises(CannotRun, match=r"pip install 'waterclock\[sail\]'.*sql\.python"):
        await SqlHost(tmp_path / "sql", engine="sail", python=str(python)).ensure()


async def test_an_interpreter_with_another_version_of_ours_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosting, "__version__", "0.0.1")
    with pytest.raises(CannotRun, match=r"this worker is 0\.0\.1: install the same version there"):
        await SqlHost(tmp_path / "sql", engine="sail").ensure()


async def test_an_interpreter_without_us_is_named_with_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"has no waterclock: pip install 'waterclock\[spark\]' there"):
        await SqlHost(tmp_path / "sql", engine="spark", python=f"{sys.base_prefix}/bin/python3").ensure()


async def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"sql\.python '/no/such/python' cannot be started: No such file"):
        await SqlHost(tmp_path / "sql", engine="sail", python="/no/such/python").ensure()


def test_without_a_host_the_program_says_so(hosted: Hosted, tmp_path: Path) -> None:
    thin: Thin = hosted.ask(str(tmp_path / "sql" / "none.sock"), "rows 1")
    assert thin.end()[0] == 1
    assert "no SQL host answers" in thin.said.reason
