"""Pooling: the paper's table of readouts of 5-layer shaDow-SAGE.

Not for: training (studies/paper/trained.py).
"""

from __future__ import annotations

from shadow_gnn.studies.paper.paper_values import POOLING as PRINTED
from shadow_gnn.studies.paper.score_experiment import ScoreExperiment
from shadow_gnn.studies.paper.scores import Heads, Line
from shadow_gnn.studies.paper.trained import Row

POOLING = ScoreExperiment(
    name="pooling",
    paper="Appendix, pooling",
    summary="Readouts center, mean, max and sort of 5-layer shaDow-SAGE: test accuracy.",
    title="Pooling",
    heads=Heads("pooling", "Effect of subgraph pooling on 5-layer shaDow-SAGE (PPR).", ("readout",)),
    # The table's None is our center.
    lines=tuple(
        Line(Row(f"{data}-sage-5-ppr" + (f"-{readout}" if readout != "center" else ""), data), (readout,), paper)
        for data, values in PRINTED.items()
        for readout, paper in values.items()
    ),
    note="The settings of this table are not published; the recipes are those of the 5-layer shaDow-SAGE rows of Table "
    "1 with another readout. The paper's values differ from its own Table 1 for the same models (center: 0.5351 here, "
    "0.5417 there on flickr; 0.7302 and 0.7238 on ogbn-arxiv): so did its settings.",
)
"""Test accuracy by readout."""
