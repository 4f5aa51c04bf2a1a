"""Addresses of channels, as apprise writes them: which are taken, what is shown of one, and what in it is secret."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote, unquote_plus

from waterclock.domain.errors import InvalidInput, NotAllowed
from waterclock.domain.masking import LEAST_CHARACTERS, Masks
from waterclock.notices.hearing import heard

if TYPE_CHECKING:
    from apprise import NotifyBase

LONGEST: Final = 2_000
LONGEST_SHOWN: Final = 1_000
MISSING: Final = "notification channels need apprise: install waterclock[notify] on every host that serves or schedules"

MAIL: Final = frozenset({"mailto", "mailtos"})
WEBHOOKS: Final = frozenset({"json", "jsons", "xml", "xmls", "form", "forms"})
SELF_HOSTED: Final = frozenset({"gotify", "gotifys", "mmost", "mmosts", "rocket", "rockets"})
OWN_HOST: Final = MAIL | WEBHOOKS | SELF_HOSTED  # the address names it
SERVICES: Final = frozenset(
    {
        *("dingtalk", "discord", "feishu", "gchat", "lark", "line", "mailgun", "ntfy", "ntfys", "opsgenie"),
        *("pagerduty", "pover", "sendgrid", "ses", "signl4", "slack", "sns", "splunk", "tgram", "twilio"),
        *("victorops", "webex", "workflow", "workflows", "wxteams", "zulip"),
    }
)
SCHEMES: Final = OWN_HOST | SERVICES

# What an address may not ask for: files of this host, and what is ours to decide.
READ_FILES: Final = frozenset({"template", "pgp", "pgpkey", "pgppub", "pgpprv", "wkd"})
OURS: Final = frozenset({"retry", "wait", "rto", "cto", "timeout", "redirect", "optional", "store"})
NOT_SECRET: Final = frozenset({"to", "from", "cc", "bcc", "reply", "name", "smtp", "mode", "format", "method"})

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def service_of(address: str) -> "NotifyBase":
    """Whoever sends there; `InvalidInput` says what is wrong, and never repeats the address."""
    try:
        import apprise
        from apprise.exception import AppriseException
    except ImportError:
        raise NotAllowed(MISSING) from None
    _check_text(address)
    # One at a time, in the thread of the caller; nobody leads us elsewhere; nothing is kept on disk.
    asset = apprise.AppriseAsset(
        app_id="waterclock", async_mode=False, http_redirects=False, allow_templates=False, storage_mode="memory"
    )
    try:
        with heard():  # it writes the address into its log, when it cannot read one
            found = apprise.Apprise.instantiate(address, asset=asset, suppress_exceptions=False)
    except (AppriseException, TypeError, ValueError) as problem:
        raise _bad(f"cannot be read: {secrets_of(address).text(str(problem))}") from None
    if found is None:
        raise _bad(_unreadable(address))
    _check_service(found)
    found.socket_connect_timeout, found.socket_read_timeout = 10.0, 10.0
    return found


def host_of(service: "NotifyBase") -> str | None:
    """The host that the address names; None where a service has its own."""
    if not OWN_HOST & set(_schemes(service)):
        return None
    host = str(getattr(service, "smtp_host", None) or service.host or "")
    return host.removeprefix("[").removesuffix("]")


def shown(address: str, service: "NotifyBase") -> str:
    """Where it leads, without what opens the door there."""
    masked = str(service.url(privacy=True)).partition("?")[0]  # type: ignore[no-untyped-call]
    if set(_schemes(service)) & (WEBHOOKS | {"ntfy"}):  # there the path may be as good as a password
        scheme, _, rest = masked.partition("://")
        host, _, path = rest.partition("/")
        masked = f"{scheme}://{host}" + ("/***" if path else "")
    return secrets_of(address).text(masked)[:LONGEST_SHOWN]


def secrets_of(address: str) -> Masks:
    """All of it that is neither its scheme, its host nor whom it is for."""
    return Masks.of(each for each in _secrets(address) if len(each) >= LEAST_CHARACTERS)


def _check_text(address: str) -> None:
    if len(address) > LONGEST:
        raise _bad(f"must have at most {LONGEST} characters")
    if not address.isprintable():
        raise _bad("cannot hold line ends or control characters")
    match = _SCHEME.match(address)
    if match is None:
        raise _bad("must be an address such as mailto://user:password@host?to=ops@firm or jsons://host/path")
    scheme = match[1].lower()
    if scheme not in SCHEMES | {"https"}:
        hint = " (a webhook is json://, xml:// or form://)" if scheme == "http" else ""
        raise _bad(f"the scheme {scheme!r} is not served{hint}; known are {', '.join(sorted(SCHEMES))}")
    if scheme in OWN_HOST and not re.split("[/?#]", address[match.end() :])[0].rpartition("@")[2]:
        raise _bad("names no host")
    for name in _options(address):
        if name in READ_FILES:
            raise _bad(f"the option {name!r} would read files of this host")
        if name in OURS:
            raise _bad(f"the option {name!r} is not for you to set: waterclock decides when and how often it tries")


def _check_service(service: "NotifyBase") -> None:
    schemes = set(_schemes(service))
    if not SCHEMES & schemes:
        raise _bad(f"{service.service_name} is not served; known are {', '.join(sorted(SCHEMES))}")
    if isinstance(service.port, int) and not 0 < service.port < 65_536:
        raise _bad("the port must be 1 to 65535")
    if MAIL & schemes and not getattr(service, "targets", ()):
        raise _bad("names nobody who could be told: give them as ?to=")


def _unreadable(address: str) -> str:
    scheme = address.partition("://")[0].lower()
    if scheme == "https":
        return "is no address of a service that is known here; a webhook of your own is jsons://host/path"
    return f"cannot be read as an address of {scheme}: see apprise's page on it"


def _schemes(service: "NotifyBase") -> Iterator[str]:
    for attribute in ("protocol", "secure_protocol"):
        names: object = getattr(service, attribute, None)
        yield from (names,) if isinstance(names, str) else names if isinstance(names, tuple) else ()


def _options(address: str) -> Iterator[str]:
    return (name for name, _ in _pairs(address.partition("?")[2]))


def _secrets(address: str) -> Iterator[str]:
    """As they stand there, and as they are meant."""
    rest = address.partition("://")[2]
    place, _, query = rest.partition("?")
    authority, _, path = place.partition("/")
    account, _, host = authority.rpartition("@")
    own = address.partition("://")[0].lower() in OWN_HOST
    parts = [account.partition(":")[2], *path.split("/"), *([] if own else [host, account])]
    parts += [value for name, value in _pairs(query) if name not in NOT_SECRET]
    for part in parts:
        yield from {part, unquote(part)}


def _pairs(query: str) -> Iterator[tuple[str, str]]:
    for pair in re.split("[&;]", query):
        name, _, value = pair.partition("=")
        yield unquote_plus(name).strip().lower(), value


def _bad(reason: str) -> InvalidInput:
    return InvalidInput(reason, field="url")
