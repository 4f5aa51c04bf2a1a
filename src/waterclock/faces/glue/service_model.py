"""A service's model, as botocore ships it: what each action takes, gives and may refuse with.

Nothing is copied from it by hand. It is read on first use (no client, no session, no network); of its hundreds of
operations only the shapes that our actions reach are kept, without their documentation, and checks are compiled when
first needed.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from waterclock.faces.glue.shapes import Check, Checks, Shape
from waterclock.faces.glue.violation import Violation


class ServiceModel:
    """Of one service, the actions that are served."""

    def __init__(self, service: str, actions: Sequence[str]) -> None:
        self._service = service
        self.actions = actions
        self._inputs: dict[str, Check] = {}

    def validate(self, action: str, body: dict[str, Any]) -> dict[str, Any]:
        """The body, without nulls, if the model allows it for this action; else `InvalidInput` naming the member."""
        try:
            accepted: dict[str, Any] = self.input_check(action)(body)
        except Violation as violation:
            raise violation.as_refusal() from None
        return accepted

    def input_check(self, action: str) -> Check:
        found = self._inputs.get(action)
        if found is None:
            found = self._inputs[action] = self._checks.of(self.input_shape(action))
        return found

    def input_shape(self, action: str) -> str:
        name: str = self.operation(action)["input"]["shape"]
        return name

    def output_shape(self, action: str) -> str:
        name: str = self.operation(action)["output"]["shape"]
        return name

    def shape(self, name: str) -> Shape:
        """One as the model has it, without documentation: `shape("Job")["members"]` are the names GetJob may show."""
        return self.shapes[name]

    @property
    def shapes(self) -> Mapping[str, Shape]:
        """All that the actions reach."""
        return self._kept["shapes"]

    def operation(self, action: str) -> Shape:
        found: Shape = self._kept["operations"][action]
        return found

    def declared_errors(self, action: str) -> frozenset[str]:
        """The exceptions that the model lets this action answer with; clients have a class for each."""
        return frozenset(error["shape"] for error in self.operation(action).get("errors", ()))

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self._kept["metadata"]

    @cached_property
    def _checks(self) -> Checks:
        return Checks(self.shapes)

    @cached_property
    def _kept(self) -> Mapping[str, Mapping[str, Any]]:
        # Imported here: botocore costs 0.1 s, and only a process that answers requests should pay it.
        # A loader of our own, dropped at once: it would keep the whole parsed model.
        from botocore.loaders import Loader

        whole = Loader().load_service_model(self._service, "service-2")
        operations = {action: _undocumented(whole["operations"][action]) for action in self.actions}
        shapes = _reachable(operations.values(), whole["shapes"])
        return {"metadata": whole["metadata"], "operations": operations, "shapes": shapes}


def _reachable(operations: Iterable[Shape], shapes: Mapping[str, Shape]) -> dict[str, Shape]:
    kept: dict[str, Shape] = {}
    ahead = [operation[side]["shape"] for operation in operations for side in ("input", "output")]
    while ahead:
        name = ahead.pop()
        if name not in kept:
            kept[name] = _undocumented(shapes[name])
            ahead.extend(_parts(kept[name]))
    return kept


def _parts(of: Shape) -> Iterator[str]:
    yield from (member["shape"] for member in of.get("members", {}).values())
    yield from (of[part]["shape"] for part in ("member", "key", "value") if part in of)


def _undocumented(node: Any) -> Any:
    match node:
        case list():
            return [_undocumented(item) for item in node]
        case dict():
            # A member may itself be called "documentation": only text is one.
            return {
                name: _undocumented(item)
                for name, item in node.items()
                if not (name == "documentation" and isinstance(item, str))
            }
    return node
