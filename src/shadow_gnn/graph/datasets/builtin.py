"""Built-in: unpack a graph of the package into a cache folder once, and open it from there.

Not for: building the packaged file (tools/build_debian_graph.py).
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.errors import FolderError, SourceError, WriteError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.graph.datasets.packed import unpacked
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.record import DenseFeatures, Graph, NodeNames
from shadow_gnn.graph.store import open_graph, save_graph

BUILT_IN = ("debian",)
"""Names of the built-in graphs."""

_SPLITS = ("train", "valid", "test")


def open_dataset(name: str, *, progress: Progress = silent) -> Graph:
    """Open a built-in graph memory-mapped; the first use unpacks it into the cache folder (see cache_folder).

    >>> sg.open_dataset("debian").num_nodes
    63436
    """
    record = provenance(name)
    # The name holds a hash of the content: no version of the package opens the folder of another.
    folder = cache_folder() / f"{name}-{record['sha256'][:16]}"
    if not folder.exists():
        try:
            unpack_dataset(name, folder, progress=progress)
        except WriteError as error:
            # Another process may have been faster; its folder is the same.
            if not folder.exists():
                raise WriteError(f"{error}; set SHADOW_CACHE to a folder that can be written") from error
    try:
        return open_graph(folder)
    except FolderError as error:
        raise FolderError(f"{error}; remove {folder} to unpack it again") from error


def unpack_dataset(name: str, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent) -> None:
    """Write a built-in graph as a graph folder, whole or not at all.

    >>> sg.unpack_dataset("debian", "debian-graph")
    >>> sg.open_graph("debian-graph").num_classes
    58
    """
    save_graph(read_builtin(name), folder, overwrite=overwrite, progress=progress)


def cache_folder() -> Path:
    """Return SHADOW_CACHE if that is set, otherwise shadow-gnn in the platform's folder for caches."""
    chosen = os.environ.get("SHADOW_CACHE")
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    elif sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    else:
        # By the XDG rules, a relative path is ignored.
        given = Path(os.environ.get("XDG_CACHE_HOME", ""))
        base = given if given.is_absolute() else Path.home() / ".cache"
    return base / "shadow-gnn"


def provenance(name: str) -> dict[str, Any]:
    """Return the origin of a built-in graph: release, date, counts, the file's sha256."""
    if name not in BUILT_IN:
        raise ValueError(f"open_dataset: name must be one of {', '.join(BUILT_IN)}, got {name!r}")
    text = (files("shadow_gnn.graph.datasets") / f"{name}.json").read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text)
    return record


def read_builtin(name: str) -> Graph:
    """Return a built-in graph in memory, after checking the sha256 of its file."""
    arrays = read_arrays(name)
    count = np.diff(arrays["indptr"])
    one, other = np.repeat(np.arange(len(count)), count), arrays["indices"].astype(np.int64)
    # The file holds each edge once.
    receiver, sender = np.concatenate((one, other)), np.concatenate((other, one))
    indptr = np.concatenate(([0], np.cumsum(np.bincount(receiver, minlength=len(count)))))
    indices = sender[np.lexsort((sender, receiver))].astype(np.int32)
    return Graph(
        indptr=indptr.astype(np.int64),
        indices=indices,
        x=DenseFeatures(arrays["x"], arrays["x_scale"]),
        y=arrays["y"].astype(np.int64),
        splits={split: np.flatnonzero(arrays["split"] == at) for at, split in enumerate(_SPLITS)},
        node_name=_names(arrays["node_name"]),
        class_name=_names(arrays["class_name"]),
    )


def read_arrays(name: str) -> dict[str, NDArray[Any]]:
    """Return the arrays in the file of a built-in graph.

    indptr, indices: each edge at one of its ends; x [N, F] int8, x_scale; y; split 0 to 2; node_name, class_name: texts
    separated by newlines.
    """
    expected = provenance(name)["sha256"]
    with as_file(files("shadow_gnn.graph.datasets") / f"{name}.npz") as path:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
        if found != expected:
            raise SourceError(f"{path}: was changed or damaged: sha256 must be {expected}, got {found}")
        with Archive(path) as archive:
            return unpacked({key: archive.read(key) for key in archive.names()})


def _names(block: NDArray[np.uint8]) -> NodeNames:
    """Split a text at its newlines."""
    newline = block == ord("\n")
    ends = np.concatenate((np.flatnonzero(newline), [len(block)]))
    return NodeNames(np.concatenate(([0], ends - np.arange(len(ends)))), block[~newline])
