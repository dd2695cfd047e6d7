"""Ensemble: the paper's table of shaDow-GCN with an ensemble of scopes and with more layers.

Not for: training (studies/paper/trained.py).
"""

from __future__ import annotations

from shadow_gnn.studies.paper.experiment import Spread
from shadow_gnn.studies.paper.paper_values import ENSEMBLE as PRINTED
from shadow_gnn.studies.paper.score_experiment import ScoreExperiment
from shadow_gnn.studies.paper.scores import Heads, Line
from shadow_gnn.studies.paper.trained import Row

_SCOPES = {"ppr": "PPR", "2hop": "2-hop", "ensemble": "PPR and 2-hop"}


def _line(data: str, key: str, paper: Spread) -> Line:
    num_layers, scope = key.split("-")
    return Line(Row(f"{data}-gcn-{key}", data), (num_layers, _SCOPES[scope]), paper)


ENSEMBLE = ScoreExperiment(
    name="ensemble",
    paper="Appendix, ensemble and depth",
    summary="shaDow-GCN with PPR, 2-hop and both scopes, and with 3, 5 and 7 layers: test accuracy.",
    title="Ensemble and depth",
    heads=Heads("ensemble", "shaDow-GCN test accuracy: ensemble of scopes, and more layers.", ("layers", "scope")),
    lines=tuple(_line(data, key, paper) for data, values in PRINTED.items() for key, paper in values.items()),
    note="Scopes are as in the paper's tables of configurations, the rest as in the data set's shaDow-GCN row of Table "
    "1; how the ensemble was trained is not published.",
)
"""Test accuracy of shaDow-GCN by layers and scope."""
