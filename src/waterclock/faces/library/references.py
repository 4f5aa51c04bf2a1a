"""Callables by name: `module:qualname`, which any process that can import the module finds again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import Parameter, isbuiltin, isclass, isfunction, ismethod, signature, unwrap
from types import ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from waterclock.domain.errors import WaterclockError

POSITIONAL_ONLY: Final = Parameter.POSITIONAL_ONLY
POSITIONAL_OR_KEYWORD: Final = Parameter.POSITIONAL_OR_KEYWORD
KEYWORD_ONLY: Final = Parameter.KEYWORD_ONLY
VAR_POSITIONAL: Final = Parameter.VAR_POSITIONAL
VAR_KEYWORD: Final = Parameter.VAR_KEYWORD

Function = Callable[..., Any]
ADVICE: Final = (
    "give a function at the top level of a module, or its textual reference 'module:function', or keep the job in the "
    "memory store, which takes any callable"
)

# How many arguments, and which names, a function is known to take: most are given to add_job again and again.
_fitting: Final[WeakKeyDictionary[Function, set[tuple[object, ...]]]] = WeakKeyDictionary()


class Unloadable(WaterclockError, LookupError):
    """What a store keeps of a job and this process cannot make anything of: the job is quarantined, never deleted."""

    def __init__(self, reference: str, reason: str) -> None:
        self.reference, self.reason = reference, reason
        super().__init__(f"cannot load {reference}: {reason}")

    def __reduce__(self) -> tuple[type[Unloadable], tuple[str, str]]:
        return type(self), (self.reference, self.reason)


class InvalidReference(Unloadable, ValueError):
    """A text that is no reference at all."""

    def __init__(self, reference: str, reason: str = "it must read like 'module:function'") -> None:
        super().__init__(reference, reason)


def reference_of(function: Function, *, being_defined: bool = False) -> str:
    """The reference that `resolve` finds this very callable by; ValueError where there is none.

    `being_defined`: its name is about to be bound, by the decorator that asks; what has the name now is not looked at.
    A method of an instance has no reference of its own: see `kept_call`.
    """
    if ismethod(function) and not isclass(function.__self__):
        raise ValueError(f"Cannot create a reference to a method of an instance ({name_of(function)}); {ADVICE}")
    if isinstance(function, partial):
        raise ValueError(f"Cannot create a reference to a partial(); {ADVICE}")
    return _checked(function, being_defined)


def kept_call(function: Function, args: tuple[Any, ...], *, being_defined: bool = False) -> tuple[str, tuple[Any, ...]]:
    """The reference and the arguments for it: a method of an instance is its class's, called with the instance."""
    if ismethod(function) and not isclass(function.__self__):
        return _checked(function.__func__, being_defined), (function.__self__, *args)
    return reference_of(function, being_defined=being_defined), args


def resolve(reference: str) -> Function:
    """The callable of that name; Unloadable, with the reason, where there is none."""
    if not isinstance(reference, str):
        raise TypeError(f"References must be strings, not {type(reference).__name__}")
    module, colon, path = reference.partition(":")
    if not (module and colon and path):
        raise InvalidReference(reference)
    try:
        found: Function = _walk(loaded(module) or import_module(module), path)
    except (Exception, SystemExit) as problem:  # importing runs the module, which may raise anything
        raise Unloadable(reference, f"{type(problem).__name__}: {problem}") from problem
    if not callable(found):
        raise Unloadable(reference, f"it is of type {type(found).__name__}, which cannot be called")
    return found


def loaded(module: str) -> ModuleType | None:
    """None where it has not been imported, to its end."""
    found = sys.modules.get(module)
    is_being_imported = getattr(getattr(found, "__spec__", None), "_initializing", False)
    return None if is_being_imported else found


def name_of(function: Function) -> str:
    """What a job is called that was given no name."""
    if ismethod(function):
        owner = function.__self__ if isclass(function.__self__) else type(function.__self__)
        return f"{owner.__qualname__}.{function.__name__}"
    if isclass(function) or isfunction(function) or isbuiltin(function):
        return function.__qualname__
    if callable(function):
        return type(function).__qualname__
    raise TypeError(f"Unable to determine a name for {function!r} -- maybe it is not a callable?")


def check_callable_args(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """ValueError that names what is wrong where the function cannot be called so: at add_job, not at the first run."""
    if not isfunction(function):
        _check(function, args, kwargs)
        return
    fitting, shape = _fitting.get(function), (len(args), *kwargs)
    if fitting is None or shape not in fitting:
        _check(function, args, kwargs)
        _fitting.setdefault(function, set()).add(shape)


def _check(function: Function, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    try:
        known = signature(function, follow_wrapped=False)
    except ValueError:
        return  # not every callable written in C says what it takes
    parameters = list(known.parameters.values())
    for complaint, found in _complaints(parameters, args, kwargs):
        if found:
            raise ValueError(f"{complaint} {', '.join(found)}")


def _complaints(
    parameters: list[Parameter], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Iterator[tuple[str, list[str]]]:
    """In the order in which they matter: a mistake often looks like several."""
    kinds = {parameter.kind for parameter in parameters}
    by_place = [each for each in parameters if each.kind in (POSITIONAL_ONLY, POSITIONAL_OR_KEYWORD)]
    by_name = [each for each in parameters if each.kind in (POSITIONAL_OR_KEYWORD, KEYWORD_ONLY)]
    taken, open_ = by_place[: len(args)], by_place[len(args) :]
    known = {each.name for each in by_name}

    yield "The following arguments are supplied in both args and kwargs:", _named(taken, kwargs.keys() & known)
    refused = [each for each in open_ if each.name in kwargs and each.name not in known]
    if VAR_KEYWORD in kinds:  # which takes the name, so that one with a default may be left out
        refused = [each for each in refused if each.default is Parameter.empty]
    yield "The following arguments cannot be given as keyword arguments:", _named(refused, kwargs)
    yield "The following arguments have not been supplied:", _required(open_, kwargs)
    only_by_name = [each for each in by_name if each.kind is KEYWORD_ONLY]
    yield "The following keyword-only arguments have not been supplied in kwargs:", _required(only_by_name, kwargs)
    if VAR_POSITIONAL not in kinds and len(args) > len(by_place):
        counted = f"(allowed: {len(by_place)}, given in args: {len(args)})"
        yield "The list of positional arguments is longer than the target callable can handle", [counted]
    if VAR_KEYWORD not in kinds:
        unknown = [name for name in kwargs if name not in known]
        yield "The target callable does not accept the following keyword arguments:", unknown


def _named(parameters: list[Parameter], names: Container[str]) -> list[str]:
    return [each.name for each in parameters if each.name in names]


def _required(parameters: list[Parameter], given: Container[str]) -> list[str]:
    return [each.name for each in parameters if each.default is Parameter.empty and each.name not in given]


def _checked(function: Function, being_defined: bool) -> str:
    module, name = _place(function)
    for part, kind in (("<lambda>", "a lambda"), ("<locals>", "a nested function")):
        if part in name:
            raise ValueError(f"Cannot create a reference to {kind} ({name}); {ADVICE}")
    reference = f"{module}:{name}"
    if not module or not (being_defined or _is_at(function, module, name)):
        raise ValueError(f"Cannot create a reference to {function!r}: {reference} is something else; {ADVICE}")
    return reference


def _place(function: Function) -> tuple[str, str]:
    if ismethod(function):
        return function.__self__.__module__, name_of(function)
    # What is no function and no class may still be bound to a name, but does not know to which.
    fallback = name_of(function)
    return getattr(function, "__module__", None) or "", getattr(function, "__qualname__", fallback)


def _is_at(function: Function, module: str, name: str) -> bool:
    """A function of the module whose name is not bound yet is taken to be in the hands of its decorator."""
    owner = sys.modules.get(module)
    try:
        found = _walk(owner, name)
    except AttributeError:
        return owner is not None and getattr(unwrap(function), "__globals__", None) is vars(owner)
    # A method of a class is made anew each time it is looked up.
    return found is function or (ismethod(found) and ismethod(function) and found == function)


def _walk(owner: object, path: str) -> Any:
    for name in path.split("."):
        owner = getattr(owner, name)
    return owner
