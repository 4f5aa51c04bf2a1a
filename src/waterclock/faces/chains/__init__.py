"""`/chains`: the operators' face, in the words of the tables that chains came from. See docs/chains-rest.md."""

from waterclock.faces.chains.routes import chain_routes

__all__ = ["chain_routes"]
