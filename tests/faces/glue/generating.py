"""Requests by the thousand, made from the model at run time, and what may be answered to each.

`single_faults` gets one member wrong at a time, everywhere; `Chance` gets many wrong at once, from one seed.
"""

import base64
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count, cycle, islice
from random import Random
from typing import Any

import orjson

from tests.faces.glue.matrix import Things
from tests.faces.glue.samples import Position, cases_at, minimal, steps
from tests.faces.http.raw import Answer
from waterclock.faces.glue.model import declared_errors, input_shape, shape
from waterclock.faces.glue.table import INVALID, ROWS

MODELS_REFUSAL = "1 validation error detected: "

_numbers = count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`legal` is the model's verdict; None where nobody knows it beforehand."""

    action: str
    what: str
    body: Any
    legal: bool | None = None

    def complaint(self, answer: Answer) -> str | None:
        """What is wrong with an answer, if anything."""
        found = self._wrong(answer)
        return found and f"{self.action}, {self.what}: {found}: {answer.status} {answer.raw[:300]!r}"

    def _wrong(self, answer: Answer) -> str | None:
        if not answer.headers.get("x-amzn-requestid"):
            return "no request id"
        if answer.status == 200:
            return "let through" if self.legal is False else None
        code, message = answer.body["__type"], answer.body["Message"]
        if answer.status != 400 or not message:
            return "no typed refusal"
        if self.legal is False and code != "InvalidInputException":
            return "another error than the model's"
        if self.legal is True and message.startswith(MODELS_REFUSAL):
            return "refused by the model"
        return None if code in _listed(self.action) else "not an error of this action"


def _listed(action: str) -> set[str]:
    """In docs/glue.md; of the crawlers' actions, which stand beside them, in the model."""
    listed = set(ROWS[action].errors) if action in ROWS else declared_errors(action) | {INVALID}
    return {*listed, "SerializationException"}


def usual(action: str, things: Things) -> dict[str, Any]:
    """A request that can be done; what is created has a name that nothing has."""
    body = things.request(action)
    return {**body, "Name": f"made {next(_numbers)}"} if action.startswith("Create") else body


def single_faults(actions: Sequence[str], things: Things) -> Iterator[Request]:
    """Of every action each member; what several actions share is tried in the first (test_model has all the rest)."""
    seen: set[tuple[str, str]] = set()
    for action in actions:
        top = Position(shape=input_shape(action), wrap=lambda value: value, field="")
        for position in _unseen(top, seen):
            for case in cases_at(position):
                what = f"{case.what} at {position.field or 'the top'}"
                body = _filled(case.body, minimal(top.shape), usual(action, things))
                yield Request(action=action, what=what, body=body, legal=case.field is None)


def _unseen(at: Position, seen: set[tuple[str, str]]) -> Iterator[Position]:
    yield at
    for step in steps(at):
        member = (at.shape, step.field.removeprefix(at.field))
        if member not in seen:
            seen.add(member)
            yield from _unseen(step, seen)


def _filled(body: dict[str, Any], plain: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What the model alone has put into a request gives way to what can be done; what the case is about stays."""
    kept = {name: value for name, value in body.items() if name not in given or value != plain.get(name)}
    return {name: kept.get(name, given.get(name)) for name in body}


TEXTS = (
    *("", " ", "\n", "\0", "\t", "a" * 256, "é\u0301", "🚀", "작업", "\u2028", "\ufffe", "'; DROP TABLE jobs; --"),
    *("../../x", "--JOB_NAME", "%s%n", "${x}", "null", "-1", "1e9", "true", "{}", "arn:aws:glue:::job/", "*", "%"),
)
NUMBERS = (0, -1, 1, 2, 0.5, -0.0, 1e308, 5e-324, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1)
ODD: tuple[Any, ...] = (None, True, False, [], {}, [None], {"": None}, {"Name": "x"}, [[[[]]]])
CHOICES: dict[str, Sequence[Any]] = {
    "Schedule": (
        *("cron(15 12 * * ? *)", "rate(5 minutes)", "rate(0 minutes)", "cron(60 * * * ? *)", "cron(* * 31 2 ? *)"),
        *("@daily", "at(2026-11-15T12:00:00)", "at(9999-99-99)", "rate(99999999999999 days)", "cron("),
        *("CRON_TZ=Nowhere/None * * * * *", "CRON_TZ=Asia/Seoul 0 12 * * *"),
    ),
    "ScriptLocation": ("file:///x.py", "s3://bucket/x.py", "../x.py", "a/../../b", "https://", "x" * 2000),
}
LISTS = ("jobs", "triggers", "runs of job", "flows", "flow runs", "x")


class Chance:
    """Requests with all that the model lets them hold, then changed in a few places that nobody chose."""

    def __init__(self, seed: int, things: Things, actions: Sequence[str]) -> None:
        self._random = Random(seed)
        self._things, self._actions = things, actions
        self._choices: dict[str, list[Any]] = defaultdict(list, {name: list(each) for name, each in CHOICES.items()})
        for action in actions:
            self._learn("", things.request(action))

    def requests(self, number: int) -> Iterator[Request]:
        for which, action in enumerate(islice(cycle(self._actions), number)):
            body = self._value(input_shape(action), depth=0)
            if self._random.random() < 0.6:
                body |= usual(action, self._things)
            for _ in range(self._random.choice((0, 0, 1, 1, 2, 3))):
                body = self._changed_inside(body)
            yield Request(action=action, what=f"request {which}", body=self._raw(body))

    def _learn(self, member: str, value: Any) -> None:
        """Which names there are, and of what."""
        match value:
            case dict():
                for name, inner in value.items():
                    self._learn(name, inner)
            case list():
                for inner in value:
                    self._learn(member, inner)
            case str():
                self._choices[member].append(value)

    def _value(self, name: str, depth: int, member: str = "") -> Any:
        of, random = shape(name), self._random
        match of["type"]:
            case "structure":
                likely, required = 0.5 - depth / 8, of.get("required", ())
                wanted = [each for each in of["members"] if each in required or random.random() < likely]
                return {each: self._value(of["members"][each]["shape"], depth + 1, each) for each in wanted}
            case "list":
                size = random.randint(min(of.get("min", 0), 3), min(of.get("max", 3), 3))
                return [self._value(of["member"]["shape"], depth + 1, member) for _ in range(size)]
            case "map":
                keys = random.sample(("--a", "team", "k"), random.randint(0, 2))
                return {key: self._value(of["value"]["shape"], depth + 1) for key in keys}
            case "string" if "enum" in of:
                return random.choice(of["enum"])
            case "string" if member == "NextToken":
                return self._token()
            case "string" if member in self._choices:
                return random.choice(self._choices[member])
            case "boolean":
                return random.random() < 0.5
            case "integer" | "long" | "double":
                return random.randint(int(of.get("min", 0)), int(of.get("max", 20)))
        return minimal(name)

    def _changed(self, value: Any) -> Any:
        if isinstance(value, dict | list) and value and self._random.random() < 0.8:
            return self._changed_inside(value)
        text = self._random.choice(TEXTS) + self._random.choice(("", *TEXTS))
        others = (self._random.choice(NUMBERS), self._random.choice(ODD), [value], [value] * 30, {"a": value})
        return self._random.choice((text, text, *others))

    def _changed_inside(self, value: Any) -> Any:
        """The same but in one place."""
        if isinstance(value, list):
            place = self._random.randrange(len(value))
            return [*value[:place], self._changed(value[place]), *value[place + self._random.randrange(2) :]]
        name = self._random.choice([*value, "Bogus"])
        if self._random.random() < 0.1:
            return {key: kept for key, kept in value.items() if key != name}
        return {**value, name: self._changed(value.get(name))}

    def _token(self) -> str:
        """As ours are built, with anything in them."""
        parts = [self._random.choice((*TEXTS, *NUMBERS, None)) for _ in range(self._random.randint(0, 3))]
        return base64.urlsafe_b64encode(orjson.dumps([self._random.choice(LISTS), *parts])).decode()

    def _raw(self, body: Any) -> bytes:
        """Now and then one byte of it is another."""
        raw = bytearray(orjson.dumps(body))
        if self._random.random() < 0.1:
            raw[self._random.randrange(len(raw))] = self._random.randrange(256)
        return bytes(raw)
