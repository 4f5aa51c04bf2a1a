"""What becomes of each chain of the old tables: made as it stands, made OFF, or not at all, and why. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterclock.domain.arguments import check_arguments
from waterclock.domain.chain import PYTHON, ChainSpec, Gate, Step, Switch, check
from waterclock.domain.errors import InvalidInput
from waterclock.faces.cli.importing.schedulerdb.findings import (
    Finding,
    Weight,
    cannot,
    findings,
    minutes_of,
    switch_of,
    unreadable,
)
from waterclock.faces.cli.importing.schedulerdb.tables import CHAINS, GATES, STEPS, Row, Tables

Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One chain; without a body it cannot be carried over. The body is as POST /chains/import takes it."""

    id: int
    title: str
    body: Body | None
    findings: tuple[Finding, ...] = ()

    def said(self, weight: Weight) -> tuple[str, ...]:
        return tuple(finding.text for finding in self.findings if finding.weight is weight)

    @property
    def is_readable(self) -> bool:
        return self.body is not None and unreadable(self.body["timestr"], self.body["timezone"]) is None

    @property
    def switch(self) -> Switch:
        """As it will be here."""
        is_on = self.body is not None and self.body["switch"] == Switch.ON and not self.said(Weight.OFF)
        return Switch.ON if is_on else Switch.OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Stray:
    """A gate or a step of a chain that does not exist."""

    table: str
    id: int
    chain_id: int

    @property
    def reason(self) -> str:
        return f"belongs to chain {self.chain_id}, which {CHAINS} does not have"


def judge(tables: Tables, *, timezone: str, off: bool = False) -> tuple[Judged, ...]:
    """In the order of their ids. `off` brings in everything switched off."""
    gates, steps = _by_chain(tables.gates, "jobchainid"), _by_chain(tables.steps, "job_chain_id")
    return tuple(_judged(row, gates[row["id"]], steps[row["id"]], timezone, off) for row in tables.chains)


def strays(tables: Tables) -> tuple[Stray, ...]:
    known = {row["id"] for row in tables.chains}
    parts = [(GATES, row["id"], row["jobchainid"]) for row in tables.gates]
    parts += [(STEPS, row["id"], row["job_chain_id"]) for row in tables.steps]
    return tuple(Stray(table=table, id=part, chain_id=chain) for table, part, chain in parts if chain not in known)


def _by_chain(rows: Sequence[Row], column: str) -> Mapping[int, Sequence[Row]]:
    found: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row[column]].append(row)
    return found


def _judged(row: Row, gates: Sequence[Row], steps: Sequence[Row], timezone: str, off: bool) -> Judged:
    title = row["job_desc"] or f"{CHAINS}#{row['id']}"
    found = tuple(findings(row, gates, steps, timezone))
    if not _refused(found):
        body = _body(row, gates, steps, timezone, off)
        found += tuple(_answers(body))
        if not _refused(found):
            return Judged(id=row["id"], title=title, body=body, findings=found)
    return Judged(id=row["id"], title=title, body=None, findings=found)


def _refused(found: Sequence[Finding]) -> bool:
    return any(finding.weight is Weight.CANNOT for finding in found)


def _answers(body: Body) -> Iterator[Finding]:
    """What our own server would refuse it for."""
    spec = ChainSpec(
        timestr=body["timestr"],
        timezone=body["timezone"],
        dep_ot=body.get("dep_ot"),
        gates=tuple(Gate(**part) for part in body["deps"]),
        steps=tuple(Step(**part) for part in body["jobs"]),
    )
    try:
        check(spec)
        check_arguments(*({"command": part["command"]} for part in (*body["deps"], *body["jobs"])))
    except InvalidInput as refused:
        yield cannot(str(refused))


def _body(row: Row, gates: Sequence[Row], steps: Sequence[Row], timezone: str, off: bool) -> Body:
    return _given(
        id=row["id"],
        job_desc=row["job_desc"] or None,
        timestr=row["timestr"] or "",
        timezone=timezone,
        dep_ot=row["dep_ot"] if (row["dep_ot"] or 0) > 0 else None,
        switch=Switch.OFF.value if off else switch_of(row["switch"]),
        main_flag=int(bool(row["main_flag"])),
        BKP_flag=int(bool(row["BKP_flag"])),
        tag=row["tag"] or None,
        subtag=row["subtag"] or None,
        deps=[_part(gate, desc=gate["desc"] or None) for gate in gates],
        jobs=[_part(step, step_lvl=step["step_lvl"], job_desc=step["job_desc"] or None) for step in steps],
    )


def _part(row: Row, **more: object) -> dict[str, Any]:
    env = (row["env"] or "").strip() or PYTHON
    return _given(env=env, command=row["command"], ottime=minutes_of(row["ottime"]), **more)


def _given(**values: object) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}
