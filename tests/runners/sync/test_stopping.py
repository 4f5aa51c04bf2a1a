"""How a sync is stopped, in a process of its own: at once where it can be, never while it puts rows in place."""

import os
import signal
import subprocess
import sys

import pytest

from tests.acceptance.server import until
from tests.chaos.process import state_of

PROGRAM = """
import sys, time
from waterclock.runners.sync.stopping import Stopping
stopping = Stopping()
stopping.clean_up = lambda: print("cleaned up", flush=True)
stopping.listen()
{body}
"""
WAITS = """
try:
    print("ready", flush=True)
    time.sleep(600)
finally:
    print("aborted", flush=True)
"""
COMMITS = """
with stopping.commits():
    print("ready", flush=True)
    sys.stdin.readline()
    print("in place", flush=True)
"""
# As a library may hang in C, where no handler of Python's is called: it waits for a lock that it has itself.
HANGS = """
import ctypes
libc, lock = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_mutex_lock(lock)
print("ready", flush=True)
libc.pthread_mutex_lock(lock)
"""


@pytest.mark.parametrize(
    ("body", "code", "said"), [(WAITS, 143, "aborted"), (HANGS, 143, "cleaned up"), (COMMITS, 0, "in place")]
)
def test_it_stops_when_it_may(body: str, code: int, said: str) -> None:
    program = [sys.executable, "-c", PROGRAM.format(body=body)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "ready\n"
        until(lambda: state_of(process.pid) == "S", "it does not wait for anything")
        os.kill(process.pid, signal.SIGTERM)
        rest, _ = process.communicate("go on\n", timeout=30)
    assert (process.returncode, rest.strip()) == (code, said)
