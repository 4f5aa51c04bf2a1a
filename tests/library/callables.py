"""Callables that a job may be given: those that have a reference, and those that have none."""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any


def function(*args: Any, **kwargs: Any) -> tuple[Any, ...]:
    return (*args, kwargs)


async def coroutine() -> None:
    pass


class Base:
    def method(self) -> "Base":
        return self

    def overridden(self) -> str:
        return "Base"

    @classmethod
    def of_class(cls) -> "type[Base]":
        return cls

    @staticmethod
    def static() -> str:
        return "static"

    class Inner:
        def method(self) -> str:
            return "inner"


class Derived(Base):
    def overridden(self) -> str:
        return f"Derived of {super().overridden()}"

    def inherited(self) -> Callable[[], str]:
        return super().overridden


class Called:
    def __call__(self) -> str:
        return "called"


class Registered:
    """As task queues do it: an object that stands in for the function that it was made from."""

    def __init__(self, function: Callable[[], str]) -> None:
        self.__module__, self.__qualname__ = function.__module__, function.__qualname__
        self._function = function

    def __call__(self) -> str:
        return self._function()


def loud(function: Callable[[], str]) -> Callable[[], str]:
    @wraps(function)
    def louder() -> str:
        return function().upper()

    return louder


@loud
def decorated() -> str:
    return "decorated"


@Registered
def registered() -> str:
    return "registered"


def quiet() -> str:
    return "quiet"


def enclosing() -> Callable[[], None]:
    def nested() -> None:
        pass

    return nested


aside = loud(quiet)  # its wrapper says that it is `quiet`
nameless = lambda: None  # noqa: E731  # what users write
called = Called()
partly = partial(function, 1)
number = 5
