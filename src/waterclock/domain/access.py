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


class Right(StrEnum):
    READ = "read"
    RUN = "run and stop"
    DEFINE = "define"
    ADMINISTER = "administer"


RIGHTS: Final = {
    Role.VIEWER: frozenset({Right.READ}),
    Role.OPERATOR: frozenset({Right.READ, Right.RUN}),
    Role.AUTHOR: frozenset({Right.READ, Right.RUN, Right.DEFINE}),
    Role.ADMIN: frozenset(Right),
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
class Caller:
    """First in every service call: who, for which organisation, from where, under which request."""

    user: str
    org_id: int
    account: str
    role: Role
    address: str
    request_id: str

    def needs(self, right: Right) -> None:
        if right not in RIGHTS[self.role]:
            raise Forbidden(f"user {self.user!r} ({self.role}) may not {right}")

    def owns(self, kind: str, name: str, owner: str) -> None:
        if self.user != owner and self.role is not Role.ADMIN:
            raise Forbidden(f"{kind} {name!r} belongs to {owner!r}: only its owner or an admin may change it")
