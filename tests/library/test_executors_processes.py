"""The pool of processes: one call can be killed, a worker may die, and nobody outlives the program."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.library import executor_calls as calls
from tests.library.executor_calls import Told
from tests.runners.host import is_alive, wait_until
from waterclock.executors.base import Call, How
from waterclock.executors.errors import RemoteError, WorkerDied
from waterclock.executors.pool import ProcessPoolExecutor

TREE = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def shared() -> Iterator[Told]:
    """One worker that is started once; what kills it has it replaced."""
    executor = ProcessPoolExecutor(1)
    yield Told(executor)
    executor.shutdown()


@pytest.fixture
def make() -> Iterator[Callable[..., Told]]:
    made: list[Told] = []

    def one(max_workers: int = 1, **options: Any) -> Told:
        made.append(Told(ProcessPoolExecutor(max_workers, options)))
        return made[-1]

    yield one
    for told in made:
        told.executor.shutdown()


def is_dead(pid: int) -> bool:
    return not is_alive(pid)


def family_in(folder: Path, size: int = 4) -> list[int]:
    wait_until(lambda: len(list(folder.iterdir())) >= size, "the family")
    return [int(path.name) for path in folder.iterdir()]


def test_a_call_runs_in_another_process_which_is_kept(shared: Told) -> None:
    first, second = shared.run(calls.pid).value, shared.run(calls.pid).value
    assert first == second != os.getpid()
    assert shared.run(calls.add, 1, second=2).value == 3
    assert shared.run(calls.later, 5).value == 5


def test_a_worker_imports_nothing_of_the_scheduler(shared: Told) -> None:
    loaded = [name for name in shared.run(calls.loaded_modules).value if name.startswith("waterclock.")]
    ours = ("", ".base", ".calling", ".errors", ".worker")  # base: the test's own module asks for it
    assert loaded == [f"waterclock.executors{name}" for name in ours]


def test_the_function_is_found_by_its_import_path(shared: Told) -> None:
    """What could not be pickled at all: a lambda here, something else by that path there."""
    shared.submit(Call(1, lambda: 0, (20,), {"second": 3}, reference="tests.library.executor_calls:add"))
    assert shared.ended(1).value == 23
    shared.submit(Call(2, lambda: 0, reference="tests.library.executor_calls:Told.nobody"))
    assert isinstance(shared.ended(2).error, AttributeError)


def test_every_one_of_many_calls_ends_once(shared: Told) -> None:
    numbers = range(10_000, 11_000)
    shared.submit(*(Call(number, calls.add, (number,)) for number in numbers))
    assert set(shared.all_ended(*numbers)) == {How.RETURNED}
    assert [shared.done[number].value for number in numbers] == list(numbers)


def test_a_value_may_be_large(shared: Told) -> None:
    large = bytes(10_000_000)
    assert len(shared.run(bytes.replace, large, b"\0", b"ab").value) == 20_000_000


def test_an_error_comes_over_with_its_traceback_which_begins_at_the_call(shared: Told) -> None:
    done = shared.run(calls.fail, "no such luck")
    assert (done.how, type(done.error), str(done.error)) == (How.RAISED, ValueError, "no such luck")
    assert "in fail" in done.traceback.splitlines()[1]
    assert done.traceback.endswith("ValueError: no such luck\n")
    assert isinstance(shared.run(calls.exit_politely).error, SystemExit)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (calls.unpicklable, "the call returned a _thread.lock, which cannot be sent from the worker process"),
        (calls.fail_stubbornly, "this and that (a tests.library.executor_calls.Stubborn cannot be sent"),
        (calls.made_elsewhere, "cannot be unpickled in this process: not in this process"),
        (lambda: 1, "the call cannot be sent to a worker process: Can't pickle"),
    ],
)
def test_what_cannot_be_pickled_is_an_error_that_says_so(shared: Told, function: Any, text: str) -> None:
    done = shared.run(function)
    assert done.how == How.RAISED
    assert isinstance(done.error, RemoteError)
    assert text in str(done.error)
    assert shared.run(calls.add, 1).value == 1


@pytest.mark.parametrize(
    ("function", "argument", "text"),
    [
        (calls.leave, (3,), "the worker process ended with exit code 3 in the middle of the call"),
        (calls.kill_self, (signal.SIGSEGV,), "the worker process was killed by SIGSEGV in the middle of the call"),
        (calls.close_everything, (), "the worker process was killed by SIGKILL in the middle of the call"),
    ],
)
def test_a_worker_that_dies_takes_one_call_with_it(shared: Told, function: Any, argument: Any, text: str) -> None:
    done = shared.run(function, *argument)
    assert (done.how, type(done.error), str(done.error)) == (How.DIED, WorkerDied, text)
    assert shared.run(calls.add, 1).value == 1


def test_a_call_that_a_dying_worker_did_not_begin_is_begun_by_another(shared: Told) -> None:
    backlog = shared.executor._pool._backlog  # type: ignore[attr-defined]
    idle = shared.run(calls.pid).value
    os.kill(idle, signal.SIGSTOP)
    shared.submit(Call(2_000_000, calls.pid))
    wait_until(lambda: len(backlog) == 0, "the call to be sent")
    os.kill(idle, signal.SIGKILL)
    done = shared.ended(2_000_000)
    assert done.how == How.RETURNED
    assert done.value != idle


def test_whoever_is_told_may_fail(shared: Told, caplog: pytest.LogCaptureFixture) -> None:
    def deaf(_: object) -> None:
        raise OSError("not now")

    shared.executor.submit([Call(1_000_000, calls.pid)], deaf, deaf)
    assert shared.run(calls.add, 1).value == 1
    assert [str(record.exc_info[1]) for record in caplog.records if record.exc_info] == ["not now"] * 2


def test_stopping_a_call_kills_it_and_all_that_it_started_and_no_other(
    make: Callable[..., Told], tmp_path: Path
) -> None:
    told = make(2)
    told.submit(Call(1, calls.start_family, (str(tmp_path),)), Call(2, time.sleep, (600,)), Call(3, calls.pid))
    told.has_begun(2)
    family = family_in(tmp_path)
    assert all(is_alive(pid) for pid in family)
    assert told.executor.stop(1) is True
    assert told.ended(1).how == How.KILLED
    assert [pid for pid in family if is_alive(pid)] == []
    assert told.ended(3).how == How.RETURNED  # a new worker took the place
    assert 2 not in told.done
    assert told.executor.stop(2) is True
    assert told.ended(2).how == How.KILLED
    assert told.executor.stop(2) is False


def test_stopping_a_call_that_waits_means_that_it_never_begins(make: Callable[..., Told]) -> None:
    told = make(1).submit(Call(1, time.sleep, (600,)), Call(2, calls.pid))
    told.has_begun(1)
    assert told.executor.stop(2) is True
    assert told.ended(2).how == How.KILLED
    assert told.begun == [1]
    told.executor.stop(1)


def test_what_was_handed_to_a_worker_cannot_be_withdrawn(make: Callable[..., Told]) -> None:
    told = make(1).submit(Call(1, time.sleep, (600,)), Call(2, calls.pid))
    told.has_begun(1)
    assert [told.executor.withdraw(number) for number in (1, 2)] == [False, True]
    assert told.ended(2).how == How.KILLED
    told.executor.stop(1)
    assert told.ended(1).how == How.KILLED


def test_shutting_down_waits_and_leaves_no_process(make: Callable[..., Told]) -> None:
    told = make(2).submit(*(Call(number, calls.pid) for number in range(20)))
    told.executor.shutdown()
    assert set(told.all_ended(*range(20))) == {How.RETURNED}
    assert all(is_dead(done.value) for done in told.done.values())
    with pytest.raises(RuntimeError, match="shut down"):
        told.submit(Call(99, calls.pid))


def test_shutting_down_without_waiting_drops_what_waits_and_lets_the_others_finish(
    make: Callable[..., Told], tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    told = make(1).submit(Call(1, Path.read_text, (fifo,)), Call(2, calls.pid))
    told.has_begun(1)
    told.executor.shutdown(wait=False)
    assert {number: done.how for number, done in told.done.items()} == {2: How.KILLED}
    fifo.write_text("to its end")
    assert told.ended(1).value == "to its end"


def test_a_worker_makes_so_many_calls_and_is_replaced(make: Callable[..., Told]) -> None:
    told = make(1, max_tasks_per_child=2)
    told.submit(*(Call(number, calls.pid) for number in range(4)))
    told.all_ended(*range(4))
    first, second, third, fourth = (told.done[number].value for number in range(4))
    assert first == second != third == fourth


@pytest.mark.parametrize("context", ["fork", "forkserver"])
def test_another_context_will_do(make: Callable[..., Told], context: str) -> None:
    told = make(1, mp_context=context, initializer=calls.initialize, initargs=("set", 1))
    assert told.run(calls.show_initialized).value == ["set", 1]
    assert str(told.run(calls.leave, 3).error).startswith("the worker process ended with exit code 3")
    told.submit(Call(1, time.sleep, (600,)))
    told.has_begun(1)
    assert told.executor.stop(1) is True
    assert told.ended(1).how == How.KILLED


def test_an_initializer_that_fails_fails_one_call_and_the_next_gets_a_new_worker(
    make: Callable[..., Told], tmp_path: Path
) -> None:
    told = make(1, initializer=calls.refuse_first, initargs=(f"{tmp_path}/made",))
    told.submit(Call(1, calls.add, (1,)), Call(2, calls.add, (2,)))
    assert told.all_ended(1, 2) == [How.RAISED, How.RETURNED]
    assert isinstance(told.done[1].error, OSError)
    assert "initializer" in told.done[1].traceback


@pytest.mark.parametrize(
    ("initializer", "how", "text"),
    [
        (lambda: None, How.RAISED, "Can't pickle"),
        (calls.leave, How.DIED, "the worker process ended with exit code 4 before its first call"),
    ],
)
def test_workers_that_cannot_start_fail_every_call_and_hang_none(
    make: Callable[..., Told], initializer: Any, how: How, text: str
) -> None:
    told = make(2, initializer=initializer, initargs=(4,))
    told.submit(Call(1, calls.add, (1,)), Call(2, calls.add, (2,)))
    assert told.all_ended(1, 2) == [how, how]
    assert text in str(told.done[1].error)


SCRIPT = """
    import os, sys, threading, time
    from waterclock.executors.base import Call
    from waterclock.executors.pool import ProcessPoolExecutor
    from tests.library.executor_calls import start_family

    def double(number):
        return 2 * number

    def note(done):
        print(done.value if done.error is None else repr(done.error), flush=True)

    if __name__ == "__main__":
        executor = ProcessPoolExecutor(2)
"""


def script(folder: Path, *lines: str) -> list[str]:
    path = folder / "script.py"
    path.write_text(textwrap.dedent(SCRIPT) + "".join(f"    {line}\n" for line in lines))
    return [sys.executable, str(path)]


def environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": f"{TREE / 'src'}:{TREE}"}


def test_a_function_of_the_script_itself_is_callable_and_the_end_of_the_script_waits_for_it(tmp_path: Path) -> None:
    command = script(
        tmp_path,
        "executor.submit([Call(1, double, (21,)), Call(2, print, (4,), {}, '__main__:double')], str, note)",
    )
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30, check=True)
    assert sorted(ended.stdout.split()) == ["42", "8"]
    assert ended.stderr == ""


def test_a_process_of_multiprocessing_ends_though_nobody_shut_its_executor_down(tmp_path: Path) -> None:
    """It waits for its children before it does anything else."""
    command = script(tmp_path, "multiprocessing.get_context('spawn').Process(target=inner).start()")
    inner = """
        import multiprocessing

        def inner():
            global executor
            executor, ended = ProcessPoolExecutor(1), threading.Event()
            executor.submit([Call(1, double, (21,))], str, lambda done: (note(done), ended.set()))
            ended.wait(20)
    """
    path = Path(command[1])
    path.write_text(textwrap.dedent(inner) + path.read_text())
    ended = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=30, check=True)
    assert (ended.stdout, ended.stderr) == ("42\n", "")


def test_nobody_outlives_a_program_that_is_killed(tmp_path: Path) -> None:
    """The worker in the middle of a call, its children, and one that is idle."""
    folder = tmp_path / "family"
    folder.mkdir()
    command = script(
        tmp_path,
        "executor.submit([Call(1, os.getpid), Call(2, start_family, (sys.argv[1],))], str, note)",
        "time.sleep(600)",
    )
    with subprocess.Popen([*command, str(folder)], env=environment(), stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        idle = int(program.stdout.readline())
        family = family_in(folder)
        program.kill()
        try:
            wait_until(lambda: all(map(is_dead, [idle, *family])), "their end")
        finally:
            for pid in filter(is_alive, family):
                os.kill(pid, signal.SIGKILL)
