"""Answers: predictions, scopes and updates as the objects that callers get.

Not for: requests (requests.py).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from shadow_gnn.extract import Subgraphs
from shadow_gnn.extract.retrieval import edges_of
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.serve.scoring import Scored


def prediction_rows(scored: Scored, live: LiveGraph) -> list[dict[str, Any]]:
    """Return one object for each target."""
    found = scored.predictions
    rows = []
    for number, node in enumerate(found.targets.tolist()):
        row: dict[str, Any] = {"id": None, "new": node - scored.first_new}
        if node < scored.first_new:
            row = {"id": node, "new": None}
            if live.graph.node_name is not None:
                row["name"] = live.graph.node_name[node]
        row |= _outcome(found, number)
        row["num_nodes"] = int(scored.num_nodes[number])
        if found.embedding is not None:
            row["embedding"] = found.embedding[number].tolist()
        rows.append(row)
    return rows


def _outcome(found: Predictions, number: int) -> dict[str, Any]:
    """Return the predicted quantity of one target, with probabilities by name of the class."""
    predicted = found.predicted[number]
    if found.kind == "values":
        return {"value": float(predicted)}
    assert found.probability is not None
    probability = found.probability[number].tolist()
    names = found.class_names or tuple(str(place) for place in range(len(probability)))
    shares = dict(zip(names, probability, strict=False))
    if found.kind == "classes":
        return {"class": int(predicted), "class_name": names[int(predicted)], "probabilities": shares}
    labels = [names[place] for place in np.flatnonzero(predicted).tolist()]
    return {"labels": labels, "probabilities": shares}


def scope_answer(scope: Subgraphs, live: LiveGraph) -> dict[str, Any]:
    """Return the nodes of a scope with hops and scores, and its edges."""
    names = live.graph.node_name
    columns = zip(scope.node_id.tolist(), scope.hop.tolist(), scope.score.tolist(), strict=True)
    nodes = [
        {"id": node, **({} if names is None else {"name": names[node]}), "hop": hop, "score": score}
        for node, hop, score in columns
    ]
    return {
        "nodes": nodes,
        "edges": edges_of(scope, live.graph.directed).tolist(),
        "nodes_touched": int(scope.nodes_touched[0]),
        "edges_touched": int(scope.edges_touched[0]),
    }
