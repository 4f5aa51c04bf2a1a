"""What executors with a pool have in common: how many workers, which options, and the pool that does it all."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from waterclock.executors.base import BaseExecutor, Call, Done

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    OptionsT = TypeVar("OptionsT", bound=DataclassInstance)


class Pool(Protocol):
    """As the methods of BaseExecutor."""

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None: ...

    def stop(self, number: int) -> bool: ...

    def withdraw(self, number: int) -> bool: ...

    def shutdown(self, wait: bool = True) -> None: ...

    def renewed(self) -> Pool:
        """Itself; where it was shut down, another like it."""
        ...


class BasePoolExecutor(BaseExecutor):
    """An executor is a pool with a name in the configuration."""

    @abstractmethod
    def __init__(self, pool: Pool) -> None:
        super().__init__()
        self._pool = pool

    def start(self, scheduler: Any, alias: str) -> None:
        """Once more, where the scheduler was shut down and starts again."""
        self._pool = self._pool.renewed()

    def submit(self, calls: Sequence[Call], begun: Callable[[int], None], done: Callable[[Done], None]) -> None:
        self._pool.submit(calls, begun, done)

    def stop(self, number: int) -> bool:
        return self._pool.stop(number)

    def withdraw(self, number: int) -> bool:
        return self._pool.withdraw(number)

    def shutdown(self, wait: bool = True) -> None:
        self._pool.shutdown(wait)


def workers_from(max_workers: int | str) -> int:
    """A configuration file may say it as text."""
    most = int(max_workers)
    if most <= 0:
        raise ValueError(f"max_workers must be greater than 0, not {most}")
    return most


def options_from(kind: type[OptionsT], pool_kwargs: Mapping[str, Any] | None) -> OptionsT:
    """The options of a pool, by the names that concurrent.futures has for them."""
    given, known = dict(pool_kwargs or {}), [field.name for field in fields(kind)]
    if unknown := [name for name in given if name not in known]:
        raise TypeError(f"pool_kwargs has no {', '.join(map(repr, unknown))}: it may have {', '.join(known)}")
    if not callable(given.get("initializer") or callable):
        raise TypeError(f"pool_kwargs: initializer must be callable, not {given['initializer']!r}")
    return kind(**given)
