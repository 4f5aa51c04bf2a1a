"""The processes in reserve: none is ever taken for a part of a program, and none that died for one that waits."""

import os
import signal
from pathlib import Path

from tests.runners.host import Ear, Host, is_alive, run, until
from waterclock.runners import proc
from waterclock.runners.base import End, Limits
from waterclock.runners.client import SupervisorClient

HELD = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('gone on')"
LEAVING = """
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        open('new', 'w').write(str(os.getpid())); os.rename('new', 'left'); time.sleep(600)
    os._exit(0)
while not os.path.exists('left'): time.sleep(0.01)
"""


def parent(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in status if line.startswith("PPid"))


def name_of(pid: int) -> str:
    return Path(f"/proc/{pid}/comm").read_text().strip()


def spares_of(keeper: int) -> list[int]:
    return [pid for pid in proc.children(keeper) if name_of(pid) == "wc-spare"]


async def keeper_with_spares(host: Host, client: SupervisorClient, ear: Ear) -> tuple[int, list[int]]:
    """A keeper that has served enough to have some ahead, its program 100 under way."""
    script = host.script("print('short')", "short.py")
    for number in range(1, 9):
        await client.start([host.program(number, script)])
        await ear.ended(number)
        await client.start([host.program(100 + number, host.script(HELD))])
        begun = await ear.begun(100 + number)
        keeper = parent(begun.pid)
        if spares := spares_of(keeper):
            return keeper, spares
        (host.folder / "go").touch()
        await ear.ended(100 + number)
        (host.folder / "go").unlink()
    raise AssertionError("no keeper forks ahead")


async def test_spares_outlive_the_program_beside_them(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    _, spares = await keeper_with_spares(host, client, ear)
    (host.folder / "go").touch()
    number = max(event.attempt_id for event in ear.heard)
    assert (await ear.ended(number)).exit_code == 0
    assert [pid for pid in spares if not is_alive(pid)] == []


async def test_a_stop_does_not_reach_the_spares(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    _, spares = await keeper_with_spares(host, client, ear)
    number = max(event.attempt_id for event in ear.heard)
    await client.stop([number])
    assert (await ear.ended(number)).end is End.STOPPED
    assert [pid for pid in spares if not is_alive(pid)] == []


async def test_spares_that_were_killed_are_missed_by_nobody(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    _, spares = await keeper_with_spares(host, client, ear)
    for pid in spares:
        os.kill(pid, signal.SIGKILL)
    (host.folder / "go").touch()
    number = max(event.attempt_id for event in ear.heard)
    assert (await ear.ended(number)).exit_code == 0
    for number in range(200, 206):
        assert (await run(client, host.program(number, host.script("print('still here')")))).exit_code == 0
        assert host.log(number).read_text() == "still here\n"


async def test_what_a_program_leaves_is_told_from_the_spares_beside_it(host: Host, client: SupervisorClient) -> None:
    """Again and again, so that there are some in whatever number."""
    ear = Ear(client)
    script = host.script(LEAVING)
    for number in range(1, 8):
        (host.folder / "left").unlink(missing_ok=True)
        await client.start([host.program(number, script)])
        assert (await ear.ended(number)).exit_code == 0
        assert not is_alive(int((host.folder / "left").read_text()))


async def test_spares_do_not_count_as_processes_of_a_program(host: Host, client: SupervisorClient) -> None:
    source = "import subprocess; subprocess.run(['sleep', '0.3'], check=True)"
    script = host.script(source)
    for number in range(1, 6):
        ended = await run(client, host.program(number, script, limits=Limits(processes=2)))
        assert (ended.exit_code, ended.message) == (0, None)


async def test_a_spare_that_waits_is_called_so(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    keeper, _ = await keeper_with_spares(host, client, ear)
    assert name_of(keeper) == "wc-keeper"


async def test_a_keeper_that_is_used_much_forks_more_ahead_but_not_without_end(
    host: Host, client: SupervisorClient
) -> None:
    """From its eighth program on a keeper has eight, of which one has become the program."""
    ear = Ear(client)
    seen = 0
    for number in range(1, 61):
        await client.start([host.program(number, host.script(HELD))])
        seen = max(seen, len(spares_of(parent((await ear.begun(number)).pid))))
        (host.folder / "go").touch()
        await ear.ended(number)
        (host.folder / "go").unlink()
    assert seen == 7


async def test_each_of_several_forked_at_once_is_told_by_its_own_beginning(
    host: Host, client: SupervisorClient
) -> None:
    """A number and the tick in which it was forked: what tells it from whoever has the number later."""
    ear = Ear(client)
    for number in range(1, 17):
        await client.start([host.program(number, host.script(HELD))])
        begun = await ear.begun(number)
        assert proc.identify(begun.pid) == proc.Process(begun.pid, begun.pid_started_at)
        (host.folder / "go").touch()
        await ear.ended(number)
        (host.folder / "go").unlink()


async def test_no_spare_holds_what_another_one_reads_or_writes(host: Host, client: SupervisorClient) -> None:
    _, spares = await keeper_with_spares(host, client, Ear(client))
    await until(lambda: all(set(os.listdir(f"/proc/{pid}/fd")) == {"0", "1", "2", "3", "4"} for pid in spares))
    ends = [os.readlink(f"/proc/{pid}/fd/{number}") for pid in spares for number in (1, 3, 4)]
    assert len(set(ends)) == len(ends)
