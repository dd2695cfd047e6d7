"""GNN benchmark: the .npz layout of the Coauthor and Amazon graphs, with keys adj_*, attr_* and labels.

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
from shadow_gnn.graph.importing.formats.npz import Matrix, expand, graph_of_matrix, matrix_shape
from shadow_gnn.graph.importing.nodes import check_csr, labels, sparse_features
from shadow_gnn.graph.record import Graph


def read_gnn_benchmark(path: Path, *, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read one graph, undirected and without weights or splits; features become 0 and 1, as in PyG."""
    progress("reading", 0, 1)
    with Archive(path) as archive:
        indptr, indices, shape = (archive.read(f"adj_{key}") for key in ("indptr", "indices", "shape"))
        num_nodes = len(indptr) - 1
        check_csr(indptr, indices, num_nodes, str(path))
        if shape.tolist() != [num_nodes, num_nodes]:
            raise SourceError(f"{path}: adj_shape must be {[num_nodes, num_nodes]}, got {shape.tolist()}")
        attr = [archive.read(f"attr_{key}") for key in ("indptr", "indices", "data")]
        size = matrix_shape(archive, "attr_shape")
        y = archive.read("labels")
    progress("sorting", 0, 1)
    matrix = Matrix(expand(indptr), indices, None, (num_nodes, num_nodes))
    graph, summary = graph_of_matrix(matrix, str(path))
    positive = np.where(attr[2] > 0, np.float32(1), attr[2].astype(np.float32))
    x = sparse_features(attr[0], attr[1], positive, size, num_nodes, f"{path}: attr")
    return replace(graph, x=x, y=labels(y, num_nodes, f"{path}: labels", "class")), summary
