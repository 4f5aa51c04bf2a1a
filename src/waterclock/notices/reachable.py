"""Which addresses notices may go to: as for all that users define, only public ones unless an admin says otherwise."""

from waterclock.reachable import is_public, private_address_of, public_only

__all__ = ["is_public", "private_address_of", "public_only"]
