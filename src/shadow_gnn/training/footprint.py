"""Footprint: the memory that a recipe needs on a graph, for its own training method and for the others.

Not for: the equations (base/memory_needs.py).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.base.memory_needs import (
    BATCHES_AHEAD,
    BatchCounts,
    GraphCounts,
    MemoryNeed,
    ModelCounts,
    full_batch_need,
    minibatch_need,
    neighbor_counts,
    saint_counts,
    sgc_need,
    sign_need,
    whole_counts,
)
from shadow_gnn.extract import PprExtractor, Subgraphs
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.normal.closure import closure_batch
from shadow_gnn.normal.joint import JointLoader
from shadow_gnn.normal.loaders import make_sampler
from shadow_gnn.normal.saint_samplers import Drawer
from shadow_gnn.normal.whole import WholeGraph
from shadow_gnn.recipe import BranchRecipe, InputsRecipe, Recipe, SaintRecipe
from shadow_gnn.tasks.task import node_task
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.run_setup import EVALUATION_FACTOR

SIGN_POWERS = (3, 3, 3)
"""Powers of SIGN to compare with, those of the paper's table."""
_SAMPLE = 128
_MOST_COUNTED = 20_000_000


def graph_counts(graph: Graph, inputs: InputsRecipe | None = None) -> GraphCounts:
    """Return the counts of a graph; a graph without labels counts as 2 classes.

    inputs: additional input columns of each node.
    """
    width = 0 if graph.x is None else graph.x.shape[1]
    out_dim = 2 if graph.y is None else node_task(graph).out_dim if "train" in graph.splits else 2
    if inputs is not None:
        width = inputs.num_columns(width, out_dim)
    return GraphCounts(graph.num_nodes, graph.num_edges, width, out_dim, mapped=graph.path is not None)


def model_counts(recipe: Recipe) -> ModelCounts:
    """Return the counts of a recipe's model, or of its first branch."""
    model = recipe.all_branches[0].model or recipe.model
    return ModelCounts(
        layer=model.layer.lower(),
        num_layers=model.num_layers,
        hidden_dim=model.hidden_dim,
        num_heads=model.num_heads,
        dropedge=model.dropedge > 0,
        half=recipe.training.precision == "bf16",
        residual=model.skip == "residual",
    )


def run_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    """Estimate the recipe's own training method."""
    needs = {
        "shadow": shadow_need,
        "joint": _joint_need,
        "full": _full_batch_need,
        "saint": _saint_need,
        "neighbor": _neighbor_need,
    }
    return needs[recipe.training.method](recipe, graph)


def _full_batch_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    counts, model = graph_counts(graph, recipe.inputs), model_counts(recipe)
    batch = None
    if _is_countable(graph):
        drawn = closure_batch(graph, graph.split("train"), model.num_layers, features=False)
        batch = _joined_counts(drawn, model.num_layers, 1)
    return full_batch_need(counts, model, batch=batch)


def _saint_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    counts, model = graph_counts(graph, recipe.inputs), model_counts(recipe)
    if _is_countable(graph):
        drawn = Drawer(graph, graph.split("train"), make_sampler(recipe.saint)).nodes(recipe.seed, 0)
        degree = graph.degrees(drawn).mean() if len(drawn) else 0.0
        num_nodes, mean_degree = len(drawn), float(degree)
        batch = BatchCounts((num_nodes,) * (model.num_layers + 1), num_nodes, int(num_nodes * mean_degree))
    else:
        batch = saint_counts(counts, model.num_layers, _saint_nodes(recipe.saint))
    # One int32 for each node and edge counts its draws.
    counted = 4 * (graph.num_nodes + graph.num_edges)
    return _drawn_need("saint", counts, model, batch, counted=counted)


def _neighbor_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    counts, model = graph_counts(graph, recipe.inputs), model_counts(recipe)
    fanouts, size = recipe.neighbor.fanouts, recipe.training.batch_size
    if _is_countable(graph):
        targets = np.random.default_rng(recipe.seed).permutation(graph.split("train"))
        wide = fanouts * model.num_layers if len(fanouts) == 1 else fanouts
        drawn = closure_batch(graph, targets[:size], model.num_layers, fanouts=wide, features=False)
        num_alive = min(-(-len(targets) // size), 1 + BATCHES_AHEAD)
        batch = _joined_counts(drawn, model.num_layers, num_alive)
    else:
        batch = neighbor_counts(counts, model.num_layers, size, max(fanouts))
    return _drawn_need("neighbor", counts, model, batch)


def _joint_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    """Estimate joint batches by the first one; in a large graph, by scopes that are not merged."""
    if not _is_countable(graph):
        return replace(shadow_need(recipe, graph), name="joint")
    counts, model, settings = graph_counts(graph, recipe.inputs), model_counts(recipe), recipe.training
    assert recipe.extractor is not None
    loader = JointLoader(
        graph,
        build_extractor(recipe.extractor, training=True, edge_pos=False),
        graph.split("train"),
        batch_size=settings.batch_size,
        block_size=recipe.joint.block_size,
        max_nodes=recipe.joint.max_nodes,
        shuffle=True,
        seed=recipe.seed,
        inputs=lambda batch: batch,  # No features are looked up.
        max_bytes=settings.cache_megabytes * 2**20 if settings.cache == "memory" else 0,
        prefetch=0,
    )
    drawn = next(loader.epoch(0))
    batch = _joined_counts(drawn, model.num_layers, min(len(loader), 1 + BATCHES_AHEAD))
    evaluation = BatchCounts(
        tuple(EVALUATION_FACTOR * rows for rows in batch.row_counts),
        EVALUATION_FACTOR * batch.num_nodes,
        EVALUATION_FACTOR * batch.num_edges,
    )
    kept = min(settings.cache_megabytes * 2**20, loader.kept_bytes * _num_kept(recipe, graph) // len(drawn))
    return minibatch_need("joint", counts, model, batch, evaluation=evaluation, cached=kept)


def _drawn_need(
    name: str, counts: GraphCounts, model: ModelCounts, batch: BatchCounts, *, counted: int = 0
) -> MemoryNeed:
    """Estimate training on sampled graphs, with evaluation on the whole graph, in blocks if necessary."""
    whole = whole_counts(counts, model.num_layers)
    most = WholeGraph.max_bytes
    return minibatch_need(name, counts, model, batch, evaluation=whole, most_in_evaluation=most, counted=counted)


def _is_countable(graph: Graph) -> bool:
    """Tell whether sample batches can be counted: training nodes exist, and a pass over the edges is short."""
    return graph.num_edges <= _MOST_COUNTED and len(graph.splits.get("train", ())) > 0


def _joined_counts(batch: Batch, num_layers: int, num_alive: int) -> BatchCounts:
    """Return the counts of a joined batch with layers trimmed hop by hop."""
    rows = tuple(batch.num_within(num_layers - done) for done in range(num_layers + 1))
    return BatchCounts(rows, batch.num_nodes, batch.num_edges, num_alive)


def _saint_nodes(recipe: SaintRecipe) -> int:
    """Return the largest number of nodes of a sampled graph."""
    if recipe.sampler == "edge":
        return 2 * recipe.num_edges
    return recipe.num_walks * (1 + recipe.walk_length) if recipe.sampler == "rw" else recipe.num_nodes


def shadow_need(recipe: Recipe, graph: Graph) -> MemoryNeed:
    """Estimate a shaDow run from the scopes of a few targets, all branches together.

    A recipe of a normal GNN has no extractor; the default one is used.
    """
    links = recipe.task.kind == "link"
    targets = _sample_pairs(graph) if links else _sample(graph)
    training: list[BatchCounts] = []
    evaluation: list[BatchCounts] = []
    kept = 0
    for part in recipe.all_branches:
        extractor = part.extractor or PprExtractor()
        scopes = build_extractor(extractor, training=True, edge_pos=False)(graph, targets, seed=recipe.seed)
        batch = collate(graph, scopes, features=False)
        most = graph.num_edges * (1 + recipe.link.num_negatives) if links else 0
        training.append(_batch_counts(recipe, part, batch, most or _num_targets(graph, "train"), 1))
        others = most or max(_num_targets(graph, "valid"), _num_targets(graph, "test"))
        evaluation.append(_batch_counts(recipe, part, batch, others, EVALUATION_FACTOR))
        kept += _cached(recipe, _num_kept(recipe, graph), scopes)
    return minibatch_need(
        "shadow",
        graph_counts(graph, recipe.inputs),
        model_counts(recipe),
        _together(training),
        evaluation=_together(evaluation),
        cached=kept,
    )


def all_needs(recipe: Recipe, graph: Graph) -> list[MemoryNeed]:
    """Estimate every training method for the recipe's model on the graph, and SGC and SIGN."""
    counts = graph_counts(graph, recipe.inputs)
    found = [
        shadow_need(recipe, graph),
        _full_batch_need(recipe, graph),
        _saint_need(recipe, graph),
        _neighbor_need(recipe, graph),
    ]
    if counts.in_dim:
        found += [sgc_need(counts), sign_need(counts, SIGN_POWERS)]
    return found


def _sample(graph: Graph) -> NDArray[np.int64]:
    """Choose targets at equal distances, from the training targets if there are any."""
    train = graph.split("train") if "train" in graph.splits else ()
    length = len(train) or graph.num_nodes
    if length == 0:
        raise ValueError("memory: graph must have nodes, got none")
    places = np.linspace(0, length - 1, min(_SAMPLE, length)).astype(np.int64)
    return train[places] if len(train) else places


def _sample_pairs(graph: Graph) -> NDArray[np.int64]:
    """Choose links at equal distances; a graph without links has a pair of its first node."""
    if graph.num_edges == 0:
        return np.zeros((1, 2), np.int64)
    places = np.linspace(0, graph.num_edges - 1, min(_SAMPLE, graph.num_edges)).astype(np.int64)
    return graph.edges(places)


def _num_targets(graph: Graph, split: str) -> int:
    return len(graph.splits.get(split, ())) or graph.num_nodes


def _batch_counts(recipe: Recipe, part: BranchRecipe, batch: Batch, num_targets: int, factor: int) -> BatchCounts:
    """Scale the counts of a sample to a whole batch, with the rows of each layer as the model trims them.

    factor: size relative to the recipe's batch, limited by the number of targets.
    """
    model = part.model or recipe.model
    batch_size = min(factor * recipe.training.batch_size, num_targets)
    share = batch_size / len(batch)
    trims = model.trim and model.readout == "center"
    within = [batch.num_within(model.num_layers - done) for done in range(model.num_layers + 1)]
    rows = within if trims else [batch.num_nodes] * len(within)
    if model.layer == "transformer":
        rows[:-1] = [batch.num_nodes] * (len(rows) - 1)
    num_batches = -(-num_targets // batch_size)
    return BatchCounts(
        tuple(int(share * count) for count in rows),
        int(share * batch.num_nodes),
        int(share * batch.num_edges),
        min(num_batches, 1 + BATCHES_AHEAD),
    )


def _together(batches: list[BatchCounts]) -> BatchCounts:
    """Add up the counts of all branches; branches with fewer layers repeat their last rows."""
    most = max(len(batch.row_counts) for batch in batches)
    rows = [(*batch.row_counts, *[batch.row_counts[-1]] * (most - len(batch.row_counts))) for batch in batches]
    return BatchCounts(
        tuple(map(sum, zip(*rows, strict=True))),
        sum(batch.num_nodes for batch in batches),
        sum(batch.num_edges for batch in batches),
        batches[0].num_alive,
    )


def _num_kept(recipe: Recipe, graph: Graph) -> int:
    """Return the number of scopes that can be cached; for links, only those of evaluation."""
    if recipe.task.kind == "node":
        names = ("valid", "test") if recipe.training.pack else ("train", "valid", "test")
        return sum(len(graph.splits[name]) for name in names if name in graph.splits)
    if recipe.link.split == "given":
        return sum(len(pairs) for name, pairs in graph.pairs.items() if not name.startswith("train"))
    return int(2 * (recipe.link.valid_share + recipe.link.test_share) * graph.num_edges)


def _cached(recipe: Recipe, num_targets: int, scopes: Subgraphs) -> int:
    """Return the bytes of the cached scopes."""
    made = (build_extractor(part.extractor or PprExtractor(), training=True) for part in recipe.all_branches)
    deterministic = all(extractor.deterministic for extractor in made)
    if recipe.training.cache != "memory" or not deterministic:
        return 0
    return min(recipe.training.cache_megabytes * 2**20, num_targets * scopes.num_bytes // len(scopes))
