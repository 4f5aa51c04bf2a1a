"""Which worker takes which run: shares, turns, memory, and the reasons for waiting."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from waterclock.domain.moment import SECOND
from waterclock.domain.placement import (
    AGED_US,
    BUSY_PAUSE_SECONDS,
    MB,
    MOST_MB,
    ROUNDS,
    Asked,
    Others,
    Waiting,
    Worker,
    asked_mb,
    deference_seconds,
    fitting,
    others,
    pause_seconds,
    share,
    why_waiting,
)

ROOMS = st.lists(st.integers(0, 100), min_size=1, max_size=12)
NOW = 1_000 * SECOND
PLAIN = Asked(org_id=1, queue="default", labels="", role="", memory_mb=0)


# Shares


@given(waiting=st.integers(0, 2_000), rooms=ROOMS)
def test_workers_that_claim_at_once_leave_nothing_that_they_have_room_for(waiting: int, rooms: Sequence[int]) -> None:
    total = sum(rooms)
    shares = [share(waiting, room=room, others_room=total - room) for room in rooms if room]
    assert min(waiting, total) <= sum(shares) <= waiting + len(shares)


@given(waiting=st.integers(0, 2_000), room=st.integers(1, 1_000), others_room=st.integers(0, 10_000))
def test_a_share_is_never_negative_nor_more_than_there_is_room_for(waiting: int, room: int, others_room: int) -> None:
    found = share(waiting, room=room, others_room=others_room)
    assert min(waiting, 1) <= found <= min(waiting, room)


@given(waiting=st.integers(1, 500), room=st.integers(1, 1_000), others_room=st.integers(0, 10_000))
def test_nothing_is_left_for_ever_to_others_that_never_come(waiting: int, room: int, others_room: int) -> None:
    for _ in range(ROUNDS):
        waiting -= share(waiting, room=room, others_room=others_room)
    assert waiting - share(waiting, room=room + waiting, others_room=0) == 0


@given(each=st.integers(1, 30), more=st.integers(0, 7), count=st.integers(2, 8), room=st.integers(30, 64))
def test_equal_workers_that_claim_one_after_another_take_all_and_none_more_than_twice_another(
    each: int, more: int, count: int, room: int
) -> None:
    """None hears what the others take meanwhile; in each further round the idlest comes first."""
    taken, left = [0] * count, each * count + min(more, (room - each) * count)
    for round_ in range(ROUNDS + 1):
        for n in sorted(range(count), key=lambda n: taken[n]):
            others_room = (count - 1) * room if round_ < ROUNDS else 0
            took = share(left, room=room - taken[n], others_room=others_room)
            taken[n], left = taken[n] + took, left - took
    assert left == 0
    assert max(taken) <= 2 * min(taken)


def test_alone_a_worker_takes_all_that_it_has_room_for() -> None:
    assert [share(waiting, room=10, others_room=0) for waiting in (0, 3, 10, 99)] == [0, 3, 10, 10]


# Turns


@given(load=st.floats(0, 1), least=st.floats(0, 1), room=st.integers(0, 100))
def test_only_a_busier_worker_waits_and_never_long(load: float, least: float, room: int) -> None:
    waits = deference_seconds(load, Others(room=room, load=least))
    assert 0 <= waits <= BUSY_PAUSE_SECONDS
    assert (waits > 0) <= (room > 0 and load > least)


def test_of_two_workers_the_idler_one_comes_back_first() -> None:
    assert pause_seconds(0.0, 1) < pause_seconds(0.5, 1) < pause_seconds(0.5, 2)
    assert sum(pause_seconds(1.0, rounds) for rounds in range(1, ROUNDS + 1)) < 0.5


def test_others_are_those_of_our_queues_that_have_room() -> None:
    workers = [
        Worker(host="me", queues=("a",), slots=10),
        Worker(host="idle", queues=("a", "b"), slots=10, running=1),
        Worker(host="busy", queues=("b",), slots=10, running=8),
        Worker(host="full", queues=("a",), slots=10, running=12),
        Worker(host="elsewhere", queues=("c",), slots=10),
        Worker(host="older", queues=(), slots=4, running=2),
    ]
    assert others(workers, host="me", queues=("a", "b")) == Others(room=9 + 2 + 2, load=0.1)
    assert others(workers[:1], host="me", queues=("a",)) == Others(room=0)


# Memory


@given(sizes=st.lists(st.integers(0, 500), max_size=30), ages=st.data(), free_mb=st.integers(0, 1_000))
def test_what_is_taken_fits_and_nothing_overtakes_an_aged_one(
    sizes: list[int], ages: st.DataObject, free_mb: int
) -> None:
    dues = sorted(ages.draw(st.lists(st.integers(0, NOW), min_size=len(sizes), max_size=len(sizes))))
    waiting = [Waiting(id=n, due_at=due, memory_mb=mb) for n, (mb, due) in enumerate(zip(sizes, dues, strict=True))]
    taken = fitting(waiting, free_mb=free_mb, now=NOW)
    assert sum(sizes[n] for n in taken) <= free_mb
    assert [n for n, mb in enumerate(sizes) if mb == 0 and n not in taken] == []
    aged = [each.id for each in waiting if each.due_at <= NOW - AGED_US and each.id not in taken]
    assert not aged or all(sizes[n] == 0 for n in taken if n > min(aged))


def test_a_limit_is_rounded_up_to_what_the_column_holds() -> None:
    assert [asked_mb({"memory_bytes": size}) for size in (1, MB, MB + 1, 2**62)] == [1, 1, 2, MOST_MB]
    assert asked_mb({"processes": 7}) == 0


# Why


def test_a_worker_of_another_organisation_or_role_is_of_no_use() -> None:
    theirs = Worker(host="a", queues=("default",), slots=1, org_id=2)
    assert why_waiting(PLAIN, [theirs]) == "no worker is alive"
    main = Worker(host="b", queues=("default",), slots=1, role="main")
    backup = Asked(org_id=1, queue="default", labels="", role="bkp", memory_mb=0)
    assert why_waiting(backup, [main]) == "no live worker that serves queue default has role bkp"
    assert why_waiting(PLAIN, [theirs, main]) is None
