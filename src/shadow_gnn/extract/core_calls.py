"""The way from a graph and targets into the compiled core and back.

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
from shadow_gnn.extract.protocol import Extractor, Hide
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph, id_range

Core = Callable[..., tuple[Any, ...]]


def check_targets(graph: Graph, targets: ArrayLike, owner: str) -> NDArray[np.int64]:
    """Return targets as int64 [B, T], or raise a ValueError that names the first bad one."""
    array = np.asarray(targets)
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
    """Raise unless `hide` is known and targets [B, T] are pairs where a link is hidden."""
    if hide not in get_args(Hide):
        raise ValueError(f"{owner}: hide must be one of {', '.join(get_args(Hide))}, got {hide!r}")
    if hide != "none" and len(targets) and targets.shape[1] != 2:
        raise ValueError(f"{owner}: targets must be pairs [B, 2] to hide their link, got shape {list(targets.shape)}")


def resolve_threads(num_threads: int) -> int:
    """Return the number of threads to use: 0 means every core this process may run on.

    Processes that torchrun has started on one machine share its cores.
    """
    if num_threads > 0:
        return num_threads
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, num_cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def view_of(graph: Graph) -> _core.GraphView:
    """Return a graph as the core reads it."""
    return _core.GraphView(graph.indptr, graph.indices, graph.edge_weight, not graph.directed)


@contextmanager
def naming_folder(graph: Graph) -> Iterator[None]:
    """Turn a fault that the core finds in a graph's files into a FolderError that names the folder."""
    try:
        yield
    except (_core.CorruptGraph, _core.FileChanged) as error:
        raise FolderError(f"{graph.path or 'graph in memory'}: {error}") from error


def extract_by(
    extract: Core, extractor: Extractor, graph: Graph, targets: NDArray[np.int64], seed: int, **options: Any
) -> Subgraphs:
    """Let a function of the core choose scopes with an extractor's common options; options: the function's own."""
    return run_core(
        extract,
        graph,
        targets,
        edge_pos=extractor.edge_pos,
        hide=extractor.hide,
        seed=seed,
        num_threads=extractor.num_threads,
        **options,
    )


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
    """Call one extraction function of the core and name the folder if its files are at fault."""
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
