"""How each namespace fires, as the settings say."""

from waterclock.domain.chain import NAMESPACE as CHAINS
from waterclock.domain.trigger import FireRules
from waterclock.settings import Settings


def fire_rules(settings: Settings) -> dict[str, FireRules]:
    """By namespace; what is not named here fires guarded."""
    chains = FireRules(sequential=False, failover_seconds=settings.chains_failover_seconds)
    return {"glue": settings.rules.fire, CHAINS: chains}
