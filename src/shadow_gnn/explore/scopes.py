"""Scopes: the answer to one request: a scope, the prediction on it, its explanation, and the way to make it again.

Not for: queues and routes (explorer.py, routes.py), or whole splits (splits.py).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.explore.answers import (
    ColumnAnswer,
    ExplanationAnswer,
    ExtractorTable,
    Label,
    NodeAnswer,
    PredictionAnswer,
    ScopeAnswer,
    TimesAnswer,
    TruthAnswer,
)
from shadow_gnn.explore.edits import Edited, edited
from shadow_gnn.explore.extractors import bounded, check_size, table_answer
from shadow_gnn.explore.outcomes import prediction_answer, truth_answer
from shadow_gnn.explore.places import edge_answers, finite, is_unchanged, label_answers, node_answers
from shadow_gnn.explore.reproduce import python_text, recipe_text
from shadow_gnn.explore.requests import Edits, ScopeBody
from shadow_gnn.explore.runs import (
    MOST_EXACT_NODES,
    ExploredRun,
    Partner,
    exact_extractor,
    follows_changes,
    joined_by,
    outputs_of,
    scopes_of,
    seen_by,
)
from shadow_gnn.extract import Subgraphs
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.graph.changes.changed_graph import ChangedGraph
from shadow_gnn.graph.changes.in_memory import in_memory
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.predictions import Predictions
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.loading.batch import Batch, EdgeArray, collate
from shadow_gnn.serve.requests import Ref
from shadow_gnn.studies.explain.contributions import Contributions
from shadow_gnn.studies.explain.explain import class_number, input_names
from shadow_gnn.studies.explain.explanation import strongest
from shadow_gnn.studies.explain.on_batches import default_method, explain_batches
from shadow_gnn.studies.explain.scope_arrays import ScopeArrays, merged, scope_arrays
from shadow_gnn.tasks.links.pairs import check_pairs

Ints = NDArray[np.int64]

MOST_COLUMNS = 30
"""Columns of an explanation that are listed."""
MOST_COPIED_ENTRIES = 1 << 23
"""Entries of the lists of a graph that is copied, for a model or extractor that cannot read changes."""
MOST_OCCLUDED = 4000
"""Nodes and edges of a scope that is predicted again without each of them."""


@dataclass(frozen=True, eq=False)
class _Found:
    """Scopes of a target, with what the model needs to read them."""

    batches: tuple[Batch, ...]
    scopes: tuple[Subgraphs, ...]
    others: tuple[tuple[NDArray[np.float32], int], ...] = ()
    """Scores of each partner of a hybrid, and the number of nodes read for them."""


def answer_scope(
    main: LiveGraph, run: ExploredRun | None, extractor: BaseExtractor | None, body: ScopeBody, source: str
) -> ScopeAnswer:
    """Answer a request for a scope. main: the graph of the page. extractor: given in the request, or None.

    source: name or folder of the graph.
    """
    live = main if run is None else run.live
    looked = _look(main, live, run, extractor, body)
    edits, found, targets = looked.edits, looked.found, looked.targets
    # The model runs outside of the lock, which updates of the graph wait for.
    begin = time.perf_counter()
    prediction, explained = _outcome(run, found, targets, body, edits.graph.directed)
    seconds = time.perf_counter() - begin
    arrays = _arrays(found.batches, explained)
    if explained is not None:
        for node, share in zip(looked.nodes, arrays.node_share.tolist(), strict=True):
            node["contribution"] = finite(share)
    edges = edge_answers(arrays, edits, explained is not None)
    check_size(len(looked.nodes), len(edges))
    places = {node: place for place, node in enumerate(arrays.node_id.tolist())}
    return ScopeAnswer(
        target=[places[node] for node in looked.named],
        nodes=looked.nodes,
        edges=edges,
        extractor=_shown_extractor(run, extractor),
        **_predictions(run, looked, prediction),
        explanation=None if explained is None or run is None else _explanation(run, explained, found),
        notes=_notes(run, extractor, found),
        recipe=recipe_text(run, extractor, source),
        python=python_text(run, extractor, source, targets[0].tolist(), body.seed, edits),
        milliseconds=TimesAnswer(scope=1e3 * looked.seconds, model=1e3 * seconds),
        nodes_touched=sum(int(scope.nodes_touched[0]) for scope in found.scopes),
        edges_touched=sum(int(scope.edges_touched[0]) for scope in found.scopes),
        model_version=None if run is None else run.predictor.trained.config.weights_blake2b,
        graph_version=looked.version,
    )


@dataclass(frozen=True, eq=False)
class _Looked:
    """Everything that a request reads of the graph, which may change from then on."""

    version: int
    edits: Edited
    targets: Ints
    """[1, T]"""
    named: list[int]
    """The node, or the ends of the pair in the order of the request."""
    found: _Found
    before: _Found | None
    """The scopes without the edits, if there are edits and the target is no new node."""
    truth: Label
    nodes: list[NodeAnswer]
    seconds: float
    """Time of the extraction."""


def _look(
    main: LiveGraph, live: LiveGraph, run: ExploredRun | None, extractor: BaseExtractor | None, body: ScopeBody
) -> _Looked:
    """Read the graph as it is, with the edits of a request."""
    begin = time.perf_counter()
    with live.lock:
        edits = edited(live, body.edits)
        _check_edits(run, body.edits)
        extractors = _extractors(run, extractor)
        targets = _targets(run, live, edits, body)
        found = _found(live, run, edits, extractors, targets, body)
        before = None
        if run is not None and edits.changed and targets.max() < edits.first_new:
            before = _found(live, run, Edited(live.graph, edits.first_new), extractors, targets, body)
        seconds = time.perf_counter() - begin
        return _Looked(
            live.version,
            edits,
            targets,
            [edits.node_of(live, ref) for ref in _refs(body)],
            found,
            before,
            _truth(run, live, targets, edits),
            node_answers(main, _arrays(found.batches, None), edits),
            seconds,
        )


class _Predictions(TypedDict):
    prediction: PredictionAnswer | None
    before: PredictionAnswer | None
    truth: TruthAnswer | None


def _predictions(run: ExploredRun | None, looked: _Looked, prediction: Predictions | None) -> _Predictions:
    """Return the prediction, that before the edits, and the known answer."""
    if run is None or prediction is None:
        return _Predictions(prediction=None, before=None, truth=None)
    shown, before = prediction_answer(prediction, run.classes), looked.before
    former = None if before is None else prediction_answer(_predicted(run, before, looked.targets), run.classes)
    return _Predictions(prediction=shown, before=former, truth=truth_answer(looked.truth, shown, run.classes))


def _shown_extractor(run: ExploredRun | None, given: BaseExtractor | None) -> ExtractorTable | None:
    """Return the extractor of a scope as a request would name it; None for several branches."""
    branches = () if run is None else run.predictor.trained.config.branches
    own = branches[0].extractor if given is None and len(branches) == 1 else given
    return None if own is None else table_answer(own)


def _refs(body: ScopeBody) -> Sequence[Ref]:
    if body.pair is not None and body.node is None:
        return body.pair
    if body.node is None or body.pair is not None:
        raise ValueError("scope: request must have a node or a pair, and not both")
    return [body.node]


def _check_edits(run: ExploredRun | None, edits: Edits | None) -> None:
    """Raise for edits that no output can depend on."""
    if edits is None:
        return
    if edits.labels and (run is None or not run.reads_labels):
        owner = "there is no run" if run is None else f"{run.name} does not read labels"
        raise ValueError(f"edits: labels must be left out, as {owner}")
    if run is not None and edits.new_nodes and run.predictor.trained.config.inputs.learned_dim:
        raise ValueError(f"edits: new_nodes must be left out, as {run.name} has learned inputs for known nodes alone")


def _extractors(run: ExploredRun | None, given: BaseExtractor | None) -> tuple[BaseExtractor, ...]:
    if run is None:
        assert given is not None
        return (bounded(given.for_evaluation()),)
    return tuple(bounded(extractor) for extractor in run.extractors(given))


def _targets(run: ExploredRun | None, live: LiveGraph, edits: Edited, body: ScopeBody) -> Ints:
    """Return the node, or the ends of the pair, as one row. [1, T]"""
    if run is not None and run.predictor.is_links != (body.pair is not None):
        wanted = "a pair, as the run predicts links" if run.predictor.is_links else "a node, as the run predicts nodes"
        raise ValueError(f"scope: target must be {wanted}")
    targets = np.array([[edits.node_of(live, ref) for ref in _refs(body)]], np.int64)
    return targets if body.pair is None else check_pairs("scope", edits.graph, targets)


def _found(
    live: LiveGraph,
    run: ExploredRun | None,
    edits: Edited,
    extractors: tuple[BaseExtractor, ...],
    targets: Ints,
    body: ScopeBody,
) -> _Found:
    """Extract the scopes of a target in a graph with edits."""
    graph = _readable(live, None if run is None else run.predictor, extractors, edits)
    if run is None:
        (extractor,) = extractors
        edge_graph = graph if isinstance(graph, ChangedGraph) else extractor.edge_graph(graph)
        weighted = edge_graph.edge_weight is not None
        scope = extractor.with_common(edge_pos=weighted)(graph, targets, seed=body.seed)
        _check_scopes([scope])
        arrays: tuple[EdgeArray, ...] = ("weight",) if weighted else ()
        batch = collate(graph, scope, features=False, edge_arrays=arrays, edge_graph=edge_graph)
        return _Found((batch,), (scope,))
    batches, scopes = scopes_of(run.predictor, seen_by(run.predictor, graph), extractors, targets)
    _check_scopes(scopes)
    others = tuple(_normal_scores(live, partner, edits, targets) for partner in run.partners)
    return _Found(batches, scopes, others)


def _normal_scores(live: LiveGraph, partner: Partner, edits: Edited, targets: Ints) -> tuple[NDArray[np.float32], int]:
    """Return the scores of a hybrid's normal member for a target, and the number of nodes read for them."""
    key = int(targets[0, 0]), live.version
    if not edits.changed and (kept := partner.kept.get(*key)) is not None:
        return kept
    predictor, exact = partner.predictor, exact_extractor(partner)
    seen = seen_by(predictor, _readable(live, predictor, (exact,), edits))
    batches, _ = scopes_of(predictor, seen, (exact,), targets)
    scores = predictor.predictions(targets[:, 0], outputs_of(predictor, batches)).scores
    found = scores, batches[0].num_nodes
    if not edits.changed:
        partner.kept.put(*key, found)
    return found


def _readable(
    live: LiveGraph, predictor: Predictor | None, extractors: tuple[BaseExtractor, ...], edits: Edited
) -> Graph:
    """Return the graph in the form that a model and its extractors read: stored, changed, or copied."""
    own = live.stored if predictor is None else predictor.graph
    if edits.graph is live.graph and is_unchanged(live):
        return own
    if predictor is None and all(extractor.reads_changes for extractor in extractors):
        return edits.graph
    if predictor is not None and follows_changes(predictor, extractors):
        return edits.graph
    if edits.graph.num_edges > MOST_COPIED_ENTRIES:
        raise ValueError(
            f"edits: extractor and inputs of the run must be ones that follow changes in a graph of more than "
            f"{MOST_COPIED_ENTRIES:,} entries, such as ppr or khop without smoothed inputs"
        )
    return in_memory(edits.graph, edits.labels)


def _check_scopes(scopes: Sequence[Subgraphs]) -> None:
    for scope in scopes:
        check_size(len(scope.node_id), len(scope.indices) // 2)


def _truth(run: ExploredRun | None, live: LiveGraph, targets: Ints, edits: Edited) -> Label:
    """Return the known answer of a target: its label, or whether its ends are linked, before the edits."""
    if run is None or targets.max() >= edits.first_new:
        return None
    if run.predictor.is_links:
        first, second = targets[0].tolist()
        return int(first in live.graph.list_of(second)[0])
    return label_answers(live.stored, targets[:, 0])[0]


def _outcome(
    run: ExploredRun | None, found: _Found, targets: Ints, body: ScopeBody, directed: bool
) -> tuple[Predictions | None, Contributions | None]:
    """Return the prediction, with the contributions to it if they are wanted."""
    if run is None:
        if body.explain:
            raise ValueError("scope: explain must be used with a run")
        return None, None
    if not body.explain:
        return _predicted(run, found, targets), None
    trained = run.predictor.trained
    size = sum(batch.num_nodes + batch.num_edges for batch in found.batches)
    method = body.method or default_method(trained.model)
    if method in ("occlusion", "gnnexplainer") and size > MOST_OCCLUDED:
        raise ValueError(
            f"scope: method {method} must be used for at most {MOST_OCCLUDED:,} nodes and messages, got {size:,}; "
            "choose another, or a smaller scope"
        )
    wanted = class_number(run.predictor, body.class_)
    explained = explain_batches(
        trained.model, found.batches, trained.task, method=method, wanted=wanted, directed=directed
    )
    return _predicted(run, found, targets, explained.logits.detach().float().cpu()), explained


def _predicted(run: ExploredRun, found: _Found, targets: Ints, logits: torch.Tensor | None = None) -> Predictions:
    logits = outputs_of(run.predictor, found.batches) if logits is None else logits
    own = run.predictor.predictions(targets if run.predictor.is_links else targets[:, 0], logits)
    return own if run.hybrid is None else joined_by(run, own, [scores for scores, _ in found.others])


def _arrays(batches: tuple[Batch, ...], explained: Contributions | None) -> ScopeArrays:
    """Join the scopes of all branches, with contributions, or with zeros in their place."""
    parts = []
    for number, batch in enumerate(batches):
        node = torch.zeros(batch.num_nodes) if explained is None else explained.nodes[number]
        edge = torch.zeros(batch.num_edges) if explained is None else explained.edges[number]
        (part,) = scope_arrays(batch, node, edge)
        parts.append(part)
    return merged(parts)


def _explanation(run: ExploredRun, explained: Contributions, found: _Found) -> ExplanationAnswer:
    columns: list[ColumnAnswer] = []
    batch = found.batches[0]
    if explained.columns is not None and batch.x is not None:
        names, own = input_names(run.predictor), batch.x[batch.target_node[0, 0]].detach().cpu()
        share = explained.columns[0].double().cpu().numpy()
        columns = [
            ColumnAnswer(name=names[place], contribution=float(share[place]), value=float(own[place]))
            for place in strongest(share, MOST_COLUMNS)
        ]
    number = None if explained.chosen is None else int(explained.chosen[0])
    kind = run.predictor.trained.config.target
    return ExplanationAnswer(
        method=explained.method,
        number=number,
        text={"values": "value", "links": "link"}.get(kind, "") if number is None else run.classes[number],
        answer=float(explained.answer[0]),
        columns=columns,
    )


def _notes(run: ExploredRun | None, extractor: BaseExtractor | None, found: _Found) -> list[str]:
    notes = []
    if run is None:
        return []
    config = run.predictor.trained.config
    if config.is_normal:
        notes.append("A normal GNN: this is its prediction on the scope shown, not on the whole graph.")
    elif extractor is not None and len(config.branches) == 1 and extractor != config.branches[0].extractor:
        notes.append("The model was trained on other scopes.")
    if run.hybrid is not None:
        notes.append("The mean of several models; scope and explanation are of the model on scopes.")
        largest = max((num_nodes for _, num_nodes in found.others), default=0)
        if largest >= MOST_EXACT_NODES:
            notes.append(f"Normal GNNs have read only the first {largest:,} nodes around the target.")
    return notes
