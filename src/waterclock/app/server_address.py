"""Where the servers of a worker over HTTP are, and the token for them: checked before anything is asked."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from waterclock.domain.errors import InvalidInput
from waterclock.settings import LOOPBACK, NO_TOKEN, Settings

log: Final = logging.getLogger("waterclock.worker")


def servers_of(text: str) -> Sequence[str]:
    found = [each.strip().rstrip("/") for each in text.split(",") if each.strip()]
    for server in found:
        _check_address(server)
    if not found:
        raise InvalidInput("names no server", field="server")
    return found


def _check_address(server: str) -> None:
    try:
        address = urlsplit(server)
        port = address.port
    except ValueError:
        raise InvalidInput(f"{server!r} is no address", field="server") from None
    if address.scheme not in ("http", "https") or not address.hostname or port == 0:
        raise InvalidInput(f"must be http:// or https:// addresses, not {server!r}", field="server")
    if address.scheme == "http" and address.hostname not in LOOPBACK:
        log.warning("%s: without TLS whoever is on the way reads the token and the secrets of jobs", server)


def token_of(settings: Settings) -> str:
    if settings.token:
        return _checked(settings.token, field="token")
    if settings.token_file:
        return read_token(Path(settings.token_file))
    raise InvalidInput(NO_TOKEN, field="token")


def read_token(path: Path) -> str:
    try:
        return _checked(path.read_text(encoding="utf-8"), field="token_file")
    except (OSError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"cannot read the token in {path}: {problem}", field="token_file") from None


def _checked(text: str, *, field: str) -> str:
    """Never with the token in the answer."""
    token = text.strip()
    if not token or not token.isascii() or len(token.split()) > 1:
        raise InvalidInput("is no token: one word that begins with wct_", field=field)
    return token
