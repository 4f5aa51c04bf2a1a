"""Who may call: users with their keys and tokens, made at first start, revocable within seconds."""

import hashlib
import secrets
import string
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from waterclock import clock
from waterclock.domain.access import Caller, Identity, Right, Role, User
from waterclock.domain.errors import InvalidInput, NotAllowed
from waterclock.domain.moment import Moment
from waterclock.services.secretbox import SecretBox
from waterclock.stores.base import Database, Tx
from waterclock.stores.ops import access as ops
from waterclock.stores.ops.access import Credential

FIRST_ORGANISATION: Final = 1
FIRST_ACCOUNT: Final = "123456789012"
ADMIN: Final = "admin"
REMEMBER_SECONDS: Final = 3.0  # a revoked key is refused within this time
TOKEN_PREFIX: Final = "wct_"

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """Shown once."""

    id: str
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FirstStart:
    """What the very first start of a store makes."""

    key: NewKey
    token: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Secret:
    """A live key's secret and whom it speaks for: what a signature is checked with."""

    secret: str
    identity: Identity


class Access:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box
        self._keys: _Remembered[Secret] = _Remembered()
        self._tokens: _Remembered[Identity] = _Remembered()

    async def first_start(self, keep: Callable[[FirstStart], None]) -> bool:
        """An organisation, an admin, a key and a token where there is no user yet; `keep` them before they are live."""
        if await self._database.read(ops.count_users):
            return False
        key = _new_key()
        token, digest = _new_token()
        keep(FirstStart(key=key, token=token))
        return await self._database.write(
            _first_start, key_id=key.id, sealed_secret=self._box.seal(key.secret, context=key.id), digest=digest
        )

    async def secret_of(self, key_id: str) -> Secret | None:
        remembered = self._keys.get(key_id)
        if remembered is not None:
            return remembered
        found = await self._database.read(ops.find_access_key, key_id=key_id)
        if found is None:
            return None
        secret = Secret(secret=self._box.open(found.sealed_secret, context=found.id), identity=found.identity)
        self._keys.put(key_id, secret)
        return secret

    async def identity_of(self, token: str) -> Identity | None:
        digest = _digest(token)
        identity = self._tokens.get(digest) or await self._database.read(ops.find_token, digest=digest)
        if identity is not None:
            self._tokens.put(digest, identity)
        return identity

    async def create_user(self, caller: Caller, name: str, role: Role) -> User:
        caller.needs(Right.ADMINISTER)
        check_name("user", name)
        return await self._database.write(ops.create_user, org_id=caller.org_id, name=name, role=role)

    async def list_users(self, caller: Caller) -> Sequence[User]:
        caller.needs(Right.READ)
        return await self._database.read(ops.list_users, org_id=caller.org_id)

    async def change_role(self, caller: Caller, name: str, role: Role) -> None:
        caller.needs(Right.ADMINISTER)
        _not_oneself(caller, name)
        await self._database.write(ops.change_role, org_id=caller.org_id, name=name, role=role)

    async def delete_user(self, caller: Caller, name: str) -> None:
        caller.needs(Right.ADMINISTER)
        _not_oneself(caller, name)
        await self._database.write(ops.delete_user, org_id=caller.org_id, name=name)

    async def create_key(self, caller: Caller, user_name: str, *, group: str | None = None) -> NewKey:
        """For a group the key makes what the group owns; without one, what the user owns."""
        self._for_oneself_or_admin(caller, user_name)
        key = _new_key()
        await self._database.write(
            ops.add_access_key,
            org_id=caller.org_id,
            user_name=user_name,
            key_id=key.id,
            sealed_secret=self._box.seal(key.secret, context=key.id),
            group=group,
        )
        return key

    async def list_keys(self, caller: Caller, user_name: str) -> Sequence[Credential]:
        self._for_oneself_or_admin(caller, user_name)
        return await self._database.read(ops.list_access_keys, org_id=caller.org_id, user_name=user_name)

    async def revoke_key(self, caller: Caller, user_name: str, key_id: str) -> None:
        self._for_oneself_or_admin(caller, user_name)
        await self._database.write(ops.revoke_access_key, org_id=caller.org_id, user_name=user_name, key_id=key_id)
        self._keys.forget(key_id)

    async def create_token(
        self,
        caller: Caller,
        user_name: str,
        name: str,
        *,
        expires_at: Moment | None = None,
        group: str | None = None,
    ) -> str:
        self._for_oneself_or_admin(caller, user_name)
        token, digest = _new_token()
        await self._database.write(
            ops.add_token,
            org_id=caller.org_id,
            user_name=user_name,
            name=name,
            digest=digest,
            expires_at=expires_at,
            group=group,
        )
        return token

    async def list_tokens(self, caller: Caller, user_name: str) -> Sequence[Credential]:
        self._for_oneself_or_admin(caller, user_name)
        return await self._database.read(ops.list_tokens, org_id=caller.org_id, user_name=user_name)

    async def revoke_token(self, caller: Caller, user_name: str, token_id: int) -> None:
        self._for_oneself_or_admin(caller, user_name)
        await self._database.write(ops.revoke_token, org_id=caller.org_id, user_name=user_name, token_id=token_id)

    @staticmethod
    def _for_oneself_or_admin(caller: Caller, user_name: str) -> None:
        caller.needs(Right.READ if caller.user == user_name else Right.ADMINISTER)


def check_name(kind: str, name: str) -> None:
    if not name or len(name) > 255 or not name.isprintable():
        raise InvalidInput(f"a {kind} name has 1 to 255 printable characters", field="name", value=name)


class _Remembered(Generic[T]):
    """What was looked up lately, so that a busy client costs no query per call."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[float, T]] = {}

    def get(self, key: str) -> T | None:
        kept = self._kept.get(key)
        return kept[1] if kept and kept[0] > clock.monotonic() else None

    def put(self, key: str, value: T) -> None:
        if key in self._kept and self._kept[key][0] > clock.monotonic():
            return  # the time runs from the look-up, not from the last use
        self._kept[key] = (clock.monotonic() + REMEMBER_SECONDS, value)
        if len(self._kept) > 10_000:
            self._kept.clear()

    def forget(self, key: str) -> None:
        self._kept.pop(key, None)


async def _first_start(tx: Tx, *, key_id: str, sealed_secret: str, digest: str) -> bool:
    if await ops.count_users(tx):
        return False
    org = await ops.create_organisation(tx, account=FIRST_ACCOUNT, name="waterclock")
    await ops.create_user(tx, org_id=org.id, name=ADMIN, role=Role.ADMIN)
    await ops.add_access_key(tx, org_id=org.id, user_name=ADMIN, key_id=key_id, sealed_secret=sealed_secret)
    await ops.add_token(tx, org_id=org.id, user_name=ADMIN, name="first start", digest=digest, expires_at=None)
    return True


def _new_key() -> NewKey:
    """Of letters and digits alone: a secret that begins with a dash would pass for an option on a command line."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
    return NewKey(id="AKWC" + _drawn(letters, 16), secret=_drawn(string.ascii_letters + string.digits, 40))


def _drawn(letters: str, count: int) -> str:
    return "".join(secrets.choice(letters) for _ in range(count))


def _new_token() -> tuple[str, str]:
    token = TOKEN_PREFIX + secrets.token_urlsafe(32)
    return token, _digest(token)


def _digest(token: str) -> str:
    """Tokens are random: a plain hash is enough, and nothing that is stored can be used as one."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


def _not_oneself(caller: Caller, name: str) -> None:
    if caller.user == name:
        raise NotAllowed("ask another admin: nobody changes the role of, or deletes, themselves")
