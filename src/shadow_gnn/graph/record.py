"""Graph: a frozen record of CSR arrays, features, labels and splits.

Not for: reading or writing files (store.py), nor for building a CSR from raw edges (importing/build.py).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.graph.checked import checked_bounds, checked_ids, checked_lists, checked_rows
from shadow_gnn.graph.names import NodeNames as NodeNames

if TYPE_CHECKING:
    from shadow_gnn.graph.block_check import FolderCheck

Ints = NDArray[np.int64]
Array = NDArray[Any]

MAX_COLUMNS = 2**31
"""Columns of features, labels and edge features are fewer: int32 has a number for each."""


@dataclass(frozen=True, eq=False)
class SparseFeatures:
    """Node features as CSR rows, for wide bags of words that are mostly zero.

    >>> words = sg.SparseFeatures(np.array([0, 2, 3]), np.array([0, 5, 1]), np.ones(3, np.float32), num_columns=6)
    >>> words.shape, words.rows(np.array([1])).tolist()
    ((2, 6), [[0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    """

    indptr: Array
    """int64 [N + 1]."""
    indices: Array
    """int32 column of each stored value, ascending within a row."""
    data: Array
    """float32 stored values."""
    num_columns: int
    """Width F of the dense matrix."""
    fingerprint_hint: str | None = None
    """The stored fingerprint; None to compute it."""

    def __post_init__(self) -> None:
        if len(self.indptr) == 0 or self.indptr[0] != 0 or self.indptr[-1] != len(self.indices):
            raise ValueError(
                f"SparseFeatures: indptr must run from 0 to {len(self.indices)}, the number of stored values"
            )
        if len(self.data) != len(self.indices):
            raise ValueError(
                f"SparseFeatures: data must have {len(self.indices)} values like indices, got {len(self.data)}"
            )
        if not 0 <= self.num_columns < MAX_COLUMNS:
            raise ValueError(f"SparseFeatures: num_columns must be from 0 to below 2^31, got {self.num_columns}")

    def __repr__(self) -> str:
        """Show the shape."""
        return f"SparseFeatures({self.shape[0]:,} x {self.num_columns:,}, {len(self.data):,} stored values)"

    @property
    def shape(self) -> tuple[int, int]:
        """(N, F)."""
        return len(self.indptr) - 1, self.num_columns

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all values: features of equal fingerprints are equal."""
        return self.fingerprint_hint or _hash_of(f"{self.num_columns}", (self.indptr, self.indices, self.data))

    @cached_property
    def lists(self) -> tuple[Array, Array]:
        """indptr and indices after a check of every value, made once, for libraries that trust them."""
        return checked_lists(
            self.indptr, self.indices, self.num_columns, owner="features", names=("x_indptr", "x_indices")
        )

    def rows(self, node_id: Ints) -> NDArray[np.float32]:
        """Return the dense float32 rows of `node_id`: [len(node_id), F]."""
        indptr, indices = self.lists
        start = np.asarray(indptr[node_id], dtype=np.int64)
        count = np.asarray(indptr[node_id + 1], dtype=np.int64) - start
        out = np.zeros((len(node_id), self.num_columns), dtype=np.float32)
        row = np.repeat(np.arange(len(node_id)), count)
        first = np.repeat(start - np.concatenate(([0], np.cumsum(count)[:-1])), count) if len(count) else start
        position = first + np.arange(len(row))
        out[row, indices[position]] = self.data[position]
        return out


@dataclass(frozen=True, eq=False)
class DenseFeatures:
    """Node features as one matrix, widened to float32 when rows are read.

    >>> features = sg.DenseFeatures(np.eye(3, dtype=np.float16))
    >>> features.shape, features.rows(np.array([2])).tolist()
    ((3, 3), [[0.0, 0.0, 1.0]])
    """

    matrix: Array
    """[N, F] float32, float16 or int8."""
    scale: Array | None = None
    """float32 [F], the step of each int8 column; None for float matrices."""
    fingerprint_hint: str | None = None
    """The stored fingerprint; None to compute it."""

    def __post_init__(self) -> None:
        if self.matrix.ndim != 2 or self.matrix.dtype not in (np.float32, np.float16, np.int8):
            raise ValueError(
                "DenseFeatures: matrix must be 2-D float32, float16 or int8, "
                f"got {self.matrix.ndim}-D {self.matrix.dtype}"
            )
        if (self.scale is not None) != (self.matrix.dtype == np.int8):
            raise ValueError("DenseFeatures: scale must be given for an int8 matrix, and only there")
        if self.scale is not None and self.scale.shape != (self.matrix.shape[1],):
            raise ValueError(
                f"DenseFeatures: scale must have one value per column ({self.matrix.shape[1]}), got {self.scale.shape}"
            )

    def __repr__(self) -> str:
        """Show the shape."""
        return f"DenseFeatures({self.shape[0]:,} x {self.shape[1]:,}, {self.matrix.dtype})"

    @property
    def shape(self) -> tuple[int, int]:
        """(N, F)."""
        return self.matrix.shape[0], self.matrix.shape[1]

    @cached_property
    def fingerprint(self) -> str:
        """A hash of all values: features of equal fingerprints are equal."""
        arrays = (self.matrix,) if self.scale is None else (self.matrix, self.scale)
        return self.fingerprint_hint or _hash_of("dense", arrays)

    def rows(self, node_id: Ints) -> NDArray[np.float32]:
        """Return the float32 rows of `node_id`: [len(node_id), F]."""
        rows = self.matrix[node_id].astype(np.float32, copy=False)
        return rows if self.scale is None else rows * self.scale


Features = DenseFeatures | SparseFeatures


def _hash_of(name: str, arrays: tuple[Array, ...]) -> str:
    """Hash arrays with their shapes and dtypes, in bounded memory."""
    digest = hashlib.blake2b(name.encode(), digest_size=16)
    for array in arrays:
        digest.update(f"{array.dtype.str} {array.shape}".encode())
        step = max(1, (1 << 21) // max(1, array.itemsize * (array.shape[1] if array.ndim > 1 else 1)))
        for start in range(0, len(array), step):
            digest.update(np.ascontiguousarray(array[start : start + step]).data)
    return digest.hexdigest()


def feature_arrays(x: Features) -> dict[str, Array]:
    """Return the arrays of features by the names of their files in a graph folder, without .npy."""
    if isinstance(x, SparseFeatures):
        return {"x_indptr": x.indptr, "x_indices": x.indices, "x_data": x.data}
    return {"x": x.matrix} if x.scale is None else {"x": x.matrix, "x_scale": x.scale}


@dataclass(frozen=True, eq=False)
class Graph:
    """A whole graph in memory or memory-mapped from a graph folder.

    Row v of the CSR lists the nodes that send messages to v (its in-neighbors), ascending and without duplicates. An
    undirected graph stores both directions of every edge.

    >>> graph
    Graph(nodes: 40; edges: 80 undirected; features: 2 float32; labels: classes; splits: train 20, valid 10, test 10)
    >>> graph.neighbors(0).tolist(), graph.degree([0, 1]).tolist()
    ([1, 2, 38, 39], [4, 4])
    >>> graph.subgraph([0, 1, 2, 30])
    Graph(nodes: 4; edges: 3 undirected; features: 2 float32; labels: classes; splits: train 3, valid 1, test 0)
    """

    indptr: Array
    """int64 [N + 1], start of each node's list."""
    indices: Array
    """int32 or int64 [E], the neighbor lists one after the other."""
    directed: bool = False
    """False if every edge is stored in both directions."""
    x: Features | None = None
    """Node features, or None."""
    y: Array | None = None
    """Labels: int64 [N] classes (-1 unknown), float32 [N] values (nan unknown), or uint8 [N, C] for multi-label."""
    edge_weight: Array | None = None
    """float32 [E], positive; degrees are then sums of weights."""
    edge_attr: Array | None = None
    """float32 [E, D], features of each CSR entry."""
    edge_id: Array | None = None
    """int64 [E], the row of each CSR entry in the source's edge list."""
    splits: Mapping[str, Array] = field(default_factory=dict)
    """Node ids by split name (train, valid, test), int64."""
    pairs: Mapping[str, Array] = field(default_factory=dict)
    """Given pairs for link prediction by name (train_pos, valid_pos, valid_neg, test_pos, ...), int64 [P, 2]."""
    node_name: NodeNames | None = None
    """Original ids of the source, if they were not 0..N-1."""
    class_name: NodeNames | None = None
    """Name of each class, or None."""
    column_names: tuple[str, ...] | None = None
    """Name of each feature column, or None."""
    import_toml: str | None = None
    """Text of import.toml, the record of how the columns of tables were encoded; None for other sources."""
    path: Path | None = None
    """Folder of an opened graph; None for a graph made in memory."""
    fingerprint_hint: str | None = None
    """The stored fingerprint of the topology; None to compute it."""
    check: FolderCheck | None = field(default=None, repr=False)
    """The check of the folder's bytes; None for a graph made in memory, and if the check is off."""

    def __post_init__(self) -> None:
        _check_shapes(self)
        # A folder was checked when it was written; arrays of a caller were not.
        if self.path is None:
            _check_lists(self)
            _check_weights(self.edge_weight)
        object.__setattr__(self, "directed", bool(self.directed))
        object.__setattr__(self, "column_names", None if self.column_names is None else tuple(self.column_names))
        object.__setattr__(self, "splits", MappingProxyType(dict(self.splits)))
        object.__setattr__(self, "pairs", MappingProxyType(dict(self.pairs)))

    @property
    def num_nodes(self) -> int:
        """Number of nodes N."""
        return len(self.indptr) - 1

    @property
    def num_edges(self) -> int:
        """Number of CSR entries E: an undirected edge counts twice."""
        return len(self.indices)

    @property
    def num_features(self) -> int:
        """Feature columns; 0 without features."""
        return 0 if self.x is None else self.x.shape[1]

    @cached_property
    def num_classes(self) -> int:
        """Classes or yes/no labels of the nodes; 0 without labels, 1 for values."""
        if self.y is None:
            return 0
        if self.y.ndim == 2:
            return int(self.y.shape[1])
        if self.y.dtype.kind == "f":
            return 1
        return len(self.class_name) if self.class_name is not None else 1 + int(self.y.max(initial=-1))

    def degree(self, nodes: ArrayLike | range | None = None) -> Ints:
        """Return the number of neighbors of nodes, given as ids or names; of all nodes if None. [K]"""
        from shadow_gnn.graph.part import chosen_nodes

        if nodes is None:
            return np.diff(self.indptr)
        chosen = chosen_nodes(self, nodes, "degree")
        return np.asarray(self.indptr[chosen + 1] - self.indptr[chosen])

    def neighbors(self, node: int | str) -> Ints:
        """Return the ids of the nodes that send messages to a node, given as id or name, ascending. [K]"""
        from shadow_gnn.graph.part import chosen_nodes

        (chosen,) = chosen_nodes(self, [node], "neighbors").tolist()
        indptr, indices = self.lists
        return np.asarray(indices[indptr[chosen] : indptr[chosen + 1]], dtype=np.int64)

    def subgraph(self, nodes: ArrayLike | range) -> Graph:
        """Return the graph between some nodes, ids or names, numbered from 0 in their order."""
        from shadow_gnn.graph.part import subgraph

        return subgraph(self, nodes)

    def to_pyg(self) -> Any:
        """Return a torch_geometric Data with all arrays in memory."""
        from shadow_gnn.graph.to_pyg import to_pyg

        return to_pyg(self)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the topology and the edge weights: equal graphs have equal fingerprints."""
        return self.fingerprint_hint or topology_fingerprint(self.indptr, self.indices, self.edge_weight)

    @cached_property
    def lists(self) -> tuple[Array, Array]:
        """indptr and indices after a check of every value, made once, for libraries that trust them.

        The compiled core checks what it reads and takes the arrays themselves.
        """
        names = ("indptr", "indices")
        return checked_lists(self.indptr, self.indices, self.num_nodes, owner=self._owner, names=names)

    @property
    def _owner(self) -> object:
        """The name of the graph in messages."""
        return self.path or "graph in memory"

    def list_bounds(self, node_id: Ints) -> tuple[Ints, Ints]:
        """Return where the lists of some nodes begin and end in indices, after a check of these values alone."""
        return checked_bounds(self.indptr, self.num_edges, node_id, self._owner)

    def degrees(self, node_id: Ints) -> Ints:
        """Return the lengths of the lists of some nodes, after a check of these values alone."""
        start, stop = self.list_bounds(node_id)
        return stop - start

    def senders(self, position: Ints) -> Ints:
        """Return the ids at some positions of indices, after a check of these values alone."""
        return checked_ids(self.indices, self.num_nodes, position, self._owner)

    def edges(self, position: Ints) -> Ints:
        """Return the (sender, receiver) of the edges at some positions, checked. [P, 2]"""
        rows = checked_rows(self.indptr, self.num_edges, position, self._owner)
        return np.stack((self.senders(position), rows), axis=1)

    def split(self, name: str) -> Ints:
        """Return the node ids of a split, after a check of every value."""
        node_id = np.asarray(self.splits[name], dtype=np.int64)
        if len(node_id) and not 0 <= node_id.min() <= node_id.max() < self.num_nodes:
            wrong = node_id.min() if node_id.min() < 0 else node_id.max()
            kind = ValueError if self.path is None else FolderError
            raise kind(f"{self._owner}: split {name} must have {id_range(self.num_nodes)}, got {int(wrong)}")
        return node_id

    def raise_damage(self) -> None:
        """Raise a FolderError if the check of the folder has found damage so far."""
        if self.check is not None:
            self.check.raise_fault()

    def confirm(self) -> None:
        """Wait for the check of the folder; a FolderError names the damaged file. Called before results are written."""
        if self.check is not None:
            self.check.confirm()

    def __repr__(self) -> str:
        return as_line("Graph", self._facts())

    def _repr_html_(self) -> str:
        return as_html("Graph", self._facts())

    def _facts(self) -> dict[str, str]:
        """Return the main facts of the graph, without reading memory maps."""
        weighted = "" if self.edge_weight is None else ", weighted"
        edges = self.num_edges if self.directed else self.num_edges // 2
        facts = {
            "nodes": f"{self.num_nodes:,}",
            "edges": f"{edges:,} {'directed' if self.directed else 'undirected'}{weighted}",
            "features": "none" if self.x is None else _feature_fact(self.x),
            "labels": "none" if self.y is None else _label_fact(self.y, self.class_name),
        }
        if self.edge_attr is not None:
            facts["edge features"] = f"{self.edge_attr.shape[1]:,}"
        for name, arrays in (("splits", self.splits), ("pairs", self.pairs)):
            if arrays:
                facts[name] = ", ".join(f"{part} {len(ids):,}" for part, ids in arrays.items())
        if self.path is not None:
            facts["path"] = str(self.path)
        return facts

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle an opened graph as its path: a memory map would pickle its whole content."""
        if self.path is not None:
            from shadow_gnn.graph.store import open_graph

            return partial(open_graph, check=False), (self.path,)  # This process checks for all.
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "check"}
        values |= {"splits": dict(self.splits), "pairs": dict(self.pairs)}
        return partial(Graph, **values), ()


def _feature_fact(x: Features) -> str:
    return f"{x.shape[1]:,} {'sparse' if isinstance(x, SparseFeatures) else x.matrix.dtype}"


def _label_fact(y: Array, class_name: NodeNames | None) -> str:
    if y.ndim == 2:
        return f"{y.shape[1]:,} yes/no"
    if y.dtype.kind == "f":
        return "values"
    return "classes" if class_name is None else f"{len(class_name):,} classes"


def topology_fingerprint(indptr: Array, indices: Array, edge_weight: Array | None) -> str:
    """Hash the values of a CSR, independent of their integer width, in bounded memory."""
    digest = hashlib.blake2b(digest_size=16)
    step = 1 << 18
    for array, dtype in ((indptr, "<i8"), (indices, "<i8"), (edge_weight, "<f4")):
        digest.update(b"none" if array is None else str(len(array)).encode())
        for start in range(0, 0 if array is None else len(array), step):
            assert array is not None
            digest.update(np.ascontiguousarray(array[start : start + step], dtype=dtype).data)
    return digest.hexdigest()


def id_range(num_nodes: int) -> str:
    """Say which node ids a graph has."""
    return f"node ids from 0 to {num_nodes - 1}" if num_nodes else "node ids of the graph, which has no nodes"


def _check_weights(weight: Array | None) -> None:
    """Check that each weight is positive and finite; those of a folder are read by verify.py, and by the core."""
    if weight is None:
        return
    if weight.ndim != 1 or weight.dtype != np.float32:
        raise ValueError(f"Graph: edge_weight must be a 1-D float32 array, got {weight.dtype} {list(weight.shape)}")
    good = (weight > 0) & (weight < np.inf)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"Graph: edge_weight must be positive and finite, got {weight[row]} in row {row}")


def _check_lists(graph: Graph) -> None:
    """Check every neighbor list: ids in range, ascending, and symmetric if undirected."""
    indptr, indices = graph.indptr, graph.indices
    if (np.diff(indptr) < 0).any():
        raise ValueError(f"Graph: indptr must ascend, it falls after node {int(np.argmax(np.diff(indptr) < 0))}")
    if len(indices) == 0:
        return
    if indices.min() < 0 or indices.max() >= graph.num_nodes:
        worst = indices.min() if indices.min() < 0 else indices.max()
        raise ValueError(f"Graph: indices must be {id_range(graph.num_nodes)}, got {int(worst)}")
    falls = np.diff(indices) <= 0
    starts = indptr[1:-1]
    falls[starts[(starts > 0) & (starts < len(indices))] - 1] = False
    if falls.any():
        node = int(np.searchsorted(indptr, int(np.argmax(falls)), side="right")) - 1
        raise ValueError(f"Graph: indices of each node must ascend without duplicates, those of node {node} do not")
    if not graph.directed and not _is_symmetric(indptr, indices):
        raise ValueError("Graph: an undirected graph must hold every edge in both directions; set directed=True")


def _is_symmetric(indptr: Array, indices: Array) -> bool:
    from scipy.sparse import csr_array

    num_nodes = len(indptr) - 1
    matrix = csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=(num_nodes, num_nodes))
    transposed = matrix.tocsc()
    return bool(np.array_equal(transposed.indptr, indptr) and np.array_equal(transposed.indices, indices))


def _check_shapes(graph: Graph) -> None:
    """Make all checks of O(1): dtypes, lengths, ends of indptr."""
    indptr, indices = graph.indptr, graph.indices
    known: bool = isinstance(graph.directed, (bool, np.bool_))  # Not asked in the condition: it would narrow the type.
    if not known:
        raise TypeError(f"Graph: directed must be True or False, got {graph.directed!r}")
    if indptr.ndim != 1 or indptr.dtype != np.int64 or len(indptr) < 1:
        raise ValueError(f"Graph: indptr must be a 1-D int64 array of length N + 1, got {indptr.dtype} {indptr.shape}")
    if indices.ndim != 1 or indices.dtype not in (np.int32, np.int64):
        raise ValueError(f"Graph: indices must be a 1-D int32 or int64 array, got {indices.dtype} {indices.shape}")
    if indptr[0] != 0 or indptr[-1] != len(indices):
        raise ValueError(
            f"Graph: indptr must run from 0 to {len(indices)}, the length of indices, "
            f"got {int(indptr[0])} to {int(indptr[-1])}"
        )
    for name in ("node_name", "class_name"):
        names: object = getattr(graph, name)
        if names is not None and not isinstance(names, NodeNames):
            kind = type(names).__name__
            raise TypeError(f"Graph: {name} must be a NodeNames, got {kind}; make one with NodeNames.of(texts)")
    per_node: list[tuple[str, int | None]] = [
        ("x", None if graph.x is None else graph.x.shape[0]),
        ("y", None if graph.y is None else len(graph.y)),
        ("node_name", None if graph.node_name is None else len(graph.node_name)),
    ]
    for name, rows in per_node:
        if rows is not None and rows != graph.num_nodes:
            raise ValueError(f"Graph: {name} must have one row per node ({graph.num_nodes}), got {rows}")
    _check_class_names(graph)
    _check_column_names(graph)
    _check_pairs(graph)
    for name in ("edge_weight", "edge_attr", "edge_id"):
        array = getattr(graph, name)
        if array is not None and len(array) != len(indices):
            raise ValueError(f"Graph: {name} must have one row per CSR entry ({len(indices)}), got {len(array)}")


def _check_pairs(graph: Graph) -> None:
    for name, pairs in graph.pairs.items():
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype != np.int64:
            raise ValueError(f"Graph: pairs {name} must be int64 [P, 2], got {pairs.dtype} {list(pairs.shape)}")
        # verify.py checks those of a folder.
        if graph.path is None and pairs.size and not 0 <= pairs.min() <= pairs.max() < graph.num_nodes:
            worst = pairs.min() if pairs.min() < 0 else pairs.max()
            raise ValueError(f"Graph: pairs {name} must be of {id_range(graph.num_nodes)}, got {int(worst)}")


def _check_column_names(graph: Graph) -> None:
    names = graph.column_names
    if names is None:
        return
    given, columns = len(names), 0 if graph.x is None else graph.x.shape[1]
    if given != columns:
        raise ValueError(f"Graph: column_names must have a name for each of {columns} feature columns, got {given}")
    if len(set(names)) != given:
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"Graph: column_names must differ, {twice!r} appears twice")


def _check_class_names(graph: Graph) -> None:
    if graph.class_name is None:
        return
    if graph.y is None or graph.y.dtype.kind == "f":
        raise ValueError("Graph: class_name must go with labels that are classes, got none")
    # verify.py checks those of a folder: here it would read all labels.
    if graph.path is not None:
        return
    needed, given = graph.y.shape[1] if graph.y.ndim == 2 else 1 + int(graph.y.max(initial=-1)), len(graph.class_name)
    if given < needed:
        raise ValueError(f"Graph: class_name must have a name for each of {needed} classes, got {given}")
