"""Output goes to the log, as it is, up to the cap; no amount of it hurts anybody."""

import asyncio
from pathlib import Path

from tests.runners.host import Ear, Host, run
from waterclock.runners.base import End
from waterclock.runners.capped_log import marker
from waterclock.runners.client import SupervisorClient

MEGABYTE = 1024 * 1024


def peak_kilobytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])


def family(root: int) -> list[int]:
    """The supervisor with its zygote and keepers, not their programs."""
    from waterclock.runners import proc

    names = {process.pid: Path(f"/proc/{process.pid}/comm").read_text().strip() for process in proc.descendants(root)}
    return [root, *(pid for pid, name in names.items() if name.startswith("wc-"))]


async def test_a_log_ends_at_its_cap_with_a_line_that_says_so(host: Host, client: SupervisorClient) -> None:
    script = host.script("for i in range(5000): print('line', i)")
    ended = await run(client, host.program(1, script, log_cap_bytes=10_000))
    log = host.log(1).read_bytes()
    assert (ended.end, ended.exit_code) == (End.EXITED, 0)
    assert len(log) == 10_000
    assert log.endswith(marker(10_000))
    assert log.startswith(b"line 0\nline 1\n")


async def test_a_log_below_its_cap_has_no_marker(host: Host, client: SupervisorClient) -> None:
    fits = 10_000 - len(marker(10_000))
    await run(client, host.program(1, host.script(f"print('x' * {fits - 1})"), log_cap_bytes=10_000))
    assert host.log(1).read_bytes() == b"x" * (fits - 1) + b"\n"


async def test_200_megabytes_and_a_line_of_50_cost_no_memory(host: Host, client: SupervisorClient) -> None:
    source = f"""
        import os
        line = b'y' * {MEGABYTE}
        for _ in range(50): os.write(1, line)
        os.write(1, b'\\n')
        for _ in range(150): os.write(1, line[:-1] + b'\\n')
    """
    ear = Ear(client)
    both = [host.program(1, host.script(source)), host.program(2, host.script(source), log_cap_bytes=1000 * MEGABYTE)]
    await client.start(both)
    for number in (1, 2):
        assert (await ear.ended(number)).exit_code == 0
    assert host.log(1).stat().st_size == 64 * MEGABYTE
    assert host.log(2).stat().st_size == 200 * MEGABYTE + 1
    assert all(peak_kilobytes(pid) < 60_000 for pid in family(host.supervisor()))
    for number in (1, 2):
        host.log(number).unlink()


async def test_bytes_that_are_no_text_are_kept_as_they_are(host: Host, client: SupervisorClient) -> None:
    await run(client, host.program(1, host.script("import os; os.write(1, bytes(range(256)) * 10)")))
    assert host.log(1).read_bytes() == bytes(range(256)) * 10


async def test_the_log_has_everything_once_the_end_is_told(host: Host, client: SupervisorClient) -> None:
    script = host.script("print('x' * 60000)")
    ear = Ear(client)
    await client.start([host.program(number, script) for number in range(1, 21)])
    for number in range(1, 21):
        await ear.ended(number)
        assert host.log(number).stat().st_size == 60001


async def test_a_flood_of_output_does_not_delay_a_stop(host: Host, client: SupervisorClient) -> None:
    ear = Ear(client)
    flood = host.program(1, "/bin/sh", "-c", "exec yes", warm=False, log_cap_bytes=MEGABYTE)
    await client.start([flood])
    await ear.begun(1)
    await client.stop([1])
    async with asyncio.timeout(10):
        assert (await ear.ended(1)).end is End.STOPPED


async def test_a_full_disk_under_the_log_does_not_hurt_the_program(host: Host, client: SupervisorClient) -> None:
    program = host.program(1, host.script("print('x' * 10**6); open('done', 'w')"), log_path="/dev/full")
    ended = await run(client, program)
    assert (ended.exit_code, ended.message) == (0, "its log is incomplete: No space left on device")
    assert (host.folder / "done").exists()
