"""Calls that a client repeats after a lost answer: the first answer is given again, for a quarter of an hour."""

import secrets
from collections.abc import Collection, Mapping
from typing import Final

from waterclock.domain.moment import MINUTE, Moment
from waterclock.stores.base import Tx

KEPT: Final = 15 * MINUTE
PAGE: Final = 1_000


async def remember(tx: Tx, answers: Mapping[str, str], now: Moment) -> Mapping[str, str]:
    """The answer that stands for each digest: the one given here, or that of an earlier call.

    It is done before the work. A copy of the call, wherever it is made, waits until this transaction has ended: then it
    finds the answer, or nothing at all. In the order of the digests, so that nobody waits in a circle.
    """
    rows = [{"digest": digest, "answer": answers[digest], "now": now} for digest in sorted(answers)]
    if not rows or await tx.run_many("remember_call", rows) == len(rows):
        return answers
    found = await tx.fetch("answers_of_calls", {"digests": sorted(answers)})
    expired = [row["digest"] for row in found if row["created_at"] <= now - KEPT]
    if expired:
        await tx.run("forget_calls", {"digests": expired, "until": now - KEPT})
        return await remember(tx, answers, now)
    return {row["digest"]: row["answer"] for row in found}


async def answered(tx: Tx, digests: Collection[str], now: Moment) -> Mapping[str, str]:
    """Those that stand already, of calls that nobody may be making any more."""
    found = await tx.fetch("answers_of_calls", {"digests": sorted(digests)}) if digests else ()
    return {row["digest"]: row["answer"] for row in found if row["created_at"] > now - KEPT}


async def was_done(tx: Tx, digest: str) -> bool:
    """Whether an earlier copy of this call, whose answer says nothing, has done its work."""
    mine = secrets.token_hex(16)
    return (await remember(tx, {digest: mine}, await tx.now()))[digest] != mine


async def forget(tx: Tx, digests: Collection[str], now: Moment) -> None:
    """A call that was refused has left nothing: when it is repeated it is a new try."""
    if digests:
        await tx.run("forget_calls", {"digests": sorted(digests), "until": now})


async def prune_calls(tx: Tx) -> int:
    """One page of what has expired; how many. Call again while it finds something."""
    until = await tx.now() - KEPT
    digests = [row["digest"] for row in await tx.fetch("old_calls", {"until": until, "limit": PAGE})]
    if digests:
        await tx.run("forget_calls", {"digests": digests, "until": until})
    return len(digests)
