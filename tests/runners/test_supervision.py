"""Whoever dies, no program outlives its lease, none starts twice, and every end is told until it is stored."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.runners.host import ROOT, Ear, Host, is_alive, run, until
from tests.runners.test_stopping import STUBBORN, started_pids
from waterclock import clock
from waterclock.runners import cgroup, proc
from waterclock.runners.base import Begun, End, Ended, Runner
from waterclock.runners.client import SupervisorClient

SLEEPER = "import time; print('ready'); time.sleep(600)"


def worker(host: Host, attempt_id: int, script: str, **more: object) -> "subprocess.Popen[bytes]":
    """Another process that starts a program and has seen it begin."""
    program = host.program(attempt_id, script)
    fields = ("attempt_id", "fence", "argv", "warm", "env", "cwd", "log_path", "lease_until", "grace_seconds")
    values = {name: getattr(program, name) for name in fields} | more
    env = {"PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HOST_MARK": host.mark}
    arguments = [str(host.state_dir), json.dumps(host.command()), json.dumps(values)]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.runners.worker_double", *arguments], cwd=ROOT, env=env, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"begun\n"
    return process


def as_runner(client: SupervisorClient) -> Runner:
    """The client is a Runner: the type checker's test."""
    return client


def kill(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.communicate()


async def test_a_killed_workers_program_lives_on_and_the_next_worker_adopts_it(host: Host) -> None:
    host.ttl_seconds = 10
    first = worker(host, 1, host.script(STUBBORN))
    pids = await started_pids(host.folder, 6)
    kill(first)
    async with host.client() as client:
        (held,) = await client.held()
        assert (held.attempt_id, held.pid in pids, is_alive(held.pid)) == (1, True, True)
        ear = Ear(client)
        await client.stop([1])
        assert (await ear.ended(1)).end is End.STOPPED
        assert not any(isinstance(event, Begun) for event in ear.heard), "it began only once"
    assert [pid for pid in pids if is_alive(pid)] == []


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGSTOP])
async def test_without_a_worker_a_program_dies_with_its_lease(each_host: Host, sign: signal.Signals) -> None:
    """A worker that is stopped and one that is dead are the same to its runs."""
    host = each_host
    host.ttl_seconds = 1.5
    gone = worker(host, 1, host.script(STUBBORN))
    pids = await started_pids(host.folder, 6)
    gone.send_signal(sign)
    await until(lambda: not any(is_alive(pid) for pid in pids), "the program to die")
    host.ttl_seconds = 30
    async with host.client() as client:
        assert (await Ear(client).ended(1)).end is End.LEASE_LOST
    kill(gone)


async def test_a_lease_that_is_renewed_keeps_a_program_alive(host: Host) -> None:
    host.ttl_seconds = 1.5
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(SLEEPER))])
        begun = await ear.begun(1)
        await until(lambda: len(host.renewals()) >= 4, "more than one lease's worth of renewals")
        assert is_alive(begun.pid)
        assert host.renewals()[-1] == ["grant", [[1, 1]]]


@pytest.mark.parametrize("mode", ["hang", "fail"])
async def test_a_store_that_does_not_answer_costs_the_program_its_life_at_the_leases_end(host: Host, mode: str) -> None:
    host.ttl_seconds = 1.2
    host.leases(mode)
    async with host.client() as client:
        ended = await run(client, host.program(1, host.script(STUBBORN), grace_seconds=60))
        pids = await started_pids(host.folder, 6)
        assert (ended.end, ended.signal) == (End.LEASE_LOST, signal.SIGKILL)
        assert [pid for pid in pids if is_alive(pid)] == []
    assert host.renewals()[-1][0] == mode


async def test_a_short_outage_of_the_store_kills_nothing(host: Host) -> None:
    host.ttl_seconds = 2.0
    host.leases("hang")
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(SLEEPER))])
        begun = await ear.begun(1)
        await until(host.renewals, "the first question")
        host.leases("grant")
        await until(lambda: sum(mode == "grant" for mode, _ in host.renewals()) >= 3, "renewals")
        assert is_alive(begun.pid)


async def test_what_the_store_says_is_no_longer_ours_dies_at_once(host: Host) -> None:
    host.ttl_seconds = 1.5
    host.leases(refused=[1])
    async with host.client() as client:
        ear = Ear(client)
        soon = clock.monotonic() + 1.2
        await client.start([host.program(n, host.script(SLEEPER), lease_until=soon, grace_seconds=60) for n in (1, 2)])
        two = await ear.begun(2)
        assert (await ear.ended(1)).end is End.LEASE_LOST
        assert is_alive(two.pid)


async def test_a_program_whose_lease_is_over_never_starts(host: Host, client: SupervisorClient) -> None:
    ended = await run(client, host.program(1, host.script("print('ran')"), lease_until=clock.monotonic()))
    assert ended.end is End.LEASE_LOST
    assert not host.log(1).exists()


async def test_when_the_supervisor_is_killed_all_dies_and_the_next_one_says_lost_once(each_host: Host) -> None:
    host = each_host
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(STUBBORN)), host.program(2, host.script("pass", "quick.py"))])
        pids = await started_pids(host.folder, 6)
        await ear.ended(2)
        await client.forget([2])
        host.kill_supervisor()
        lost = await ear.ended(1)  # the client finds or starts the next supervisor by itself
        assert lost.end is End.LOST
        assert [pid for pid in pids if is_alive(pid)] == []
        await client.forget([1])
        assert await client.held() == []
    assert [type(event).__name__ for event in ear.heard if event.attempt_id == 1] == ["Begun", "Ended"]


async def test_when_supervisor_and_keeper_die_together_the_next_supervisor_sweeps(each_host: Host) -> None:
    """The last net: nobody is left who knows the tree, but its journal, its groups and the tokens."""
    host = each_host
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(STUBBORN))])
        pids = await started_pids(host.folder, 6)
        (keeper,) = keepers_of((await ear.begun(1)).pid)
        supervisor = host.supervisor()
        os.kill(supervisor, signal.SIGSTOP)
        os.kill(keeper, signal.SIGKILL)
        os.kill(supervisor, signal.SIGKILL)
        assert (await ear.ended(1)).end is End.LOST
        assert [pid for pid in pids if is_alive(pid)] == []


def keepers_of(pid: int) -> list[int]:
    with open(f"/proc/{pid}/status") as status:
        return [int(line.split()[1]) for line in status if line.startswith("PPid")]


async def test_when_a_keeper_is_killed_its_program_dies_and_its_neighbour_lives(each_host: Host) -> None:
    host = each_host
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(STUBBORN)), host.program(2, host.script(SLEEPER, "calm.py"))])
        pids = await started_pids(host.folder, 6)
        first, second = await ear.begun(1), await ear.begun(2)
        (keeper,) = keepers_of(first.pid)
        os.kill(keeper, signal.SIGKILL)
        ended = await ear.ended(1)
        assert (ended.end, ended.message) == (End.LOST, "its keeper was killed; how the program ended is unknown")
        assert [pid for pid in pids if is_alive(pid)] == []
        assert is_alive(second.pid)


async def test_a_keeper_that_is_stopped_does_not_save_its_program_from_its_lease(host: Host) -> None:
    host.ttl_seconds = 1.0
    host.leases("hang")
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(SLEEPER))])
        begun = await ear.begun(1)
        (keeper,) = keepers_of(begun.pid)
        os.kill(keeper, signal.SIGSTOP)
        assert (await ear.ended(1)).end is End.LEASE_LOST
        assert not is_alive(begun.pid)


async def test_a_supervisor_that_hangs_is_silent_until_it_goes_on(host: Host) -> None:
    """A worker takes nothing for it meanwhile: it would only lose it."""
    host.ttl_seconds = 0.6
    async with host.client() as client:
        assert not client.is_silent()
        supervisor = host.supervisor()
        os.kill(supervisor, signal.SIGSTOP)
        await until(client.is_silent, "the client to notice")
        os.kill(supervisor, signal.SIGCONT)
        await until(lambda: not client.is_silent(), "the supervisor to answer again")


async def test_a_stopped_supervisor_does_not_save_a_program_from_its_lease(host: Host) -> None:
    host.ttl_seconds = 1.5
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(SLEEPER))])
        begun = await ear.begun(1)
        supervisor = host.supervisor()
        os.kill(supervisor, signal.SIGSTOP)
        await until(lambda: not is_alive(begun.pid), "the keeper to act alone")
        os.kill(supervisor, signal.SIGCONT)
        assert (await ear.ended(1)).end is End.LEASE_LOST


async def test_a_killed_zygote_is_replaced_and_nothing_else_notices(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    await client.start([host.program(1, host.script(SLEEPER))])
    begun = await ear.begun(1)
    (keeper,) = keepers_of(begun.pid)
    (zygote,) = keepers_of(keeper)
    quick = host.script("print('quick')", "quick.py")
    await client.start([host.program(number, quick) for number in range(2, 30)])
    os.kill(zygote, signal.SIGKILL)
    await client.start([host.program(number, quick) for number in range(30, 60)])
    ends = [await ear.ended(number) for number in range(2, 60)]
    assert {ended.end for ended in ends} == {End.EXITED}
    assert is_alive(begun.pid)
    await until(lambda: keepers_of(keeper) == [host.supervisor()], "the keeper to pass to the supervisor")


async def test_an_attempt_that_is_started_twice_runs_once(host: Host, client: SupervisorClient) -> None:
    script = host.script("open('ran', 'a').write('x')")
    ear = Ear(client)
    program = host.program(1, script)
    await asyncio.gather(client.start([program, program]), client.start([program]))
    await ear.ended(1)
    await client.start([program])
    other = host.program(1, script, fence=2)
    await client.start([other])
    refused = await refusal(ear)
    assert "already given to this host, under fence 1" in (refused.message or "")
    assert (host.folder / "ran").read_text() == "x"


async def refusal(ear: Ear) -> Ended:
    while True:
        for event in ear.heard:
            if isinstance(event, Ended) and event.fence == 2:
                return event
        ear.heard += await anext(ear._batches)


async def test_an_attempt_that_was_started_is_not_started_by_the_next_supervisor_either(host: Host) -> None:
    script = host.script("open('ran', 'a').write('x')")
    async with host.client() as client:
        await run(client, host.program(1, script))
        host.kill_supervisor()
        ended = await run(client, host.program(1, script))
        assert ended.end is End.EXITED
    assert (host.folder / "ran").read_text() == "x"


async def test_killing_the_supervisor_again_and_again_starts_nothing_twice(host: Host) -> None:
    """Kills at odd moments, some while a start is on its way: each attempt ends once and ran at most once."""
    script = host.script("import os, sys; os.write(os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND), b'x')")
    numbers = list(range(1, 61))
    async with host.client() as client:
        ear = Ear(client)
        for first in range(1, 61, 15):
            batch = [host.program(n, script, f"ran-{n}") for n in range(first, first + 15)]
            starting = asyncio.create_task(client.start(batch))
            await asyncio.sleep(0)
            for pid in await until(host.supervisors, "a supervisor"):
                os.kill(pid, signal.SIGKILL)
            await starting
        ends = {number: await ear.ended(number) for number in numbers}
    runs = {n: len((host.folder / f"ran-{n}").read_text()) for n in numbers if (host.folder / f"ran-{n}").exists()}
    assert set(runs.values()) <= {1}
    assert {number for number, ended in ends.items() if ended.end is End.EXITED} <= set(runs)
    assert {ended.end for ended in ends.values()} <= {End.EXITED, End.LOST}


async def test_a_supervisor_that_leaves_leaves_nothing(each_host: Host) -> None:
    async with each_host.client() as client:
        await run(client, each_host.program(1, each_host.script("pass")))
        family = proc.descendants(each_host.supervisor())
        await client.forget([1])
    await until(lambda: not each_host.supervisors(), "the supervisor to leave")
    await until(lambda: not any(proc.is_alive(process) for process in family), "its keepers to leave")
    assert cgroup_folders(each_host) == []
    assert not (each_host.state_dir / "supervisor.sock").exists()


def cgroup_folders(host: Host) -> list[str]:
    root = cgroup.make_root(host.state_dir)
    if root is None:
        return []
    left = [str(member.path) for member in root.members()]
    root.remove()
    return left


async def test_an_end_is_told_until_it_is_forgotten(host: Host) -> None:
    async with host.client() as client:
        first = await run(client, host.program(1, host.script("import sys; sys.exit(4)")))
    await until(lambda: not host.supervisors(), "the supervisor to leave, having nothing to do")
    async with host.client() as client:
        assert await Ear(client).ended(1) == first
        assert [begun.attempt_id for begun in await client.held()] == [1]
        await client.forget([1])
        assert await client.held() == []
    await until(lambda: not host.supervisors(), "the supervisor to leave")
    async with host.client() as client:
        assert await client.held() == []


async def test_an_end_that_nobody_forgets_is_told_again_on_the_same_connection(host: Host) -> None:
    host.ttl_seconds = 0.9
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script("pass"))])
        first = await ear.ended(1)
        ear.heard.clear()
        assert await ear.ended(1) == first


async def test_what_lives_cannot_be_forgotten(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    await client.start([host.program(1, host.script(SLEEPER))])
    await ear.begun(1)
    await client.forget([1])
    assert [begun.attempt_id for begun in await client.held()] == [1]


def sleep(env: dict[str, str]) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(["/bin/sleep", "600"], env=env)


async def test_a_bystander_with_a_stored_number_lives(host: Host) -> None:
    """The journal names a keeper and a program whose numbers now belong to somebody else."""
    bystander = sleep({})
    try:
        now = proc.identify(bystander.pid)
        assert now is not None
        earlier = now.started_at - 1
        lines = [
            {"boot": proc.boot_id()},
            {"start": [1, 1, [f"WATERCLOCK_RUN_ID={host.mark}-1"]]},
            {"keeper": [1, bystander.pid, earlier]},
            {"begun": {"attempt_id": 1, "fence": 1, "pid": bystander.pid, "pid_started_at": earlier}},
        ]
        (host.state_dir / "journal").write_text("".join(json.dumps(line) + "\n" for line in lines))
        async with host.client() as client:
            assert (await Ear(client).ended(1)).end is End.LOST
        assert is_alive(bystander.pid)
    finally:
        bystander.kill()
        bystander.wait()


async def test_after_a_reboot_nothing_is_hunted(host: Host) -> None:
    token = f"WATERCLOCK_RUN_ID={host.mark}-1"
    stranger = sleep({"WATERCLOCK_RUN_ID": f"{host.mark}-1"})
    try:
        lines = [{"boot": "another"}, {"start": [1, 1, [token]]}]
        (host.state_dir / "journal").write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"torn":')
        async with host.client() as client:
            assert (await Ear(client).ended(1)).end is End.LOST
        assert is_alive(stranger.pid)
    finally:
        stranger.kill()
        stranger.wait()


async def test_a_second_supervisor_leaves_at_once(host: Host, client: SupervisorClient) -> None:
    before = host.supervisor()
    host.spawn()
    await until(lambda: host.supervisors() == [before], "the second to leave")
    assert (await run(client, host.program(1, host.script("pass")))).exit_code == 0


async def test_a_supervisor_that_is_told_to_go_ends_what_it_holds_first(host: Host) -> None:
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(STUBBORN))])
        pids = await started_pids(host.folder, 6)
        os.kill(host.supervisor(), signal.SIGTERM)
        assert (await ear.ended(1)).end is End.LOST
        assert [pid for pid in pids if is_alive(pid)] == []


async def test_a_term_to_everybody_does_not_take_keepers_before_their_programs(host: Host) -> None:
    """What a service manager does to a whole group: the supervisor goes last, and every program gets its grace."""
    source = "import signal, sys, time; signal.signal(15, lambda *_: (time.sleep(0.3), sys.exit(6))); " + SLEEPER
    async with host.client() as client:
        ear = Ear(client)
        await client.start([host.program(1, host.script(source), grace_seconds=60)])
        await until(lambda: host.log(1).exists() and "ready" in host.log(1).read_text())
        supervisor = host.supervisor()
        for process in (*proc.descendants(supervisor), proc.Process(supervisor, 0)):
            os.kill(process.pid, signal.SIGTERM)
        assert (await ear.ended(1)).exit_code == 6


async def test_a_state_directory_with_a_long_name_works(tmp_path: Path) -> None:
    folder = tmp_path / ("a-long-name-" * 12) / "and-another-one"
    folder.mkdir(parents=True)
    host = Host(folder)
    try:
        async with host.client() as client:
            assert (await run(client, host.program(1, host.script("pass")))).exit_code == 0
        assert (host.state_dir / "supervisor.sock").stat().st_mode & 0o777 == 0o600
    finally:
        host.close()
