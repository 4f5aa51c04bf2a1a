"""Secrets: set by authors, given to programs, read back by nobody. They lie in the store sealed, version by version."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from waterclock.domain.access import Caller, Right
from waterclock.domain.channel import seal_context
from waterclock.domain.errors import AlreadyExists, CannotRun, Forbidden, InvalidInput, NotAllowed, Unavailable
from waterclock.domain.masking import Masks
from waterclock.domain.run import Attempt
from waterclock.domain.secret import Secret, check_secret_name, check_secret_value
from waterclock.services.access import FIRST_ORGANISATION
from waterclock.services.paging import Page, PageRequest, page_of, position
from waterclock.services.secretbox import KeyFileRefused, SecretBox, SecretUnreadable
from waterclock.stores.base import Database
from waterclock.stores.ops import secrets as ops
from waterclock.stores.ops.secrets import SealedPlace, SealedVersion

TRIES: Final = 5  # where others set the same secret at the same moment
LONGEST_DESCRIPTION: Final = 1_000
RESEALED_AT_ONCE: Final = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Rotation:
    key_id: str
    resealed: int
    unreadable: int  # sealed with a key that the file no longer has


class Secrets:
    def __init__(self, database: Database, box: SecretBox) -> None:
        self._database = database
        self._box = box

    async def put(self, caller: Caller, name: str, value: str, description: str | None = None) -> Secret:
        """A new secret, or a new version of one that the caller owns."""
        caller.needs(Right.DEFINE)
        check_secret_name(name)
        check_secret_value(value)
        if description is not None and len(description) > LONGEST_DESCRIPTION:
            raise InvalidInput(f"must have at most {LONGEST_DESCRIPTION} characters", field="description")
        for _ in range(TRIES):
            if made := await self._try_to_put(caller, name, value, description):
                return made
        raise Unavailable(f"others set the secret {name!r} at the same moment: try again")

    async def list(self, caller: Caller, page: PageRequest) -> Page[Secret]:
        """Names, never values."""
        caller.needs(Right.READ)
        after = position("secrets", page.token, (str,))
        found = await self._database.read(
            ops.list_secrets, org_id=caller.org_id, after=str(after[0]) if after else "", limit=page.size + 1
        )
        return page_of("secrets", found, page.size, lambda secret: (secret.name,))

    async def delete(self, caller: Caller, name: str) -> Secret:
        """No run is given it from now on; what it was stays masked."""
        caller.needs(Right.DEFINE)
        return await self._database.write(ops.delete_secret, org_id=caller.org_id, name=name, allow=_changeable(caller))

    async def rotate_key(self, caller: Caller) -> Rotation:
        """A new key seals from now on, and all that is stored is sealed with it again."""
        caller.needs(Right.ADMINISTER)
        if caller.org_id != FIRST_ORGANISATION:
            raise Forbidden("the key seals the secrets of all organisations: only admins of the first may rotate it")
        key_id = self._box.rotate()
        current = self._box.beginning
        secrets = await self._database.read(ops.stale_secrets, current=current)
        keys = await self._database.read(ops.stale_access_keys, current=current)
        channels = await self._database.read(ops.stale_channels, current=current)
        stale = [(place, _context(*place.key)) for place in secrets] + [(place, str(place.key[0])) for place in keys]
        stale += [(place, seal_context(*place.key)) for place in channels]
        done = await self._reseal(stale)
        return Rotation(key_id=key_id, resealed=done, unreadable=len(stale) - done)

    def sealing(self, org_id: int) -> Callable[[str, int, str], str]:
        """Seals a value for its name and version: for who sets a secret together with what it belongs to."""
        self._box.make_ready()
        return lambda name, version, value: self._box.seal(value, context=_context(org_id, name, version))

    # For those who run programs and show their logs: no caller, because nobody is shown a value.

    async def values(self, org_id: int, names: Collection[str]) -> Mapping[str, str]:
        """What a program is given: of each name the last version; `CannotRun` where one is not to be had."""
        try:
            last = {version.name: (version, text) for version, text in await self._opened(org_id, names)}
        except (SecretUnreadable, KeyFileRefused) as problem:
            raise CannotRun(
                f"cannot open its secrets here: {problem}; a worker needs the key file that the API has"
            ) from problem
        for name in sorted(names):
            if name not in last:
                raise CannotRun(f"there is no secret {name!r}: set it with `waterclock secret set {name}`")
            if last[name][0].deleted_at is not None:
                raise CannotRun(f"the secret {name!r} was deleted: set it again, or take it out of the arguments")
        return {name: text for name, (_, text) in last.items()}

    async def masks(self, org_id: int, names: Collection[str]) -> Masks:
        """What the output of a run with these secrets must not show."""
        return Masks.of(await self.texts(org_id, names))

    async def texts(self, org_id: int, names: Collection[str]) -> Sequence[str]:
        """Every version that they ever had: what is to be masked."""
        try:
            return [text for _, text in await self._opened(org_id, names)]
        except (SecretUnreadable, KeyFileRefused) as problem:
            raise NotAllowed(
                f"the log cannot be shown: its secrets cannot be opened here, so they cannot be masked ({problem})"
            ) from problem

    async def _opened(self, org_id: int, names: Collection[str]) -> Sequence[tuple[SealedVersion, str]]:
        versions = await self._database.read(ops.secret_versions, org_id=org_id, names=names)
        return [
            (each, self._box.open(each.sealed, context=_context(org_id, each.name, each.version))) for each in versions
        ]

    async def _try_to_put(self, caller: Caller, name: str, value: str, description: str | None) -> Secret | None:
        version = await self._database.read(ops.next_version, org_id=caller.org_id, name=name)
        sealed = self._box.seal(value, context=_context(caller.org_id, name, version))
        try:
            return await self._database.write(
                ops.add_version,
                org_id=caller.org_id,
                name=name,
                version=version,
                sealed=sealed,
                owner=caller.owner,
                description=description,
                by=caller.user,
                allow=_changeable(caller),
            )
        except AlreadyExists:
            return None

    async def _reseal(self, stale: Sequence[tuple[SealedPlace, str]]) -> int:
        opened = []
        for place, context in stale:
            try:
                opened.append((place, self._box.seal(self._box.open(place.sealed, context=context), context=context)))
            except SecretUnreadable:
                continue
        for first in range(0, len(opened), RESEALED_AT_ONCE):
            await self._database.write(ops.reseal, places=opened[first : first + RESEALED_AT_ONCE])
        return len(opened)


class SecretsOfRuns:
    """What a worker with the key file gives to the programs of any organisation."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets

    async def values(self, attempt: Attempt, names: Collection[str]) -> Mapping[str, str]:
        return await self._secrets.values(attempt.org_id, names)

    async def masks(self, attempt: Attempt, names: Collection[str]) -> Masks:
        return await self._secrets.masks(attempt.org_id, names)


def _changeable(caller: Caller) -> Callable[[Secret], None]:
    return lambda secret: caller.owns("secret", secret.name, secret.owner)


def _context(org_id: object, name: object, version: object) -> str:
    return f"{org_id}/{name}/{version}"
