"""CachedExtractor: keep the scopes of a deterministic extractor between epochs, in memory or on disk.

Not for: random scopes, which must differ between epochs.
"""

from __future__ import annotations

import hashlib
import secrets
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.checked_json import dump_checked, read_checked
from shadow_gnn.base.errors import FolderError
from shadow_gnn.base.files import NpyError, describe_file, map_npy, new_folder, write_blocks, write_npy
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.options import check_int
from shadow_gnn.extract.protocol import Extractor, Hide
from shadow_gnn.extract.subgraphs import Subgraphs, concat, select
from shadow_gnn.graph.record import Graph

_VERSION = 2
_MAX_SEGMENT_BYTES = 100_000
_ARRAYS = (
    *("targets", "ptr", "node_id", "hop", "score", "indptr", "indices", "edge_pos"),
    *("nodes_touched", "edges_touched"),
)


class CachedExtractor:
    """Wrap an extractor so that each target is extracted once.

    Scopes are kept in memory, or in `folder` to outlive the process. Scopes that do not fit into `max_bytes` are
    extracted each time; none are evicted, because a loop over all targets would always evict those it needs next. They
    are identified by the extractor's key and the fingerprint of the graph, and of its features if they are read.

    >>> cached = extract.CachedExtractor(extract.PprExtractor(topk=6), folder="kept")
    >>> len(cached(graph, [0, 7]))
    2
    >>> cached.flush()
    """

    deterministic = True

    def __init__(
        self,
        extractor: Extractor,
        *,
        folder: str | Path | None = None,
        max_bytes: int = 2**31,
        segment_bytes: int = 2**26,
    ) -> None:
        if not extractor.deterministic:
            raise ValueError(
                "CachedExtractor: extractor must be deterministic, "
                f"got {extractor!r}; its scopes must differ from epoch to epoch"
            )
        check_int("CachedExtractor", "max_bytes", max_bytes, 0, 2**62)
        check_int("CachedExtractor", "segment_bytes", segment_bytes, 1, 2**62)
        self.extractor = extractor
        self.reads_features, self.edge_pos = extractor.reads_features, extractor.edge_pos
        self.hide, self.num_threads = extractor.hide, extractor.num_threads
        self.folder = None if folder is None else Path(folder)
        self.max_bytes = max_bytes
        self.segment_bytes = segment_bytes
        self._stores: dict[str, ScopeStore] = {}
        self._lock = threading.Lock()

    @property
    def key(self) -> str:
        """The key of the wrapped extractor: caching does not change scopes."""
        return self.extractor.key

    def edge_graph(self, graph: Graph) -> Graph:
        """Return the graph whose edges the scopes have, as the wrapped extractor."""
        return self.extractor.edge_graph(graph)

    def with_common(
        self, *, edge_pos: bool | None = None, hide: Hide | None = None, num_threads: int | None = None
    ) -> CachedExtractor:
        """Return an empty cache of the changed extractor."""
        changed = self.extractor.with_common(edge_pos=edge_pos, hide=hide, num_threads=num_threads)
        if changed == self.extractor:
            return self
        return CachedExtractor(changed, folder=self.folder, max_bytes=self.max_bytes, segment_bytes=self.segment_bytes)

    def __call__(self, graph: Graph, targets: ArrayLike, *, seed: int = 0) -> Subgraphs:
        """Extract one scope for each target, from the cache if possible."""
        groups = check_targets(graph, targets, "CachedExtractor")
        if len(groups) == 0:
            return self.extractor(graph, groups, seed=seed)
        with self._lock:
            store = self._store(graph)
            unknown = store.unknown(groups)
            if len(unknown):
                fresh = self.extractor(graph, unknown, seed=seed)
                if not store.add(fresh):
                    return self.extractor(graph, groups, seed=seed) if len(unknown) < len(groups) else fresh
            return store.get(groups)

    def flush(self) -> None:
        """Write scopes that are still only in memory to the folder, if there is one."""
        with self._lock:
            for store in self._stores.values():
                store.flush()

    def __getstate__(self) -> dict[str, object]:
        """Drop the cached scopes: another process fills its own cache, or reads the folder."""
        return {**self.__dict__, "_stores": {}, "_lock": None}

    def __setstate__(self, state: dict[str, object]) -> None:
        """Start with an empty cache."""
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def _store(self, graph: Graph) -> ScopeStore:
        identity = f"segments={_VERSION}\n{self.extractor.key}\n{graph.fingerprint}\ndirected={graph.directed}"
        if self.reads_features:
            identity += f"\nfeatures={None if graph.x is None else graph.x.fingerprint}"
        if identity not in self._stores:
            digest = hashlib.blake2b(identity.encode(), digest_size=12).hexdigest()
            folder = None if self.folder is None else self.folder / digest
            self._stores[identity] = ScopeStore(folder, identity, self.max_bytes, self.segment_bytes)
        return self._stores[identity]


class ScopeStore:
    """Scopes of one extractor on one graph: segments on disk, and a part in memory that grows."""

    def __init__(self, folder: Path | None, identity: str, max_bytes: int, segment_bytes: int) -> None:
        self._folder = folder
        self._identity = identity
        self._max_bytes = max_bytes
        self._segment_bytes = segment_bytes
        self._parts: list[Subgraphs] = []
        self._place: dict[tuple[int, ...], tuple[int, int]] = {}
        self._num_bytes = 0
        self._unsaved: list[int] = []
        if folder is not None and folder.is_dir():
            for segment in sorted(folder.glob("segment-*")):
                self._append(_read_segment(segment, identity))

    def unknown(self, groups: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the distinct rows of `groups` that are not kept, in order."""
        rows = dict.fromkeys(row for row in map(tuple, groups.tolist()) if row not in self._place)
        return np.array(list(rows), dtype=np.int64).reshape(-1, groups.shape[1])

    def add(self, scopes: Subgraphs) -> bool:
        """Keep new scopes if they fit; return whether they did."""
        if self._num_bytes + scopes.num_bytes > self._max_bytes:
            return False
        self._unsaved.append(self._append(scopes))
        self._merge()
        if self._folder is not None and self._unsaved_bytes() > self._segment_bytes:
            self.flush()
        return True

    def get(self, groups: NDArray[np.int64]) -> Subgraphs:
        """Return the kept scopes of `groups`, in order."""
        places = np.array([self._place[row] for row in map(tuple, groups.tolist())], dtype=np.int64).reshape(-1, 2)
        used = np.unique(places[:, 0])
        picked = [select(self._parts[part], places[places[:, 0] == part, 1]) for part in used]
        # The picked scopes are ordered by part: find the place of each requested one.
        order = np.argsort(np.argsort(places[:, 0], kind="stable"), kind="stable")
        return picked[0] if len(picked) == 1 else select(concat(picked), order)

    def flush(self) -> None:
        """Write the unsaved scopes as one segment."""
        if self._folder is None or not self._unsaved:
            return
        scopes = concat([self._parts[part] for part in self._unsaved])
        path = self._folder / f"segment-{secrets.token_hex(8)}"
        _write_segment(path, scopes, self._identity)
        mapped = _read_segment(path, self._identity)
        self._replace_unsaved(mapped)
        self._unsaved = []

    def _unsaved_bytes(self) -> int:
        return sum(self._parts[part].num_bytes for part in self._unsaved)

    def _append(self, scopes: Subgraphs) -> int:
        part = len(self._parts)
        self._parts.append(scopes)
        self._num_bytes += scopes.num_bytes
        for position, row in enumerate(map(tuple, scopes.targets.tolist())):
            self._place[row] = (part, position)
        return part

    def _merge(self) -> None:
        """Merge the last parts while they are of similar size, to keep their number small."""
        while len(self._unsaved) >= 2:
            last, before = self._unsaved[-1], self._unsaved[-2]
            if 2 * self._parts[last].num_bytes < self._parts[before].num_bytes:
                return
            joined = concat([self._parts[before], self._parts[last]])
            self._unsaved = self._unsaved[:-2]
            self._drop_last(2)
            self._unsaved.append(self._append(joined))

    def _replace_unsaved(self, mapped: Subgraphs) -> None:
        self._drop_last(len(self._unsaved))
        self._append(mapped)

    def _drop_last(self, count: int) -> None:
        """Remove the last parts; appending their scopes again gives them new places."""
        for part in self._parts[len(self._parts) - count :]:
            self._num_bytes -= part.num_bytes
        del self._parts[len(self._parts) - count :]


def _write_segment(path: Path, scopes: Subgraphs, identity: str) -> None:
    arrays = {name: getattr(scopes, name) for name in _ARRAYS if getattr(scopes, name) is not None}
    with new_folder(path) as folder:
        written = {name: write_npy(folder / f"{name}.npy", array).checksum for name, array in arrays.items()}
        text = dump_checked({"identity": identity, "num_scopes": len(scopes), "blake2b": written})
        write_blocks(folder / "segment.json", iter([memoryview(text)]), len(text))


def _read_segment(path: Path, identity: str) -> Subgraphs:
    """Map one segment after checking every byte of it, and that it belongs here."""
    try:
        said = read_checked(path / "segment.json", _MAX_SEGMENT_BYTES, ValueError)
        if said["identity"] != identity:
            raise ValueError("it belongs to another graph or extractor")
        for name, checksum in said["blake2b"].items():
            if describe_file(path / f"{name}.npy").checksum != checksum:
                raise ValueError(f"{name}.npy was edited or damaged")
        arrays: dict[str, Any] = {name: map_npy(path / f"{name}.npy") for name in said["blake2b"]}
        scopes = Subgraphs(**{"edge_pos": None, **arrays})
        _check_segment(scopes, said["num_scopes"])
    except (OSError, NpyError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise FolderError(f"{path}: kept scopes cannot be read: {error}; delete the folder to extract again") from error
    return scopes


def _check_segment(scopes: Subgraphs, num_scopes: int) -> None:
    num_nodes, num_edges = len(scopes.node_id), len(scopes.indices)
    lengths = {"ptr": num_scopes + 1, "targets": num_scopes, "indptr": num_nodes + 1}
    lengths |= {"nodes_touched": num_scopes, "edges_touched": num_scopes, "hop": num_nodes, "score": num_nodes}
    if scopes.edge_pos is not None:
        lengths["edge_pos"] = num_edges
    for name, length in lengths.items():
        if len(getattr(scopes, name)) != length:
            raise ValueError(f"{name} must have {length} rows, got {len(getattr(scopes, name))}")
    expected = {"hop": np.int32, "indices": np.int32, "score": np.float32}
    for name in _ARRAYS:
        array = getattr(scopes, name)
        if array is not None and array.dtype != expected.get(name, np.int64):
            raise ValueError(f"{name} must be {np.dtype(expected.get(name, np.int64))}, got {array.dtype}")
    if scopes.ptr[0] != 0 or scopes.ptr[-1] != num_nodes or (np.diff(scopes.ptr) < 0).any():
        raise ValueError("ptr must ascend from 0 to the number of nodes")
    if scopes.indptr[0] != 0 or scopes.indptr[-1] != num_edges or (np.diff(scopes.indptr) < 0).any():
        raise ValueError("indptr must ascend from 0 to the number of edges")
