"""Cores that are shared: nobody is slowed down by nothing, and what is too much waits."""

import pytest

from bench.scale.shared_cores import SharedCores


def test_who_is_alone_takes_as_long_as_it_takes() -> None:
    cores = SharedCores(1)
    cores.ask(0.001)
    assert cores.stretch(1) == pytest.approx(1.001)


def test_more_than_there_are_cores_share_them() -> None:
    assert SharedCores(2).stretch(4) == 2


def test_what_is_too_much_for_a_second_waits_for_the_next() -> None:
    cores = SharedCores(2)
    cores.ask(5)
    assert cores.second() == 1.5
    assert cores.second() == 0.5
    assert cores.second() == 0
    assert cores.busy == 5


def test_fires_come_out_of_the_same_cores() -> None:
    cores = SharedCores(2)
    cores.fire(1.5)
    cores.ask(1)
    assert cores.second() == 0.25
