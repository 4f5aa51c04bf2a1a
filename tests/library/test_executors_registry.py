"""Executors by name and by signature: as APScheduler has them."""

import inspect
from importlib import import_module
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from waterclock.executors import registry
from waterclock.executors.base import BaseExecutor
from waterclock.executors.debug import DebugExecutor
from waterclock.executors.pool import BasePoolExecutor, ProcessPoolExecutor, ThreadPoolExecutor

MODULES = {"asyncio": "asyncio", "debug": "debug", "processpool": "pool", "threadpool": "pool"}


@pytest.mark.parametrize("alias", MODULES)
def test_the_same_class_is_in_the_same_module_with_the_same_parameters(alias: str) -> None:
    ours = registry.executor_class(alias)
    theirs = getattr(import_module(f"apscheduler.executors.{MODULES[alias]}"), ours.__name__)
    assert getattr(import_module(f"waterclock.executors.{MODULES[alias]}"), ours.__name__) is ours
    assert parameters(ours) == parameters(theirs)
    assert issubclass(ours, BasePoolExecutor) is (MODULES[alias] == "pool")


def parameters(made: Any) -> list[tuple[str, Any, Any]]:
    return [(one.name, one.default, one.kind) for one in inspect.signature(made).parameters.values()]


def test_an_executor_is_given_or_made_from_its_name_and_options() -> None:
    given = DebugExecutor()
    assert registry.create_executor(given, {}) is given
    made = registry.create_executor("threadpool", {"max_workers": "20"})  # from a configuration file
    assert isinstance(made, ThreadPoolExecutor)
    assert made.max_workers == 20


def test_a_name_that_nobody_registered_is_told() -> None:
    with pytest.raises(LookupError, match='No executor by the name "nobody" was found'):
        registry.create_executor("nobody", {})
    with pytest.raises(TypeError, match="Expected an executor instance or a string, got int instead"):
        registry.create_executor(5, {})  # type: ignore[arg-type]


@pytest.mark.parametrize("group", registry.GROUPS)
def test_other_packages_register_theirs_as_entry_points(group: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Theirs(DebugExecutor):
        pass

    found = {"theirs": Theirs, "debug": Theirs, "foreign": dict}
    monkeypatch.setattr(EntryPoint, "load", lambda entry: found[entry.name])
    monkeypatch.setattr(
        registry,
        "entry_points",
        lambda **asked: [EntryPoint(asked["name"], "theirs:Theirs", group)] if asked["group"] == group else [],
    )
    assert registry.executor_class("theirs") is Theirs
    assert registry.executor_class("debug") is DebugExecutor  # our own names are ours
    with pytest.raises(TypeError, match=r'"foreign" is registered as .*dict.*, which is no subclass of .*BaseExecutor'):
        registry.executor_class("foreign")


@pytest.mark.parametrize(
    ("made", "options", "error", "text"),
    [
        (ThreadPoolExecutor, {"max_workers": 0}, ValueError, "max_workers must be greater than 0, not 0"),
        (
            ThreadPoolExecutor,
            {"pool_kwargs": {"mp_context": None}},
            TypeError,
            "pool_kwargs has no 'mp_context': it may have thread_name_prefix, initializer, initargs",
        ),
        (
            ProcessPoolExecutor,
            {"pool_kwargs": {"workers": 1}},
            TypeError,
            "pool_kwargs has no 'workers': it may have mp_context, max_tasks_per_child, initializer, initargs",
        ),
        (
            ProcessPoolExecutor,
            {"pool_kwargs": {"max_tasks_per_child": 0}},
            ValueError,
            "max_tasks_per_child must be a whole number from 1 on, not 0",
        ),
        (
            ThreadPoolExecutor,
            {"pool_kwargs": {"initializer": 5}},
            TypeError,
            "initializer must be callable, not 5",
        ),
        (ProcessPoolExecutor, {"pool_kwargs": {"mp_context": "spoon"}}, ValueError, "cannot find context for 'spoon'"),
    ],
)
def test_wrong_options_are_told_at_once(made: type[BaseExecutor], options: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        made(**options)
