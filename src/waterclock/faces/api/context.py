"""What the API is given by the composition root: the services, by name."""

import asyncio
from dataclasses import dataclass

from waterclock.services.access import Access
from waterclock.services.audit.reading import Audit
from waterclock.services.bookmarks import Bookmarks
from waterclock.services.chains import Chains
from waterclock.services.channels import Channels
from waterclock.services.cluster import Cluster
from waterclock.services.flows import Flows
from waterclock.services.groups import Groups
from waterclock.services.jobs import Jobs
from waterclock.services.lake import Lake
from waterclock.services.lake_sources import LakeSources
from waterclock.services.lake_work import LakeWork
from waterclock.services.logs import Logs
from waterclock.services.messages import Messages
from waterclock.services.quotas import Quotas
from waterclock.services.runs import Runs
from waterclock.services.secrets import Secrets
from waterclock.services.shipping import Shipping
from waterclock.services.triggers import Triggers
from waterclock.services.work import WorkService
from waterclock.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    settings: Settings
    access: Access
    groups: Groups
    quotas: Quotas
    audit: Audit
    jobs: Jobs
    triggers: Triggers
    runs: Runs
    flows: Flows
    logs: Logs
    bookmarks: Bookmarks
    secrets: Secrets
    cluster: Cluster
    messages: Messages
    channels: Channels
    chains: Chains
    lake: Lake
    lake_sources: LakeSources
    lake_work: LakeWork
    work: WorkService
    shipping: Shipping
    stopping: asyncio.Event | None = None  # set when the server is to stop: then nobody is kept following
