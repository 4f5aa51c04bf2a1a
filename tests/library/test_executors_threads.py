"""The pool of threads, and the debug executor, which is one thread of the same kind."""

import asyncio
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from tests.library.executor_calls import Told, add, exit_politely, fail, later, refuse_first
from waterclock.executors.base import Call, How
from waterclock.executors.debug import DebugExecutor
from waterclock.executors.pool import ThreadPoolExecutor


@pytest.fixture
def told() -> Iterator[Told]:
    executor = ThreadPoolExecutor(2)
    yield Told(executor)
    executor.shutdown()


class Gate:
    """A call that says that it is there and waits until it may go."""

    def __init__(self) -> None:
        self.entered, self.open = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.entered.set()
        assert self.open.wait(20)
        return threading.current_thread().name


def test_a_call_gets_its_arguments_and_gives_its_value(told: Told) -> None:
    done = told.submit(Call(7, add, (1,), {"second": 2})).ended(7)
    assert (done.number, done.how, done.value, done.error, done.traceback) == (7, How.RETURNED, 3, None, "")
    assert told.begun == [7]


def test_every_one_of_many_calls_ends_once(told: Told) -> None:
    numbers = range(5_000)
    for start in numbers[::1000]:
        told.submit(*(Call(number, add, (number,)) for number in numbers[start : start + 1000]))
    assert set(told.all_ended(*numbers)) == {How.RETURNED}
    assert [told.done[number].value for number in numbers] == list(numbers)


def test_an_error_comes_with_its_traceback_which_begins_at_the_call(told: Told) -> None:
    done = told.run(fail, "no such luck")
    assert (done.how, done.value, str(done.error)) == (How.RAISED, None, "no such luck")
    assert done.traceback.startswith("Traceback (most recent call last):\n")
    assert "in fail" in done.traceback.splitlines()[1]
    assert done.traceback.endswith("ValueError: no such luck\n")


def test_what_would_end_a_program_ends_only_the_call(told: Told) -> None:
    assert isinstance(told.run(exit_politely).error, SystemExit)
    assert told.run(add, 1).value == 1


def test_an_error_does_not_keep_what_the_call_worked_on(told: Told) -> None:
    class Heavy:
        def __del__(self) -> None:
            gone.set()

    def use() -> None:
        heavy = Heavy()
        raise ValueError(f"of {type(heavy).__name__}")

    gone = threading.Event()
    done = told.run(use)
    assert done.error is not None
    assert gone.wait(20)


def test_a_coroutine_function_is_run_to_its_end_in_a_loop_of_its_own(told: Told) -> None:
    async def loops() -> tuple[int, bool]:
        return await later(5), asyncio.get_running_loop().is_running()

    assert told.run(loops).value == (5, True)
    assert told.run(partial(later, 6)).value == 6


def test_as_many_calls_as_workers_run_at_once_and_no_more(told: Told) -> None:
    gates = [Gate(), Gate(), Gate()]
    told.submit(*(Call(number, gate) for number, gate in enumerate(gates)))
    assert gates[0].entered.wait(20)
    assert gates[1].entered.wait(20)
    assert not gates[2].entered.is_set()
    gates[0].open.set()
    assert gates[2].entered.wait(20)
    for gate in gates:
        gate.open.set()
    assert told.all_ended(0, 1, 2) == [How.RETURNED] * 3


def test_a_free_worker_is_used_before_a_new_one_is_started() -> None:
    executor = ThreadPoolExecutor(8, {"thread_name_prefix": "mine"})
    told = Told(executor)
    names = {told.submit(Call(number, threading.current_thread)).ended(number).value.name for number in range(20)}
    executor.shutdown()
    assert len(names) < 8
    assert all(name.startswith("mine_") for name in names)


def test_stopping_a_call_that_waits_means_that_it_never_begins(told: Told) -> None:
    first, second = Gate(), Gate()
    told.submit(Call(1, first), Call(2, second), Call(3, fail, ("it was stopped",)), Call(4, add, (4,)))
    told.has_begun(2)
    assert told.executor.stop(3) is True
    assert told.ended(3).how == How.KILLED
    assert told.executor.stop(3) is False
    first.open.set()
    second.open.set()
    assert told.all_ended(1, 2, 4) == [How.RETURNED] * 3
    assert 3 not in told.begun


def test_what_has_begun_cannot_be_withdrawn(told: Told) -> None:
    gates = [Gate(), Gate()]
    told.submit(Call(0, gates[0]), Call(1, gates[1]), Call(2, add, (2,)))
    assert gates[0].entered.wait(20)
    assert gates[1].entered.wait(20)
    assert [told.executor.withdraw(number) for number in (0, 1, 2, 2)] == [False, False, True, False]
    assert told.ended(2).how == How.KILLED
    for gate in gates:
        gate.open.set()
    assert told.all_ended(0, 1) == [How.RETURNED] * 2


def test_a_call_that_is_given_up_takes_no_place_in_the_pool(told: Told) -> None:
    stuck = [Gate() for _ in range(4)]
    told.submit(*(Call(number, gate) for number, gate in enumerate(stuck)), Call(9, add, (9,)))
    for number, gate in enumerate(stuck):
        assert gate.entered.wait(20)
        assert told.executor.stop(number) is False
    assert told.ended(9).value == 9
    for gate in stuck:
        gate.open.set()
    assert told.all_ended(0, 1, 2, 3) == [How.RETURNED] * 4  # told all the same: whoever gave it up may ignore it
    given_up = [told.threads[number] for number in range(4)]
    for thread in given_up:
        thread.join(20)
    assert not any(thread.is_alive() for thread in given_up)


def test_shutting_down_waits_for_all_that_was_submitted() -> None:
    told = Told(ThreadPoolExecutor(1))
    gate = Gate()
    told.submit(Call(1, gate), Call(2, add, (2,)))
    waiting = threading.Thread(target=told.executor.shutdown)
    waiting.start()
    told.has_begun(1)
    assert waiting.is_alive()
    gate.open.set()
    waiting.join(20)
    assert {number: done.how for number, done in told.done.items()} == {1: How.RETURNED, 2: How.RETURNED}
    with pytest.raises(RuntimeError, match="shut down"):
        told.submit(Call(3, add, (3,)))


def test_shutting_down_without_waiting_drops_what_has_not_begun() -> None:
    told = Told(ThreadPoolExecutor(1))
    gate = Gate()
    told.submit(Call(1, gate), Call(2, add, (2,)), Call(3, add, (3,)))
    told.has_begun(1)
    told.executor.shutdown(wait=False)
    assert {number: done.how for number, done in told.done.items()} == {2: How.KILLED, 3: How.KILLED}
    gate.open.set()
    assert told.ended(1).how == How.RETURNED


def test_shutting_down_does_not_wait_for_what_was_given_up() -> None:
    told = Told(ThreadPoolExecutor(1))
    gate = Gate()
    told.submit(Call(1, gate))
    told.has_begun(1)
    waiting = threading.Thread(target=told.executor.shutdown)
    waiting.start()
    told.executor.stop(1)
    waiting.join(20)
    assert not waiting.is_alive()
    gate.open.set()
    assert told.ended(1).how == How.RETURNED


def test_a_call_may_shut_its_own_executor_down(told: Told) -> None:
    assert told.run(told.executor.shutdown).how == How.RETURNED


def test_an_initializer_runs_in_every_worker() -> None:
    local = threading.local()
    executor = ThreadPoolExecutor(2, {"initializer": partial(setattr, local, "name"), "initargs": ("set",)})
    assert Told(executor).run(lambda: local.name).value == "set"
    executor.shutdown()


def test_an_initializer_that_fails_fails_one_call_and_the_next_gets_a_new_worker(tmp_path: Path) -> None:
    options = {"initializer": refuse_first, "initargs": (f"{tmp_path}/made",)}
    told = Told(ThreadPoolExecutor(1, options))
    told.submit(Call(1, add, (1,)), Call(2, add, (2,)))
    assert told.all_ended(1, 2) == [How.RAISED, How.RETURNED]
    assert "initializer" in told.done[1].traceback
    assert "OSError: not yet" in told.done[1].traceback
    told.executor.shutdown()


def test_the_debug_executor_runs_one_call_at_a_time_in_order_in_a_thread_of_its_own() -> None:
    told = Told(DebugExecutor())
    gate = Gate()
    told.submit(Call(1, gate))
    assert gate.entered.wait(20)
    told.submit(*(Call(number, add, (number,)) for number in range(2, 50)))
    assert told.begun == [1]
    gate.open.set()
    told.all_ended(*range(1, 50))
    assert told.begun == list(range(1, 50))
    assert len(set(told.threads.values()) - {threading.current_thread()}) == 1
    told.executor.shutdown()


@pytest.mark.parametrize("ending", ["", "executor.shutdown(wait=False)"])
def test_a_program_that_ends_loses_no_call_in_the_middle(ending: str, tmp_path: Path) -> None:
    """Not even one that needs what the interpreter takes away early: the pools of concurrent.futures and of asyncio."""
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import asyncio, threading
        from waterclock.executors.base import Call
        from waterclock.executors.pool import ThreadPoolExecutor

        async def slow():
            started.set()
            while not threading._SHUTTING_DOWN:
                await asyncio.sleep(0.01)
            return await asyncio.to_thread(str.upper, "finished")

        started = threading.Event()
        executor = ThreadPoolExecutor(3)
        executor.submit([Call(1, slow)], str, lambda done: print(done.value, flush=True))
        started.wait(20)
        """)
        + ending
    )
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=20, check=True)
    assert (ended.stdout, ended.stderr) == ("FINISHED\n", "")


def test_a_program_ends_though_a_call_that_was_given_up_never_does(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import threading, time
        from waterclock.executors.base import Call
        from waterclock.executors.pool import ThreadPoolExecutor
        executor, began = ThreadPoolExecutor(3), threading.Event()
        executor.submit([Call(1, time.sleep, (600,))], lambda number: began.set(), print)
        began.wait(20)
        executor.stop(1)
        """)
    )
    subprocess.run([sys.executable, script], timeout=20, check=True)


def test_a_fork_of_the_program_ends_though_it_has_none_of_the_threads(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import os, sys, threading
        from waterclock.executors.base import Call
        from waterclock.executors.pool import ThreadPoolExecutor
        executor, ended = ThreadPoolExecutor(3), threading.Event()
        executor.submit([Call(1, int)], str, lambda done: ended.set())
        ended.wait(20)
        child = os.fork()
        if child:
            sys.exit(os.waitpid(child, 0)[1])
        """)
    )
    subprocess.run([sys.executable, script], timeout=20, check=True)


def test_a_worker_is_replaced_when_whoever_it_tells_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(_: object) -> None:
        raise OSError("not now")

    failures: list[str] = []
    monkeypatch.setattr(threading, "excepthook", lambda failed: failures.append(str(failed.exc_value)))
    executor = ThreadPoolExecutor(1)
    told = Told(executor)
    executor.submit([Call(1, int)], told.begun.append, deaf)
    assert told.submit(Call(2, add, (2,))).ended(2).value == 2
    executor.shutdown()
    assert failures == ["not now"]
