"""Store: open a graph folder memory-mapped, save a graph as one.

Not for: importing other formats (importing), nor for checking every byte (verify.py).
"""

from __future__ import annotations

import math
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shadow_gnn.base.disk_arrays import DiskRows
from shadow_gnn.base.errors import FolderError, WriteError
from shadow_gnn.base.files import (
    NpyError,
    Progress,
    Rows,
    Written,
    checksum_of,
    map_npy,
    new_folder,
    open_regular,
    silent,
    write_blocks,
    write_npy,
)
from shadow_gnn.graph.block_check import FolderCheck, checks_are_on
from shadow_gnn.graph.record import (
    Array,
    DenseFeatures,
    Features,
    Graph,
    NodeNames,
    SparseFeatures,
    feature_arrays,
    topology_fingerprint,
)

if TYPE_CHECKING:
    from shadow_gnn.graph.manifest import FileEntry, Manifest

MANIFEST = "graph.json"
_IMPORT_RECORD = "import.toml"
BLOCKS = "blocks"
"""Name of the array with the checksums of blocks."""
NAME_ORDER = "node_name_order"
"""Name of the array with the sorted order of the names of nodes."""
_SORT_BYTES_PER_NAME = 40
_SPLIT_NAME = re.compile("[A-Za-z0-9_-]{1,64}")
_FREE_BYTES = 1 << 16


def open_graph(folder: str | Path, *, check: bool = True) -> Graph:
    """Open a graph folder with its arrays mapped read-only.

    check: compare blocks with their checksums, at once in a small folder, otherwise in the background. False, or
    SHADOW_CHECK=off in the environment: only the headers of the files are read.

    >>> sg.open_graph("ring").num_nodes
    40
    """
    folder = Path(folder)
    manifest, arrays = open_arrays(folder)
    started = _start_check(folder, manifest, arrays) if check and checks_are_on() else None
    try:
        graph = Graph(
            indptr=arrays["indptr"],
            indices=arrays["indices"],
            directed=manifest.directed,
            x=_features(arrays, manifest),
            y=arrays.get("y"),
            edge_weight=arrays.get("edge_weight"),
            edge_attr=arrays.get("edge_attr"),
            edge_id=arrays.get("edge_id"),
            splits={name[6:]: array for name, array in arrays.items() if name.startswith("split/")},
            pairs={name[6:]: array for name, array in arrays.items() if name.startswith("pairs/")},
            node_name=_names(arrays, "node_name", folder),
            class_name=_names(arrays, "class_name"),
            column_names=_column_names(folder, arrays),
            import_toml=_import_record(folder, manifest),
            path=Path(os.path.abspath(folder)),
            fingerprint_hint=manifest.fingerprint,
            check=started,
        )
    except KeyError as error:
        raise FolderError(f"{folder}: {error.args[0]}.npy is missing") from error
    except ValueError as error:
        raise FolderError(f"{folder}: {error}") from error
    if (graph.num_nodes, graph.num_edges) != (manifest.num_nodes, manifest.num_edges):
        raise FolderError(
            f"{folder / MANIFEST}: says {manifest.num_nodes} nodes and {manifest.num_edges} edges, "
            f"the arrays hold {graph.num_nodes} and {graph.num_edges}"
        )
    return graph


def save_graph(graph: Graph, folder: str | Path, *, overwrite: bool = False, progress: Progress = silent) -> None:
    """Save a graph as a folder in one step: after a crash the folder is complete, or as it was before.

    >>> sg.save_graph(graph, "copy")
    >>> sg.open_graph("copy").num_nodes
    40
    """
    save_contents(contents_of(graph), Path(folder), overwrite=overwrite, progress=progress)


@dataclass(frozen=True, eq=False)
class Contents:
    """Contents of a graph folder; the arrays may be streamed."""

    arrays: Mapping[str, Array | Rows]
    """Arrays by the names of their files, without .npy."""
    directed: bool
    """False if every edge is stored in both directions."""
    num_feature_columns: int | None
    """F, or None without features."""
    fingerprint: str | None = None
    """Hash of the topology and the edge weights; None to compute it."""
    import_toml: str | None = None
    """Text of import.toml; None to write none."""
    sort_bytes: int | None = None
    """Memory for sorting the names of nodes, whose order is left out if it needs more; None for any amount."""


def contents_of(graph: Graph) -> Contents:
    """Return the contents of the folder of a graph."""
    graph.confirm()
    columns = None if graph.x is None else graph.x.shape[1]
    return Contents(graph_arrays(graph), graph.directed, columns, graph.fingerprint_hint, graph.import_toml)


def save_contents(
    contents: Contents,
    folder: Path,
    *,
    overwrite: bool = False,
    check: Callable[[Graph], None] | None = None,
    place: Path | None = None,
    progress: Progress = silent,
) -> None:
    """Write a graph folder in one step; if `check` raises for the written graph, no folder is made.

    place: temporary folder; None for a new name next to the folder.
    """
    arrays = contents.arrays
    check_target(folder, overwrite=overwrite)
    copied = [array for array in arrays.values() if not (isinstance(array, DiskRows) and array.npy_path)]
    check_space(folder, sum(math.prod(array.shape) * array.dtype.itemsize for array in copied))
    with new_folder(folder, overwrite=overwrite, place=place) as temporary:
        for inner in ("split", "pairs"):
            if any(name.startswith(f"{inner}/") for name in arrays):
                (temporary / inner).mkdir()
        written = {name: write_npy(temporary / f"{name}.npy", array, progress) for name, array in arrays.items()}
        order = _name_order(contents, temporary, progress)
        if order is not None:
            contents = replace(contents, arrays={**arrays, NAME_ORDER: order})
            written[NAME_ORDER] = write_npy(temporary / f"{NAME_ORDER}.npy", order, progress)
        sums = np.array(
            [sum_ for name in sorted(written, key=lambda name: f"{name}.npy") for sum_ in written[name].blocks],
            np.uint32,
        )
        written[BLOCKS] = write_npy(temporary / f"{BLOCKS}.npy", sums)
        record = None if contents.import_toml is None else contents.import_toml.encode()
        if record is not None:
            block = iter([memoryview(record)])
            written[_IMPORT_RECORD] = write_blocks(temporary / _IMPORT_RECORD, block, len(record))
        data = _describe(contents, written, sums)
        write_blocks(temporary / MANIFEST, iter([memoryview(data)]), len(data))
        if check is not None:
            check(open_graph(temporary, check=False))
        check_target(folder, overwrite=overwrite)  # Something may have been put there in the meantime.


def _name_order(contents: Contents, folder: Path, progress: Progress) -> Array | None:
    """Sort the names of nodes that were written; None without names, or if the order is given or takes too much."""
    ptr = contents.arrays.get("node_name_ptr")
    if ptr is None or NAME_ORDER in contents.arrays:
        return None
    if contents.sort_bytes is not None and len(ptr) * _SORT_BYTES_PER_NAME > contents.sort_bytes:
        return None
    progress("sorting names", 0, 1)
    return NodeNames(map_npy(folder / "node_name_ptr.npy"), map_npy(folder / "node_name_text.npy")).order


def graph_arrays(graph: Graph) -> dict[str, Array]:
    """Return the arrays of a graph by the names of their files, without .npy."""
    for owner, names in (("a split's", graph.splits), ("the pairs'", graph.pairs)):
        for name in names:
            if not _SPLIT_NAME.fullmatch(name):
                raise ValueError(f"save_graph: {owner} name must be letters, digits, _ or -, got {name!r}")
    arrays: dict[str, Array | None] = {"indptr": graph.indptr, "indices": graph.indices}
    if graph.x is not None:
        arrays |= feature_arrays(graph.x)
    arrays |= {"y": graph.y, "edge_weight": graph.edge_weight}
    arrays |= {"edge_attr": graph.edge_attr, "edge_id": graph.edge_id}
    column_name = None if graph.column_names is None else NodeNames.of(graph.column_names)
    named = {"node_name": graph.node_name, "class_name": graph.class_name, "column_name": column_name}
    for name, texts in named.items():
        if texts is not None:
            arrays |= {f"{name}_ptr": texts.ptr, f"{name}_text": texts.text}
    arrays |= {f"split/{name}": ids for name, ids in graph.splits.items()}
    arrays |= {f"pairs/{name}": pairs for name, pairs in graph.pairs.items()}
    return {name: array for name, array in arrays.items() if array is not None}


def open_arrays(folder: Path) -> tuple[Manifest, dict[str, Array]]:
    """Read graph.json and map every listed file after checking its type and shape."""
    from shadow_gnn.graph.manifest import read_manifest

    if not folder.is_dir():
        fault = "is not a folder" if os.path.lexists(folder) else "no such folder"
        raise FolderError(f"{folder}: {fault}")
    if not os.path.lexists(folder / MANIFEST):
        raise FolderError(f"{folder}: is not a graph folder: it has no {MANIFEST}")
    manifest = read_manifest(folder / MANIFEST)
    for inner in ("split", "pairs"):
        if any(name.startswith(f"{inner}/") for name in manifest.files):
            _check_inner_folder(folder / inner)
    arrays = {name[:-4]: _map(folder / name, entry) for name, entry in manifest.files.items()}
    return manifest, arrays


def _start_check(folder: Path, manifest: Manifest, arrays: dict[str, Array]) -> FolderCheck | None:
    """Check the blocks of a folder; one of an earlier version of the program has no checksums of blocks."""
    sums = arrays.get(BLOCKS)
    if sums is None:
        return None
    if checksum_of((folder / f"{BLOCKS}.npy").read_bytes()) != manifest.files[f"{BLOCKS}.npy"].blake2b:
        raise FolderError(f"{folder / f'{BLOCKS}.npy'}: was edited or damaged: its checksum does not fit")
    return FolderCheck(Path(os.path.abspath(folder)), _checked_sizes(manifest), np.array(sums))


def _checked_sizes(manifest: Manifest) -> dict[str, int]:
    """Return the bytes of the files whose blocks have checksums, in the order of those."""
    return {name: entry.num_bytes for name, entry in sorted(manifest.files.items()) if name != f"{BLOCKS}.npy"}


def _map(path: Path, entry: FileEntry) -> Array:
    try:
        array = map_npy(path, follow_links=False)
    except NpyError as error:
        raise FolderError(f"{path}: {error}") from error
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
    if array.dtype != np.dtype(entry.dtype) or list(array.shape) != entry.shape:
        raise FolderError(
            f"{path}: must be {entry.dtype} {entry.shape} as {MANIFEST} says, got {array.dtype} {list(array.shape)}"
        )
    if array.ndim > 1 and not array.flags.c_contiguous:
        raise FolderError(f"{path}: must be in C order")
    return array


def _check_inner_folder(path: Path) -> None:
    try:
        mode = os.lstat(path).st_mode
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
    if not stat.S_ISDIR(mode):
        raise FolderError(f"{path}: must be a folder inside the graph folder, not a link or a file")


def _features(arrays: dict[str, Array], manifest: Manifest) -> Features | None:
    parts = [f"{name} {entry.blake2b}" for name, entry in sorted(manifest.files.items()) if name.startswith("x")]
    hint = " ".join([str(manifest.num_feature_columns), *parts])
    if "x" in arrays:
        return DenseFeatures(arrays["x"], arrays.get("x_scale"), hint)
    if manifest.num_feature_columns is None:
        return None
    return SparseFeatures(arrays["x_indptr"], arrays["x_indices"], arrays["x_data"], manifest.num_feature_columns, hint)


def _names(arrays: dict[str, Array], name: str, folder: Path | None = None) -> NodeNames | None:
    if f"{name}_ptr" not in arrays and f"{name}_text" not in arrays:
        return None
    return NodeNames(arrays[f"{name}_ptr"], arrays[f"{name}_text"], arrays.get(f"{name}_order"), folder)


def _column_names(folder: Path, arrays: dict[str, Array]) -> tuple[str, ...] | None:
    names = _names(arrays, "column_name")
    if names is None:
        return None
    try:
        return tuple(names[number] for number in range(len(names)))
    except FolderError as error:
        raise FolderError(f"{folder}: column_name: {error}") from error


def _import_record(folder: Path, manifest: Manifest) -> str | None:
    """Read import.toml, which must have the size and the checksum that graph.json says."""
    entry = manifest.import_record
    if entry is None:
        return None
    path = folder / _IMPORT_RECORD
    try:
        with open_regular(path, follow_links=False) as handle:
            data = handle.read(entry.num_bytes + 1)
        if len(data) != entry.num_bytes:
            raise FolderError(f"{path}: must have {entry.num_bytes} bytes as {MANIFEST} says, it does not")
        if checksum_of(data) != entry.blake2b:
            raise FolderError(f"{path}: was edited or damaged: its checksum does not fit")
        return data.decode()
    except OSError as error:
        raise FolderError(f"{path}: cannot be read: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise FolderError(f"{path}: is not UTF-8: {error}") from error


def _describe(contents: Contents, written: dict[str, Written], sums: Array) -> bytes:
    from shadow_gnn.graph.manifest import FileEntry, Manifest, TextEntry, dump_manifest

    arrays: Mapping[str, Any] = {**contents.arrays, BLOCKS: sums}
    entries = {}
    for name, array in arrays.items():
        entry = {"dtype": array.dtype.name, "shape": list(array.shape)}
        entry |= {"num_bytes": written[name].num_bytes, "blake2b": written[name].checksum}
        entries[f"{name}.npy"] = FileEntry.model_validate(entry)
    fingerprint = contents.fingerprint or topology_fingerprint(
        arrays["indptr"], arrays["indices"], arrays.get("edge_weight")
    )
    record = written.get(_IMPORT_RECORD)
    manifest = Manifest(
        format="shadow-graph",
        version=1,
        num_nodes=len(arrays["indptr"]) - 1,
        num_edges=len(arrays["indices"]),
        directed=contents.directed,
        num_feature_columns=contents.num_feature_columns,
        fingerprint=fingerprint,
        files=entries,
        import_record=None if record is None else TextEntry(num_bytes=record.num_bytes, blake2b=record.checksum),
    )
    return dump_manifest(manifest)


def check_target(folder: Path, *, overwrite: bool) -> None:
    """Refuse an existing path; with overwrite, refuse only a path that is not purely a graph folder."""
    if not os.path.lexists(folder):
        return
    if not overwrite:
        how = "choose another folder, or replace it with --overwrite (overwrite=True in Python)"
        raise WriteError(f"{folder}: exists already; {how}")
    from shadow_gnn.graph.manifest import FILE_NAME, is_manifest

    if not folder.is_dir() or not is_manifest(folder / MANIFEST):
        raise WriteError(f"{folder}: is not a graph folder, so it is not overwritten; choose another folder")
    for inner, folders, names in os.walk(folder):
        for name in sorted((*folders, *names)):
            relative = os.path.relpath(os.path.join(inner, name), folder)
            known = relative in ("split", "pairs") if name in folders else re.fullmatch(FILE_NAME, relative)
            if not known and relative not in (MANIFEST, _IMPORT_RECORD):
                raise WriteError(f"{folder}: holds {relative!r}, not part of a graph, so it is not overwritten")


def check_space(folder: Path, num_bytes: int) -> None:
    """Raise at once if the disk is too small, before gigabytes are written in vain."""
    parent = Path(os.path.realpath(folder)).parent
    while not parent.exists():
        parent = parent.parent
    status = os.statvfs(parent)
    if num_bytes + _FREE_BYTES > status.f_bavail * status.f_frsize:
        raise WriteError(
            f"{folder}: cannot be written ({num_bytes} bytes needed): "
            f"the disk has {status.f_bavail * status.f_frsize} bytes free"
        )
