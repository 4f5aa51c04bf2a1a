"""A Glue endpoint, ours or another: read whole, written one thing at a time, through botocore.

Whatever goes wrong with it is one line that says which endpoint, what, and what to do.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlsplit

from waterclock.faces.cli.client import LOOPBACK, Lost
from waterclock.faces.cli.failure import Failure, Refused
from waterclock.faces.cli.importing.thing import Kind, Thing, thing

BATCH: Final = 25
ATTEMPTS: Final = 8  # once it has answered: AWS throttles who reads much
CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 60
UNKNOWN_KEY: Final = frozenset(
    {
        *("UnrecognizedClientException", "InvalidSignatureException", "InvalidClientTokenId", "SignatureDoesNotMatch"),
        *("MissingAuthenticationTokenException", "ExpiredTokenException", "ExpiredToken", "IncompleteSignature"),
    }
)


class Denied(Failure):
    """One call was refused; the next may not be."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(f"{code}: {message}")


class Endpoint:
    """`hint` says where its credentials are looked for."""

    def __init__(self, session: Any, *, url: str | None, region: str, hint: str, signed: bool = True) -> None:
        self._session, self._url, self._region, self._hint, self._signed = session, url, region, hint, signed
        self._glue = self._client("glue")
        self._account: str | None = None

    def __str__(self) -> str:
        return self._url or f"Glue in {self._region}"

    def greet(self) -> None:
        """One call, tried once: an address or a key that is wrong is told at once."""
        first = self._client("glue", attempts=1)
        try:
            with self._spoken_to():
                first.get_jobs(MaxResults=1)
        except Denied as refused:  # that this key may not list jobs is no matter yet
            if refused.code == "UnknownOperationException":
                raise self._no_glue(refused.code) from None

    def things(self, kinds: Iterable[Kind]) -> Iterator[Thing]:
        """All of these kinds, without their tags."""
        for kind in kinds:
            try:
                yield from (thing(kind, shown) for shown in _READ[kind](self))
            except Denied as refused:
                raise Failure(f"{self} does not let its {kind}s be read: {refused.message}") from None

    def tagged(self, found: Thing) -> Thing:
        answer = self.call("get_tags", ResourceArn=self.arn(found))
        return replace(found, tags=answer.get("Tags", {}))

    def arn(self, found: Thing) -> str:
        with self._spoken_to():
            partition = self._session.get_partition_for_region(self._region)
        return f"arn:{partition}:glue:{self._region}:{self.account()}:{found.kind}/{found.name}"

    def account(self) -> str:
        """Whose it is, as the endpoint's own STS says."""
        if self._account is None:
            sts = self._client("sts")
            with self._spoken_to():
                self._account = str(sts.get_caller_identity()["Account"])
        return self._account

    def call(self, action: str, **given: Any) -> Any:
        with self._spoken_to():
            return getattr(self._glue, action)(**given)

    def _jobs(self) -> Iterator[Any]:
        return self._pages("get_jobs", "Jobs")

    def _triggers(self) -> Iterator[Any]:
        return self._pages("get_triggers", "Triggers")

    def _workflows(self) -> Iterator[Any]:
        names = list(self._pages("list_workflows", "Workflows"))
        for start in range(0, len(names), BATCH):
            yield from self.call("batch_get_workflows", Names=names[start : start + BATCH])["Workflows"]

    def _pages(self, action: str, member: str) -> Iterator[Any]:
        with self._spoken_to():
            for page in self._glue.get_paginator(action).paginate():
                yield from page.get(member, ())

    def _client(self, service: str, *, attempts: int = ATTEMPTS) -> Any:
        from botocore import UNSIGNED
        from botocore.config import Config

        near = self._url is not None and urlsplit(self._url).hostname in LOOPBACK  # no proxy between us and ourselves
        config = Config(
            retries={"total_max_attempts": attempts, "mode": "standard"},
            connect_timeout=CONNECT_SECONDS,
            read_timeout=READ_SECONDS,
            **({"proxies": {}} if near else {}),
            **({} if self._signed else {"signature_version": UNSIGNED}),
        )
        with self._spoken_to():
            return self._session.create_client(service, region_name=self._region, endpoint_url=self._url, config=config)

    @contextmanager
    def _spoken_to(self) -> Iterator[None]:
        from botocore import exceptions as aws
        from botocore.parsers import ResponseParserError

        try:
            yield
        except aws.ClientError as error:
            raise self._refusal(error.response["Error"]) from None
        except (aws.NoCredentialsError, aws.PartialCredentialsError, aws.CredentialRetrievalError):
            raise Refused(f"no credentials for {self}: {self._hint}") from None
        except (aws.EndpointConnectionError, aws.ConnectTimeoutError, aws.ProxyConnectionError):
            raise Lost(f"nothing answers at {self}: see that the address is right and that it serves") from None
        except (aws.HTTPClientError, aws.IncompleteReadError) as error:
            raise Lost(f"{self} stopped answering ({error}): run it again, what was done is not done twice") from None
        except ResponseParserError:
            raise self._no_glue("no JSON") from None
        except (aws.BotoCoreError, ValueError) as error:
            raise Refused(f"{self}: {error}") from None

    def _refusal(self, error: Mapping[str, str]) -> Failure:
        code = error.get("Code", "")
        if code in UNKNOWN_KEY:
            return Refused(f"{self} does not take these credentials ({code}): {self._hint}")
        if not code or code.isdecimal():
            return self._no_glue(code)
        return Denied(code, error.get("Message", ""))

    def _no_glue(self, found: str) -> Failure:
        return Failure(f"{self} does not answer as Glue does ({found}): is it a Glue endpoint?")


_READ: Final = {Kind.JOB: Endpoint._jobs, Kind.WORKFLOW: Endpoint._workflows, Kind.TRIGGER: Endpoint._triggers}
