"""A flow's stages level by level, for whoever looks at it: what fires first comes first."""

from waterclock.domain.flow import Graph, Stage


def levels(graph: Graph) -> list[list[Stage]]:
    """Each stage below all those that it waits for; stages that wait for each other in a circle come last, together."""
    stage_of = {node.id: stage.id for stage in graph.stages for node in stage.nodes}
    awaited = {
        stage.id: {stage_of[node] for need in stage.needs for node in need.nodes} - {stage.id} for stage in graph.stages
    }
    found: list[list[Stage]] = []
    placed: set[str] = set()
    left = list(graph.stages)
    while left:
        level = [stage for stage in left if awaited[stage.id] <= placed] or left
        found.append(level)
        placed |= {stage.id for stage in level}
        left = [stage for stage in left if stage.id not in placed]
    return found
