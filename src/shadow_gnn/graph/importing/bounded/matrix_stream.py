"""Matrix stream: .npz files and GraphSAINT's folder -> the arrays of a graph folder, in bounded memory.

Not for: sources that fit in memory (graph/importing/formats/npz.py, graph/importing/formats/saint.py).
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.importing.archive import Archive
from shadow_gnn.graph.importing.bounded.carried import Carried
from shadow_gnn.graph.importing.bounded.converted import check_streamed, member_features, npy_features
from shadow_gnn.graph.importing.bounded.out_of_core import Lists
from shadow_gnn.graph.importing.bounded.staged_matrix import count_entries, stage_matrix
from shadow_gnn.graph.importing.bounded.streaming import Arrays, NodeData, StreamOptions, arranged, lists_of
from shadow_gnn.graph.importing.build import Summary
from shadow_gnn.graph.importing.formats.npz import archive_features, archive_pairs, archive_splits, unused_keys
from shadow_gnn.graph.importing.formats.saint import read_labels, read_roles
from shadow_gnn.graph.importing.nodes import labels
from shadow_gnn.graph.importing.options import ImportOptions


def count_matrix(source: Path) -> tuple[int, bool]:
    """Return the number of entries of a matrix and whether they have values, from the headers alone."""
    with Archive(source / "adj_full.npz" if source.is_dir() else source) as archive:
        return count_entries(archive), "data" in archive or "weights" in archive


def stream_npz(
    path: Path, options: ImportOptions, streaming: StreamOptions, stack: ExitStack
) -> tuple[Arrays, int | None, Summary]:
    """Return the arrays of a graph in one archive, its feature columns and a summary.

    stack: closes the archive.
    """
    archive = stack.enter_context(Archive(path))
    if "feats" in archive:
        check_streamed(options.nodes.feature_dtype)
    lists, notes = _lists(archive, options, streaming)
    num_nodes, nodes = lists.summary.num_nodes, NodeData()
    if "format" not in archive:
        dtype = options.nodes.feature_dtype
        nodes = NodeData(
            x=member_features(archive, "feats", num_nodes, dtype, stack)
            if "feats" in archive
            else archive_features(archive, num_nodes, dtype),
            y=labels(archive.read("labels"), num_nodes, f"{path}: labels") if "labels" in archive else None,
            splits=archive_splits(archive, num_nodes),
            pairs=archive_pairs(archive, num_nodes),
        )
        notes += unused_keys(archive)
    arrays, num_columns = arranged(lists, nodes, options.nodes, path, streaming.progress)
    return arrays, num_columns, replace(lists.summary, notes=notes)


def stream_saint(folder: Path, options: ImportOptions, streaming: StreamOptions) -> tuple[Arrays, int | None, Summary]:
    """Return the arrays of a GraphSAINT folder, its feature columns and a summary."""
    x, y, roles = folder / "feats.npy", folder / "class_map.json", folder / "role.json"
    if x.exists():
        check_streamed(options.nodes.feature_dtype)
    with Archive(folder / "adj_full.npz") as archive:
        lists, notes = _lists(archive, options, streaming)
    num_nodes = lists.summary.num_nodes
    nodes = NodeData(
        x=npy_features(x, num_nodes, options.nodes.feature_dtype) if x.exists() else None,
        y=read_labels(y, num_nodes) if y.exists() else None,
        splits=read_roles(roles, num_nodes) if roles.exists() else {},
    )
    arrays, num_columns = arranged(lists, nodes, options.nodes, folder, streaming.progress)
    return arrays, num_columns, replace(lists.summary, notes=notes)


def _lists(archive: Archive, options: ImportOptions, streaming: StreamOptions) -> tuple[Lists, tuple[str, ...]]:
    staged = stage_matrix(archive, streaming.scratch, streaming.memory_bytes, streaming.progress)
    carried = Carried(staged.weight, None, options.merge, options.keep_edge_id)
    try:
        lists = lists_of(staged.edges, staged.num_nodes, carried, streaming, directed=options.directed)
    except SourceError as error:
        raise SourceError(f"{archive.path}: {error}") from error
    return lists, staged.notes
