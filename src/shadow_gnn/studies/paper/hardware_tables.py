"""Hardware tables: the paper's tables of memory and of minimum hardware, with the values of our equations.

Not for: the equations (base/memory_needs.py).
"""

from __future__ import annotations

from dataclasses import dataclass

from shadow_gnn.base.memory_needs import (
    FLOAT,
    ID,
    GraphCounts,
    ModelCounts,
    minibatch_need,
    scope_counts,
    sgc_need,
    sign_need,
)

GB = 10**9

# OGB's counts; CSR entries are both directions of every edge.
ARXIV = GraphCounts(169_343, 2_315_598, 128, 40)
PRODUCTS = GraphCounts(2_449_029, 123_718_280, 100, 47)
PAPERS = GraphCounts(111_059_956, 3_231_371_744, 128, 172)


@dataclass(frozen=True)
class PaperLine:
    """One line of a table: the paper's values, and those of our equations in bytes."""

    name: str
    """Method or graph."""
    paper_ram: str
    """Memory of the machine, as printed."""
    paper_gpu: str
    """Memory of the accelerator, as printed."""
    ram: int
    """Bytes of features and edges, or of the propagated features."""
    ram_whole: int
    """The same in GB with each part cut to whole GB, as in the paper's text."""
    step: int | None
    """Bytes of a training step by our equations; None where the paper lacks the settings."""


def memory_table() -> list[PaperLine]:
    """Return the table of the methods of the ogbn-papers100M leaderboard (appendix: low memory overhead)."""
    gat = ModelCounts("gat", num_layers=5, hidden_dim=800)
    sign, sgc = sign_need(PAPERS, (3, 3, 3)), sgc_need(PAPERS)
    data, whole = _data(PAPERS)
    return [
        PaperLine("GraphSAGE+incep", "80 GB", "16 GB", data, whole, None),
        PaperLine("SIGN-XL (3,3,3)", "> 682 GB", "4 GB", sign.total, sign.total // GB, None),
        PaperLine("SGC", "> 137 GB", "4 GB", sgc.total, sum(size // GB for size in sgc.parts.values()), None),
        PaperLine("shaDow-GAT, 5 layers", "80 GB", "4 GB", data, whole, _step(PAPERS, gat)),
    ]


def hardware_table() -> list[PaperLine]:
    """Return the table of the minimum hardware for shaDow (appendix: hardware)."""
    small, large = ModelCounts("gat", num_layers=5, hidden_dim=256), ModelCounts("gat", num_layers=5, hidden_dim=800)
    return [
        PaperLine(name, ram, "4 GB", *_data(graph), _step(graph, network))
        for name, ram, graph, network in (
            ("ogbn-arxiv", "8 GB", ARXIV, small),
            ("ogbn-products", "32 GB", PRODUCTS, small),
            ("ogbn-papers100M", "128 GB", PAPERS, large),
        )
    ]


def _data(graph: GraphCounts) -> tuple[int, int]:
    """Return the bytes of features and edges, and their whole GB."""
    features, edges = graph.num_nodes * graph.in_dim * FLOAT, ID * graph.num_edges
    return features + edges, features // GB + edges // GB


def _step(graph: GraphCounts, network: ModelCounts) -> int:
    """Return the bytes of a step on 32 scopes of 200 nodes, the paper's smallest batch and its budget."""
    batch = scope_counts(graph, network.num_layers, 32, 200)
    found = minibatch_need("shadow", graph, network, batch)
    return found.total - found.parts["program"]
