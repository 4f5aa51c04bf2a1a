"""A fire of a chain that did not run: a message tells operators, in the transaction that records it."""

from collections.abc import Sequence

from waterclock.domain.message import MessageKind, NewMessage, Severity
from waterclock.domain.moment import Moment, to_iso
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.chain_failing import with_chain
from waterclock.stores.ops.messages import add_messages


async def tell_of_skips(tx: Tx, skipped: Sequence[tuple[Row, Moment, str]], now: Moment) -> None:
    """`skipped` are the trigger, the instant and the reason."""
    if not skipped:
        return
    names = sorted({trigger["flow_name"] for trigger, _, _ in skipped})
    chains = {(row["org_id"], row["name"]): row for row in await tx.fetch("chains_of_flow_names", {"names": names})}
    await add_messages(tx, [_message(*each, chains) for each in skipped], now)


def _message(trigger: Row, fire_at: Moment, reason: str, chains: dict[tuple[int, str], Row]) -> NewMessage:
    message = NewMessage(
        org_id=trigger["org_id"],
        kind=MessageKind.SKIPPED,
        severity=Severity.WARNING,
        subject=trigger["flow_name"],
        body=f"not run at {to_iso(fire_at)}: {reason}",
    )
    return with_chain(message, chains.get((trigger["org_id"], trigger["flow_name"])))
