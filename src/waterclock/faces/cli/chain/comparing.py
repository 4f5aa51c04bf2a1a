"""What files say against what is stored, decided from both: which chain each describes, and what differs. Pure."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from enum import StrEnum
from typing import Any

from waterclock.faces.cli.chain.fields import GATES, ID, KEPT, PARTS, STEPS, Body, normal
from waterclock.faces.cli.chain.place import Fault
from waterclock.faces.cli.chain.yaml_file import Definition
from waterclock.faces.cli.chain.yaml_writing import chain_yaml


class Verdict(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    SAME = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What makes the stored chain (None: there is none yet) the one that the file describes: `body`, whole."""

    definition: Definition
    verdict: Verdict
    chain_id: int | None
    body: dict[str, Any]
    stored: Body | None
    differs: tuple[str, ...] = ()


def compare(definitions: Sequence[Definition], stored: Sequence[Body]) -> tuple[list[Change], list[Fault]]:
    """In the order of the files. What is stored and in no file stays as it is."""
    by_id: dict[int, Body] = {chain[ID]: chain for chain in stored}
    by_desc: defaultdict[str, list[Body]] = defaultdict(list)
    for chain in stored:
        by_desc[chain["job_desc"] or ""].append(chain)
    renamed = {each.job_desc: each for each in definitions if each.id is not None}
    changes, faults, taken = list[Change](), list[Fault](), dict[int | str, Definition]()
    for each in definitions:
        found = _found(each, by_id, by_desc)
        if isinstance(found, Fault):
            faults.append(found)
            continue
        key: int | str = found[ID] if found else each.job_desc or ""
        if other := taken.get(key) or (renamed.get(each.job_desc) if each.id is None else None):
            faults.append(_fault(each, f"the same chain is at {other.place}: give each its own id or job_desc"))
        taken[key] = each
        changes.append(_change(each, found))
    return changes, faults


def new_body(definition: Definition) -> dict[str, Any]:
    """Of a chain that is not stored: whole, but for a zone that nobody named: that is the server's own."""
    return {name: value for name, value in normal(definition.body).items() if value is not None}


def diff_lines(change: Change) -> list[str]:
    """As `diff -u` prints them, of what is stored and of what the file says, both as YAML."""
    before = chain_yaml(change.stored).splitlines() if change.stored else []
    after = chain_yaml(change.body).splitlines()
    old = f"chain {change.chain_id} (stored)" if change.stored else "(not stored)"
    new = f"{change.definition.title} ({change.definition.place})"
    return list(unified_diff(before, after, old, new, lineterm=""))


def differences(one: Mapping[str, Any], other: Mapping[str, Any]) -> tuple[str, ...]:
    """The paths of the fields that are not the same, of two normal bodies."""
    found = [name for name in one if name not in PARTS and one[name] != other[name]]
    for name in (GATES, STEPS):
        if len(one[name]) != len(other[name]):
            found.append(name)
            continue
        for number, (left, right) in enumerate(zip(one[name], other[name], strict=True)):
            found += [f"{name}[{number}].{key}" for key in left if left[key] != right[key]]
    return tuple(found)


def _found(each: Definition, by_id: Mapping[int, Body], by_desc: Mapping[str, Sequence[Body]]) -> Body | Fault | None:
    if each.id is not None:
        return by_id.get(each.id) or _fault(
            each, f"there is no chain {each.id}: leave the id out, and it is made and found by its job_desc", ID
        )
    same = by_desc.get(each.job_desc or "", ())
    if len(same) > 1:
        ids = ", ".join(str(chain[ID]) for chain in same)
        return _fault(
            each, f"{len(same)} stored chains are called {each.job_desc!r}: give the id, of {ids}", "job_desc"
        )
    return same[0] if same else None


def _change(each: Definition, stored: Body | None) -> Change:
    body = new_body(each)
    if stored is None:
        return Change(definition=each, verdict=Verdict.CREATE, chain_id=None, body=body, stored=None)
    body |= {name: stored[name] for name in KEPT if name not in each.body}
    differs = differences(normal(body), normal(stored))
    verdict = Verdict.UPDATE if differs else Verdict.SAME
    return Change(definition=each, verdict=verdict, chain_id=stored[ID], body=body, stored=stored, differs=differs)


def _fault(each: Definition, reason: str, field: str = "") -> Fault:
    return Fault(place=each.places.get(field, each.place), at=each.path(field), reason=reason)
