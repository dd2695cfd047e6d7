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
from shadow_gnn.serve.scoring import Explained, Scored
from shadow_gnn.studies.explain.explanation import strongest


def prediction_rows(scored: Scored, live: LiveGraph) -> list[dict[str, Any]]:
    """Return one object for each target."""
    found = scored.predictions
    rows = []
    for number, node in enumerate(found.targets.tolist()):
        row = {**_node(node, scored, live), **_outcome(found, number)}
        row["num_nodes"] = int(scored.num_nodes[number])
        if found.embedding is not None:
            row["embedding"] = found.embedding[number].tolist()
        rows.append(row)
    return rows


def _node(node: int, scored: Scored, live: LiveGraph) -> dict[str, Any]:
    """Return the id of a node, with its name, or the number of a new node."""
    if node >= scored.first_new:
        return {"id": None, "new": node - scored.first_new}
    names = live.graph.node_name
    return {"id": node, "new": None, **({} if names is None else {"name": names[node]})}


def explanation_answer(explained: Explained, live: LiveGraph, top: int) -> dict[str, Any]:
    """Return the prediction, and the parts of the scope with the largest contributions of either sign."""
    found, scored = explained.explanation, explained.scored
    if found.prediction.kind == "links":
        assert found.prediction.probability is not None
        first, second = (_node(node, scored, live) for node in found.targets)
        prediction = {"pair": [first, second], "probability": float(found.prediction.probability[0])}
    else:
        (prediction,) = prediction_rows(scored, live)
    answer: dict[str, Any] = {"prediction": prediction, "method": found.method, "answer": found.answer}
    if found.chosen is not None:
        answer |= {"class": found.chosen, "class_name": found.class_text(found.chosen)}
    nodes = []
    for place in strongest(found.node_contribution, top):
        facts = {"hop": int(found.hop[place]), "score": float(found.score[place])}
        share = {"contribution": float(found.node_contribution[place])}
        nodes.append({**_node(int(found.node_id[place]), scored, live), **facts, **share})
    edges = []
    for place in strongest(found.edge_contribution, top):
        sender, receiver = (_node(node, scored, live) for node in found.edge[place].tolist())
        edge = {"from": sender, "to": receiver, "contribution": float(found.edge_contribution[place])}
        edges.append(edge if found.edge_weight is None else {**edge, "weight": float(found.edge_weight[place])})
    return {**answer, "nodes": nodes, "edges": edges, "columns": found.top_columns(top)}


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
