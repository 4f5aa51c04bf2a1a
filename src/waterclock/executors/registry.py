"""Executors by name: our own, and those that other packages register as entry points."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points
from typing import Any, Final

from waterclock.executors.asyncio import AsyncIOExecutor
from waterclock.executors.base import BaseExecutor
from waterclock.executors.debug import DebugExecutor
from waterclock.executors.pool import ProcessPoolExecutor, ThreadPoolExecutor

EXECUTORS: Final[Mapping[str, type[BaseExecutor]]] = {
    "asyncio": AsyncIOExecutor,
    "debug": DebugExecutor,
    "processpool": ProcessPoolExecutor,
    "threadpool": ThreadPoolExecutor,
}
# The second group is where packages for APScheduler 3 register theirs; our own names are never looked up there.
GROUPS: Final = ("waterclock.executors", "apscheduler.executors")


def executor_class(alias: str) -> type[BaseExecutor]:
    """The class that a name stands for; LookupError when nobody has registered it."""
    if (own := EXECUTORS.get(alias)) is not None:
        return own
    for group in GROUPS:
        for entry in entry_points(group=group, name=alias):
            return _checked(alias, entry.load())
    raise LookupError(f'No executor by the name "{alias}" was found')


def create_executor(executor: BaseExecutor | str, options: Mapping[str, Any]) -> BaseExecutor:
    """An executor as it is given, or made from its name and options."""
    if isinstance(executor, BaseExecutor):
        return executor
    if not isinstance(executor, str):
        raise TypeError(f"Expected an executor instance or a string, got {type(executor).__name__} instead")
    return executor_class(executor)(**options)


def _checked(alias: str, loaded: object) -> type[BaseExecutor]:
    """APScheduler's own contract is another one: a class that only has its methods cannot tell us how a call ended."""
    if isinstance(loaded, type) and issubclass(loaded, BaseExecutor):
        return loaded
    raise TypeError(
        f'The executor "{alias}" is registered as {loaded!r}, '
        "which is no subclass of waterclock.executors.base.BaseExecutor"
    )
