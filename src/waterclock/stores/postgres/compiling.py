"""Named statements as PostgreSQL takes them: `:name` becomes `$n`, a list an array, a batch of rows many arrays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from waterclock.stores.dialect import IN_LIST, MOST_KEPT, PARAMETER, POSTGRES, parameters, statement, worded

CLOCK: Final = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"
TIME: Final = "told_at"  # as no column of ours is called
_PLACE: Final = re.compile(r"\$(\d+)")
STATEMENT_CLOCK: Final = "(extract(epoch FROM statement_timestamp()) * 1000000)::bigint"
OFFSET, CHANNEL, MESSAGE = "offset", "channel", "message"  # what a free insert is given besides
_KEYS: Final = ("id = ", "run_at = ")
_INSERT: Final = re.compile(
    r"(?P<head>INSERT INTO .*?\))\s*VALUES \((?P<values>.*?)\)(?P<conflict>\s+ON .*)?", re.DOTALL
)
_WHERE: Final = re.compile(r"\sWHERE\s")
_UPDATE: Final = re.compile(r"(?P<head>UPDATE .*?)\s+WHERE (?P<where>.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Compiled:
    sql: str
    names: tuple[str, ...]  # of $1, $2, …


@dataclass(frozen=True, slots=True)
class Part:
    """An insert of one row, the types of its parameters, and those of them that are given; the others are the clock."""

    name: str
    types: tuple[str, ...]
    given: tuple[str, ...]


@lru_cache(maxsize=MOST_KEPT)
def compiled(name: str) -> Compiled:
    sql = IN_LIST.sub(r"= ANY(:\1)", worded(POSTGRES, statement(POSTGRES.name, name)))
    names = tuple(dict.fromkeys(parameters(sql)))
    places = {each: f"${number}" for number, each in enumerate(names, 1)}
    return Compiled(PARAMETER.sub(lambda match: places[match[1]], sql), names)


@lru_cache(maxsize=MOST_KEPT)
def timed(name: str) -> Compiled:
    """A query whose rows tell the time, too: as it was when they had been found and locked."""
    query = compiled(name)
    return Compiled(f"SELECT found.*, {CLOCK} AS {TIME} FROM ({query.sql}) AS found", query.names)  # noqa: S608 - ours


@cache
def stamped(name: str) -> Compiled:
    """The statement with the database's clock as `:now`, which it answers with; `offset` is the last parameter."""
    sql = worded(POSTGRES, statement(POSTGRES.name, name))
    names = (*(each for each in dict.fromkeys(parameters(sql)) if each != "now"), OFFSET)
    places = {each: f"${number}" for number, each in enumerate(names, 1)}
    clock = places["now"] = f"({STATEMENT_CLOCK} + {places[OFFSET]}::bigint)"
    return Compiled(f"{PARAMETER.sub(lambda match: places[match[1]], sql)} RETURNING {clock} AS now", names)


@cache
def batched(
    name: str, types: tuple[str, ...], varying: frozenset[str], clocked: frozenset[str] = frozenset()
) -> Compiled:
    """One statement for many rows: what varies comes as arrays, what all rows share comes once.

    `types` are those of the single-row statement's parameters. `clocked` are what a table `fit` before it tells.
    """
    sql = worded(POSTGRES, statement(POSTGRES.name, name))
    type_of = dict(zip(compiled(name).names, types, strict=True))
    names = (*sorted(varying), *(each for each in type_of if each not in varying | clocked))
    places = {each: f"u.p_{each}" for each in varying} | dict.fromkeys(clocked, "(SELECT now FROM fit)")
    places |= {each: f"${n}::{type_of[each]}" for n, each in enumerate(names, 1) if each not in places}
    arrays = ", ".join(f"${n}::{type_of[each]}[]" for n, each in enumerate(sorted(varying), 1))
    columns = ", ".join(f"p_{each}" for each in sorted(varying))
    return Compiled(_over_rows(sql, f"unnest({arrays}) AS u({columns})", places), names)


@cache
def together(parts: tuple[Compiled, ...]) -> str:
    """One statement that does what all of them do; its parameters are theirs, one after another."""
    *before, last = (_shifted(part.sql, sum(len(each.names) for each in parts[:n])) for n, part in enumerate(parts))
    named = ", ".join(f"part_{number} AS ({sql})" for number, sql in enumerate(before))
    return f"WITH {named} {last}" if named else last


@cache
def free_insert(first: Part, then: tuple[Part, ...]) -> Compiled:
    """One statement: the first insert, which says nothing where its name is taken, and the others where it is free.

    It answers with one row where it was, and wakes whoever listens on `:channel`.
    """
    places = {f"{number}.{name}": "" for number, part in enumerate((first, *then)) for name in part.given}
    names = (*places, OFFSET, CHANNEL, MESSAGE)
    numbered = {name: f"${number}" for number, name in enumerate(names, 1)}
    clock = f"{STATEMENT_CLOCK} + {numbered[OFFSET]}::bigint"

    def placed(number: int, part: Part) -> dict[str, str]:
        types = dict(zip(compiled(part.name).names, part.types, strict=True))
        own = {name: f"{numbered[f'{number}.{name}']}::{types[name]}" for name in part.given}
        return {name: own.get(name, clock) for name in types}

    head, *others = (
        _over_rows(
            worded(POSTGRES, statement(POSTGRES.name, part.name)), "free" if number else "one", placed(number, part)
        )
        for number, part in enumerate((first, *then))
    )
    parts = ", ".join(f"part_{number} AS ({sql})" for number, sql in enumerate(others))
    message = f"{numbered[CHANNEL]}::text, {numbered[MESSAGE]}::text"
    told = f"SELECT pg_notify({message}) FROM free"  # noqa: S608 - our own text
    return Compiled(f"WITH one AS (SELECT 1), free AS ({head} RETURNING 1), {parts} {told}", names)


@cache
def together_if(head: Compiled, parts: tuple[Compiled, ...]) -> str:
    """One statement: what `head` finds, and all of the parts, where its table `fit` says yes."""
    known, _, found = head.sql.rpartition("\nSELECT ")
    before = len(head.names)
    shifted = (_shifted(part.sql, before + sum(len(each.names) for each in parts[:n])) for n, part in enumerate(parts))
    named = "".join(f",\npart_{number} AS ({_if_fit(sql)})" for number, sql in enumerate(shifted))
    return f"{known}{named}\nSELECT {found}"


def _if_fit(sql: str) -> str:
    return f"{sql} {'AND' if _WHERE.search(sql) else 'WHERE'} (SELECT yes FROM fit)"  # noqa: S608 - our own text


def _shifted(sql: str, by: int) -> str:
    return _PLACE.sub(lambda match: f"${int(match[1]) + by}", sql)


def _over_rows(sql: str, rows: str, places: Mapping[str, str]) -> str:
    def placed(text: str) -> str:
        return PARAMETER.sub(lambda match: places[match[1]], text)

    if insert := _INSERT.fullmatch(sql):
        conflict = placed(insert["conflict"] or "")
        return f"{insert['head']} SELECT {placed(insert['values'])} FROM {rows}{conflict}"  # noqa: S608 - our own text
    if update := _UPDATE.fullmatch(sql):
        return f"{placed(update['head'])} FROM {rows} WHERE {placed(_guarded(update['where']))}"
    raise ValueError(f"not to be run for many rows: {sql}")


def _guarded(where: str) -> str:
    """The key as it is; what guards the change hidden from the planner.

    It would guess that hardly a row is in the state asked for, begin with the table, and go through the whole batch
    for each of its rows.
    """
    parts = where.split(" AND ")
    keys = [part for part in parts if part.startswith(_KEYS)]
    guards = [part for part in parts if not part.startswith(_KEYS)]
    return " AND ".join([*keys, *([f"CASE WHEN {' AND '.join(guards)} THEN TRUE END"] if guards else [])])


@cache
def is_insert(name: str) -> bool:
    return _INSERT.fullmatch(worded(POSTGRES, statement(POSTGRES.name, name))) is not None


@cache
def key_names(name: str) -> frozenset[str]:
    """The parameters by which an update finds its rows.

    They are given for each row, also where all rows share one of them: a planner that is told one time for all of them
    goes through the whole index for that time.
    """
    update = _UPDATE.fullmatch(worded(POSTGRES, statement(POSTGRES.name, name)))
    parts = update["where"].split(" AND ") if update else []
    return frozenset(found for part in parts if part.startswith(_KEYS) for found in parameters(part))


def varying_names(name: str, columns: Mapping[str, Sequence[object]]) -> frozenset[str]:
    """The parameters of a statement that are not the same in all rows, and its keys: at least one."""
    found = {each for each, column in columns.items() if column.count(column[0]) != len(column)}
    return frozenset(found | key_names(name) or list(columns)[:1])
