"""Carries a plan out, one chain after another: each is made by one call, and what fails does not hold up the rest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.faces.cli.client import Client, Taken
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.importing.applying import Done
from waterclock.faces.cli.importing.plan import Verdict
from waterclock.faces.cli.importing.schedulerdb.plan import Shown, Step, change, differences

CHAINS: Final = "/chains"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    step: Step
    done: Done
    why: str | None = None


def chains_here(client: Client) -> list[Shown]:
    return list(client.items(CHAINS))


class Applying:
    def __init__(self, client: Client, *, update: bool = False) -> None:
        self._client = client
        self._update = update

    def carry_out(self, steps: Sequence[Step]) -> Iterator[Result]:
        """What was done, as it is done."""
        for step in steps:
            try:
                yield self._take(step)
            except Refused as refused:
                yield Result(step=step, done=Done.FAILED, why=refused.format_message())

    def _take(self, step: Step) -> Result:
        match step.verdict:
            case Verdict.CREATE:
                return self._created(step)
            case Verdict.DIFFERS if self._update and not step.chain.is_readable:
                return Result(step=step, done=Done.LEFT, why="its timestr there cannot be read")
            case Verdict.DIFFERS if self._update:
                return self._updated(step)
            case Verdict.DIFFERS:
                return Result(step=step, done=Done.LEFT, why=f"differs in {', '.join(step.differs)}")
            case Verdict.SAME:
                return Result(step=step, done=Done.SAME)
        return Result(step=step, done=Done.LEFT_OUT, why="; ".join(step.reasons))

    def _created(self, step: Step) -> Result:
        body = dict(step.chain.body or {})
        if step.renumbered:
            body.pop("id")
        try:
            made = self._post(body, step.source)
        except Taken:
            return self._met(step, body)
        number = f"as chain {made['id']}" if made["id"] != step.chain.id else None
        return Result(step=step, done=Done.CREATED, why=number)

    def _met(self, step: Step, body: dict[str, object]) -> Result:
        """An answer was lost, somebody else brought it in meanwhile, or another chain has its number."""
        here = next((shown for shown in chains_here(self._client) if shown["source"] == step.source), None)
        if here is None:
            body.pop("id", None)
            return Result(step=step, done=Done.CREATED, why=f"as chain {self._post(body, step.source)['id']}")
        if differs := differences(step.chain, here):
            return Result(step=step, done=Done.FAILED, why=f"is here, but differs in {', '.join(differs)}")
        return Result(step=step, done=Done.CREATED)

    def _updated(self, step: Step) -> Result:
        assert step.here is not None
        path = f"{CHAINS}/{step.here['id']}"
        now: Shown = self._client.put(path, change(step.chain, step.here))
        if differs := differences(step.chain, now):
            return Result(step=step, done=Done.FAILED, why=f"still differs in {', '.join(differs)}")
        return Result(step=step, done=Done.UPDATED)

    def _post(self, chain: dict[str, object], source: str) -> Shown:
        made: Shown = self._client.post(f"{CHAINS}/import", {"chain": chain, "source": source})
        return made
