"""One opened graph, used in the ways that commands use it, and a hash of all that comes out.

Not for: opening it; damage is found there or here.
"""

from __future__ import annotations

import hashlib
from dataclasses import astuple
from pathlib import Path
from typing import Any

import numpy as np

from shadow_gnn.extract import FullExtractor, PprExtractor, SimilarExtractor
from shadow_gnn.extract.gather import array_rows, feature_rows
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import graph_arrays, open_graph
from shadow_gnn.loading.loader import Loader
from shadow_gnn.studies.analysis.describe import describe
from shadow_gnn.tasks.links.negatives import degree_negatives
from shadow_gnn.tasks.links.pairs import count_links, links_of, without_links
from shadow_gnn.tasks.task import node_task, split_targets


def use_folder(folder: Path, *, check: bool = True) -> str:
    """Open a graph folder, use it and return a hash of the results; a fault of the folder is raised."""
    graph = open_graph(folder, check=check)
    graph.confirm()
    return use_graph(graph)


def use_graph(graph: Graph) -> str:
    """Use a graph and return a hash of the results."""
    digest = hashlib.blake2b()

    def take(*values: Any) -> None:
        for value in values:
            array = value if isinstance(value, np.ndarray) else np.frombuffer(repr(value).encode(), np.uint8)
            digest.update(f"{array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).tobytes())

    take(astuple(describe(graph)), graph.import_toml, graph.column_names)
    targets = np.arange(min(graph.num_nodes, 6))
    extractors = [PprExtractor(topk=5, edge_pos=True), FullExtractor(2)]
    extractors += [] if graph.x is None else [SimilarExtractor(topk=3, candidates=5)]
    for extractor in extractors:
        scopes = extractor(graph, targets)
        take(scopes.ptr, scopes.node_id, scopes.score, scopes.indptr, scopes.indices)
    take(feature_rows(graph, np.arange(graph.num_nodes)))
    take(*(array_rows(graph, name, targets[:2]) for name in ("y", "edge_id", "edge_weight", "edge_attr")))
    take(*(graph.split(name) for name in sorted(graph.splits)))
    for names in (graph.node_name, graph.class_name):
        take(None if names is None else [names[row] for row in range(len(names))])
    _use_links(graph, take)
    if graph.y is not None and "train" in graph.splits:
        take(node_task(graph).out_dim, split_targets(graph, "train"))
        for batch in Loader(graph, PprExtractor(topk=5), graph.split("train"), batch_size=4, prefetch=0):
            take(batch.node_id.numpy(), batch.indptr.numpy())
    take(*graph_arrays(graph).values())
    return digest.hexdigest()


def _use_links(graph: Graph, take: Any) -> None:
    links = links_of(graph)
    take(count_links(graph), links)
    if graph.num_nodes > 4:
        take(degree_negatives(graph, 3, 0))
    left = without_links(graph, links[:1])
    take(left.indptr, left.indices)
