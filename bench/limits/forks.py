"""A bare fork server: a warm interpreter forks for each script, and the child runs it. Nothing is recorded."""

import gc
import os
import signal
import socket
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from bench.peers import measures
from bench.peers.marks import MARKS_FILE, FileMarks

SCRIPT = """import time; now = time.time()
import os, struct
os.write(os.open(os.environ["BENCH_MARKS"], os.O_WRONLY | os.O_APPEND), struct.pack("d", now))
"""


def latency(given: Namespace) -> Mapping[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        script, marked = Path(folder) / "first_line.py", Path(folder) / "marks"
        script.write_text(SCRIPT)
        marks = FileMarks(marked)
        os.environ[MARKS_FILE] = str(marked)
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        server = os.fork()
        if not server:
            ours.close()
            _serve(theirs)
        theirs.close()
        figures = measures.one_at_a_time(given.count, lambda: ours.send(str(script).encode()), marks.nth)
        ours.close()
        os.waitpid(server, 0)
        return figures


def _serve(orders: socket.socket) -> None:
    gc.freeze()  # no page is copied for a collection
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how they ended
    while path := orders.recv(4096):
        if not os.fork():
            with open(path) as script:
                exec(compile(script.read(), path, "exec"), {"__name__": "__main__"})  # noqa: S102 -- it is what is measured
            os._exit(0)
    os._exit(0)


if __name__ == "__main__":
    measures.main({"latency": latency})
