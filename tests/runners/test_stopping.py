"""Stopping means dead: everything that a run started, wherever it hid."""

import signal
import sys
from pathlib import Path

import pytest

from tests.runners.host import Ear, Host, is_alive, run, until
from waterclock.runners.base import End
from waterclock.runners.client import SupervisorClient

# Six processes that ignore TERM: the script, a child, one in a session of its own, a double fork that was orphaned, one
# that executed another program, and one that forked from the warm interpreter and never executed anything.
STUBBORN = """
    import os, signal, subprocess, sys, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    def note(): os.write(pids, f'{os.getpid()}\\n'.encode())
    def settle():
        note(); time.sleep(600)
    def fork(work):
        if os.fork() == 0:
            work(); os._exit(0)
    def own_session(): os.setsid(); settle()
    def orphan(): os.setsid(); fork(settle)
    def executed(): os.setsid(); note(); os.execv('/bin/sh', ['sh', '-c', 'trap "" TERM; sleep 600 & wait; wait'])
    pids = os.open('pids', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for work in (settle, own_session, orphan, executed, lambda: fork(own_session)): fork(work)
    settle()
"""


async def started_pids(folder: Path, count: int) -> list[int]:
    path = folder / "pids"
    await until(lambda: path.exists() and len(path.read_text().split()) >= count, "the processes to be there")
    return [int(number) for number in path.read_text().split()]


@pytest.mark.parametrize("warm", [True, False])
async def test_nothing_survives_a_stop(each_host: Host, warm: bool) -> None:
    host = each_host
    script = host.script(STUBBORN)
    argv = (script,) if warm else (sys.executable, script)
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, *argv, warm=warm)])
        pids = await started_pids(host.folder, 6)
        assert all(is_alive(pid) for pid in pids)
        await client.stop([1])
        ended = await ear.ended(1)
        assert [pid for pid in pids if is_alive(pid)] == []
        assert (ended.end, ended.signal) == (End.STOPPED, signal.SIGKILL)


async def test_a_stop_is_polite_first_and_the_exit_code_is_kept(host: Host, client: SupervisorClient) -> None:
    source = """
        import signal, sys, time
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
        print('ready'); time.sleep(600)
    """
    ear = Ear(client)
    await client.start([host.program(1, host.script(source), grace_seconds=60)])
    await until(lambda: host.log(1).exists() and "ready" in host.log(1).read_text())
    await client.stop([1])
    await client.stop([1])
    ended = await ear.ended(1)
    assert (ended.end, ended.exit_code) == (End.STOPPED, 5)


async def test_everything_is_asked_to_leave_not_only_the_first_process(host: Host, client: SupervisorClient) -> None:
    source = """
        import os, signal, sys, time
        def bye(*_): print('bye', role); sys.exit(0)
        signal.signal(signal.SIGTERM, bye)
        role = 'child' if os.fork() == 0 else 'parent'
        if role == 'child': os.setsid()
        print('ready', role); time.sleep(600)
    """
    ear = Ear(client)
    await client.start([host.program(1, host.script(source), grace_seconds=60)])
    await until(lambda: host.log(1).exists() and host.log(1).read_text().count("ready") == 2)
    await client.stop([1])
    assert (await ear.ended(1)).end is End.STOPPED
    assert {"bye child", "bye parent"} <= set(host.log(1).read_text().splitlines())


async def test_what_a_program_leaves_behind_is_killed_when_it_ends(each_host: Host) -> None:
    source = STUBBORN.replace("    settle()\n", "    time.sleep(0.3); print('over')\n")
    assert source != STUBBORN
    async with each_host.client() as client:
        ended = await run(client, each_host.program(1, each_host.script(source)))
    pids = await started_pids(each_host.folder, 3)
    assert (ended.end, ended.exit_code) == (End.EXITED, 0)
    assert [pid for pid in pids if is_alive(pid)] == []


async def test_a_program_past_its_time_is_ended(host: Host, client: SupervisorClient) -> None:
    program = host.program(1, host.script(STUBBORN), timeout_seconds=1.0)
    ended = await run(client, program)
    pids = await started_pids(host.folder, 6)
    assert (ended.end, ended.signal) == (End.TIMEOUT, signal.SIGKILL)
    assert [pid for pid in pids if is_alive(pid)] == []


async def test_a_stop_before_the_start_means_that_it_never_starts(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    script = host.script("open(__file__ + '.ran', 'a').write('x')")
    numbers = list(range(1, 60))
    await client.start([host.program(number, script) for number in numbers])
    await client.stop(numbers)
    ends = [await ear.ended(number) for number in numbers]
    never = [ended for ended in ends if ended.message == "stopped before it was started"]
    assert never
    assert times_run(script) <= len(numbers) - len(never)


def times_run(script: str) -> int:
    ran = Path(script + ".ran")
    return len(ran.read_text()) if ran.exists() else 0


@pytest.mark.parametrize("escape", ["pass", "os.setsid()"], ids=["group", "sessions"])
async def test_a_fork_bomb_is_killed(each_host: Host, escape: str) -> None:
    source = f"""
        import os, time
        def leave():
            try: {escape}
            except PermissionError: pass
        if os.fork(): time.sleep(600)
        for depth in range(6):
            os.fork(); leave()
        print('ready')
        end = time.monotonic() + 60
        while time.monotonic() < end:  # each goes on as its own child: a moving target
            if os.fork(): os._exit(0)
            leave(); time.sleep(0.02)
    """
    async with each_host.client() as client:
        ear = Ear(client)
        await client.start([each_host.program(1, each_host.script(source), grace_seconds=0)])
        await until(lambda: each_host.log(1).exists() and each_host.log(1).read_text().count("ready") == 64)
        await client.stop([1])
        assert (await ear.ended(1)).end is End.STOPPED
