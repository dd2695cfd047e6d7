"""Gnn benchmark: the .npz layout of the Coauthor and Amazon graphs, keys adj_*, attr_* and labels.

Not for: other .npz files (npz.py).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.npz import Matrix, expand, graph_of_matrix
from shadow_gnn.graph.importing.nodes import check_csr, labels, sparse_features
from shadow_gnn.graph.record import Graph


def read_gnn_benchmark(path: Path, *, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read one graph, undirected and without weights, its features as 0 and 1, as PyG has them; it has no split."""
    progress("reading", 0, 1)
    with Archive(path) as archive:
        indptr, indices, shape = (archive.read(f"adj_{key}") for key in ("indptr", "indices", "shape"))
        num_nodes = len(indptr) - 1
        check_csr(indptr, indices, num_nodes, str(path))
        if shape.tolist() != [num_nodes, num_nodes]:
            raise SourceError(f"{path}: adj_shape must be {[num_nodes, num_nodes]}, got {shape.tolist()}")
        attr = {key: archive.read(f"attr_{key}") for key in ("indptr", "indices", "data", "shape")}
        y = archive.read("labels")
    progress("sorting", 0, 1)
    matrix = Matrix(expand(indptr), indices, None, (num_nodes, num_nodes))
    graph, summary = graph_of_matrix(matrix, str(path), True, "first", False)
    if attr["shape"].shape != (2,) or attr["shape"].dtype.kind not in "iu":
        raise SourceError(f"{path}: attr_shape must be two counts")
    size = int(attr["shape"][0]), int(attr["shape"][1])
    positive = np.where(attr["data"] > 0, np.float32(1), attr["data"].astype(np.float32))
    x = sparse_features(attr["indptr"], attr["indices"], positive, size, num_nodes, f"{path}: attr")
    return replace(graph, x=x, y=labels(y, num_nodes, f"{path}: labels", "class")), summary
