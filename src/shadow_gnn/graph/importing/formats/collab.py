"""Collab: OGB's link dataset of collaborations, with its years, weights and given pairs.

Not for: OGB's node datasets (ogb.py).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.build import Summary, build_graph
from shadow_gnn.graph.importing.formats.ogb import find, read_matrix
from shadow_gnn.graph.importing.formats.pickled import read_torch
from shadow_gnn.graph.importing.nodes import dense_features
from shadow_gnn.graph.importing.options import DEFAULTS, ImportOptions
from shadow_gnn.graph.record import Array, Graph

_TEXTS = ("edge", "edge_weight", "edge_year", "node-feat", "num-node-list")


def read_collab(root: Path, options: ImportOptions = DEFAULTS, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read the graph of the training links and the pairs of all splits.

    A pair that worked together in several years is one edge: its weights are summed, and its two edge features are
    the first and the last of its years. The given pairs keep a row for each year, as OGB lists them.
    """
    raw, split = root / "raw", root / "split" / "time"
    text = {stem: _text(raw, stem, progress) for stem in _TEXTS}
    num_nodes = int(text["num-node-list"].reshape(-1)[0])
    src, dst = text["edge"][:, 0], text["edge"][:, 1]
    years, weights = (text[stem].reshape(-1) for stem in ("edge_year", "edge_weight"))
    if not len(src) == len(years) == len(weights):
        raise SourceError(f"{raw}: edge, edge_year and edge_weight must have as many rows as each other")
    progress("sorting", 0, 1)
    try:
        graph, summary = build_graph(
            src, dst, num_nodes, weight=weights, edge_attr=_span(src, dst, years, num_nodes), merge="sum"
        )
        graph = replace(
            graph,
            edge_id=None,
            x=dense_features(text["node-feat"], num_nodes, f"{raw}: node-feat", options.nodes.feature_dtype),
            pairs=_pairs(split),
        )
    except ValueError as error:
        raise SourceError(f"{root}: {error}") from error
    return graph, summary


def _text(raw: Path, stem: str, progress: Progress) -> Array:
    path = find(raw, stem)
    if path is None:
        raise SourceError(f"{raw}: must hold {stem}.csv.gz")
    return read_matrix(path, progress)


def _span(src: Array, dst: Array, years: Array, num_nodes: int) -> Array:
    """Return for each link the first and the last year of its pair, in either direction: float32 [links, 2]."""
    # A wrong id may clash with another pair's key here, and is refused by build_graph right after.
    _, pair = np.unique(np.minimum(src, dst) * num_nodes + np.maximum(src, dst), return_inverse=True)
    order = np.lexsort((years, pair))
    starts = np.flatnonzero(np.diff(pair[order], prepend=-1))
    ends = np.append(starts[1:], len(order)) - 1
    span = np.stack((years[order[starts]], years[order[ends]]), axis=1) if len(order) else np.zeros((0, 2))
    found: Array = span[pair].astype(np.float32)
    return found


def _pairs(split: Path) -> dict[str, Array]:
    """Read the pairs: `edge` holds the positive ones, `edge_neg` the negative ones; training has no negative ones."""
    found: dict[str, Array] = {}
    for name in ("train", "valid", "test"):
        content = read_torch(split / f"{name}.pt")
        keys = {"edge": f"{name}_pos"} | ({} if name == "train" else {"edge_neg": f"{name}_neg"})
        for key, pairs in keys.items():
            array = content.get(key) if isinstance(content, Mapping) else None
            if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "iu":
                raise SourceError(f"{split / f'{name}.pt'}: must hold a matrix of node ids under {key!r}")
            found[pairs] = np.ascontiguousarray(array, dtype=np.int64)
    return found
