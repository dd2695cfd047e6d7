"""Servable: which runs can be served with answers that are right, decided before the first request.

Not for: the answers (scoring.py).
"""

from __future__ import annotations

from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.inference.predictor import Predictor


def check_servable(predictor: Predictor) -> None:
    """Raise a ValueError with one line unless the model can answer for a graph that changes.

    Labels of training nodes are served: no update changes them, and a new node has none.
    """
    config, inputs = predictor.trained.config, predictor.inputs
    if config.is_normal:
        raise ValueError("serve: run must have an extractor, a normal GNN reads the whole graph; choose --extractor")
    if config.joint is not None:
        raise ValueError("serve: run must have a scope for each target, this one joins the scopes of a batch")
    if config.inputs.learned_dim:
        raise ValueError("serve: run must have no learned inputs, because a new node has none")
    if inputs is not None and inputs.smoothed is not None:
        raise ValueError("serve: run must have no smoothed inputs, every update would change those of many nodes")
    if inputs is not None and inputs.labels is not None and inputs.labels.sums:
        raise ValueError("serve: run must have no smoothed labels, every update would change those of many nodes")
    if inputs is not None and inputs.graph_degree:
        raise ValueError("serve: run must not have inputs.graph_degree; use inputs.degree, the degree in the scope")
    if predictor.graph.x is not predictor.opened_graph.x:
        raise ValueError("serve: columns of the graph must be in the order of training; import it in that order")
    for extractor in predictor.extractors:
        if not (isinstance(extractor, BaseExtractor) and extractor.reads_changes):
            kind = getattr(extractor, "kind", type(extractor).__name__)
            raise ValueError(
                f"serve: extractor must be ppr, khop, full, node, heat or a combination of them in the graph itself, "
                f"got {kind}; choose another one with --extractor"
            )
