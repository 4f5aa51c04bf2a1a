"""Calls that a client repeats after a lost answer: the first answer is given again, for a quarter of an hour."""

from collections.abc import Collection, Mapping
from typing import Final

from waterclock.domain.moment import MINUTE, Moment
from waterclock.stores.base import Tx

KEPT: Final = 15 * MINUTE


async def remember(tx: Tx, answers: Mapping[str, str], now: Moment) -> dict[str, str]:
    """The answer that stands for each digest: the one given here, or that of an earlier call.

    It is done before the work. A copy of the call, wherever it is made, waits until this transaction has ended: then it
    finds the answer, or nothing at all. In the order of the digests, so that nobody waits in a circle.
    """
    if not answers:
        return {}
    rows = [
        {"digest": digest, "answer": answer, "now": now, "expired": now - KEPT}
        for digest, answer in sorted(answers.items())
    ]
    await tx.run_many("remember_call", rows)
    found = await tx.fetch("answers_of_calls", {"digests": sorted(answers)})
    return {row["digest"]: row["answer"] for row in found}


async def forget(tx: Tx, digests: Collection[str]) -> None:
    """A call that was refused has left nothing: when it is repeated it is a new try."""
    if digests:
        await tx.run("forget_calls", {"digests": sorted(digests)})


async def prune_calls(tx: Tx) -> None:
    await tx.run("forget_old_calls", {"before": await tx.now() - KEPT})
