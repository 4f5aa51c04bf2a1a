"""A channel for the tests of the API, whose address the server itself would refuse."""

from tests.faces.api.serving import Served
from waterclock.domain.access import Caller, Role
from waterclock.domain.message import ChannelRules
from waterclock.notices.apprise_sender import AppriseSender
from waterclock.services.channels import Channels
from waterclock.services.secretbox import SecretBox

NOWHERE = "json://127.0.0.1:9"  # a private address: no connection is ever made


async def make_channel(server: Served, name: str, tag: str) -> None:
    admin = Caller(user="admin", org_id=1, account="", role=Role.ADMIN, address="", request_id="")
    channels = Channels(server.database, SecretBox(server.folder / "secret.keys"), AppriseSender(private=True))
    await channels.create(admin, name, NOWHERE, ChannelRules(tags=(tag,)))
