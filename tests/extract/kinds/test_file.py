"""FileExtractor: the best stored nodes that are connected, joined for pairs, and one line where it cannot be."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.extract.graphs import graphs, some_graphs
from tests.extract.reference import graph_of, grow
from tests.extract.stored import StoredScopes, any_nodes
from tests.extract.test_contract import assert_same
from tests.extract.test_scope_file import nodes_of

from shadow_gnn.base.errors import SourceError
from shadow_gnn.extract import CachedExtractor, FileExtractor, NodeExtractor, PprExtractor
from shadow_gnn.extract.scope_file import Origin, write_scope_file
from shadow_gnn.graph.record import Graph
from shadow_gnn.training.build import build_extractor

GRAPH = some_graphs()["path"]


def stored(path: Path, scopes: dict[int, dict[int, float]], graph: Graph = GRAPH, **options: object) -> FileExtractor:
    write_scope_file(path / "scopes", [nodes_of(scopes)], Origin(graph.num_nodes, graph.fingerprint, "by hand"))
    return FileExtractor(path / "scopes", **options)  # type: ignore[arg-type]


def test_the_best_connected_nodes_make_the_scope(tmp_path: Path) -> None:
    extractor = stored(tmp_path, {2: {5: 0.9, 3: 0.5, 4: 0.25, 1: 0.75}}, topk=3)
    scope = extractor(GRAPH, [2])
    assert scope.node_id.tolist() == [2, 1, 3]  # 5 is the best, but has no path to 2 among these.
    assert scope.score.tolist() == [1.0, 0.75, 0.5]
    assert replace(extractor, topk=5)(GRAPH, [2]).node_id.tolist() == [2, 1, 3, 4, 5]


@given(graph=graphs(), data=st.data())
def test_scopes_equal_growing_by_mean_score_one_by_one(graph: Graph, data: st.DataObject) -> None:
    node = st.integers(0, graph.num_nodes - 1)
    targets = data.draw(st.lists(node, min_size=1, max_size=3))
    topk = data.draw(st.integers(1, 6))
    nodes = any_nodes(graph)
    score = np.zeros((graph.num_nodes, graph.num_nodes))
    score[np.repeat(nodes.targets, np.diff(nodes.ptr)), nodes.node_id] = nodes.score
    mean = score[list(dict.fromkeys(targets))].mean(axis=0)
    ranked = np.lexsort((np.arange(graph.num_nodes), -mean.astype(np.float32))).tolist()
    scope = StoredScopes(topk=topk)(graph, [targets])
    assert set(scope.node_id.tolist()) == set(grow(graph, targets, ranked, topk * len(set(targets))))
    assert scope.score.tolist() == pytest.approx(mean[scope.node_id].tolist(), rel=1e-6)


def test_a_pair_has_mean_scores_and_room_for_topk_nodes_of_each_end(tmp_path: Path) -> None:
    scopes = {1: {0: 0.5, 2: 0.25}, 3: {2: 0.75, 4: 0.5}}
    extractor = stored(tmp_path, scopes, topk=2)
    pair = extractor(GRAPH, [[1, 3], [3, 3], [3, 1]])
    assert pair[0].node_id.tolist() == [1, 3, 2, 0]
    assert pair[0].score.tolist() == [1.0, 1.0, 0.5, 0.25]
    assert pair[1].node_id.tolist() == [3, 2]
    assert pair[2].node_id.tolist() == [3, 1, 2, 0]
    linked = stored(tmp_path, {1: {}, 2: {}})
    assert linked(GRAPH, [[1, 2]]).indices.tolist() == [1, 0]
    assert replace(linked, hide="after")(GRAPH, [[1, 2]]).indices.tolist() == []


def test_a_target_that_is_not_there_is_a_fault_or_extracted_otherwise(tmp_path: Path) -> None:
    extractor = stored(tmp_path, {2: {1: 1.0}, 4: {5: 1.0}}, topk=3)
    with pytest.raises(ValueError, match=r"FileExtractor: targets must be in .*scopes, got node 0; make the file for"):
        extractor(GRAPH, [2, 0, 1])
    alone = replace(extractor, missing="node")(GRAPH, [4, 0, 2, 1])
    assert [scope.node_id.tolist() for scope in alone] == [[4, 5], [0], [2, 1], [1]]
    other = replace(extractor, missing="ppr", edge_pos=True)
    mixed = other(GRAPH, [0, 2])
    assert_same(mixed[0], PprExtractor(3, edge_pos=True)(GRAPH, [0]))
    assert_same(mixed[1], other(GRAPH, [2]))
    pairs = replace(extractor, missing="node", hide="before")(GRAPH, [[2, 1], [2, 4]])
    assert_same(pairs[0], NodeExtractor(hide="before")(GRAPH, [[2, 1]]))
    assert pairs[1].node_id.tolist() == [2, 4, 1, 5]


def test_a_file_serves_the_graph_it_was_made_for(tmp_path: Path) -> None:
    extractor = stored(tmp_path, {2: {1: 0.5, 3: 1.0}})
    cut = graph_of(6, [(1, 2), (3, 4)])
    with pytest.raises(
        ValueError, match=r"graph must be the one that .*scopes was made for, its edges differ; other_g"
    ):
        extractor(cut, [2])
    assert replace(extractor, other_graph=True)(cut, [2]).node_id.tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"graph must have 6 nodes, as that of .*scopes, got 8"):
        replace(extractor, other_graph=True)(some_graphs()["star"], [2])


def test_the_key_is_of_the_content_and_every_option(tmp_path: Path) -> None:
    extractor = stored(tmp_path, {2: {1: 0.5}})
    copy = tmp_path / "copy"
    copy.write_bytes((tmp_path / "scopes").read_bytes())
    assert replace(extractor, path=copy, num_threads=3).key == extractor.key
    changed = [{"topk": 5}, {"missing": "ppr"}, {"other_graph": True}, {"edge_pos": True}, {"hide": "after"}]
    keys = {replace(extractor, **change).key for change in changed}  # type: ignore[arg-type]
    keys |= {extractor.key, stored(tmp_path, {2: {1: 0.25}}).key}
    assert len(keys) == len(changed) + 2


def test_it_is_cached_and_pickles_as_its_path(tmp_path: Path) -> None:
    graph = some_graphs()["big hubs"]
    write_scope_file(tmp_path / "s", [any_nodes(graph)], Origin(graph.num_nodes, graph.fingerprint, ""))
    extractor = FileExtractor(tmp_path / "s", topk=10)
    expected = extractor(graph, [5, 7])
    assert len(pickle.dumps(extractor)) < 1000
    assert_same(pickle.loads(pickle.dumps(extractor))(graph, [5, 7]), expected)
    cached = CachedExtractor(extractor, folder=tmp_path / "cache")
    for _ in range(2):
        assert_same(cached(graph, [5, 7]), expected)


def test_wrong_options_are_named_at_once(tmp_path: Path) -> None:
    extractor = stored(tmp_path, {})
    for change, message in (
        ({"topk": 0}, "topk must be at least 1, got 0"),
        ({"missing": "skip"}, "missing must be one of error, node, ppr, got 'skip'"),
        ({"hide": "yes"}, "hide must be one of none, before, after, got 'yes'"),
    ):
        with pytest.raises(ValueError, match=f"FileExtractor: {message}"):
            replace(extractor, **change)  # type: ignore[arg-type]
    with pytest.raises(SourceError, match="nowhere: cannot be read: No such file"):
        build_extractor(FileExtractor("nowhere"), training=True)


def test_recipes_build_it(tmp_path: Path) -> None:
    made = stored(tmp_path, {2: {1: 1.0}})
    recipe = FileExtractor(path=str(made.path), topk=7, missing="node", other_graph=True)
    built = build_extractor(recipe, training=True, edge_pos=True, hide="after")
    assert built == FileExtractor(made.path, 7, "node", True, edge_pos=True, hide="after")
