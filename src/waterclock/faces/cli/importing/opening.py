"""Which endpoints an import reads from and writes to, and with whose credentials."""

import configparser
from functools import cache
from pathlib import Path
from typing import Any, Final

from waterclock.faces.cli.connecting import DATA_DIR
from waterclock.faces.cli.failure import Refused
from waterclock.faces.cli.importing.endpoint import Endpoint

REGION: Final = "us-east-1"  # of an endpoint that was named and does not care
THEIRS: Final = "give the profile in --from-profile, or keys in AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
OURS: Final = "give the server's data directory in --data-dir, or a profile with an author's key in --to-profile"


def source(url: str | None, profile: str | None, region: str | None) -> Endpoint:
    """AWS itself, or the endpoint at `url`, as the caller's own profile or environment says."""
    session = _session(profile)
    chosen = region or _region_of(session) or (REGION if url else None)
    if chosen is None:
        raise Refused("no region to read from: give one in --region, or in the profile")
    if url is None and chosen not in _regions(session):
        raise Refused(
            f"{chosen!r} is no region that Glue is known to be in; a new one's address goes in --from-endpoint"
        )
    return Endpoint(session, url=url, region=chosen, hint=THEIRS)


def target(url: str, profile: str | None, data_dir: Path | None) -> Endpoint:
    """A server of ours: with the key in its data directory, or unsigned, which `--auth none` takes."""
    if profile is not None:
        session = _session(profile)
        return Endpoint(session, url=url, region=_region_of(session) or REGION, hint=OURS)
    keys = read_keys((data_dir or Path(DATA_DIR)) / "credentials")
    session = _session(None, environment=False)
    if keys is not None:
        session.set_credentials(*keys)
    return Endpoint(session, url=url, region=REGION, hint=OURS, signed=keys is not None)


def read_keys(path: Path) -> tuple[str, str] | None:
    """What the first start wrote; None where it wrote nothing."""
    found = configparser.RawConfigParser()
    try:
        found.read(path)
        return found["default"]["aws_access_key_id"], found["default"]["aws_secret_access_key"]
    except KeyError:
        return None
    except (OSError, UnicodeDecodeError, configparser.Error) as problem:
        raise Refused(f"cannot read the key in {path}: {problem}") from None


def _session(profile: str | None, *, environment: bool = True) -> Any:
    from botocore.session import Session

    nobodys = None if environment else {"profile": (None, None, None, None)}  # AWS_PROFILE speaks of the source
    session = Session(profile=profile, session_vars=nobodys)
    session.register_component("data_loader", _models())
    return session


@cache
def _models() -> Any:
    """Glue's is large: it is parsed once for both sides."""
    from botocore.loaders import Loader

    return Loader()


def _region_of(session: Any) -> str | None:
    from botocore.exceptions import BotoCoreError

    try:
        found: str | None = session.get_config_variable("region")
    except BotoCoreError as problem:  # no such profile, or a file that cannot be read
        raise Refused(str(problem)) from None
    return found


def _regions(session: Any) -> set[str]:
    partitions = session.get_available_partitions()
    return {region for each in partitions for region in session.get_available_regions("glue", each)}
