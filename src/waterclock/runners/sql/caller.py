"""Whoever holds a line to the host: a worker, which only holds it, or the thin program of a query."""

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from waterclock.runners import wire
from waterclock.runners.proc import Process
from waterclock.runners.sql.forks import Fork
from waterclock.runners.sql.peer import Peer


class CallerState(StrEnum):
    HOLDING = "holding"
    WAITING = "waiting"  # for an executor
    RUNNING = "running"
    ENDING = "ending"  # nothing of its query may be left; it is told once that is so
    TOLD = "told"  # how its query ended


@dataclass(eq=False, slots=True, kw_only=True)
class Caller:
    peer: Peer
    program: Process
    state: CallerState = CallerState.HOLDING
    order: dict[str, Any] | None = None
    memory_bytes: int | None = None  # that its engine may have, where that is a process of its own
    party: str = ""
    fork: Fork | None = None

    def ask(self, order: dict[str, Any], memory_bytes: int | None) -> None:
        self.order, self.party, self.state = order, party_of(order), CallerState.WAITING
        self.memory_bytes = memory_bytes

    def tell_end(self, how: wire.Message) -> None:
        """Once; there may be nobody left to hear it."""
        self.state, self.fork = CallerState.TOLD, None
        if not self.peer.is_gone:
            self.peer.send(how)


def party_of(order: dict[str, Any]) -> str:
    """Whose order it is: an executor that has served one organisation, with one key to its buckets, serves no other."""
    keys = json.dumps([order["org_id"], order["s3"]], sort_keys=True)
    return hashlib.sha256(keys.encode()).hexdigest()
