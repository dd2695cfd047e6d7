"""Scopes whose nodes are chosen in another graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.extract.graphs import random_edges, some_graphs
from tests.extract.reference import check_scope, graph_of, grow
from tests.extract.test_contract import assert_same
from tests.extract.test_pairs import some_pairs, without_link

from shadow_gnn.extract import (
    BaseExtractor,
    CachedExtractor,
    CombinedExtractor,
    KhopExtractor,
    Part,
    PprExtractor,
    SimilarExtractor,
    StochasticPprExtractor,
)
from shadow_gnn.graph.record import DenseFeatures, Graph
from shadow_gnn.loading.batch import collate
from shadow_gnn.loading.loader import Loader

GRAPHS = some_graphs()
GRAPH = GRAPHS["big hubs"]
OTHER = graph_of(
    400,
    random_edges(400, 2500, seed=9),
    weights={edge: 0.5 + (edge[0] + edge[1]) % 5 for edge in random_edges(400, 2500, seed=9)},
)
EXTRACTORS: dict[str, BaseExtractor] = {
    "ppr": PprExtractor(topk=12, edge_pos=True),
    "drawn": StochasticPprExtractor(topk=12),
    "khop": KhopExtractor(num_hops=2, fanout=3, edge_pos=True),
    "similar": SimilarExtractor(topk=12, candidates=30),
}
every_extractor = pytest.mark.parametrize("extractor", EXTRACTORS.values(), ids=EXTRACTORS.keys())


@every_extractor
def test_edges_of_the_scope_graph_are_a_scope_of_it(extractor: BaseExtractor) -> None:
    scopes = replace(extractor, scope_graph=OTHER, scope_edges="scope_graph")(GRAPH, np.arange(60), seed=3)
    assert_same(scopes, extractor(replace(OTHER, x=GRAPH.x), np.arange(60), seed=3))


@every_extractor
def test_edges_of_the_graph_join_what_was_chosen_elsewhere(extractor: BaseExtractor) -> None:
    targets = np.arange(60)
    scopes = replace(extractor, scope_graph=OTHER)(GRAPH, targets, seed=3)
    chosen = extractor(replace(OTHER, x=GRAPH.x), targets, seed=3)
    for scope, offer in zip(scopes, chosen, strict=True):
        check_scope(GRAPH, scope)
        ranked = offer.node_id[np.argsort(-offer.score, kind="stable")].tolist()
        assert set(scope.node_id.tolist()) == set(grow(GRAPH, scope.targets[0].tolist(), ranked, len(ranked)))
        score = dict(zip(offer.node_id.tolist(), offer.score.tolist(), strict=True))
        assert scope.score.tolist() == [score[node] for node in scope.node_id.tolist()]
    assert scopes.nodes_touched.tolist() == chosen.nodes_touched.tolist()


@pytest.mark.parametrize("name", GRAPHS.keys())
def test_the_graph_itself_as_scope_graph_changes_nothing(name: str) -> None:
    graph, extractor = GRAPHS[name], PprExtractor(topk=10, edge_pos=True)
    targets = np.arange(graph.num_nodes)
    for edges in ("graph", "scope_graph"):
        found = replace(extractor, scope_graph=graph, scope_edges=edges)(graph, targets)  # type: ignore[arg-type]
        assert_same(found, extractor(graph, targets))


@pytest.mark.parametrize("hide", ["before", "after"])
def test_the_link_of_a_pair_is_hidden_in_both_graphs(hide: str) -> None:
    pairs = np.concatenate((some_pairs(GRAPH), some_pairs(OTHER)))
    extractor = PprExtractor(topk=12, hide=hide)  # type: ignore[arg-type]
    for edges, graph in (("graph", GRAPH), ("scope_graph", OTHER)):
        scopes = replace(extractor, scope_graph=OTHER, scope_edges=edges)(GRAPH, pairs)  # type: ignore[arg-type]
        chosen = extractor(OTHER, pairs)
        for scope, offer, (first, second) in zip(scopes, chosen, pairs.tolist(), strict=True):
            check_scope(without_link(graph, first, second), scope)
            assert set(scope.node_id.tolist()) <= set(offer.node_id.tolist())


def test_a_scope_does_not_depend_on_its_batch_or_the_threads() -> None:
    alone = PprExtractor(topk=12, edge_pos=True, num_threads=1, scope_graph=OTHER)
    many = PprExtractor(topk=12, edge_pos=True, num_threads=5, scope_graph=OTHER)
    order = np.random.default_rng(0).permutation(400)
    together = many(GRAPH, order)
    assert alone.key == many.key
    assert_same(together, alone(GRAPH, order))
    for position in range(0, 400, 41):
        assert_same(together[position], alone(GRAPH, order[position : position + 1]))


def test_no_targets_give_no_scopes() -> None:
    for edges in ("graph", "scope_graph"):
        assert len(PprExtractor(scope_graph=OTHER, scope_edges=edges)(GRAPH, [])) == 0  # type: ignore[arg-type]


def test_kept_scopes_are_those_of_both_graphs(tmp_path: Path) -> None:
    targets = np.arange(30)
    ways = [
        PprExtractor(topk=12, scope_graph=other, scope_edges=edges)  # type: ignore[arg-type]
        for other in (OTHER, GRAPH)
        for edges in ("graph", "scope_graph")
    ]
    assert len({way.key for way in (*ways, PprExtractor(topk=12))}) == 5
    for way in ways:
        kept = CachedExtractor(way, folder=tmp_path)
        for graph in (GRAPH, replace(OTHER, edge_weight=None, fingerprint_hint=None)):
            for _ in range(2):
                assert_same(kept(graph, targets), way(graph, targets))
        kept.flush()


def test_features_that_decide_a_scope_are_the_graphs() -> None:
    way = SimilarExtractor(topk=8, candidates=20, scope_graph=replace(OTHER, x=None))
    kept, targets = CachedExtractor(way), np.arange(30)
    other = replace(GRAPH, x=DenseFeatures(np.random.default_rng(1).normal(size=(400, 3)).astype(np.float32)))
    for graph in (GRAPH, other):
        assert_same(kept(graph, targets), way(graph, targets))
    assert kept(GRAPH, targets).node_id.tolist() != kept(other, targets).node_id.tolist()


def test_edge_weights_of_a_batch_are_of_the_graph_that_the_edges_are_of() -> None:
    weights = {edge: 1.0 + edge[0] for edge in random_edges(400, 3000, seed=2)}
    graph = graph_of(400, random_edges(400, 3000, seed=2), weights=weights)
    extractor = PprExtractor(topk=12, edge_pos=True)
    for edges, source in (("graph", graph), ("scope_graph", OTHER)):
        way = replace(extractor, scope_graph=OTHER, scope_edges=edges)  # type: ignore[arg-type]
        for one in (way, CachedExtractor(way)):
            assert one.edge_graph(graph) is source
            (batch,) = Loader(graph, one, np.arange(20), batch_size=20, edge_arrays=("weight", "id"))
            row, column = batch.node_id[batch.edge_index()[1]], batch.node_id[batch.edge_index()[0]]
            assert batch.edge_weight is not None
            assert batch.edge_weight.tolist() == [
                weight_of(source, *pair) for pair in zip(row.tolist(), column.tolist(), strict=True)
            ]
            assert batch.x is not None
            assert graph.x is not None
            np.testing.assert_array_equal(batch.x.numpy(), graph.x.rows(batch.node_id.numpy()))


def weight_of(graph: Graph, row: int, column: int) -> float:
    assert graph.edge_weight is not None
    first = int(graph.indptr[row])
    entries = graph.indices[first : int(graph.indptr[row + 1])].tolist()
    return float(graph.edge_weight[first + entries.index(column)])


def test_edge_arrays_must_be_of_the_graph_that_the_edges_are_of() -> None:
    way = PprExtractor(topk=12, edge_pos=True, scope_graph=OTHER, scope_edges="scope_graph")
    with pytest.raises(ValueError, match="got 'weight'; it has no edge_weight"):
        collate(GRAPH, way(GRAPH, [3]), edge_arrays=("weight",))
    with pytest.raises(ValueError, match="got 'attr'; it has no edge_attr"):
        Loader(GRAPH, way, [3], edge_arrays=("attr",))


def test_graphs_that_do_not_fit_together_are_named() -> None:
    with pytest.raises(ValueError, match="graph in memory: scope_graph must have the 6 nodes of the graph, got 400"):
        PprExtractor(scope_graph=OTHER)(GRAPHS["path"], [0])
    with pytest.raises(ValueError, match="must be undirected as the graph is, got one that is directed"):
        PprExtractor(scope_graph=GRAPHS["big directed hubs"])(GRAPH, [0])
    with pytest.raises(ValueError, match="scope_edges must be one of graph, scope_graph, got 'both'"):
        PprExtractor(scope_graph=OTHER, scope_edges="both")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="PprExtractor: targets must be node ids from 0 to 399, got 400"):
        PprExtractor(scope_graph=OTHER)(GRAPH, [400])


def test_a_part_of_a_combination_may_choose_in_another_graph() -> None:
    part = PprExtractor(topk=30, scope_graph=OTHER)
    combined = CombinedExtractor((Part(part), Part(SimilarExtractor(topk=12, candidates=30))), topk=15, hide="before")
    assert combined.reads_features
    assert not CombinedExtractor((Part(part),)).reads_features
    scopes = combined(GRAPH, np.array([[100, 200]]))
    offered = PprExtractor(topk=30, hide="before", scope_graph=OTHER)(GRAPH, np.array([[100, 200]]))
    alone = SimilarExtractor(topk=12, candidates=30, hide="before")(GRAPH, np.array([[100, 200]]))
    assert set(scopes.node_id.tolist()) <= {*offered.node_id.tolist(), *alone.node_id.tolist()}
    assert set(scopes.node_id.tolist()) & set(offered.node_id.tolist()) - set(alone.node_id.tolist())
