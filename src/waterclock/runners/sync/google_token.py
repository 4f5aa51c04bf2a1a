"""What Google lets a service account in with: a token, fetched for a statement that the account's key has signed."""

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from waterclock.runners.sync.service.config import service_of
from waterclock.runners.sync.service.given import Given
from waterclock.runners.sync.source import SourceFailed

SCOPE: Final = "https://www.googleapis.com/auth/spreadsheets.readonly"
TOKEN_URI: Final = "https://oauth2.googleapis.com/token"
GRANT: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"
_LIFE_SECONDS: Final = 3_600


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceAccount:
    email: str
    key_id: str
    private_key: str = field(repr=False)
    token_uri: str

    def statement(self, now_seconds: int) -> str:
        """A JWT (RFC 7523), signed by RS256."""
        header = {"alg": "RS256", "typ": "JWT", **({"kid": self.key_id} if self.key_id else {})}
        claims = {
            "iss": self.email,
            "scope": SCOPE,
            "aud": self.token_uri,
            "iat": now_seconds,
            "exp": now_seconds + _LIFE_SECONDS,
        }
        signed = f"{_part(header)}.{_part(claims)}"
        return f"{signed}.{_base64(self._signature(signed.encode()))}"

    def _signature(self, data: bytes) -> bytes:
        from cryptography.hazmat.primitives import hashes
        from cryptography.hazmat.primitives.asymmetric import padding, rsa
        from cryptography.hazmat.primitives.serialization import load_pem_private_key

        try:
            key = load_pem_private_key(self.private_key.encode(), password=None)
        except (ValueError, TypeError):
            raise SourceFailed("service_account.private_key is no key in PEM that can be read") from None
        if not isinstance(key, rsa.RSAPrivateKey):
            raise SourceFailed("service_account.private_key is no RSA key")
        return key.sign(data, padding.PKCS1v15(), hashes.SHA256())


def account_of(config: Mapping[str, Any]) -> ServiceAccount:
    """As Google gives it out: a JSON file, here as its text or read already."""
    given = config.get("service_account")
    try:
        account = Given(json.loads(given) if isinstance(given, str) else given, "service_account.")
    except ValueError:
        raise SourceFailed("service_account is no JSON") from None
    return ServiceAccount(
        email=account.text("client_email"),
        key_id=account.text("private_key_id", ""),
        private_key=account.text("private_key"),
        token_uri=_address(Given(config).text("token_uri", account.text("token_uri", TOKEN_URI))),
    )


def _address(token_uri: str) -> str:
    """Checked as a service's own address is."""
    return service_of({"base_url": token_uri}).base_url + ("/" if token_uri.endswith("/") else "")


def _part(content: Mapping[str, object]) -> str:
    return _base64(json.dumps(content, separators=(",", ":")).encode())


def _base64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")
