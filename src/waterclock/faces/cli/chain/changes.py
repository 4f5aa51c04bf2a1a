"""What is new since the last look at a run of a chain, a line each: for what cannot be drawn in place."""

from collections.abc import Iterator
from datetime import UTC, datetime, tzinfo

from waterclock.faces.cli.chain.live import SUCCESS, WAITING, Shown, gate_facts, step_facts, title_of
from waterclock.faces.cli.chain.words import one_line


class Changes:
    """Remembers what was told; a probe that finds what the last one found is not told again."""

    def __init__(self, zone: tzinfo = UTC) -> None:
        self._zone = zone
        self._told: dict[str, object] = {}

    def since_last(self, run: Shown, now: datetime) -> Iterator[str]:
        for gate in run["deps"]:
            verdicts = [probe["verdict"] for probe in gate["probes"] if probe["ended_at"]]
            if self._is_new(gate, (gate["state"], verdicts[-1] if verdicts else None)):
                yield _line(gate, gate_facts(gate, now, self._zone))
        for level in run["levels"]:
            for step in level["steps"]:
                if self._is_new(step, step["state"]):
                    yield _line(step, step_facts(step, now) if step["ended_at"] else "")
        if self._told.get("") != run["status"]:
            self._told[""] = run["status"]
            why = one_line(run["message"]) if run["status"] != SUCCESS else ""
            yield f"run {run['run_id']} of {title_of(run)} is {run['status']}{f': {why}' if why else ''}"

    def _is_new(self, part: Shown, state: object) -> bool:
        """That it waits for its turn is no news."""
        if part["state"] == WAITING or self._told.get(part["node"]) == state:
            return False
        self._told[part["node"]] = state
        return True


def _line(part: Shown, facts: str) -> str:
    return f"{title_of(part)} is {part['state']}{f': {facts}' if facts else ''}"
