"""Trained on: the facts about the graph of training that a model keeps, and the training targets among other nodes.

Not for: the comparison with another graph (inference/line_up.py).
"""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from shadow_gnn.base.errors import RunError
from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.extract.training_view import feature_statistics
from shadow_gnn.graph.record import Graph
from shadow_gnn.recipe import Record

Ints = NDArray[np.int64]

MOST_COLUMNS = 1 << 16
"""Most columns whose statistics are kept."""
MOST_NAMES = 1 << 22
"""Most training targets whose names are kept."""
_HASH_BYTES = 6
_SAMPLE = 256
_SAME_SHARE = 0.9
_EQUAL_LENGTHS = (
    ("column_mean", "column_deviation"),
    ("sample_row", "sample_id"),
    ("sample_class", "sample_id"),
)

Texts = Annotated[tuple[str, ...], Field(strict=False)]
Numbers = Annotated[tuple[float, ...], Field(strict=False)]
Ids = Annotated[tuple[int, ...], Field(strict=False)]


class TrainedOn(Record):
    """Facts about the graph of training."""

    directed: bool
    """Whether the graph was directed."""
    num_nodes: Annotated[int, Field(ge=0, lt=1 << 40)]
    """Its nodes."""
    fingerprint: str
    """Of its topology and edge weights."""
    features: str | None = None
    """Fingerprint of the features of a graph folder; None for a graph in memory, or without features."""
    column_names: Texts | None = None
    """Name of each feature column, if the graph had names."""
    column_mean: Numbers = ()
    """Mean of each feature column; left out above 65,536 columns."""
    column_deviation: Numbers = ()
    """Standard deviation of each; 1 for a constant column."""
    train_nodes: str | None = None
    """Training targets: one bit per node, compressed, in base64; None for links."""
    train_names: str | None = None
    """Sorted hashes of the names of the training targets, in base64; None without names, or above 2^22 of them."""
    sample_id: Ids = ()
    """Some training targets."""
    sample_row: Texts = ()
    """Hash of the features of each, in any order of the columns."""
    sample_class: Ids = ()
    """Class of each, if classes were predicted."""

    @model_validator(mode="after")
    def _has_lists_of_equal_length(self) -> TrainedOn:
        for first, second in _EQUAL_LENGTHS:
            own, other = len(getattr(self, first)), len(getattr(self, second))
            if own != other and (own or first == "column_mean"):
                raise ValueError(f"{first} must have {other} values, as {second} has, got {own}")
        return self

    def trained_among(self, nodes: Ints) -> NDArray[np.bool_]:
        """Tell which of some nodes of the same graph were training targets."""
        known = nodes < self.num_nodes
        if self.train_nodes is None or not known.any():
            return np.zeros(len(nodes), bool)
        place = np.where(known, nodes, 0)
        length = int(place.max()) // 8 + 1  # Not that of num_nodes, which a model could lie about.
        try:
            data = zlib.decompressobj().decompress(base64.b64decode(self.train_nodes, validate=True), length)
        except (ValueError, zlib.error) as error:
            raise RunError(f"model: trained_on.train_nodes must be packed flags of nodes: {error}") from error
        flags = np.frombuffer(data.ljust(length, b"\0"), np.uint8)
        seen: NDArray[np.bool_] = known & (flags[place // 8] >> (7 - place % 8) & 1).astype(bool)
        return seen

    def names_among(self, names: Sequence[str]) -> int:
        """Count the names among those of the training targets."""
        if self.train_names is None:
            return 0
        try:
            kept = np.frombuffer(base64.b64decode(self.train_names, validate=True), np.uint8).reshape(-1, _HASH_BYTES)
        except ValueError as error:
            raise RunError(f"model: trained_on.train_names must be packed hashes of names: {error}") from error
        return int(np.isin(_widened(kept), _widened(_name_hashes(names))).sum()) if len(kept) else 0

    def has_same_nodes(self, graph: Graph) -> bool:
        """Tell whether node ids of a graph mean the same nodes: equal edges, or equal features of sampled targets."""
        if graph.fingerprint == self.fingerprint:
            return True
        ids = self.sample_id
        if not ids or len(ids) != len(self.sample_row) or graph.x is None:
            return False
        if not 0 <= min(ids) <= max(ids) < graph.num_nodes:
            return False
        rows = row_hashes(graph, np.array(self.sample_id))
        same = sum(own == kept for own, kept in zip(rows, self.sample_row, strict=True))
        return same >= _SAME_SHARE * len(rows)


def trained_on(graph: Graph, targets: Ints | None) -> TrainedOn:
    """Return the facts about a graph; targets: the training nodes, None for links."""
    found = TrainedOn(directed=graph.directed, num_nodes=graph.num_nodes, fingerprint=graph.fingerprint)
    changes: dict[str, object] = {}
    if graph.x is not None and graph.num_nodes:
        changes |= {"features": graph.x.fingerprint_hint, "column_names": graph.column_names}
        if graph.x.shape[1] <= MOST_COLUMNS:
            statistics = feature_statistics(graph)
            changes["column_mean"] = tuple(statistics.mean.tolist())
            changes["column_deviation"] = tuple(statistics.deviation.tolist())
    if targets is not None and len(targets):
        flags = np.zeros(graph.num_nodes, bool)
        flags[targets] = True
        changes["train_nodes"] = base64.b64encode(zlib.compress(np.packbits(flags).tobytes())).decode()
        distinct = np.flatnonzero(flags)
        sample = distinct[np.unique(np.linspace(0, len(distinct) - 1, _SAMPLE).astype(np.int64))]
        if graph.node_name is not None and len(distinct) <= MOST_NAMES:
            hashes = np.unique(_name_hashes([graph.node_name[node] for node in distinct.tolist()]), axis=0)
            changes["train_names"] = base64.b64encode(hashes.tobytes()).decode()
        changes["sample_id"] = tuple(sample.tolist())
        if graph.x is not None:
            changes["sample_row"] = row_hashes(graph, sample)
        labels = array_rows(graph, "y", sample)
        if labels is not None and labels.ndim == 1 and labels.dtype.kind in "iu":
            changes["sample_class"] = tuple(labels.tolist())
    return found.model_copy(update=changes)


def _name_hashes(names: Sequence[str]) -> NDArray[np.uint8]:
    """Return a hash of each name. [names, bytes]"""
    joined = b"".join(hashlib.blake2b(name.encode(), digest_size=_HASH_BYTES).digest() for name in names)
    return np.frombuffer(joined, np.uint8).reshape(-1, _HASH_BYTES)


def _widened(hashes: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return hashes as numbers, in the order of their bytes."""
    wide = np.zeros((len(hashes), 8), np.uint8)
    wide[:, 8 - _HASH_BYTES :] = hashes
    return wide.view(">u8").reshape(-1).astype(np.uint64)


def row_hashes(graph: Graph, nodes: Ints) -> tuple[str, ...]:
    """Hash the features of some nodes, in any order of the columns."""
    found = []
    for node in nodes:
        rows = feature_rows(graph, np.array([node]))
        assert rows is not None
        found.append(hashlib.blake2b(np.sort(rows[0]).tobytes(), digest_size=8).hexdigest())
    return tuple(found)
