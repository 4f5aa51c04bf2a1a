"""Which of two machines runs a chain: main while it lives, bkp when it does not, never both."""

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Role(StrEnum):
    ANY = ""  # no matter which
    MAIN = "main"
    BKP = "bkp"


NODE_ROLES: Final = (Role.MAIN, Role.BKP)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotNow:
    """Nobody may run it; the reason is kept with the SKIPPED fire."""

    reason: str


def who_runs(roles: Collection[Role], living: Collection[Role]) -> Role | NotNow:
    """`roles` are those that the chain is flagged for, none meaning that it does not matter."""
    if not roles:
        return Role.ANY
    for role in NODE_ROLES:
        if role in roles and role in living:
            return role
    down = " and ".join(role for role in NODE_ROLES if role in roles)
    return NotNow(reason=f"{down} {'is' if len(roles) == 1 else 'are'} down: no worker of that role has a heartbeat")


def who_goes_on(given: Role, roles: Collection[Role], living: Collection[Role], *, begun: bool) -> Role | NotNow:
    """With a run that was given to a role which is down now: what has begun there is never continued elsewhere.

    `roles` are the chain's flags as they are today; one that has lost them all keeps to the role that it was given.
    """
    if begun:
        return NotNow(reason=f"{given} is down, and steps of this run have begun there: they are never run elsewhere")
    return who_runs(roles or (given,), living)


def roles_of(text: str) -> tuple[Role, ...]:
    """As a flow's row has them."""
    return tuple(Role(each) for each in text.split(",") if each)


def roles_text(roles: Collection[Role]) -> str:
    return ",".join(role for role in NODE_ROLES if role in roles)
