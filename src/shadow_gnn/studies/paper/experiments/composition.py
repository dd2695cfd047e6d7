"""Composition: the share of nodes at each hop, in the neighborhood of a 4-layer normal GNN and in PPR scopes.

Not for: the cost of these neighborhoods (cost_columns.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.files import Progress
from shadow_gnn.extract import Extractor, Subgraphs
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.normal.hops import hop_counts
from shadow_gnn.recipe.named import paper_recipe
from shadow_gnn.studies.cost.estimate import sample_targets
from shadow_gnn.studies.figures import COLORS, legend_below, panels
from shadow_gnn.studies.paper.data import SEED, DatasetExperiment
from shadow_gnn.studies.paper.experiment import Cell, Result, Table
from shadow_gnn.training.build import build_extractor

DATA = ("flickr", "reddit", "yelp", "ogbn-arxiv", "ogbn-products")
NUM_HOPS = 4
MAX_TARGETS = 4000
_BLOCK_TARGETS = 1024

# The bars of Figure 2, from hop 1 to 4: of a 4-layer GNN, and of shaDow with PPR.
PRINTED = {
    "flickr": ((0.0002, 0.014, 0.166, 0.819), (0.07, 0.701, 0.209, 0.093)),
    "reddit": ((0.0, 0.0298, 0.3737, 0.5961), (0.409, 0.557, 0.1, 0.1)),
    "yelp": ((0.0, 0.0045, 0.133, 0.862), (0.16, 0.505, 0.301, 0.03)),
    "ogbn-arxiv": ((0.0104, 0.0665, 0.2625, 0.66), (0.107, 0.658, 0.207, 0.05)),
    "ogbn-products": ((0.0, 0.008, 0.108, 0.884), (0.69, 0.292, 0.02, 0.0)),
}
SIDES = {"normal": "4-layer GNN", "ppr": "shaDow (PPR)"}
CONVENTIONS = ("ratio of totals", "mean of ratios")
SPLITS = ("valid", "test")


def measure_composition(name: str, graph: Graph, max_targets: int, progress: Progress) -> Result:
    """Count nodes by hop for the targets of two splits, or a sample of them."""
    recipe = paper_recipe(f"{name}-gcn-3-ppr").extractor
    assert recipe is not None
    extractor = build_extractor(recipe, training=False)
    found: dict[str, Any] = {}
    for split in SPLITS:
        targets = sample_targets(graph.split(split), max_targets, seed=SEED)
        within = hop_counts(graph, targets, NUM_HOPS, progress=progress).num_nodes
        normal = np.diff(within, axis=1)
        scopes = scope_hops(graph, extractor, targets, progress)
        found[split] = {
            "num_targets": len(targets),
            "normal": _both(normal),
            "ppr": _both(scopes),
            "normal_nodes": float(within[:, -1].mean()),
            "ppr_nodes": float(1 + scopes.sum(axis=1).mean()),
        }
    return found


def scope_hops(graph: Graph, extractor: Extractor, targets: Ints, progress: Progress) -> Ints:
    """Count the nodes of each scope at hop 1 to 4, with more distant ones at hop 4. [B, 4]"""
    parts = [np.zeros((0, NUM_HOPS), np.int64)]
    for start in range(0, len(targets), _BLOCK_TARGETS):
        progress("extracting", start, len(targets))
        parts.append(_hops_of(extractor(graph, targets[start : start + _BLOCK_TARGETS], seed=SEED)))
    return np.concatenate(parts)


def _hops_of(subgraphs: Subgraphs) -> Ints:
    scope = np.repeat(np.arange(len(subgraphs)), np.diff(subgraphs.ptr))
    hop = np.minimum(subgraphs.hop, NUM_HOPS)
    counts = np.bincount(scope * (NUM_HOPS + 1) + hop, minlength=len(subgraphs) * (NUM_HOPS + 1))
    return counts.reshape(len(subgraphs), NUM_HOPS + 1)[:, 1:]


def _both(counts: Ints) -> dict[str, list[float]]:
    """Return the shares by hop in both conventions; the mean of ratios skips targets without neighbors."""
    totals = counts.sum(axis=1)
    with_some = totals > 0
    if not with_some.any():
        raise ValueError("composition: targets must have neighbors, got none with any")
    return {
        "ratio of totals": (counts.sum(axis=0) / totals.sum()).tolist(),
        "mean of ratios": (counts[with_some] / totals[with_some, None]).mean(axis=0).tolist(),
    }


def _tables(results: Mapping[str, Result]) -> tuple[Table, ...]:
    shares = []
    for name, result in results.items():
        for side, (kind, label) in enumerate(SIDES.items()):
            for hop in range(NUM_HOPS):
                row: dict[str, Cell] = {"data": name, "neighborhood": label, "hop": hop + 1}
                row["paper"] = PRINTED[name][side][hop]
                for split in SPLITS:
                    row |= {f"{each}, {split}": result[split][kind][each][hop] for each in CONVENTIONS}
                shares.append(row)
    sizes = [
        {
            "data": name,
            "split": split,
            "targets": result[split]["num_targets"],
            "nodes within 4 hops": result[split]["normal_nodes"],
            "nodes of a PPR scope": result[split]["ppr_nodes"],
        }
        for name, result in results.items()
        for split in SPLITS
    ]
    caption = "Figure 2: share of nodes at hop 1 to 4 from the target, which itself is not counted."
    return Table.of("composition", caption, shares), Table.of("composition-size", "Average size of both.", sizes)


def closest(result: Result, name: str, kind: str) -> tuple[str, str]:
    """Return the split and convention closest to the paper's bars."""
    bars = np.array(PRINTED[name][0 if kind == "normal" else 1])
    choices = [(split, convention) for split in SPLITS for convention in CONVENTIONS]
    return min(choices, key=lambda each: float(np.abs(np.array(result[each[0]][kind][each[1]]) - bars).sum()))


def _draw(results: Mapping[str, Result], titles: Mapping[str, str], path: Path) -> None:
    """Draw stacked bars, the paper's next to ours."""

    with panels(path, (10, 4.4), 2, share_y=True) as axes:
        for side, (plot, (kind, title)) in enumerate(zip(axes, SIDES.items(), strict=True)):
            bars, labels = [], []
            for name, result in results.items():
                split, convention = closest(result, name, kind)
                bars += [PRINTED[name][side], result[split][kind][convention]]
                labels += [f"{name}\npaper", f"{titles[name]}\nours"]
            below = np.zeros(len(bars))
            for hop in range(NUM_HOPS):
                height = np.array([bar[hop] for bar in bars])
                plot.bar(range(len(bars)), height, bottom=below, color=COLORS[hop], width=0.7, label=f"hop {hop + 1}")
                below += height
            plot.set_xticks(range(len(bars)), labels, fontsize=8)
            plot.set_title(title, fontsize=10)
        axes[0].set_ylabel("share of nodes")
        legend_below(axes[0].figure)


COMPOSITION = DatasetExperiment(
    name="composition",
    paper="Figure 2",
    summary="Share of nodes at each hop: 4-layer GNN against PPR scopes.",
    data=DATA,
    job_title="composition of neighborhoods",
    measure=measure_composition,
    max_targets=(MAX_TARGETS, 256),
    settings=lambda name: {"recipe": f"{name}-gcn-3-ppr"},
    title="Neighborhood composition (Figure 2)",
    text=f"""Nodes at each distance from a target: within 4 hops, as a 4-layer normal GNN reads them, and in the PPR
scopes of the 3-layer shaDow-GCN recipe, by distance inside the scope (4 stands for 4 and more). The paper does not name
its targets or its average. The table therefore has two splits and two averages: over the nodes of all targets together
(ratio of totals), and over the shares of each target (mean of ratios). At most {MAX_TARGETS:,} targets of a split are
sampled. The figure shows the closest.""",
    tables=_tables,
    draw=_draw,
    notes=("The paper's PPR bars of one dataset add up to more than 1 (Flickr 1.073, Reddit 1.166, arxiv 1.022).",),
)
