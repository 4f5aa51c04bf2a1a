"""HTTP to servers on loopback, whatever proxy this machine uses for the rest of the world."""

import urllib.request

_DIRECT = urllib.request.build_opener(urllib.request.ProxyHandler({}))
PATIENCE_SECONDS = 30.0


def answer_of(request: str | urllib.request.Request) -> bytes:
    """The body; urllib.error.HTTPError where the status says so, another OSError where nobody answers."""
    with _DIRECT.open(request, timeout=PATIENCE_SECONDS) as answer:
        return bytes(answer.read())
