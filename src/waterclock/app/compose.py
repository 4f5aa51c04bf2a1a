"""The composition root of the faces: the one place that chooses their services and puts them together."""

from dataclasses import dataclass

from waterclock.app.folders import Folders
from waterclock.app.log_places import log_store
from waterclock.app.rules import fire_rules
from waterclock.notices.apprise_sender import AppriseSender
from waterclock.services.access import Access
from waterclock.services.audit.reading import Audit
from waterclock.services.bookmarks import Bookmarks
from waterclock.services.chains import Chains
from waterclock.services.channels import Channels
from waterclock.services.cluster import Cluster
from waterclock.services.crawlers import Crawlers
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
from waterclock.services.secretbox import SecretBox
from waterclock.services.secrets import Secrets
from waterclock.services.shipping import Shipping
from waterclock.services.tags import Tags
from waterclock.services.triggers import Triggers
from waterclock.services.work import WorkService
from waterclock.settings import Settings
from waterclock.stores.base import Database


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    access: Access
    groups: Groups
    quotas: Quotas
    audit: Audit
    jobs: Jobs
    triggers: Triggers
    runs: Runs
    flows: Flows
    logs: Logs
    shipping: Shipping
    bookmarks: Bookmarks
    secrets: Secrets
    tags: Tags
    crawlers: Crawlers
    chains: Chains
    lake: Lake
    lake_sources: LakeSources
    lake_work: LakeWork
    cluster: Cluster
    messages: Messages
    channels: Channels
    work: WorkService


def build_services(settings: Settings, database: Database) -> Services:
    folders = Folders(root=settings.data_dir)
    jobs = Jobs(database, settings.rules)
    quotas = Quotas(database)
    runs = Runs(database, jobs, fire_rules(settings), quotas)
    box = SecretBox(folders.keys)
    secrets = Secrets(database, box)
    store = log_store(settings)
    return Services(
        access=Access(database, box),
        groups=Groups(database),
        quotas=quotas,
        audit=Audit(database),
        jobs=jobs,
        triggers=Triggers(database, settings.rules, fire_rules(settings)),
        runs=runs,
        flows=Flows(database, settings.rules, fire_rules(settings)),
        logs=Logs(database, runs, folders.logs, secrets, store=store, host=folders.host_id()),
        shipping=Shipping(database, store, cap_bytes=settings.log_cap_bytes),
        bookmarks=Bookmarks(database, jobs),
        secrets=secrets,
        tags=Tags(database),
        crawlers=Crawlers(database),
        chains=Chains(database, fire_rules(settings), probe_seconds=settings.chains_probe_seconds),
        lake=Lake(database, runs, fire_rules(settings)),
        lake_sources=LakeSources(database, secrets, runs),
        lake_work=LakeWork(database, fire_rules(settings), lease_seconds=settings.lease_seconds),
        cluster=Cluster(database, alive_within_seconds=max(30.0, 3 * settings.heartbeat_seconds)),
        messages=Messages(database),
        channels=Channels(database, box, AppriseSender(private=settings.channels_private)),
        work=WorkService(database, fire_rules(settings), secrets),
    )
