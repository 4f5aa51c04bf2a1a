"""Every public name of APScheduler 3.11 that we mirror is there, and takes what it takes there."""

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from inspect import Parameter
from typing import Any

import pytest

OURS, THEIRS = "waterclock", "apscheduler"
MODULES = (
    *("schedulers", "schedulers.base", "schedulers.background", "schedulers.blocking", "schedulers.asyncio"),
    *("jobstores.base", "jobstores.memory", "jobstores.sqlalchemy"),
    *("executors.base", "executors.pool", "executors.asyncio", "executors.debug"),
    *("triggers.base", "triggers.date", "triggers.interval", "triggers.cron", "triggers.calendarinterval"),
    *("triggers.combining", "events", "job"),
)
STARS = (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)

# What is not ours on purpose: docs/library-differences.md says so, too.
DIFFERENT = {
    "executors.base": {
        "BaseExecutor: has no submit_job",  # an executor is given calls, not jobs and their moments
        "run_job is missing",
        "run_coroutine_job is missing",
    },
    "schedulers.asyncio": {"run_in_event_loop is missing"},  # nothing of ours is run there but coroutines
}
NO_API = {"UTC", "FIELDS_MAP"}  # whatever is in a module without being meant for programs


def is_public(name: str) -> bool:
    return not name.startswith("_") and name not in NO_API


def public(module: str) -> Iterator[tuple[str, Any]]:
    """What a module of theirs defines itself: classes, functions, and constants."""
    theirs = import_module(f"{THEIRS}.{module}")
    assigned = {name for line in inspect.getsource(theirs).splitlines() for name in line.split(" = ")[:-1]}
    for name, value in vars(theirs).items():
        home = getattr(value, "__module__", theirs.__name__ if name in assigned else None)
        if is_public(name) and home == theirs.__name__:
            yield name, value


def members(cls: type) -> Iterator[tuple[str, Any]]:
    return ((name, value) for name, value in vars(cls).items() if is_public(name))


def called(function: Callable[..., Any], cls: type | None = None) -> list[Parameter]:
    """Its parameters; those of the method that it hands everything on to, if it says no more than `*args, **kwargs`."""
    found = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"]
    if cls and [parameter.kind for parameter in found] == list(STARS):
        return next(
            called(vars(base)[function.__name__], base) for base in cls.__mro__[1:] if function.__name__ in vars(base)
        )
    return found


def shown(parameter: Parameter) -> str:
    """How it can be given, and what it is if not. For an empty mapping None is as good."""
    empty = isinstance(parameter.default, Mapping) and not parameter.default
    return f"{parameter.kind.description} {parameter.name}={None if empty else repr(parameter.default)}"


def differences(their: list[Parameter], our: list[Parameter]) -> list[str]:
    """Ours may have more, if it need not be given."""
    ours = {parameter.name: parameter for parameter in our if parameter.kind not in STARS}
    named = [parameter for parameter in their if parameter.kind not in STARS]
    found = [f"no parameter {parameter.name}" for parameter in named if parameter.name not in ours]
    found += [
        f"{shown(ours[parameter.name])}, not {shown(parameter)}"
        for parameter in named
        if parameter.name in ours and shown(ours[parameter.name]) != shown(parameter)
    ]
    if [name for name in ours if name in {one.name for one in named}] != [
        one.name for one in named if one.name in ours
    ]:
        found.append("another order")
    more = [name for name in ours if name not in {parameter.name for parameter in named}]
    found += [f"{name} must be given" for name in more if ours[name].default is Parameter.empty]
    stars = {parameter.kind for parameter in their if parameter.kind in STARS}
    if not stars <= {parameter.kind for parameter in our}:
        found.append("takes no further arguments")
    return found


def gaps_of_class(their: type, our: type) -> Iterator[str]:
    bases = [base.__name__ for base in their.__mro__[1:-1]]
    if [base for base in bases if base not in {one.__name__ for one in our.__mro__}]:
        yield f"is not a {', '.join(bases)}"
    yield from differences(called(their.__init__), called(our.__init__))  # type: ignore[misc]
    for name, value in members(their):
        if inspect.isfunction(value) and callable(getattr(our, name, None)):
            found = differences(called(value, their), called(getattr(our, name), our))
            yield from (f"{name}: {difference}" for difference in found)
        elif isinstance(value, classmethod | staticmethod) and hasattr(our, name):
            yield from (
                f"{name}: {one}" for one in differences(called(value.__func__), called(getattr(our, name).__func__))
            )
        elif not hasattr(our, name) and not inspect.ismemberdescriptor(value):
            yield f"has no {name}"


def gaps_of(their: Any, our: Any) -> Iterator[str]:
    if inspect.isclass(their):
        yield from gaps_of_class(their, our)
    elif inspect.isfunction(their):
        yield from differences(called(their), called(our))
    elif their != our:
        yield f"is {our!r}, not {their!r}"


def gaps(module: str) -> Iterator[str]:
    our = import_module(f"{OURS}.{module}")
    for name, value in public(module):
        if not hasattr(our, name):
            yield f"{name} is missing"
        else:
            yield from (f"{name}: {gap}" for gap in gaps_of(value, getattr(our, name)))


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_all_names_of_apscheduler_and_they_take_the_same(module: str) -> None:
    assert set(gaps(module)) == DIFFERENT.get(module, set())


def made(package: str, module: str, name: str, **options: Any) -> Any:
    return getattr(import_module(f"{package}.{module}"), name)(**options)


def attributes(thing: object) -> set[str]:
    return {name for name in dir(thing) if is_public(name) and hasattr(thing, name)}


@pytest.mark.parametrize(
    ("module", "name", "options"),
    [
        ("triggers.date", "DateTrigger", {"run_date": "2026-11-15"}),
        ("triggers.interval", "IntervalTrigger", {"hours": 1}),
        ("triggers.cron", "CronTrigger", {"hour": 1}),
        ("triggers.calendarinterval", "CalendarIntervalTrigger", {"days": 1}),
        ("events", "SchedulerEvent", {"code": 1}),
        ("events", "JobEvent", {"code": 512, "job_id": "one", "jobstore": "default"}),
        (
            "events",
            "JobSubmissionEvent",
            {"code": 1, "job_id": "one", "jobstore": "default", "scheduled_run_times": []},
        ),
        ("events", "JobExecutionEvent", {"code": 1, "job_id": "one", "jobstore": "a", "scheduled_run_time": None}),
        ("schedulers.background", "BackgroundScheduler", {}),
        ("schedulers.blocking", "BlockingScheduler", {}),
        ("schedulers.asyncio", "AsyncIOScheduler", {}),
    ],
)
def test_what_an_object_shows_there_it_shows_here(module: str, name: str, options: dict[str, Any]) -> None:
    assert attributes(made(THEIRS, module, name, **options)) - attributes(made(OURS, module, name, **options)) == set()


@pytest.mark.parametrize("started", [False, True])
def test_a_job_shows_the_same_before_and_after_the_start(started: bool) -> None:
    shown = []
    for package in (OURS, THEIRS):
        scheduler = made(package, "schedulers.background", "BackgroundScheduler", timezone="UTC")
        job = scheduler.add_job(print, "date", run_date="2099-01-01", id="one")
        if started:
            scheduler.start()
        values = (
            job.id,
            job.name,
            job.args,
            job.kwargs,
            job.executor,
            job.func,
            job.func_ref,
            job.pending,
            repr(job),
            str(job),
        )
        shown.append((attributes(job), values))
        if started:
            scheduler.shutdown()
    (ours, our_values), (theirs, their_values) = shown
    assert theirs - ours == set()
    assert our_values == their_values


@pytest.mark.parametrize(
    ("module", "name", "options"),
    [
        ("schedulers", "SchedulerAlreadyRunningError", {}),
        ("schedulers", "SchedulerNotRunningError", {}),
        ("jobstores.base", "JobLookupError", {"job_id": "one"}),
        ("jobstores.base", "ConflictingIdError", {"job_id": "one"}),
        ("jobstores.base", "TransientJobError", {"job_id": "one"}),
    ],
)
def test_errors_say_the_same(module: str, name: str, options: dict[str, Any]) -> None:
    assert str(made(OURS, module, name, **options)) == str(made(THEIRS, module, name, **options))


def test_the_defaults_of_a_job_are_the_same_but_for_the_grace() -> None:
    shown = []
    for package in (OURS, THEIRS):
        scheduler = made(package, "schedulers.background", "BackgroundScheduler")
        job = scheduler.add_job(print, "interval", hours=1)
        scheduler.start(paused=True)
        shown.append((job.coalesce, job.max_instances, job.misfire_grace_time))
        scheduler.shutdown()
    assert shown == [(True, 1, 60), (True, 1, 1)]
