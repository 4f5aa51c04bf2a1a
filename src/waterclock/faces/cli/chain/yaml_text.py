"""YAML text to nodes with their places, nothing constructed; what is no YAML is a fault that says what to write."""

from collections.abc import Sequence
from typing import Final

import yaml

from waterclock.faces.cli.chain.place import Fault, Place

MOST_CHARACTERS: Final = 1024 * 1024
QUOTE: Final = "put it in quotes, as in timestr: '*/5 * * * *'"
TAB: Final = "a tab: indent with spaces"
TOO_DEEP: Final = "is nested too deeply to be a chain"


class NoYaml(Exception):
    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        super().__init__(str(fault))


def compose(text: str, file: str) -> Sequence[yaml.Node]:
    """The roots of its documents, without the empty ones."""
    if len(text) > MOST_CHARACTERS:
        raise NoYaml(Fault(place=_first(file), reason=f"has more than {MOST_CHARACTERS} characters: divide it"))
    try:
        nodes = yaml.compose_all(text, Loader=yaml.SafeLoader)
        return [node for node in nodes if node is not None and not is_null(node)]
    except yaml.reader.ReaderError as problem:
        raise NoYaml(_unreadable(text, file, problem)) from None
    except yaml.MarkedYAMLError as problem:
        raise NoYaml(_misread(file, problem)) from None
    except RecursionError:
        raise NoYaml(Fault(place=_first(file), reason=TOO_DEEP)) from None


def place_of(node: yaml.Node, file: str) -> Place:
    mark = node.start_mark
    return Place(file=file, line=mark.line + 1, column=mark.column + 1)


def is_null(node: yaml.Node) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _first(file: str) -> Place:
    return Place(file=file, line=1, column=1)


def _unreadable(text: str, file: str, problem: yaml.reader.ReaderError) -> Fault:
    before = text[: problem.position]
    line, column = before.count("\n") + 1, len(before) - before.rfind("\n")
    return Fault(place=Place(file=file, line=line, column=column), reason="a character that YAML does not allow")


def _misread(file: str, problem: yaml.MarkedYAMLError) -> Fault:
    mark = problem.problem_mark or problem.context_mark
    place = Place(file=file, line=mark.line + 1, column=mark.column + 1) if mark else _first(file)
    return Fault(place=place, reason=_in_plain_words(problem.context or "", problem.problem or ""))


def _in_plain_words(context: str, problem: str) -> str:
    """The likely mistakes by what to do about them; the others as YAML's own reader words them."""
    if "alias" in context:
        return f"a value that begins with * means an alias in YAML: {QUOTE}"
    if problem.startswith("found character '\\t'"):
        return TAB
    if problem.startswith("found character"):
        return f"{problem.removeprefix('found ').replace('any token', 'a value')}: {QUOTE}"
    if problem.startswith("mapping values are not allowed"):
        return "a second `name: value` where none can stand: is the line indented too far, or must its value be quoted?"
    return f"is not YAML: {problem}{f' ({context})' if context else ''}"
