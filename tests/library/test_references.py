"""Callables by name: what has a reference is found by it again, what has none is refused; and how they are called."""

import functools
import math
import pickle
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from apscheduler import util as theirs

from tests.library import callables
from tests.library.callables import Base, Called, Derived
from waterclock.domain.errors import WaterclockError
from waterclock.faces.library.references import (
    Unloadable,
    check_callable_args,
    kept_call,
    name_of,
    reference_of,
    resolve,
)

HERE = "tests.library.callables"
HAVE_ONE: list[tuple[Any, str]] = [
    (callables.function, f"{HERE}:function"),
    (callables.coroutine, f"{HERE}:coroutine"),
    (callables.decorated, f"{HERE}:decorated"),
    (callables.registered, f"{HERE}:registered"),
    (Base, f"{HERE}:Base"),
    (Base.method, f"{HERE}:Base.method"),
    (Base.static, f"{HERE}:Base.static"),
    (Base().static, f"{HERE}:Base.static"),
    (Base.of_class, f"{HERE}:Base.of_class"),
    (Derived.of_class, f"{HERE}:Derived.of_class"),
    (Base.Inner.method, f"{HERE}:Base.Inner.method"),
    (print, "builtins:print"),
    (math.sqrt, "math:sqrt"),
]
HAVE_NONE: list[tuple[Any, str]] = [
    (callables.nameless, "a lambda"),
    (callables.enclosing(), "a nested function"),
    (callables.partly, r"a partial\(\)"),
    (Base().method, r"a method of an instance \(Base.method\)"),
    (callables.called, "callables:Called is something else"),
    (callables.aside, "callables:quiet is something else"),
    ([].append, "something else"),
]


@pytest.mark.parametrize(("function", "reference"), HAVE_ONE, ids=[reference for _, reference in HAVE_ONE])
def test_a_callable_is_found_again_by_its_reference(function: Any, reference: str) -> None:
    assert reference_of(function) == reference
    assert resolve(reference) == function
    assert kept_call(function, (1, 2)) == (reference, (1, 2))


@pytest.mark.parametrize(("function", "reason"), HAVE_NONE)
def test_a_callable_without_a_reference_is_refused_with_the_way_out(function: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=f"(?s)Cannot create a reference to .*{reason}.*top level.*memory store"):
        reference_of(function)


def test_what_apscheduler_refers_to_we_refer_to_by_the_same_text() -> None:
    functions = [function for function, _ in HAVE_ONE if not isinstance(function, callables.Registered)]
    assert [reference_of(each) for each in functions] == [theirs.obj_to_ref(each) for each in functions]


def test_a_method_of_an_instance_is_kept_as_its_class_s_with_the_instance() -> None:
    base, derived = Base(), Derived()
    assert kept_call(base.method, (1,)) == (f"{HERE}:Base.method", (base, 1))
    for method in (derived.method, derived.overridden, derived.inherited()):
        reference, args = kept_call(method, ())
        assert resolve(reference)(*args) == method(), "and it is the same that would have been called"


def test_what_is_no_callable_is_a_type_error() -> None:
    nothing: Any = callables.number
    for refuse in (reference_of, name_of, lambda given: kept_call(given, ())):
        with pytest.raises(TypeError, match="maybe it is not a callable"):
            refuse(nothing)


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], str]]:
    """A module of that text, to be imported by its name."""
    monkeypatch.syspath_prepend(tmp_path)
    made: list[str] = []

    def make(text: str) -> str:
        name = f"referred_{tmp_path.name}_{len(made)}"
        (tmp_path / f"{name}.py").write_text(text)
        made.append(name)
        return name

    yield make
    for name in made:
        sys.modules.pop(name, None)


DECORATES = """
from waterclock.faces.library.references import reference_of
found = []

def job(function):
    found.append(reference_of(function))
    return function

def again(function):
    found.append(reference_of(function, being_defined=True))
    return function

@job
def first():
    pass

class Class:
    @job
    def method(self):
        pass

@again
def first():
    pass
"""


def test_a_decorator_may_ask_before_the_name_is_bound(module: Callable[[str], str]) -> None:
    name = module(DECORATES)
    made = resolve(f"{name}:job")
    assert sys.modules[name].found == [f"{name}:first", f"{name}:Class.method", f"{name}:first"]
    assert made is sys.modules[name].job


def test_a_function_that_is_in_no_module_has_no_reference() -> None:
    for named in ({"__name__": HERE}, {}):
        homeless = FunctionType(callables.function.__code__, dict(named), "homeless")
        homeless.__qualname__ = "homeless"
        with pytest.raises(ValueError, match="is something else"):
            reference_of(homeless)


@pytest.mark.parametrize(
    ("reference", "reason"),
    [
        ("no_such_module:function", "ModuleNotFoundError: No module named 'no_such_module'"),
        (f"{HERE}:no_such_function", "AttributeError"),
        (f"{HERE}:Base.no_such_method", "AttributeError"),
        (f"{HERE}:number", "it is of type int, which cannot be called"),
        (f"{HERE}:", "must read like 'module:function'"),
        (":function", "must read like 'module:function'"),
        ("..relative:function", "TypeError"),
        (f"{HERE}:a..b", "AttributeError"),
    ],
)
def test_a_reference_to_nothing_is_unloadable_and_says_why(reference: str, reason: str) -> None:
    with pytest.raises(Unloadable) as refused:
        resolve(reference)
    assert refused.value.reference == reference
    assert reason in refused.value.reason
    assert str(refused.value) == f"cannot load {reference}: {refused.value.reason}"
    assert isinstance(refused.value, LookupError), "which is what APScheduler's programs catch"
    assert isinstance(refused.value, WaterclockError)
    copied = pickle.loads(pickle.dumps(refused.value))  # noqa: S301 - our own
    assert (type(copied), str(copied)) == (type(refused.value), str(refused.value))


@pytest.mark.parametrize("text", ["def broken(:", "1 / 0", "import sys; sys.exit()", "raise LookupError('gone')"])
def test_a_module_that_fails_when_it_is_imported_is_unloadable(text: str, module: Callable[[str], str]) -> None:
    with pytest.raises(Unloadable):
        resolve(f"{module(text)}:function")


def test_a_text_without_a_colon_is_a_value_error_and_no_text_a_type_error() -> None:
    resolving: Any
    for resolving in (resolve, theirs.ref_to_obj):
        with pytest.raises(ValueError):
            resolving("tests.library.callables.function")
        with pytest.raises(TypeError):
            resolving(callables.function)


@pytest.mark.parametrize(
    "function",
    [each for each, _ in HAVE_ONE if not isinstance(each, callables.Registered)]
    + [callables.nameless, callables.enclosing(), callables.partly, callables.called, Base().method, [].append],
)
def test_a_callable_is_shown_by_the_name_that_apscheduler_shows(function: Any) -> None:
    assert name_of(function) == theirs.get_callable_name(function)


SIGNATURES = [
    *("", "a", "a, b", "a, b=1", "a=1, b=2", "*a", "**k", "a, *b", "*b, **k", "a, *b, **k", "a, b, *c, d, **k"),
    *("a, *, b", "a, *, b=1", "*, a", "*, a, b", "*a, b"),
    *("a, /", "a, /, b", "a, b=1, /", "a=1, /, b=2", "a, /, **k", "a, /, b, *, c"),
]
GIVEN = list(product([(), (1,), (1, 2), (1, 2, 3)], [[], ["a"], ["b"], ["c"], ["a", "b"], ["b", "d"], ["a", "x"]]))


def taking(parameters: str) -> Callable[..., None]:
    made: Callable[..., None] = eval(f"lambda {parameters}: None")  # noqa: S307 - our own text
    return made


def complaint(check: Callable[..., None], function: Any, args: tuple[int, ...], kwargs: dict[str, int]) -> str:
    try:
        check(function, args, kwargs)
    except ValueError as refused:
        return str(refused)
    return ""


def kind(said: str) -> str:
    return said.partition(":")[0].partition(" (")[0]


@pytest.mark.parametrize("parameters", SIGNATURES)
def test_arguments_are_refused_like_apscheduler_and_python_refuse_them(parameters: str) -> None:
    function = taking(parameters)
    for args, names in GIVEN:
        kwargs = dict.fromkeys(names, 1)
        ours, other = (
            complaint(check, function, args, kwargs) for check in (check_callable_args, theirs.check_callable_args)
        )
        assert kind(ours) == kind(other), (args, names)
        assert "both args and kwargs" in ours or ours == other
        try:
            function(*args, **kwargs)
        except TypeError:
            assert ours
        else:
            assert not ours


def test_a_positional_only_default_leaves_its_name_to_the_rest() -> None:
    """Which Python allows, and APScheduler does not."""

    def function(a: int = 1, /, **rest: int) -> None: ...

    function(a=2)
    check_callable_args(function, (), {"a": 2})


def test_only_what_is_given_twice_is_named() -> None:
    with pytest.raises(ValueError, match=r"both args and kwargs: a$"):
        check_callable_args(taking("a, b"), (1,), {"a": 1, "b": 2})


def test_a_wrapper_is_checked_and_not_what_it_wraps() -> None:
    wrapper = functools.wraps(Base.method)(taking("*a, **k"))
    for check in (check_callable_args, theirs.check_callable_args):
        check(wrapper, (1, 2, 3), {"x": 1})


def test_any_kind_of_callable_is_checked() -> None:
    for function, most in ((Base().overridden, 0), (Called(), 0), (functools.partial(Base.method), 1), (Base, 0)):
        check_callable_args(function, (1,) * most, {})
        with pytest.raises(ValueError, match=f"longer than .* {most}, given in args: {most + 1}"):
            check_callable_args(function, (1,) * (most + 1), {})
    check_callable_args(print, ("x",), {"end": ""})
    check_callable_args(dict, (), {"anything": 1})  # it does not say what it takes
