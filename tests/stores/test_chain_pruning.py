"""How long the runs of chains are kept: as the tag of the chain says, on every store."""

from typing import Final

import pytest

from tests.stores.chaining import PASSED, PROBE_SECONDS, Chaining
from tests.stores.store import Store
from waterclock.domain.chain import Chain
from waterclock.domain.gate import Verdict
from waterclock.domain.run import RunState
from waterclock.stores.base import Database
from waterclock.stores.dialect import statements
from waterclock.stores.ops import chain_pruning, pruning
from waterclock.stores.ops.chain_pruning import prune_chain_runs
from waterclock.stores.ops.pruning import Pruned

DAY: Final = 86_400
NOTHING: Final = Pruned(runs=0, log_paths=())
BY_TAG: Final = {"noise": 2.0 * DAY, "important": 400.0 * DAY, "books": float("inf")}


@pytest.fixture
async def chaining(database: Database) -> Chaining:
    chaining = Chaining(database)
    await chaining.lives()
    return chaining


async def ran(chaining: Chaining, chain: Chain) -> int:
    """A run of it, from its first probe to its end."""
    await chaining.lives()
    run_id = await chaining.start_chain(chain)
    await chaining.finish_all()
    return run_id


async def prune(chaining: Chaining) -> list[Pruned]:
    """Page after page, as the pruner does."""
    pages = []
    while (page := await chaining.database.write(prune_chain_runs, keep_seconds=90 * DAY, by_tag=BY_TAG)) != NOTHING:
        pages.append(page)
    return pages


async def count(store: Store, *tables: str) -> list[int]:
    return [(await store.rows(f"SELECT COUNT(*) AS n FROM {table}"))[0]["n"] for table in tables]


async def test_each_tag_is_kept_for_its_own_time_and_the_rest_as_everything_else(chaining: Chaining) -> None:
    tags = ("noise", "other", None, "important", "books")
    chains = [await chaining.chain(1, tag=tag) for tag in tags]
    for chain in chains:
        await ran(chaining, chain)

    async def kept() -> list[str | None]:
        await prune(chaining)
        return [chain.spec.tag for chain in chains if await chaining.runs(chain)]

    found = {}
    for day in (1, 3, 89, 91, 399, 401, 40_000):
        chaining.database.offset_us = 0
        chaining.pass_time(day * DAY)
        found[day] = await kept()
    assert found == {
        1: list(tags),
        3: ["other", None, "important", "books"],
        89: ["other", None, "important", "books"],
        91: ["important", "books"],
        399: ["important", "books"],
        401: ["books"],
        40_000: ["books"],
    }


async def test_a_run_goes_whole_with_its_probes_and_the_paths_of_its_logs(shared: Store) -> None:
    chaining = Chaining(await shared.open())
    await chaining.lives()
    noise, kept = await chaining.chain(1, 2, gates=1, tag="noise"), await chaining.chain(1, tag="important")
    run_id = await chaining.start_chain(noise)
    probes = []
    for verdict in (Verdict.NOT_YET, PASSED):
        probes.append((await chaining.take())["g1"])
        await chaining.probed(probes[-1], verdict)
        chaining.pass_time(PROBE_SECONDS)
    await chaining.finish_all()
    attempts = [attempt for each in (await chaining.whole(run_id)).attempts.values() for attempt in each]
    await ran(chaining, kept)
    chaining.pass_time(3 * DAY)
    (page,) = await prune(chaining)
    assert page.runs == 1
    assert sorted(page.log_paths) == sorted(f"/{attempt.id}" for attempt in attempts)
    assert len(page.log_paths) == 4
    assert await count(shared, "flow_runs", "flow_nodes", "runs", "attempts") == [1, 1, 1, 1]
    assert [run.id for run in await chaining.runs(noise)] == []


async def test_what_lives_is_never_pruned_and_what_ended_late_only_long_after(chaining: Chaining) -> None:
    chain = await chaining.chain(1, tag="noise")
    run_id = await chaining.start_chain(chain)
    chaining.pass_time(3 * DAY)
    assert await prune(chaining) == []
    await chaining.finish_all()
    chaining.pass_time(DAY)
    assert await prune(chaining) == []
    chaining.pass_time(DAY + 1)
    assert [page.runs for page in await prune(chaining)] == [1]
    assert run_id not in [run.id for run in await chaining.runs(chain)]


async def test_the_runs_of_a_deleted_chain_are_kept_as_everything_else(chaining: Chaining) -> None:
    gone, there = await chaining.chain(1, tag="important"), await chaining.chain(1, tag="important")
    run_ids = [await ran(chaining, chain) for chain in (gone, there)]
    await chaining.delete(gone)
    chaining.pass_time(89 * DAY)
    assert await prune(chaining) == []
    assert [(await chaining.run(run_id)).id for run_id in run_ids] == run_ids
    chaining.pass_time(2 * DAY)
    assert [page.runs for page in await prune(chaining)] == [1]
    assert [run.id for run in await chaining.runs(there)] == run_ids[1:]


async def test_the_general_pruning_leaves_chains_alone(chaining: Chaining) -> None:
    chain = await chaining.chain(1, tag="important")
    run_id = await ran(chaining, chain)
    await chaining.job()
    await chaining.start()
    await chaining.run_one()
    chaining.pass_time(100 * DAY)
    assert (await chaining.database.write(pruning.prune_runs, keep_seconds=90 * DAY)).runs == 1
    assert await chaining.database.write(pruning.prune_flow_runs, keep_seconds=90 * DAY) == 0
    assert await chaining.nodes(run_id) == {"s1": RunState.SUCCEEDED}


async def test_a_page_takes_as_many_runs_as_their_attempts_allow(
    chaining: Chaining, monkeypatch: pytest.MonkeyPatch
) -> None:
    chain = await chaining.chain(1, 1, tag="noise")
    for _ in range(5):
        await ran(chaining, chain)
    chaining.pass_time(3 * DAY)
    monkeypatch.setattr(chain_pruning, "MOST_ATTEMPTS", 4)
    monkeypatch.setattr(chain_pruning, "PAGE", 3)
    pages = await prune(chaining)
    assert [page.runs for page in pages] == [2, 2, 1]
    assert sum(len(page.log_paths) for page in pages) == 10


async def test_whoever_looks_for_other_old_runs_does_not_go_through_those_of_chains(shared: Store) -> None:
    """Each has an index of its own, that chains' runs are not in."""
    dialect = {"sqlite": "sqlite", "postgres": "postgres", "mariadb": "mysql"}[shared.kind]
    explain = "EXPLAIN QUERY PLAN" if shared.kind == "sqlite" else "EXPLAIN"
    before = ("SET enable_seqscan = off",) if shared.kind == "postgres" else ()  # empty tables
    of_runs = "runs_rest_ended_at_idx" if shared.kind == "postgres" else "runs_ended"  # of the partition that is asked
    for name, index in (("old_runs", of_runs), ("old_flow_runs", "flow_runs_ended")):
        asked = statements(dialect)[name].replace(":ended", "('FAILED')").replace(":limit", "5")
        asked = asked.replace(":before", "9").replace(":until", "9")
        assert index in str(await shared.rows(*before, f"{explain} {asked}"))
