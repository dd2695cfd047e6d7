"""Seeds: reads --seeds: ids or names of nodes with weights.

Not for: the scope around them (extract/retrieval.py).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shadow_gnn.extract import Seeds
    from shadow_gnn.graph.record import Graph


def read_seeds(graph: Graph, text: str) -> Seeds:
    """Return the seeds that --seeds names: `3,17=2.5` for ids or names, or a JSON object of weights."""
    from shadow_gnn.cli.shared.targets import MOST_DIGITS
    from shadow_gnn.extract import Seeds
    from shadow_gnn.graph.name_index import NameIndex

    weights: dict[str, object] = {}
    if text.lstrip().startswith("{"):
        try:
            weights = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise ValueError(f"extract: --seeds must be ids, names or a JSON object of weights: {error}") from None
    else:
        for part in text.split(","):
            name, mark, weight = part.strip().rpartition("=")
            weights[name if mark else weight] = weight if mark else 1
    index = None if graph.node_name is None else NameIndex(graph.node_name)
    nodes, values = [], []
    if not weights:
        raise ValueError("extract: --seeds must name at least one node, got none")
    for name, value in weights.items():
        node = index.find(name) if index is not None else None
        if node is None and name.isascii() and name.isdecimal() and len(name) <= MOST_DIGITS:
            node = int(name)
        if node is None:
            known = "names or ids of nodes" if index is not None else "ids of nodes, as the graph has no names"
            raise ValueError(f"extract: --seeds must be {known}, got {name!r:.80}")
        try:
            values.append(float(str(value)))
        except ValueError:
            raise ValueError(f"extract: --seeds must have a number as the weight of {name}, got {value!r}") from None
        nodes.append(node)
    return Seeds(nodes, values)
