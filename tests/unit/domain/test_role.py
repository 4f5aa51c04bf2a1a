"""Which machine runs a chain, and who goes on when it dies."""

import pytest

from waterclock.domain.role import NotNow, Role, roles_of, roles_text, who_goes_on, who_runs

MAIN, BKP = Role.MAIN, Role.BKP
BOTH = (MAIN, BKP)


@pytest.mark.parametrize(
    ("roles", "living", "runs"),
    [
        (BOTH, BOTH, MAIN),
        (BOTH, (MAIN,), MAIN),
        (BOTH, (BKP,), BKP),
        ((MAIN,), BOTH, MAIN),
        ((BKP,), BOTH, BKP),
        ((), (), Role.ANY),
    ],
)
def test_main_runs_it_while_it_lives_and_bkp_when_it_does_not(
    roles: tuple[Role, ...], living: tuple[Role, ...], runs: Role
) -> None:
    assert who_runs(roles, living) is runs


@pytest.mark.parametrize(
    ("roles", "living", "said"),
    [((MAIN,), (BKP,), "main is down"), ((BKP,), (MAIN,), "bkp is down"), (BOTH, (), "main and bkp are down")],
)
def test_nobody_runs_what_no_living_machine_is_flagged_for(
    roles: tuple[Role, ...], living: tuple[Role, ...], said: str
) -> None:
    answer = who_runs(roles, living)
    assert isinstance(answer, NotNow)
    assert said in answer.reason


def test_a_run_of_which_no_step_has_begun_goes_on_at_the_other_machine() -> None:
    assert who_goes_on(MAIN, BOTH, (BKP,), begun=False) is BKP
    assert who_goes_on(BKP, BOTH, (MAIN,), begun=False) is MAIN


def test_steps_that_have_begun_are_never_continued_elsewhere() -> None:
    answer = who_goes_on(MAIN, BOTH, (BKP,), begun=True)
    assert isinstance(answer, NotNow)
    assert answer.reason.startswith("main is down, and steps of this run have begun there")


def test_a_run_of_one_machine_waits_for_no_other() -> None:
    assert isinstance(who_goes_on(MAIN, (MAIN,), (BKP,), begun=False), NotNow)
    assert isinstance(who_goes_on(BKP, (BKP,), (MAIN,), begun=False), NotNow)


def test_a_chain_whose_flags_were_taken_away_meanwhile_keeps_to_the_role_of_its_run() -> None:
    assert isinstance(who_goes_on(MAIN, (), (BKP,), begun=False), NotNow)


def test_roles_are_kept_as_text() -> None:
    assert roles_of(roles_text((BKP, MAIN))) == BOTH
    assert roles_of("") == ()
