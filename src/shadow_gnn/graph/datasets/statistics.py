"""Statistics: published counts of the named datasets, and the differences of a graph from them.

Not for: describing any graph (studies/analysis/describe.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.record import Graph

Counting = Literal["both ways", "undirected", "links", "pairs"]
"""How edges are counted: every edge once in each direction; every edge once; directed links as listed by the source,
before the other direction is added; all positive pairs of training, validation and test."""

_SPLITS = ("train", "valid", "test")


@dataclass(frozen=True)
class Statistics:
    """Published counts of a dataset, and required counts of its graph folder."""

    num_nodes: int
    """Nodes."""
    edges: int
    """Edges as published."""
    counting: Counting
    """How they are counted."""
    num_columns: int
    """Feature columns."""
    num_classes: int | None
    """Classes, or yes/no labels per node; None for link prediction."""
    sizes: tuple[int | None, int | None, int | None] | None = None
    """Nodes (for pairs: positive pairs) of train, valid and test; None if not known for certain."""
    entries: int | None = None
    """CSR entries of the graph folder, if counted on the real graph; None allows any number that is possible given
    the published one."""
    listed: int | None = None
    """Edges listed in the raw files, including repeated ones and self-loops; None if not published."""
    multi_label: bool = False
    """True if a node has several yes/no labels."""


PAPER: dict[str, Statistics] = {
    "flickr": Statistics(
        89_250, 899_756, "both ways", 500, 7, sizes=(44_625, 22_312, 22_313), entries=899_756, listed=899_756
    ),
    "reddit": Statistics(
        232_965, 11_606_919, "undirected", 602, 41, sizes=(153_932, 23_699, 55_334), listed=23_213_838
    ),
    # Half of the 13,954,819 entries of its matrix, including self-loops, rounded up.
    "yelp": Statistics(
        716_847, 6_977_410, "undirected", 300, 100, sizes=(537_635, None, None), listed=13_954_819, multi_label=True
    ),
    "ogbn-arxiv": Statistics(
        169_343, 1_166_243, "links", 128, 40, sizes=(90_941, 29_799, 48_603), entries=2_315_598, listed=1_166_243
    ),
    # The sizes are those of OGB's split, 0.08 / 0.02 / 0.90; the paper prints 0.10 / 0.02 / 0.88.
    "ogbn-products": Statistics(
        2_449_029, 61_859_140, "undirected", 100, 47, sizes=(196_615, 39_323, 2_213_091), listed=61_859_140
    ),
    "ogbn-papers100M": Statistics(
        111_059_956, 1_615_685_872, "links", 128, 172, sizes=(1_207_179, 125_265, 214_338), listed=1_615_685_872
    ),
    "ogbl-collab": Statistics(
        235_868, 1_285_465, "pairs", 128, None, sizes=(1_179_052, 60_084, 46_329), listed=1_179_052
    ),
}
"""The paper's table of datasets as printed, with the sizes of the official splits."""

PYG: dict[str, Statistics] = {
    "cora": Statistics(2_708, 10_556, "both ways", 1_433, 7, sizes=(140, 500, 1_000), entries=10_556),
    "citeseer": Statistics(3_327, 9_104, "both ways", 3_703, 6, sizes=(120, 500, 1_000), entries=9_104),
    "pubmed": Statistics(19_717, 88_648, "both ways", 500, 3, sizes=(60, 500, 1_000), entries=88_648),
    "coauthor-cs": Statistics(18_333, 163_788, "both ways", 6_805, 15, entries=163_788),
    "coauthor-physics": Statistics(34_493, 495_924, "both ways", 8_415, 5, entries=495_924),
    "amazon-computers": Statistics(13_752, 491_722, "both ways", 767, 10, entries=491_722),
    "amazon-photo": Statistics(7_650, 238_162, "both ways", 745, 8, entries=238_162),
}
"""The other named datasets, with the counts of PyG's documentation."""


def dataset_statistics(name: str) -> Statistics:
    """Return the published counts of a named dataset.

    >>> sg.dataset_statistics("ogbn-arxiv").num_nodes
    169343
    """
    found = PAPER.get(name) or PYG.get(name)
    if found is None:
        raise ValueError(f"statistics: name must be one of {', '.join((*PAPER, *PYG))}, got {name!r}")
    return found


def dataset_differences(name: str, graph: Graph, *, expected: Statistics | None = None) -> list[str]:
    """Return one line for each difference of a graph from the named dataset.

    expected: counts to use instead of the published ones.

    >>> sg.dataset_differences("cora", graph)[0]
    'nodes must be 2,708, got 40'
    """
    wanted = expected or dataset_statistics(name)
    columns = 0 if graph.x is None else graph.x.shape[1]
    lines = [
        _line("nodes", wanted.num_nodes, graph.num_nodes),
        _edge_line(wanted, graph),
        _line("feature columns", wanted.num_columns, columns),
        _class_line(wanted, graph),
    ]
    held = graph.splits
    if wanted.counting == "pairs":
        held = {split: graph.pairs[f"{split}_pos"] for split in _SPLITS if f"{split}_pos" in graph.pairs}
    what = "pairs" if wanted.counting == "pairs" else "nodes"
    for split, size in zip(_SPLITS, wanted.sizes or (), strict=False):
        if size is not None:
            lines.append(_line(f"{split} {what}", size, len(held.get(split, ()))))
    return [line for line in lines if line is not None]


def listing_differences(name: str, summary: Summary, *, expected: Statistics | None = None) -> list[str]:
    """Return a line if the raw files list a different number of edges than the named dataset."""
    wanted = (expected or dataset_statistics(name)).listed
    line = None if wanted is None else _line("edges listed in the raw files", wanted, summary.edges_read)
    return [] if line is None else [line]


def entry_range(wanted: Statistics) -> tuple[int, int]:
    """Return the fewest and the most CSR entries that an undirected graph folder of a dataset may have.

    A published number may include self-loops, which a graph folder does not store; two links in opposite directions
    become one undirected edge.
    """
    if wanted.entries is not None:
        return wanted.entries, wanted.entries
    if wanted.counting == "both ways":
        return max(0, wanted.edges - wanted.num_nodes), wanted.edges
    if wanted.counting == "undirected":
        return max(0, 2 * (wanted.edges - wanted.num_nodes)), 2 * wanted.edges
    if wanted.counting == "links":
        return max(0, wanted.edges - wanted.num_nodes), 2 * wanted.edges
    return 1, 2 * wanted.edges


def _line(what: str, wanted: int, found: int) -> str | None:
    return None if wanted == found else f"{what} must be {wanted:,}, got {found:,}"


def _edge_line(wanted: Statistics, graph: Graph) -> str | None:
    if wanted.counting == "pairs":
        found = sum(len(pairs) for name, pairs in graph.pairs.items() if name.endswith("_pos"))
        line = _line("positive pairs of all splits", wanted.edges, found)
        if line is not None:
            return line
    least, most = entry_range(wanted)
    if least <= graph.num_edges <= most and not graph.directed:
        return None
    kind = "directed" if graph.directed else "undirected"
    limits = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return f"edges must be {limits} counting both directions, got {graph.num_edges:,} ({kind})"


def _class_line(wanted: Statistics, graph: Graph) -> str | None:
    if wanted.num_classes is None:
        return None
    what = "yes/no labels per node" if wanted.multi_label else "classes"
    if graph.y is None or graph.y.dtype.kind == "f" or (graph.y.ndim == 2) != wanted.multi_label:
        return f"{what} must be {wanted.num_classes}, got none"
    found = graph.y.shape[1] if wanted.multi_label else 1 + int(graph.y.max(initial=-1))
    return _line(what, wanted.num_classes, found)
