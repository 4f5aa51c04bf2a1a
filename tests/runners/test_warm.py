"""To a script, the warm interpreter is the interpreter: what `python script` does, a warm run does."""

import subprocess
import sys
import zipapp
from pathlib import Path

import pytest

from tests.runners.host import Ear, Host, run, until
from waterclock.runners.client import SupervisorClient

SCRIPTS = {
    "an exception": "def f():\n    raise ValueError('bad')\nprint('before')\nf()\n",
    "a syntax error": "print('never')\nx = = 1\n",
    "an exit code": "import sys; sys.exit(300)",
    "an exit message": "import sys; sys.exit('sorry')",
    "exit without a code": "raise SystemExit",
    "an interrupt": "raise KeyboardInterrupt",
    "an exit function": "import atexit; atexit.register(print, 'bye'); print('hi')",
    "a thread that outlives the script": """
import threading, time
def late():
    event.wait(5); print('late', __name__)
event = threading.Event(); threading.Thread(target=late).start(); threading.Timer(0.05, event.set).start()
""",
    "a file that nobody closes": """
def write():
    kept.write('data')
kept = open('left-open.txt', 'w'); write()
import atexit; atexit.register(print, 'done')
""",
    "a destructor": """
class Noisy:
    def __del__(self): print('gone', helper())
def helper(): return 42
noisy = Noisy()
""",
    "a module beside it": "import beside; print(beside.VALUE, beside.__name__)",
    "its own name": """
import sys
print(__name__, __file__, sys.argv, __spec__, sys.modules['__main__'].__dict__ is globals())
""",
    "the path": "import sys, os; print(sys.path[0] == os.path.dirname(__file__), sys.executable)",
    "pickling": "import pickle\nclass Thing: pass\nprint(type(pickle.loads(pickle.dumps(Thing()))).__module__)",
    "a hook of its own": "import sys\nsys.excepthook = lambda kind, error, trace: print('hook', kind.__name__)\n1/0\n",
    "standard input": "import sys; print(repr(sys.stdin.read()))",
    "a zone": "import time; print(time.tzname)",
    "what it finds": """
import gc, os, sys
os.environ.pop('WATERCLOCK_RUN_ID', None)
print(sorted(os.environ), sys.argv, sys.orig_argv[1:], sys.path[1:], gc.isenabled(), sys.stdout.write_through)
sys.stdout.flush()
os.system('env -u _ -u PWD -u SHLVL -u OLDPWD | sort')
""",
    "annotations": "x: int = 1\nprint(__annotations__)",
    "a handler that keeps what is logged until the end": """
import logging, logging.handlers, sys
logging.getLogger().addHandler(logging.handlers.MemoryHandler(100, target=logging.StreamHandler(sys.stdout)))
logging.warning('late')
""",
    "a pool that nobody shuts down": """
from concurrent.futures import ThreadPoolExecutor
pool = ThreadPoolExecutor(1); pool.submit(lambda: print('in the pool'))
""",
    "the main thread": "import threading; print(threading.active_count(), threading.current_thread().name)",
    "processes that are spawned": """
import multiprocessing
def double(x): return 2 * x
if __name__ == '__main__':
    with multiprocessing.get_context('spawn').Pool(1) as pool: print(pool.map(double, [1, 2]))
""",
    "processes that are forked": """
import multiprocessing
if __name__ == '__main__':
    with multiprocessing.get_context('fork').Pool(2) as pool: print(sorted(pool.map(abs, [-1, -2])))
""",
}


ENVIRONMENT = {"TZ": "Asia/Ho_Chi_Minh", "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}


def fresh(script: str) -> tuple[int, bytes]:
    """What the interpreter itself makes of it."""
    done = subprocess.run(
        [sys.executable, script, "-x"],
        cwd=Path(script).parent,
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


async def test_every_script_behaves_as_in_a_fresh_interpreter(host: Host, client: SupervisorClient) -> None:
    """One supervisor for all of them: a start of it costs more than the scripts."""
    (host.folder / "beside.py").write_text("VALUE = 5\n")
    ear = Ear(client)
    differences = {}
    for number, (what, source) in enumerate(SCRIPTS.items(), start=1):
        script = host.script(source)
        expected = fresh(script)
        (host.folder / "left-open.txt").unlink(missing_ok=True)
        await client.start([host.program(number, script, "-x", env=ENVIRONMENT)])
        ended = await ear.ended(number)
        code = -ended.signal if ended.signal else ended.exit_code
        if (code, host.log(number).read_bytes()) != expected:
            differences[what] = (code, host.log(number).read_text(), expected)
        if what == "a file that nobody closes":
            assert (host.folder / "left-open.txt").read_text() == "data"
    assert differences == {}


async def test_forks_do_not_share_their_random_numbers(host: Host, client: SupervisorClient) -> None:
    script = host.script("import random, uuid; print(random.random(), uuid.uuid4())")
    await run(client, host.program(1, script))
    await run(client, host.program(2, script))
    assert host.log(1).read_text() != host.log(2).read_text()


async def test_nothing_of_one_run_is_seen_by_the_next(host: Host, client: SupervisorClient) -> None:
    await run(
        client, host.program(1, host.script("import json, os; json.mark = 1; os.environ['MARK'] = '1'", "one.py"))
    )
    await run(
        client, host.program(2, host.script("import json, os; print(hasattr(json, 'mark'), 'MARK' in os.environ)"))
    )
    assert host.log(2).read_text() == "False False\n"


async def test_at_the_end_of_a_short_script_the_oldest_are_left_in_peace(host: Host, client: SupervisorClient) -> None:
    """To look at them copies their pages; a script that made much has some there of its own."""
    look = "import gc\ngc.callbacks.append(lambda phase, info: print(phase, info['generation']))\n"
    await run(client, host.program(1, host.script(look)))
    assert host.log(1).read_text() == "start 1\nstop 1\n"
    await run(client, host.program(2, host.script("kept = [[] for _ in range(20_000)]\n" + look)))
    assert host.log(2).read_text().endswith("start 2\nstop 2\n")


async def test_a_line_is_in_the_log_as_soon_as_it_is_printed(host: Host, client: SupervisorClient) -> None:
    await client.start([host.program(1, host.script("import time; print('now'); time.sleep(60)"))])
    await until(lambda: host.log(1).exists() and host.log(1).read_text() == "now\n", "the line")


@pytest.mark.parametrize("kind", ["folder", "zip", "setting"])
async def test_what_needs_a_fresh_interpreter_gets_one(host: Host, client: SupervisorClient, kind: str) -> None:
    folder = host.folder / "app"
    folder.mkdir()
    (folder / "__main__.py").write_text("import sys; print('main', sys.flags.dont_write_bytecode)")
    target, env = str(folder), {}
    if kind == "zip":
        target = str(host.folder / "app.pyz")
        zipapp.create_archive(folder, target)
    if kind == "setting":
        target, env = str(folder / "__main__.py"), {"PYTHONDONTWRITEBYTECODE": "1"}
    ended = await run(client, host.program(1, target, env=env))
    assert (ended.exit_code, host.log(1).read_text()) == (0, f"main {int(kind == 'setting')}\n")


async def test_pythonpath_is_understood(host: Host, client: SupervisorClient) -> None:
    library = host.folder / "library"
    library.mkdir()
    (library / "shared_thing.py").write_text("VALUE = 9")
    script = host.script("import shared_thing; print(shared_thing.VALUE)")
    await run(client, host.program(1, script, env={"PYTHONPATH": str(library)}))
    assert host.log(1).read_text() == "9\n"


async def test_a_script_behind_a_link_finds_what_lies_beside_the_real_one(host: Host, client: SupervisorClient) -> None:
    real = host.folder / "real"
    real.mkdir()
    (real / "beside_the_real_one.py").write_text("VALUE = 7")
    (real / "job.py").write_text("import beside_the_real_one, sys; print(beside_the_real_one.VALUE, sys.path[0])")
    (host.folder / "link.py").symlink_to(real / "job.py")
    await run(client, host.program(1, str(host.folder / "link.py")))
    assert host.log(1).read_text() == f"7 {real.resolve()}\n"
