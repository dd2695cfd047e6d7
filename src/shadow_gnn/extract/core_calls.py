"""Calls of the compiled core: checked targets, threads and faults.

Not for: choosing scopes (kinds/).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.node_ids import node_ids
from shadow_gnn.graph.record import Graph, id_range

Core = Callable[..., tuple[Any, ...]]


def check_targets(graph: Graph, targets: ArrayLike, owner: str) -> NDArray[np.int64]:
    """Return targets, ids or names, as int64 [B, T], or raise a ValueError that names the first bad one.

    >>> extract.check_targets(graph, [0, 7], "example").tolist()
    [[0], [7]]
    >>> extract.check_targets(graph, [40], "example")
    Traceback (most recent call last):
    ValueError: example: targets must be node ids from 0 to 39, got 40
    """
    array = node_ids(graph, targets, owner)
    if array.size == 0 and array.ndim <= 1:
        return np.empty((0, 1), dtype=np.int64)
    if array.dtype.kind not in "iu":
        raise ValueError(f"{owner}: targets must be integers, got {array.dtype}")
    if array.ndim not in (1, 2) or (array.ndim == 2 and array.shape[1] < 1):
        raise ValueError(f"{owner}: targets must be [B] or [B, T], got shape {list(array.shape)}")
    bad = (array < 0) | (array >= graph.num_nodes)
    if bad.any():
        first = array[np.unravel_index(int(np.argmax(bad)), array.shape)]
        raise ValueError(f"{owner}: targets must be {id_range(graph.num_nodes)}, got {first}")
    columns = array.reshape(-1, 1) if array.ndim == 1 else array
    return np.ascontiguousarray(columns, dtype=np.int64)


def check_pairs(owner: str, hide: Hide, targets: NDArray[np.int64]) -> None:
    """Raise unless `hide` is known and, to hide a link, targets [B, T] are pairs or larger groups."""
    if hide not in get_args(Hide):
        raise ValueError(f"{owner}: hide must be one of {', '.join(get_args(Hide))}, got {hide!r}")
    if hide != "none" and len(targets) and targets.shape[1] < 2:
        raise ValueError(f"{owner}: targets must be pairs [B, 2] to hide their link, got shape {list(targets.shape)}")


def resolve_threads(num_threads: int) -> int:
    """Return num_threads; for 0 every core of this process, shared among the processes of torchrun."""
    if num_threads > 0:
        return num_threads
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, num_cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def view_of(graph: Graph) -> _core.GraphView:
    """Return a graph as the core reads it."""
    if isinstance(graph, ChangedGraph):
        return graph.view
    return _core.GraphView(graph.indptr, graph.indices, graph.edge_weight, not graph.directed)


@contextmanager
def naming_folder(graph: Graph, owner: str | None = None) -> Iterator[None]:
    """Turn a fault that the core finds in a graph's files into a FolderError with the folder's name.

    owner: put before the message of any other ValueError.
    """
    try:
        yield
    except (_core.CorruptGraph, _core.FileChanged) as error:
        raise FolderError(f"{graph.path or 'graph in memory'}: {error}") from error
    except ValueError as error:
        if owner is None:
            raise
        raise ValueError(f"{owner}: {error}") from None


def run_core(
    extract: Core,
    graph: Graph,
    targets: NDArray[np.int64],
    *,
    edge_pos: bool,
    hide: Hide,
    seed: int,
    num_threads: int,
    **options: Any,
) -> Subgraphs:
    """Call an extraction function of the core; options: its own ones."""
    with naming_folder(graph):
        ptr, node_id, hop, score, indptr, indices, positions, nodes_touched, edges_touched = extract(
            view_of(graph),
            targets,
            positions=edge_pos,
            hide=get_args(Hide).index(hide),
            seed=seed & (2**64 - 1),
            num_threads=resolve_threads(num_threads),
            **options,
        )
    return Subgraphs(
        targets=targets,
        ptr=ptr,
        node_id=node_id,
        hop=hop,
        score=score,
        indptr=indptr,
        indices=indices,
        edge_pos=positions if edge_pos else None,
        nodes_touched=nodes_touched,
        edges_touched=edges_touched,
    )
