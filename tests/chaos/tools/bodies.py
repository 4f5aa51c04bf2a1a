"""What the programs of scenarios do between their first and their last mark."""

from typing import Final

# Says every 20 ms that it lives, for so many seconds; a second attempt has little left to do.
LIVING: Final = """
until = time.monotonic() + ({seconds} if os.environ["WATERCLOCK_ATTEMPT"] == "0" else 0.1)
while time.monotonic() < until:
    mark("alive")
    time.sleep(0.02)
"""

# Its first attempt never ends: it ignores TERM, and so do a child in a session of its own, the orphan of that one,
# which never calls exec, and a program in a third session.
STUBBORN: Final = """
import signal, subprocess
if os.environ["WATERCLOCK_ATTEMPT"] == "0":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        os.fork()
        time.sleep(1000)
        os._exit(0)
    sleeper = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(1000)"
    subprocess.Popen([sys.executable, "-c", sleeper], start_new_session=True)
    mark("alive")
    time.sleep(1000)
"""
STUBBORN_PROCESSES: Final = 4


def living(seconds: float) -> str:
    return LIVING.format(seconds=seconds)
