"""Paper values: the numbers that the paper prints in its tables of trained models, transcribed.

Not for: our own numbers; nothing here is computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from shadow_gnn.studies.paper.experiment import Spread

Printed = tuple[float, float] | None
"""Mean and standard deviation; None where the paper ran out of memory."""


@dataclass(frozen=True)
class Ranked:
    """One model in a leaderboard table."""

    test: Spread
    """Test score."""
    valid: Spread
    """Validation score."""
    num_nodes: str | None = None
    """Nodes of a target's neighborhood, as printed."""


def _by_dataset(names: Sequence[str], rows: Mapping[str, Sequence[Printed]]) -> dict[str, dict[str, Spread | None]]:
    """Turn the rows of a printed table, which has a column for each dataset, into scores by dataset and row."""
    return {
        name: {key: None if (cell := row[place]) is None else Spread(*cell) for key, row in rows.items()}
        for place, name in enumerate(names)
    }


DATASETS = ("flickr", "reddit", "yelp", "ogbn-arxiv", "ogbn-products")
"""Columns of Table 1."""

TABLE_1 = _by_dataset(
    DATASETS,
    {
        "gcn-3-full": ((0.5159, 0.0017), (0.9532, 0.0003), (0.4028, 0.0019), (0.7170, 0.0026), (0.7567, 0.0018)),
        "gcn-5-full": ((0.5217, 0.0016), (0.9495, 0.0012), None, (0.7186, 0.0017), None),
        "gcn-3-saint": ((0.5155, 0.0027), (0.9523, 0.0003), (0.5110, 0.0012), (0.7093, 0.0003), (0.8003, 0.0024)),
        "gcn-5-saint": ((0.5165, 0.0026), (0.9523, 0.0012), (0.5012, 0.0021), (0.7039, 0.0020), (0.7992, 0.0021)),
        "gcn-3-ppr": ((0.5234, 0.0009), (0.9576, 0.0005), (0.5291, 0.0020), (0.7180, 0.0024), (0.7742, 0.0037)),
        "gcn-5-ppr": ((0.5268, 0.0008), (0.9564, 0.0004), (0.5323, 0.0020), (0.7206, 0.0025), (0.7821, 0.0043)),
        "gcn-pooling": ((0.5286, 0.0013), (0.9624, 0.0002), (0.5393, 0.0036), (0.7223, 0.0018), (0.7914, 0.0044)),
        "sage-3-full": ((0.5140, 0.0014), (0.9653, 0.0002), (0.6178, 0.0033), (0.7192, 0.0027), (0.7858, 0.0013)),
        "sage-5-full": ((0.5154, 0.0052), (0.9626, 0.0004), None, (0.7193, 0.0037), None),
        "sage-3-saint": ((0.5176, 0.0032), (0.9671, 0.0003), (0.6453, 0.0011), (0.7107, 0.0003), (0.7923, 0.0023)),
        "sage-5-saint": ((0.5201, 0.0032), (0.9670, 0.0010), (0.6394, 0.0003), (0.7013, 0.0021), (0.7964, 0.0022)),
        "sage-3-2hop": ((0.5312, 0.0019), (0.9672, 0.0003), (0.6542, 0.0002), (0.7163, 0.0028), (0.7935, 0.0031)),
        "sage-5-2hop": ((0.5335, 0.0015), (0.9675, 0.0005), (0.6525, 0.0003), (0.7180, 0.0030), (0.7995, 0.0022)),
        "sage-3-ppr": ((0.5356, 0.0013), (0.9688, 0.0002), (0.6538, 0.0003), (0.7227, 0.0012), (0.7905, 0.0026)),
        "sage-5-ppr": ((0.5417, 0.0006), (0.9692, 0.0007), (0.6518, 0.0002), (0.7238, 0.0007), (0.8005, 0.0040)),
        "sage-pooling": ((0.5395, 0.0013), (0.9703, 0.0003), (0.6564, 0.0004), (0.7258, 0.0017), (0.8067, 0.0037)),
        "gat-3-full": ((0.5070, 0.0032), None, None, (0.7201, 0.0011), None),
        "gat-5-full": ((0.5164, 0.0033), None, None, None, None),
        "gat-3-saint": ((0.5225, 0.0053), (0.9671, 0.0003), (0.6459, 0.0002), (0.6977, 0.0003), (0.8027, 0.0028)),
        "gat-5-saint": ((0.5153, 0.0034), (0.9651, 0.0024), (0.6478, 0.0012), (0.6954, 0.0013), (0.7990, 0.0072)),
        "gat-3-ppr": ((0.5349, 0.0023), (0.9707, 0.0004), (0.6575, 0.0004), (0.7235, 0.0020), (0.8006, 0.0014)),
        "gat-5-ppr": ((0.5352, 0.0028), (0.9713, 0.0004), (0.6559, 0.0002), (0.7274, 0.0022), (0.8071, 0.0004)),
        "gat-pooling": ((0.5364, 0.0026), (0.9710, 0.0004), (0.6566, 0.0005), (0.7265, 0.0028), (0.8142, 0.0031)),
    },
)
"""Table 1, test accuracy (yelp: micro-F1): by dataset, then by layer, number of layers and scope."""

COSTS: dict[str, tuple[float, ...]] = {
    "gcn-3-full": (2e0, 6e1, 2e1, 1e1, 5e0),
    "gcn-5-full": (2e2, 1e3, 1e3, 1e3, 9e2),
    "gcn-3-saint": (2e0, 6e1, 2e1, 1e1, 5e0),
    "gcn-5-saint": (2e2, 1e3, 1e3, 1e3, 9e2),
    "gcn-3-ppr": (1e0, 1e0, 1e0, 1e0, 1e0),
    "gcn-5-ppr": (1e0, 1e0, 2e0, 2e0, 2e0),
    "gcn-pooling": (1e0, 1e0, 2e0, 2e0, 2e0),
    "sage-3-full": (3e0, 5e1, 2e1, 1e1, 4e0),
    "sage-5-full": (2e2, 1e3, 2e3, 1e3, 1e3),
    "sage-3-saint": (3e0, 5e1, 2e1, 1e1, 4e0),
    "sage-5-saint": (2e2, 1e3, 2e3, 1e3, 1e3),
    "sage-3-2hop": (1e0, 1e0, 1e0, 1e0, 1e0),
    "sage-5-2hop": (2e0, 2e0, 2e0, 2e0, 2e0),
    "sage-3-ppr": (1e0, 1e0, 1e0, 1e0, 1e0),
    "sage-5-ppr": (2e0, 2e0, 2e0, 2e0, 2e0),
    "sage-pooling": (2e0, 2e0, 1e0, 2e0, 1e0),
    "gat-3-full": (2e1, 3e2, 2e2, 1e2, 3e1),
    "gat-5-full": (2e2, 2e3, 2e3, 3e3, 2e3),
    "gat-3-saint": (2e1, 3e2, 2e2, 1e2, 3e1),
    "gat-5-saint": (2e2, 2e3, 2e3, 3e3, 2e3),
    "gat-3-ppr": (1e0, 1e0, 1e0, 1e0, 1e0),
    "gat-5-ppr": (2e0, 2e0, 2e0, 2e0, 2e0),
    "gat-pooling": (1e0, 2e0, 1e0, 2e0, 1e0),
}
"""Table 1, operations of one prediction relative to the 3-layer shaDow model with PPR and the same layer, to one digit:
by row, a number for each of DATASETS."""

PAPERS100M: dict[str, Ranked] = {
    "GraphSAGE+incep": Ranked(Spread(0.6706, 0.0017), Spread(0.7032, 0.0011), "4E5"),
    "SIGN-XL": Ranked(Spread(0.6606, 0.0019), Spread(0.6984, 0.0006), "> 4E5"),
    "SGC": Ranked(Spread(0.6329, 0.0019), Spread(0.6648, 0.0020), "> 4E5"),
    "shaDow-GAT 200": Ranked(Spread(0.6681, 0.0016), Spread(0.7019, 0.0011), "2E2"),
    "shaDow-GAT 400": Ranked(Spread(0.6708, 0.0017), Spread(0.7073, 0.0011), "3E2"),
}
"""The comparison on ogbn-papers100M: accuracy and size of the neighborhood."""

COLLAB: dict[str, Ranked] = {
    "SEAL": Ranked(Spread(0.5371, 0.0047), Spread(0.6389, 0.0049)),
    "DeeperGCN": Ranked(Spread(0.5273, 0.0047), Spread(0.6187, 0.0045)),
    "LRGA+GCN": Ranked(Spread(0.5221, 0.0072), Spread(0.6088, 0.0059)),
    "shaDow-SAGE": Ranked(Spread(0.5492, 0.0022), Spread(0.6524, 0.0017)),
}
"""The comparison on ogbl-collab: Hits@50, validation edges not used."""

JK_GIN = _by_dataset(
    ("flickr", "reddit", "ogbn-arxiv"),
    {
        "jk-3-full": ((0.4945, 0.0070), (0.9649, 0.0010), (0.7130, 0.0026)),
        "jk-3-ppr": ((0.5317, 0.0027), (0.9682, 0.0003), (0.7201, 0.0017)),
        "jk-5-full": ((0.4940, 0.0083), (0.9640, 0.0013), (0.7166, 0.0053)),
        "jk-5-ppr": ((0.5328, 0.0026), (0.9685, 0.0006), (0.7226, 0.0024)),
        "gin-3-full": ((0.5132, 0.0031), (0.9345, 0.0034), (0.7087, 0.0016)),
        "gin-3-ppr": ((0.5228, 0.0028), (0.9578, 0.0006), (0.7173, 0.0029)),
        "gin-5-full": ((0.5004, 0.0067), (0.7550, 0.0039), (0.6937, 0.0062)),
        "gin-5-ppr": ((0.5255, 0.0023), (0.9552, 0.0007), (0.7140, 0.0027)),
    },
)
"""Test accuracy on other architectures, normal (full) and shaDow (ppr)."""

POOLING = _by_dataset(
    ("flickr", "ogbn-arxiv"),
    {
        "center": ((0.5351, 0.0026), (0.7302, 0.0014)),
        "mean": ((0.5361, 0.0015), (0.7304, 0.0015)),
        "max": ((0.5354, 0.0021), (0.7342, 0.0017)),
        "sort": ((0.5367, 0.0026), (0.7295, 0.0018)),
    },
)
"""Test accuracy of 5-layer shaDow-SAGE by readout; center is the paper's None."""

ENSEMBLE = _by_dataset(
    ("flickr", "ogbn-products"),
    {
        "3-ppr": ((0.5257, 0.0021), (0.7773, 0.0032)),
        "5-2hop": ((0.5210, 0.0023), (0.7794, 0.0039)),
        "5-ppr": ((0.5273, 0.0020), (0.7836, 0.0034)),
        "5-ensemble": ((0.5304, 0.0017), (0.7858, 0.0021)),
        "7-ppr": ((0.5225, 0.0023), (0.7850, 0.0044)),
    },
)
"""Test accuracy of shaDow-GCN by number of layers and scope."""
