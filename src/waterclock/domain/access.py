"""Who calls, and what a role may do."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from waterclock.domain.errors import Forbidden


class Role(StrEnum):
    VIEWER = "viewer"
    OPERATOR = "operator"  # run and stop
    AUTHOR = "author"  # define: defining a job is code execution
    ADMIN = "admin"
    WORKER = "worker"  # no person: a worker without a database, which runs what others define


class Right(StrEnum):
    READ = "read"
    RUN = "run and stop"
    DEFINE = "define"
    ADMINISTER = "administer"
    WORK = "claim and run work for the cluster"


RIGHTS: Final = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.OPERATOR: frozenset({Right.READ, Right.RUN}),
    Role.AUTHOR: frozenset({Right.READ, Right.RUN, Right.DEFINE}),
    Role.ADMIN: frozenset(Right) - {Right.WORK},
    Role.WORKER: frozenset({Right.WORK}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Organisation:
    id: int
    account: str  # 12 digits, Glue's
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    id: int
    org_id: int
    account: str
    name: str
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Users who own things together. Its name is no user's: either may stand as an owner."""

    id: int
    org_id: int
    name: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Whom a key or a token speaks for: a user with their groups, in the name of one of these if it was made for it."""

    user: User
    groups: frozenset[str] = frozenset()
    group: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """First in every service call: who, for which organisation, from where, under which request."""

    user: str
    org_id: int
    account: str
    role: Role
    address: str
    request_id: str
    call_id: str | None = None  # the client's own name for this call: the same when it repeats it
    groups: frozenset[str] = frozenset()
    group: str | None = None  # in whose name the call is made, where it is not the user's own

    @property
    def owner(self) -> str:
        """Of what this caller makes."""
        return self.group or self.user

    def needs(self, right: Right) -> None:
        if right not in RIGHTS[self.role]:
            raise Forbidden(f"user {self.user!r} ({self.role}) may not {right}")

    def owns(self, kind: str, name: str, owner: str) -> None:
        if owner != self.user and owner not in self.groups and self.role is not Role.ADMIN:
            raise Forbidden(
                f"{kind} {name!r} belongs to {owner!r}: only its owner (a group's members) or an admin may change it"
            )
