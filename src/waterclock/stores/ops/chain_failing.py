"""A node of a chain that did not succeed: the chain's run says why it failed, and a message tells operators.

In the transaction that ends the node's run: no failure without its message, and never two of one failure.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from waterclock.domain.flow import FlowRun, FlowState, Node
from waterclock.domain.message import LONGEST_OUTPUT, MessageKind, NewMessage, Severity
from waterclock.domain.moment import Moment
from waterclock.domain.run import RunState
from waterclock.stores.base import Row, Tx
from waterclock.stores.ops.advancing import Advance
from waterclock.stores.ops.messages import add_messages
from waterclock.stores.ops.rows import storable

GIVEN_UP: Final = "not begun: another part of its chain has failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd:
    """A run that has no retry left, and how it ended."""

    run: Row
    state: RunState
    message: str | None
    output: str | None
    node: str | None  # the worker that had its last attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    run: FlowRun
    node: Node
    end: RunEnd

    @property
    def reason(self) -> str:
        stage = self.run.graph.stage_of(self.node.id).name
        return f"{stage}, {self.node.title!r}: {self.end.state}" + (f": {self.end.message}" if self.end.message else "")


def failures_of(advances: Iterable[Advance], ended: Sequence[RunEnd]) -> list[Failure]:
    """Of strict graphs' runs that nobody has stopped; the first is what the run says of itself."""
    by_run = {advance.run.id: advance for advance in advances if advance.run.graph.strict}
    found = []
    for end in ended:
        advance = by_run.get(end.run["flow_run_id"])
        if advance is None or advance.state is not FlowState.RUNNING or end.state is RunState.SUCCEEDED:
            continue
        failure = Failure(run=advance.run, node=advance.run.graph.node(end.run["flow_node"]), end=end)
        advance.message = advance.message or storable(failure.reason)
        found.append(failure)
    return found


async def tell_of_failures(tx: Tx, failures: Sequence[Failure], now: Moment) -> None:
    """None for what was given up because another part had failed."""
    told = [failure for failure in failures if failure.end.message != GIVEN_UP]
    if not told:
        return
    chains = await chains_of_flows(tx, {failure.run.flow_id for failure in told})
    await add_messages(tx, [_message(failure, chains.get(failure.run.flow_id)) for failure in told], now)


async def chains_of_flows(tx: Tx, flow_ids: Iterable[int]) -> Mapping[int, Row]:
    """What a message says of a chain: its number, title and tags."""
    ids = sorted(flow_ids)
    return {row["flow_id"]: row for row in await tx.fetch("chains_of_flows", {"flow_ids": ids})} if ids else {}


def with_chain(message: NewMessage, chain: Row | None) -> NewMessage:
    """Under the chain's title, with its number and tags."""
    if chain is None:
        return message
    subject = chain["job_desc"] or message.subject
    return replace(message, subject=subject, chain_id=chain["id"], tag=chain["tag"], subtag=chain["subtag"])


def _message(failure: Failure, chain: Row | None) -> NewMessage:
    output = (failure.end.output or "")[-LONGEST_OUTPUT:]
    message = NewMessage(
        org_id=failure.run.org_id,
        kind=MessageKind.GATE_FAILED if failure.node.probing else MessageKind.FAILED,
        severity=Severity.ERROR,
        subject=failure.run.flow_name,
        body=f"{failure.reason}\n{output}".rstrip(),
        run_id=failure.end.run["id"],
        flow_run_id=failure.run.id,
        node=failure.end.node,
    )
    return with_chain(message, chain)
