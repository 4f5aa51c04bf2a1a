"""Arguments that mean something to us, besides to the program: refused by name where they cannot be right."""

from collections.abc import Mapping

from waterclock.domain.bookmark import bookmark_option
from waterclock.domain.secret import check_secrets


def check_arguments(*given: Mapping[str, str]) -> None:
    for arguments in given:
        bookmark_option(arguments)
        check_secrets(arguments)
