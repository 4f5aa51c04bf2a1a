"""Chains from YAML files: every fault with its place, all of them found before anything is done.

A value is read as what its field is, from the text that stands there: `switch: on` is ON, `tag: 007` stays 007.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import yaml

from waterclock.faces.cli.chain.fields import CHAIN, ID, PARTS, REQUIRED, Body, Kind
from waterclock.faces.cli.chain.place import Fault, Place
from waterclock.faces.cli.chain.yaml_scalars import scalar
from waterclock.faces.cli.chain.yaml_text import NoYaml, compose, is_null, place_of

MANY: Final = "chains"
ANYTHING: Final = "x-"  # a name that begins so may hold anchors; nobody else looks at it
MERGE: Final = "tag:yaml.org,2002:merge"
MOST_VALUES: Final = 1_000_000  # aliases may multiply what is written
MOST_MERGES: Final = 20
MOST_FAULTS: Final = 100

Pair = tuple[yaml.Node, yaml.Node]  # a name and its value


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One chain of a file: what is said of it, and where."""

    place: Place
    at: str  # its path in the file: chains[1], or nothing
    body: Body
    places: Mapping[str, Place]  # of its fields: jobs[0].step_lvl

    @property
    def id(self) -> int | None:
        found: int | None = self.body.get(ID)
        return found

    @property
    def job_desc(self) -> str | None:
        found: str | None = self.body.get("job_desc")
        return found

    @property
    def title(self) -> str:
        return self.job_desc or f"chain {self.id}"

    def path(self, field: str) -> str:
        return _within(self.at, field)


class TooMuch(Exception):
    """Reading it to the end is of no use."""


def read_chains(text: str, file: str) -> tuple[list[Definition], list[Fault]]:
    """All that it describes, or all that is wrong with it."""
    reader = _Reader(file)
    try:
        found = list(reader.definitions(compose(text, file)))
    except NoYaml as problem:
        return [], [problem.fault]
    except TooMuch as problem:
        return [], [*reader.faults, Fault(place=Place(file=file, line=1, column=1), reason=str(problem))]
    if not found and not reader.faults:
        reader.faults.append(Fault(place=Place(file=file, line=1, column=1), reason="holds no chain"))
    return ([], reader.faults) if reader.faults else (found, [])


class _Reader:
    def __init__(self, file: str) -> None:
        self._file = file
        self._left = MOST_VALUES
        self.faults: list[Fault] = []

    def definitions(self, roots: Sequence[yaml.Node]) -> Iterator[Definition]:
        for root in roots:
            if not isinstance(root, yaml.MappingNode):
                self._fault(root, "", f"must be one chain, or `{MANY}:` with a list of them")
            elif any(_text(key) == MANY for key, _ in root.value):
                yield from self._many(root)
            else:
                yield self._chain(root, "")

    def _many(self, root: yaml.MappingNode) -> Iterator[Definition]:
        pairs = self._pairs(root, "", (MANY,), free=ANYTHING)
        for number, each in enumerate(self._list(pairs[MANY], MANY)):
            yield self._chain(each, f"{MANY}[{number}]")

    def _chain(self, node: yaml.Node, at: str) -> Definition:
        places: dict[str, Place] = {}
        body = self._mapping(node, at, "", CHAIN, REQUIRED[""], places)
        if ID not in body and body.get("job_desc", "") == "" and isinstance(node, yaml.MappingNode):
            self._fault(node, at, "needs a job_desc, or the id of a chain: by it the chain is found again")
        return Definition(place=place_of(node, self._file), at=at, body=body, places=places)

    def _mapping(
        self,
        node: yaml.Node,
        at: str,
        field: str,
        known: Mapping[str, Kind],
        required: Iterable[str],
        places: dict[str, Place],
    ) -> dict[str, Any]:
        """`field` is the path inside the chain. What is null is as good as not given."""
        path = _within(at, field)
        self._count()
        if not isinstance(node, yaml.MappingNode):
            self._fault(node, path, "must be fields, `name: value`")
            return {}
        found: dict[str, Any] = {}
        for name, value in self._pairs(node, path, tuple(known)).items():
            inner = _within(field, name)
            places[inner] = place_of(value, self._file)
            if is_null(value):
                continue
            if known[name] is Kind.PARTS:
                found[name] = self._parts(value, at, name, places)
            else:
                found[name] = self._scalar(value, _within(at, inner), known[name])
        for name in required:
            if name not in found:
                self._fault(node, _within(path, name), "is required")
        return found

    def _parts(self, node: yaml.Node, at: str, name: str, places: dict[str, Place]) -> list[dict[str, Any]]:
        found = []
        for number, each in enumerate(self._list(node, _within(at, name))):
            field = f"{name}[{number}]"
            places[field] = place_of(each, self._file)
            found.append(self._mapping(each, at, field, PARTS[name], REQUIRED[name], places))
        return found

    def _pairs(self, node: yaml.MappingNode, at: str, known: Sequence[str], free: str = "\0") -> dict[str, yaml.Node]:
        found: dict[str, yaml.Node] = {}
        for name, (key, value) in self._all(node, at).items():
            if name in known:
                found[name] = value
            elif not name.startswith(free):
                self._fault(key, _within(at, name), f"unknown field; known here: {', '.join(known)}")
        return found

    def _all(self, node: yaml.MappingNode, at: str, depth: int = 0) -> dict[str, Pair]:
        """Its own pairs, and what `<<: *anchor` brings along; what is nearer wins."""
        own, merged = dict[str, Pair](), dict[str, Pair]()
        for key, value in node.value:
            self._count()
            name = _text(key)
            if key.tag == MERGE:
                for source in self._sources(value, at, depth):
                    merged = self._all(source, at, depth + 1) | merged
            elif name in own:
                self._fault(key, _within(at, name), "is given twice")
            else:
                own[name] = (key, value)
        return merged | own

    def _sources(self, node: yaml.Node, at: str, depth: int) -> Sequence[yaml.MappingNode]:
        given = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found = [source for source in given if isinstance(source, yaml.MappingNode)]
        if len(found) < len(given) or depth == MOST_MERGES:
            self._fault(node, _within(at, "<<"), "must be an alias of fields that are not themselves in it")
            return ()
        return found

    def _list(self, node: yaml.Node, at: str) -> Sequence[yaml.Node]:
        if isinstance(node, yaml.SequenceNode):
            found: list[yaml.Node] = node.value
            return found
        self._fault(node, at, "must be a list, each entry with a dash before it")
        return ()

    def _scalar(self, node: yaml.Node, at: str, kind: Kind) -> Any:
        self._count()
        try:
            return scalar(node, kind)
        except ValueError as problem:
            self._fault(node, at, str(problem))
        return None

    def _count(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooMuch(f"holds more than {MOST_VALUES} values once its aliases are followed")

    def _fault(self, node: yaml.Node, at: str, reason: str) -> None:
        self.faults.append(Fault(place=place_of(node, self._file), at=at, reason=reason))
        if len(self.faults) == MOST_FAULTS:
            raise TooMuch(f"has {MOST_FAULTS} faults and perhaps more")


def _text(key: yaml.Node) -> str:
    return str(key.value) if isinstance(key, yaml.ScalarNode) else "?"


def _within(at: str, field: str) -> str:
    if not at or not field:
        return at or field
    return f"{at}{field}" if field.startswith("[") else f"{at}.{field}"
