"""Finding: nodes whose name or id begins with a text, as somebody types it.

Not for: exact names in a request (serve/resolve.py).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shadow_gnn.explore.answers import FindAnswer, FoundNode
from shadow_gnn.explore.places import label_answers
from shadow_gnn.graph.changes.live_graph import LiveGraph

MOST_COMPARED = 1_000_000
"""Names that are compared with a text that begins none of them; more would take a noticeable time."""
_LEAST_COMPARED = 3


def find(live: LiveGraph, text: str, limit: int) -> FindAnswer:
    """Return nodes by exact name, by id, by the beginning of their names, and by names a few letters away."""
    nodes = np.array(list(_nodes(live, text.strip(), limit)), np.int64)
    names = live.graph.node_name
    labels = label_answers(live.stored, nodes)
    return FindAnswer(
        nodes=[
            FoundNode(id=node, name=None if names is None else names[node], label=label)
            for node, label in zip(nodes.tolist(), labels, strict=True)
        ]
    )


def _nodes(live: LiveGraph, text: str, limit: int) -> list[int]:
    stored, found = live.stored.node_name, dict[int, None]()
    if not text:
        return []
    if live.names is not None and (exact := live.names.find(text)) is not None:
        found[exact] = None
    is_number = text.isascii() and text.isdecimal() and len(text) < 19
    if is_number and int(text) < live.graph.num_nodes:
        found[int(text)] = None
    if stored is not None:
        names = live.graph.node_name
        assert names is not None
        # A removed node has no name any more.
        near = [node for node in stored.with_prefix(text, limit).tolist() if names[node]]
        if not near and not found and len(text) >= _LEAST_COMPARED and len(stored) <= MOST_COMPARED:
            near = [node for node in stored.nearest(text, limit) if names[node]]
        found.update(dict.fromkeys(near))
    elif is_number:
        for node in _ids(int(text), live.graph.num_nodes):
            if len(found) >= limit:
                break
            found[node] = None
    return list(found)[:limit]


def _ids(number: int, count: int) -> Iterator[int]:
    """Return the ids that begin with the digits of a number, the short ones first."""
    width = 1
    while number * width < count:
        yield from range(number * width, min((number + 1) * width, count))
        if number == 0:
            return
        width *= 10
