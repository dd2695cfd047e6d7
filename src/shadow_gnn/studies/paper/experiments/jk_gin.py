"""JK and GIN: the paper's table of other architectures, normal and shaDow.

Not for: training (studies/paper/trained.py).
"""

from __future__ import annotations

from shadow_gnn.studies.paper.experiment import Spread
from shadow_gnn.studies.paper.paper_values import JK_GIN as PRINTED
from shadow_gnn.studies.paper.score_experiment import ScoreExperiment
from shadow_gnn.studies.paper.scores import Heads, Line
from shadow_gnn.studies.paper.trained import Row

_METHODS = {"full": "normal", "ppr": "shaDow"}


def _line(data: str, key: str, paper: Spread) -> Line:
    layer, num_layers, scope = key.split("-")
    return Line(Row(f"{data}-{key}", data), (layer.upper(), num_layers, _METHODS[scope]), paper)


JK_GIN = ScoreExperiment(
    name="jk-gin",
    paper="Appendix, other architectures",
    summary="JK-Net and GIN with 3 and 5 layers, normal and shaDow (PPR): test accuracy.",
    title="JK-Net and GIN",
    heads=Heads("jk-gin", "Test accuracy on other architectures (PPR).", ("model", "layers", "method")),
    lines=tuple(_line(data, key, paper) for data, values in PRINTED.items() for key, paper in values.items()),
    note="The settings of this table are not published: JK is GraphSAGE whose layers' outputs are concatenated, with "
    "the settings of the data set's shaDow-SAGE row of Table 1; the head of each recipe says more.",
)
"""Test accuracy of JK-Net and GIN."""
