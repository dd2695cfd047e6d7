"""About: the facts of the graph, the runs and the extractors, which the page asks for first.

Not for: answers about targets (scopes.py, splits.py).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, get_args

from shadow_gnn.explore.answers import AboutAnswer, ExtractorTable, GraphAnswer, RunAnswer, SplitCount
from shadow_gnn.explore.extractors import DEFAULT, MOST_EDGES, MOST_NODES, extractor_answers, table_answer
from shadow_gnn.explore.runs import ExploredRun
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.explain.contributions import Method
from shadow_gnn.studies.explain.on_batches import default_method
from shadow_gnn.tasks.task import label_kind

NORMAL_EXTRACTOR = ExtractorTable(kind="ppr", options={"topk": 200})
"""Extractor of a normal GNN, which has none of its own."""


def about(name: str, live: LiveGraph, runs: Iterable[ExploredRun]) -> AboutAnswer:
    """Return everything that the page knows before the first target."""
    return AboutAnswer(
        graph=_graph(name, live),
        runs=[_run(run) for run in runs],
        extractors=extractor_answers(),
        default_extractor=DEFAULT,
        most_nodes=MOST_NODES,
        most_edges=MOST_EDGES,
        version=_version(),
    )


def class_names(graph: Graph) -> list[str]:
    """Return the names of a graph's classes or labels, or their numbers as text; none without or for values."""
    if graph.y is None or graph.y.dtype.kind == "f":
        return []
    names = graph.class_name
    return [str(number) if names is None else names[number] for number in range(graph.num_classes)]


def own_extractor(run: ExploredRun) -> ExtractorTable | None:
    """Return the extractor of a request that names none; None for several branches."""
    config = run.predictor.trained.config
    if config.is_normal:
        return NORMAL_EXTRACTOR
    extractor = config.branches[0].extractor
    return table_answer(extractor) if len(config.branches) == 1 and isinstance(extractor, BaseExtractor) else None


def _graph(name: str, live: LiveGraph) -> GraphAnswer:
    stored, graph = live.stored, live.graph
    kind = None if stored.y is None else label_kind(stored)
    return GraphAnswer(
        name=name,
        nodes=graph.num_nodes,
        edges=graph.num_edges if graph.directed else graph.num_edges // 2,
        directed=graph.directed,
        weighted=graph.edge_weight is not None,
        has_names=graph.node_name is not None,
        label_kind=kind,
        classes=class_names(stored),
        num_columns=stored.num_features,
        columns=None if stored.column_names is None else list(stored.column_names),
        splits=[SplitCount(name=split, count=len(stored.splits[split])) for split in stored.splits],
        version=live.version,
    )


def _run(run: ExploredRun) -> RunAnswer:
    trained = run.predictor.trained
    config, model = trained.config, trained.config.branches[0].model
    assert model is not None
    kind: Literal["scopes", "normal", "hybrid", "joint"] = "scopes"
    if run.hybrid is not None:
        kind = "hybrid"
    elif config.is_normal:
        kind = "normal"
    elif config.joint is not None:
        kind = "joint"
    best = default_method(trained.model)
    others = [method for method in get_args(Method) if method != best and (method != "gnnexplainer" or _plain(run))]
    return RunAnswer(
        name=run.name,
        kind=config.target,
        classes=list(run.classes),
        layer=str(model.layer),
        num_layers=model.num_layers,
        hidden_dim=model.hidden_dim,
        branches=len(config.branches),
        type=kind,
        note=_note(kind),
        extractor=own_extractor(run),
        reads_labels=run.reads_labels,
        metrics=run.metrics,
        splits=split_names(run),
        methods=[best, *([] if best == "occlusion" else others)],
        version=config.weights_blake2b,
    )


def _plain(run: ExploredRun) -> bool:
    """Tell whether PyG's explainer can explain a model: one that PyG's own layers can compute."""
    from shadow_gnn.studies.explain.pyg_twin import PygTwin  # Loads PyG, for which a service would wait at its start.

    try:
        PygTwin(run.predictor.trained.model)
    except ValueError:
        return False
    return not run.predictor.is_links


def _note(kind: str) -> str | None:
    return {
        "normal": "A normal GNN: predictions here are on the scope that is shown, not on the whole graph.",
        "hybrid": "The mean of normal GNNs and a model on scopes; explanations are of the model on scopes.",
        "joint": "Trained on joined scopes of a batch; predictions here are on the target's own scope.",
    }.get(kind)


def split_names(run: ExploredRun) -> list[str]:
    """Return the splits whose predictions can be compared with known answers."""
    graph, link = run.predictor.graph, run.predictor.trained.config.link
    if run.predictor.is_links:
        has_test = "test_pos" in graph.pairs if link.split == "given" else link.test_share > 0
        return ["valid", "test"] if has_test else ["valid"]
    return [] if graph.y is None else [name for name in graph.splits if len(graph.splits[name])]


def _version() -> str:
    try:
        return version("shadow-gnn")
    except PackageNotFoundError:
        return "not installed"
