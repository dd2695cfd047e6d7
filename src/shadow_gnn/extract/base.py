"""The Extractor protocol, and the way from a graph and targets into the compiled core and back.

Not for: any one way to choose a scope; each has its own file.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn import _core
from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract.subgraphs import Subgraphs
from shadow_gnn.graph.record import Graph

NO_CAP = 2**31 - 1

Hide = Literal["none", "before", "after"]
"""What becomes of the edges between the two targets of a pair, in both directions: none leaves them in the scope,
before chooses the scope as if they were not there, after chooses it with them and takes them out of the scope."""


@runtime_checkable
class Extractor(Protocol):
    """Choose a scope for each target: (graph, targets, seed) -> Subgraphs.

    A scope depends only on the graph, the extractor's parameters, the seed and its own targets: never on the number of
    threads, on the other targets of the call or on their order.
    """

    @property
    def deterministic(self) -> bool:
        """True if the seed does not matter, so that scopes may be kept between epochs."""
        ...

    @property
    def key(self) -> str:
        """Name, version of the algorithm and all parameters that decide a scope; equal keys give equal scopes."""
        ...

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target; targets are [B] nodes or [B, T] groups that share a scope."""
        ...


class CommonOptions(Protocol):
    """What all extractors have beside their own parameters."""

    @property
    def edge_pos(self) -> bool:
        """Report where each edge stands in the graph."""
        ...

    @property
    def hide(self) -> Hide:
        """What becomes of the link between the ends of a pair."""
        ...

    @property
    def num_threads(self) -> int:
        """Threads to use; 0 for every core of this process."""
        ...


def reads_features(extractor: Extractor) -> bool:
    """Tell whether an extractor's scopes depend on the features of the graph; it says so by that name."""
    return bool(getattr(extractor, "reads_features", False))


def edge_graph(extractor: Extractor, graph: Graph) -> Graph:
    """Return whose edges an extractor's scopes have: another graph's if it names one as edge_graph."""
    other: Graph | None = getattr(extractor, "edge_graph", None)
    return graph if other is None else other


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
        raise ValueError(f"{owner}: targets must be node ids from 0 to {graph.num_nodes - 1}, got {first}")
    columns = array.reshape(-1, 1) if array.ndim == 1 else array
    return np.ascontiguousarray(columns, dtype=np.int64)


def check_int(owner: str, name: str, value: int, least: int, most: int = NO_CAP) -> None:
    """Raise unless `value` is an integer from least to most."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{owner}: {name} must be an integer, got {value!r}")
    if not least <= value <= most:
        bounds = f"at least {least}" if most == NO_CAP else f"from {least} to {most}"
        raise ValueError(f"{owner}: {name} must be {bounds}, got {value}")


def check_above_zero(owner: str, name: str, value: float | None, *, none: str | None = None) -> None:
    """Raise unless `value` is a finite number above 0; none: what None is for, where it will do too."""
    if value is None and none is not None:
        return
    if value is None or not 0 < value < math.inf:
        allowed = "" if none is None else f", or None {none}"
        raise ValueError(f"{owner}: {name} must be above 0{allowed}, got {value}")


def check_share(owner: str, name: str, value: float) -> None:
    """Raise unless `value` is above 0 and below 1."""
    if not 0 < value < 1:
        raise ValueError(f"{owner}: {name} must be above 0 and below 1, got {value}")


def check_common(extractor: CommonOptions) -> None:
    """Raise unless what an extractor has in common with all others is right."""
    owner = type(extractor).__name__
    check_int(owner, "num_threads", extractor.num_threads, 0, 1024)
    check_hide(owner, extractor.hide)


def common_key(extractor: CommonOptions) -> str:
    """Return the end of an extractor's key: what decides its scopes of that which all have."""
    return f"edge_pos={extractor.edge_pos}{hide_key(extractor.hide)}"


def check_hide(owner: str, hide: str) -> None:
    """Raise unless `hide` is a known way to treat the predicted link."""
    if hide not in get_args(Hide):
        raise ValueError(f"{owner}: hide must be one of {', '.join(get_args(Hide))}, got {hide!r}")


def hide_key(hide: Hide) -> str:
    """Return what `hide` adds to an extractor's key; nothing where the link stays."""
    return "" if hide == "none" else f" hide={hide}"


def core_hide(owner: str, hide: Hide, targets: NDArray[np.int64]) -> int:
    """Return `hide` as the core's number, after checking that targets [B, T] are pairs where a link is hidden."""
    if hide != "none" and len(targets) and targets.shape[1] != 2:
        raise ValueError(f"{owner}: targets must be pairs [B, 2] to hide their link, got shape {list(targets.shape)}")
    return get_args(Hide).index(hide)


def resolve_threads(num_threads: int) -> int:
    """Return the number of threads to use: 0 means every core this process may run on.

    Processes that torchrun has started on one machine share its cores.
    """
    if num_threads > 0:
        return num_threads
    num_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, num_cores // int(os.environ.get("LOCAL_WORLD_SIZE", "1")))


def extract_by(
    extract: Callable[..., tuple[Any, ...]],
    extractor: CommonOptions,
    graph: Graph,
    targets: ArrayLike,
    *,
    seed: int,
    **options: Any,
) -> Subgraphs:
    """Check targets and let a function of the core choose their scopes; options: the function's own."""
    owner = type(extractor).__name__
    groups = check_targets(graph, targets, owner)
    return run_core(
        extract,
        graph,
        groups,
        edge_pos=extractor.edge_pos,
        seed=seed,
        num_threads=extractor.num_threads,
        hide=core_hide(owner, extractor.hide, groups),
        **options,
    )


def run_core(
    extract: Callable[..., tuple[Any, ...]],
    graph: Graph,
    targets: NDArray[np.int64],
    *,
    edge_pos: bool,
    seed: int,
    num_threads: int,
    **options: Any,
) -> Subgraphs:
    """Call one extraction function of the core and name the folder if its files are at fault."""
    view = _core.GraphView(graph.indptr, graph.indices, graph.edge_weight, not graph.directed)
    try:
        ptr, node_id, hop, score, indptr, indices, positions, nodes_touched, edges_touched = extract(
            view,
            targets,
            positions=edge_pos,
            seed=seed & (2**64 - 1),
            num_threads=resolve_threads(num_threads),
            **options,
        )
    except (_core.CorruptGraph, _core.FileChanged) as error:
        raise FolderError(f"{graph.path or 'graph in memory'}: {error}") from error
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
