"""Rules of STYLE.md that a machine can check."""

import ast
from typing import Final

import pytest

from tests.architecture.sources import Source, dotted, every_module

READS_A_CLOCK: Final = {
    *("time.time", "time.time_ns", "time.monotonic", "time.monotonic_ns", "time.perf_counter", "time.perf_counter_ns"),
    *("time.clock_gettime", "time.clock_gettime_ns", "time.localtime", "time.gmtime"),
    *("datetime.now", "datetime.utcnow", "datetime.today", "date.today"),
    *("datetime.datetime.now", "datetime.datetime.utcnow", "datetime.date.today"),
}
# The boundaries of STYLE, "Errors", and a few more that swallow nothing of ours: each entry says why.
MAY_CATCH_ALL: Final = {
    "engine.loop": "a duty that fails is logged and tried again",
    "engine.attempt": "whatever a runner raises becomes the outcome of the attempt",
    "executors.asyncio": "what a coroutine raises is its end",
    "executors.outcome": "what a call raises is its end",
    "executors.threads": "what a pool's initializer raises is the end of the call that waits for it",
    "executors.watch": "no call hangs because one could not be pickled, started or told of",
    "executors.worker": "what a call raises is its end, and pickling runs code of its result",
    "executors.worker_process": "unpickling runs code of the result: what it raises is the end of its call",
    "faces.library.listeners": "a user's listener that fails is logged, and the others are told",
    "faces.library.references": "importing a user's module runs it: what it raises is why its job cannot be loaded",
    "faces.library.runner": "calls that an executor does not take have failed: nobody would ever end them",
    "faces.library.serializers": "unpickling runs code, too",
    "faces.library.unpickling": "and so it does here, where it is why a row cannot be imported",
    "notices.apprise_sender": "whatever a channel's plugin raises is why the notice was not sent",
    "notices.deadline": "work in a thread of its own: what it raises is handed to whoever waits for it",
    "runners.child": "a fork that fails must never go on as a second keeper: it says why, and leaves",
    "runners.callables": "a callable's failure is its run's, whatever it is",
    "runners.sql.ear": "what cannot be cancelled is killed by the host",
    "runners.sql.executor": "whatever an engine or an output's library raises is why the query failed",
    "runners.sql.loading": "an output that cannot be undone neither hides why, nor keeps the others from it",
    "runners.sync.main": "whatever a library of a source or an output raises is why the sync failed",
    "runners.warm": "the user's script, in its own process: what it raises becomes a traceback and an exit code",
    "stores.sqlite.writer": "work in a group commit is in another thread: what it raises is handed to its caller there",
}
MAY_LOOP_FOREVER: Final = {"engine.loop"}
WITHOUT_ANY: Final = ("domain", "engine", "services")
CODEC: Final = "codec.py"  # JSON and back: the wire in this sense


@every_module
def test_a_module_begins_with_its_promise(source: Source) -> None:
    assert ast.get_docstring(source.tree), f"{source.path} has no docstring"


@every_module
def test_only_the_clock_reads_a_clock(source: Source) -> None:
    if source.path.name == "clock.py":
        return
    names = clock_names(source.tree)
    found = [source.at(node) for node in ast.walk(source.tree) if isinstance(node, ast.expr) and dotted(node) in names]
    assert found == [], "ask waterclock.clock"


@every_module
def test_only_the_boundaries_catch_everything(source: Source) -> None:
    if source.name in MAY_CATCH_ALL:
        return
    handlers = [node for node in ast.walk(source.tree) if isinstance(node, ast.ExceptHandler) and swallows_all(node)]
    assert [source.at(handler) for handler in handlers] == [], "name the errors that are expected here"


@every_module
def test_only_the_loop_of_the_engine_loops_forever(source: Source) -> None:
    if not source.name.startswith("engine.") or source.name in MAY_LOOP_FOREVER:
        return
    loops = [node for node in ast.walk(source.tree) if isinstance(node, ast.While) and is_true(node.test)]
    assert [source.at(loop) for loop in loops] == [], "a duty has a tick(); Loop repeats it"


@every_module
def test_any_stops_at_the_wire(source: Source) -> None:
    if not source.name.startswith(WITHOUT_ANY) or source.path.name == CODEC:
        return
    found = [
        source.at(node)
        for node in ast.walk(source.tree)
        if isinstance(node, ast.expr) and dotted(node).split(".")[-1] == "Any"
    ]
    assert found == []


def clock_names(tree: ast.Module) -> set[str]:
    """What reads a clock under the names of this module: `from time import monotonic as tick` counts too."""
    names = set(READS_A_CLOCK)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "time":
            names |= {name.asname or name.name for name in node.names if f"time.{name.name}" in READS_A_CLOCK}
    return names


def swallows_all(handler: ast.ExceptHandler) -> bool:
    """A handler that only cleans up and raises again swallows nothing."""
    caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    broad = any(node is None or dotted(node) in ("Exception", "BaseException") for node in caught)
    last = handler.body[-1]
    return broad and not (isinstance(last, ast.Raise) and last.exc is None)


def is_true(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and bool(node.value)


@pytest.mark.parametrize(
    ("code", "verdict"),
    [
        ("except Exception:\n  pass", True),
        ("except:\n  pass", True),
        ("except (OSError, BaseException):\n  log()", True),
        ("except BaseException:\n  undo()\n  raise", False),
        ("except OSError:\n  pass", False),
    ],
)
def test_the_rule_about_catching_all_itself(code: str, verdict: bool) -> None:
    tried = ast.parse(f"try:\n  x()\n{code}").body[0]
    assert isinstance(tried, ast.Try)
    assert swallows_all(tried.handlers[0]) is verdict


def test_the_rule_about_clocks_itself() -> None:
    assert "tick" in clock_names(ast.parse("from time import monotonic as tick"))
    assert "sleep" not in clock_names(ast.parse("from time import sleep"))
