"""The HTTP app that carries the faces: routes, limits, health, and the server that runs it."""
