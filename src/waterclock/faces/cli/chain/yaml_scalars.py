"""One value of a YAML file, read from its text as what its field is, not as what YAML takes it for."""

import math
from typing import Final

import yaml

from waterclock.faces.cli.chain.fields import Kind

KNOWN: Final = frozenset(f"tag:yaml.org,2002:{name}" for name in ("str", "int", "float", "bool", "timestamp", "value"))
TRUE: Final = frozenset({"true", "yes", "on", "y", "1"})
FALSE: Final = frozenset({"false", "no", "off", "n", "0"})
LONGEST_SHOWN: Final = 40


def scalar(node: yaml.Node, kind: Kind) -> object:
    """Or ValueError that says what must stand there."""
    if not isinstance(node, yaml.ScalarNode):
        raise ValueError(f"must be {kind}")
    if node.tag not in KNOWN:
        raise ValueError(f"must be {kind}, without a tag before it")
    try:
        return _read(node.value, kind)
    except ValueError:
        raise ValueError(f"must be {kind}, not {node.value[:LONGEST_SHOWN]!r}") from None


def _read(text: str, kind: Kind) -> object:
    match kind:
        case Kind.NUMBER:
            return _number(text)
        case Kind.WHOLE:
            return int(text)
        case Kind.FLAG:
            return int(_truth(text))
        case Kind.TRUTH:
            return _truth(text)
        case Kind.SWITCH:
            return "ON" if _truth(text) else "OFF"
    return text


def _number(text: str) -> float:
    found = float(text)
    if not math.isfinite(found):
        raise ValueError(text)
    return int(found) if found.is_integer() else found


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in TRUE | FALSE:
        raise ValueError(text)
    return word in TRUE
