"""Chains as YAML: what `apply` reads, with as few words as say it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final

import yaml

from waterclock.faces.cli.chain.fields import ID, Body, spoken

HEADER: Final = "# Written by `waterclock chain export`; `waterclock chain apply -f FILE` makes it so.\n"
WIDE: Final = 1_000_000  # a value stays on its line


def chain_yaml(body: Body) -> str:
    return _yaml(spoken(body))


def export_yaml(chains: Sequence[Body], stored: Sequence[Body]) -> str:
    """One chain by itself, several as a list; an id only where the job_desc does not tell it apart from all stored."""
    count = Counter(chain["job_desc"] for chain in stored)
    named = [_named(chain, is_unique=bool(chain["job_desc"]) and count[chain["job_desc"]] == 1) for chain in chains]
    return HEADER + _yaml(named[0] if len(named) == 1 else {"chains": named})


def _named(chain: Body, *, is_unique: bool) -> dict[str, Any]:
    return spoken(chain) if is_unique else {ID: chain[ID], **spoken(chain)}


def _yaml(value: Mapping[str, Any]) -> str:
    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=WIDE))
