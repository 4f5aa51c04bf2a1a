"""All faces on one port: the app put together from the services, and served until told to stop."""

import asyncio
from collections.abc import Callable

from waterclock.app.api_node import joined
from waterclock.app.auditing import audited
from waterclock.app.compose import Services
from waterclock.app.counting import counted
from waterclock.app.folders import Folders
from waterclock.faces.api.context import Context
from waterclock.faces.api.routes import api_routes
from waterclock.faces.chains.routes import chain_routes
from waterclock.faces.glue.face import Authenticate, Glue
from waterclock.faces.glue.services import Services as GlueServices
from waterclock.faces.http.app import build_app
from waterclock.faces.http.auth import Anybody, Signatures
from waterclock.faces.http.health import Health
from waterclock.faces.http.listening import address_of, inherited_or_bound
from waterclock.faces.http.metrics import Metrics
from waterclock.faces.http.server import serve
from waterclock.faces.http.siblings import Siblings
from waterclock.faces.lake.routes import lake_routes
from waterclock.settings import Settings
from waterclock.stores.base import Database


async def serve_faces(
    settings: Settings,
    database: Database,
    services: Services,
    stopped: asyncio.Event,
    say_ready: Callable[[str], None],
) -> None:
    """`say_ready` is told the address once it answers."""
    siblings = Siblings.inherited()
    metrics = Metrics(siblings)
    authenticate: Authenticate = Anybody() if settings.auth == "none" else Signatures(services.access)
    glue = Glue(
        GlueServices(
            jobs=services.jobs,
            triggers=services.triggers,
            runs=services.runs,
            flows=services.flows,
            logs=services.logs,
            bookmarks=services.bookmarks,
            tags=services.tags,
            crawlers=services.crawlers,
        ),
        authenticate,
        body_limit=settings.body_limit_bytes,
    )
    listening = inherited_or_bound(settings.host, settings.port)
    async with (
        joined(settings, database, siblings),
        audited(database, Folders(root=settings.data_dir).audit) as record,
        counted(metrics),
    ):
        context = _context(settings, services, stopped)
        app = build_app(
            glue=glue,
            health=Health(
                database, services.access, metrics, cluster=services.cluster, is_draining=lambda: siblings.is_draining
            ),
            metrics=metrics,
            routes=[*api_routes(context), *chain_routes(context), *lake_routes(context)],
            record=record,
        )
        await serve(
            app,
            sock=listening,
            ready=lambda port: say_ready(address_of(listening, settings.host)),
            stop=stopped,
            siblings=siblings,
        )


def _context(settings: Settings, services: Services, stopped: asyncio.Event) -> Context:
    return Context(
        settings=settings,
        access=services.access,
        groups=services.groups,
        quotas=services.quotas,
        audit=services.audit,
        jobs=services.jobs,
        triggers=services.triggers,
        runs=services.runs,
        flows=services.flows,
        logs=services.logs,
        bookmarks=services.bookmarks,
        secrets=services.secrets,
        cluster=services.cluster,
        messages=services.messages,
        channels=services.channels,
        chains=services.chains,
        lake=services.lake,
        lake_sources=services.lake_sources,
        lake_work=services.lake_work,
        work=services.work,
        shipping=services.shipping,
        stopping=stopped,
    )
