"""Page: explanations as one HTML page that needs no network and no other file.

Not for: the service and its pages; this one is a file to keep or to send.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from shadow_gnn.studies.drawing.looks import OUTLINES
from shadow_gnn.studies.drawing.scene import MOST_NAMES
from shadow_gnn.studies.explain.drawing import AGAINST, FOR, PALE, drawn_part
from shadow_gnn.studies.explain.explanation import Explanation

_MOST_ROWS = 200


def explanation_page(explanations: Sequence[Explanation]) -> str:
    """Return the page; names reach it as data alone, so that none of them can run as a script or as markup."""
    content = {
        "colors": {"for": FOR, "against": AGAINST, "pale": PALE},
        # y points down in a page.
        "outlines": {shape: np.round(corners * (1, -1), 4).tolist() for shape, corners in OUTLINES.items()},
        "most_names": MOST_NAMES,
        "targets": [_content(explanation) for explanation in explanations],
    }
    # In a script element only "<" can end the data; JSON may write it as an escape.
    data = json.dumps(content, allow_nan=False, ensure_ascii=True).replace("<", "\\u003c")
    template = files(__package__).joinpath("page.html").read_text(encoding="utf-8")
    return template.replace("DATA_OF_PAGE", data)


def _content(explanation: Explanation) -> dict[str, Any]:
    """Return the data of one target: the tables, and the drawn nodes and edges with their positions."""
    drawn = drawn_part(explanation)
    node, edge = drawn.node, drawn.edge
    found = explanation.to_dict(_MOST_ROWS)
    found |= {"explains": explanation.answer_text, "label_text": _label_text(explanation)}
    found["probabilities"] = _probabilities(explanation)
    found["drawn_nodes"] = [
        {
            "name": explanation.node_text(int(explanation.node_id[at])),
            "x": round(float(x), 4),
            "y": round(float(y), 4),
            "radius": round(float(radius), 4),
            "shape": shape,
            "hop": int(explanation.hop[at]),
            "score": float(explanation.score[at]),
            "class": "" if explanation.node_class is None else explanation.class_text(int(explanation.node_class[at])),
            "contribution": float(explanation.node_contribution[at]),
            "target": bool(np.isin(explanation.node_id[at], explanation.targets)),
        }
        for at, (x, y), radius, shape in zip(
            node.tolist(), drawn.rings.place, drawn.rings.radius, drawn.shapes, strict=True
        )
    ]
    found["rings"] = np.round(drawn.rings.edges, 4).tolist()
    found["classes"] = [{"name": group.name, "shape": group.shape} for group in drawn.groups]
    ends = zip(edge.tolist(), drawn.ends.tolist(), strict=True)
    found["drawn_edges"] = [[*rows, float(explanation.edge_contribution[at])] for at, rows in ends]
    return found


def _label_text(explanation: Explanation) -> str:
    label = explanation.label
    if label is None:
        return ""
    return explanation.class_text(label) if isinstance(label, int) else str(label)


def _probabilities(explanation: Explanation) -> list[tuple[str, float]]:
    """Return the most probable classes or labels, or the probability of the link."""
    probability = explanation.prediction.probability
    if probability is None:
        return []
    if explanation.prediction.kind == "links":
        return [("link", float(probability[0]))]
    order = np.argsort(-probability[0], kind="stable")[:5].tolist()
    return [(explanation.class_text(place), float(probability[0][place])) for place in order]
