"""The sources that a lake job or a probe names: they go with its claim, as they are at that moment.

Which secrets a source has may change after its jobs were made. So the claim adds references to them to the arguments of
the run: whoever hands out secrets, or shows its log, knows them as those of any other run, for good.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from waterclock.domain.claim import Claimed
from waterclock.domain.lake import KINDS
from waterclock.domain.lake_probe import SOURCE
from waterclock.domain.lake_secrets import more_secrets, secrets_in
from waterclock.domain.lake_sync import PROBE, LakeSource
from waterclock.domain.sync_task import source_ids
from waterclock.stores.base import Tx
from waterclock.stores.ops.lake_sources import sources_by_ids
from waterclock.stores.ops.rows import dumped

_NUMBER: Final = re.compile(r"[0-9]{1,18}")


async def with_sources(tx: Tx, claimed: Sequence[Claimed]) -> tuple[Claimed, ...]:
    """One that was deleted, or is another organisation's, is left out: its run will say so."""
    wanted = {(each.attempt.org_id, number) for each in claimed for number in _named(each)}
    if not wanted:
        return tuple(claimed)
    known = await sources_by_ids(tx, wanted)
    return tuple([await _with(tx, each, known) for each in claimed])


def _named(claimed: Claimed) -> frozenset[int]:
    if claimed.spec.kind == PROBE:
        number = claimed.attempt.arguments.get(SOURCE, "")
        return frozenset({int(number)}) if _NUMBER.fullmatch(number) else frozenset()
    task = claimed.spec.call if claimed.spec.kind in KINDS else None
    return source_ids(task) if isinstance(task, Mapping) else frozenset()


async def _with(tx: Tx, claimed: Claimed, known: Mapping[tuple[int, int], LakeSource]) -> Claimed:
    attempt = claimed.attempt
    keys = [(attempt.org_id, number) for number in sorted(_named(claimed))]
    sources = tuple(known[key] for key in keys if key in known)
    names = frozenset[str]().union(*(secrets_in(each.config) for each in sources))
    arguments = more_secrets(attempt.arguments, names)
    if arguments != attempt.arguments:
        row = {"id": attempt.run_id, "run_at": attempt.run_at, "arguments": dumped(arguments)}
        await tx.run("set_run_arguments", row)
        attempt = replace(attempt, arguments=arguments)
    return replace(claimed, attempt=attempt, sources=sources)
