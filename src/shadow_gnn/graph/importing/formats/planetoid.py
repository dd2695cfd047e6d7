"""Planetoid: the raw files ind.NAME.x, tx, allx, y, ty, ally, graph and test.index of Cora, CiteSeer and PubMed.

Not for: other splits of these graphs than the public one.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.base.errors import SourceError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.importing.build import Summary, build_graph
from shadow_gnn.graph.importing.formats.pickled import CsrMatrix, read_pickled
from shadow_gnn.graph.importing.nodes import check_csr, checked_splits, sparse_features
from shadow_gnn.graph.importing.table import open_table, read_columns
from shadow_gnn.graph.record import Array, Graph

PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")
"""The files of a dataset, each named ind.<name>.<part>."""

_NUM_VALID = 500


def read_planetoid(folder: Path, name: str, *, progress: Progress = silent) -> tuple[Graph, Summary]:
    """Read one dataset with its public split: the labeled nodes, the next 500, and the test nodes.

    Row i of tx and ty belongs to node i of test.index; ids that are missing there (CiteSeer's isolated nodes) get no
    features and class 0, as in PyG.
    """
    progress("reading", 0, 1)
    known, known_y = _matrix(folder, name, "allx"), _labels(folder, name, "ally")
    held, held_y = _matrix(folder, name, "tx"), _labels(folder, name, "ty")
    test = _test_ids(folder / f"ind.{name}.test.index")
    num_known, num_train = known.shape[0], len(_labels(folder, name, "y"))
    num_nodes = max(num_known, int(test.max()) + 1)
    owner = f"{folder}: ind.{name}"
    if len(known_y) != num_known or held.shape[0] != len(held_y) or held.shape[0] != len(test):
        raise SourceError(f"{owner}: allx and ally, and tx, ty and test.index must have as many rows as each other")
    if int(test.min()) < num_known or num_train + _NUM_VALID > num_known or known.shape[1] != held.shape[1]:
        raise SourceError(f"{owner}: test nodes must come after those of allx, with as many feature columns")
    y = np.zeros(num_nodes, dtype=np.int64)
    y[:num_known], y[test] = known_y, held_y
    graph, summary = _links(folder / f"ind.{name}.graph", num_nodes)
    splits = {
        "train": np.arange(num_train),
        "valid": np.arange(num_train, num_train + _NUM_VALID),
        "test": test,
    }
    x = _stacked(known, held, test, num_nodes)
    graph = replace(
        graph,
        x=sparse_features(x.indptr, x.indices, x.data, x.shape, num_nodes, owner),
        y=y,
        splits=checked_splits(splits, num_nodes, owner),
    )
    return graph, summary


def _matrix(folder: Path, name: str, part: str) -> Any:
    import scipy.sparse as sp

    path = folder / f"ind.{name}.{part}"
    found = read_pickled(path)
    if not isinstance(found, CsrMatrix):
        raise SourceError(f"{path}: must hold a CSR matrix")
    if len(found.indptr) != found.shape[0] + 1 or len(found.data) != len(found.indices):
        raise SourceError(f"{path}: must have one row per node, got {len(found.indptr) - 1} for {found.shape}")
    check_csr(found.indptr, found.indices, found.shape[1], str(path))
    return sp.csr_array((found.data, found.indices, found.indptr), shape=found.shape)


def _labels(folder: Path, name: str, part: str) -> Array:
    path = folder / f"ind.{name}.{part}"
    found = read_pickled(path)
    if not isinstance(found, np.ndarray) or found.ndim != 2:
        raise SourceError(f"{path}: must hold a matrix of one column per class")
    classes: Array = found.argmax(axis=1)
    return classes


def _test_ids(path: Path) -> Array:
    table = open_table(path, delimiter=" ", header=False)
    ids: Array = read_columns(table, {table.columns[0]: "int"})[table.columns[0]].to_numpy()
    return ids


def _stacked(known: Any, held: Any, test: Array, num_nodes: int) -> Any:
    """Return the features of all nodes: row i of `held` belongs to node test[i]."""
    import scipy.sparse as sp

    held = held.tocoo()
    rows = np.concatenate((np.repeat(np.arange(known.shape[0]), np.diff(known.indptr)), test[held.row]))
    columns = np.concatenate((known.indices, held.col))
    values = np.concatenate((known.data, held.data)).astype(np.float32)
    return sp.coo_array((values, (rows, columns)), shape=(num_nodes, known.shape[1])).tocsr()


def _links(path: Path, num_nodes: int) -> tuple[Graph, Summary]:
    found = read_pickled(path)
    if not isinstance(found, dict) or not all(isinstance(targets, list) for targets in found.values()):
        raise SourceError(f"{path}: must map each node to a list of its neighbors")
    try:
        node = np.fromiter(found, np.int64, len(found))
        dst = np.fromiter((target for targets in found.values() for target in targets), np.int64)
        src = np.repeat(node, [len(targets) for targets in found.values()])
        return build_graph(src, dst, num_nodes)
    except (ValueError, TypeError) as error:
        raise SourceError(f"{path}: {error}") from error
