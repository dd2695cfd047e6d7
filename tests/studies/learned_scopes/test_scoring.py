"""Scoring: the best connected candidates of each target, the same in parts, after kills and target by target."""

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.extract.reference import graph_of, grow

from shadow_gnn.base.errors import RunError
from shadow_gnn.extract import FileExtractor, PprExtractor
from shadow_gnn.extract.scope_file import read_scope_file
from shadow_gnn.loading.batch import collate
from shadow_gnn.studies.learned_scopes import scoring
from shadow_gnn.studies.learned_scopes.scoring import Places, Scorer, best_nodes, score_targets, write_scopes
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

GRAPH = communities()
TARGETS = np.arange(0, 120, 3)


def normal_gnn(folder, **changes):
    recipe = small_recipe(extractor=None, training__method="full", model__layer="gcn", **changes)
    train_recipe(recipe, folder, options=RunOptions(graph=GRAPH))
    return read_model(folder)


def scorer_of(trained):
    return Scorer(trained, PprExtractor(20, edge_pos=True), num_candidates=20, topk=6)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    return normal_gnn(tmp_path_factory.mktemp("run") / "normal")


@pytest.fixture
def scorer(trained):
    return scorer_of(trained)


def test_the_best_connected_nodes_are_kept_with_shares_of_the_best():
    graph = graph_of(6, [(i, i + 1) for i in range(5)])
    batch = collate(graph, PprExtractor(6)(graph, [2]))
    score = {0: 0.0, 1: 0.25, 2: 9.0, 3: 0.5, 4: 0.0, 5: 2.0}
    given = torch.tensor([score[node] for node in batch.node_id.tolist()])
    found = best_nodes(graph, batch, given, 4)
    # 5 is the best, but it is connected only through 4, which is worth no more than its little PPR.
    assert found.node_id.tolist() == [2, 3, 1, 4]
    assert found.score.tolist()[:3] == pytest.approx([1, 0.25, 0.125], rel=1e-4)
    everything = best_nodes(graph, batch, given, 6)
    assert sorted(everything.node_id.tolist()) == [0, 1, 2, 3, 4, 5]
    assert everything.score[everything.node_id == 5].tolist() == pytest.approx([1], rel=1e-4)


def test_nodes_without_a_score_keep_the_rank_of_the_candidates():
    batch = collate(GRAPH, PprExtractor(20)(GRAPH, [3, 8]))
    found = best_nodes(GRAPH, batch, torch.zeros(batch.num_nodes), 7)
    for row, target in enumerate((3, 8)):
        candidates = PprExtractor(20)(GRAPH, [target])
        ranked = candidates.node_id[np.lexsort((candidates.node_id, -candidates.score))].tolist()
        chosen = found.node_id[found.ptr[row] : found.ptr[row + 1]]
        assert set(chosen.tolist()) == set(grow(GRAPH, [target], ranked, 7))


def test_scopes_of_many_targets_equal_those_of_each_alone(tmp_path):
    # In float64: products of one scope and of many round differently, which in float32 could swap nodes of equal score.
    trained = normal_gnn(tmp_path / "exact", training__precision="float64")
    scorer = scorer_of(trained)
    places = Places.of(trained, GRAPH, inductive=False)
    together = score_targets(scorer, places.whole, TARGETS)
    rows = {
        int(target): part.node_id[part.ptr[row] : part.ptr[row + 1]].tolist()
        for part in together
        for row, target in enumerate(part.targets)
    }
    assert sorted(rows) == TARGETS.tolist()
    for target in TARGETS[:8].tolist():
        (alone,) = score_targets(scorer, places.whole, np.array([target]))
        assert alone.node_id.tolist() == rows[target]
        assert len(alone.node_id) <= 6
        assert target in alone.node_id


def test_a_stop_between_parts_changes_nothing(scorer, trained, tmp_path, monkeypatch):
    places = Places.of(trained, GRAPH, inductive=False)
    monkeypatch.setitem(scoring._PART_TARGETS, "saliency", 7)
    write_scopes(scorer, places, TARGETS, tmp_path / "whole")
    calls = []

    def stop_at_the_third(stage, done, total):
        calls.append((stage, done, total))
        if len(calls) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scopes(scorer, places, TARGETS, tmp_path / "parts", progress=stop_at_the_third)
    assert len(list((tmp_path / "parts.parts").iterdir())) == 2
    assert not (tmp_path / "parts").exists()
    seen = []
    write_scopes(scorer, places, TARGETS, tmp_path / "parts", progress=lambda *step: seen.append(step[1:]))
    assert seen == [(done, 40) for done in (7, 14, 21, 28, 35, 40)]
    assert (tmp_path / "parts").read_bytes() == (tmp_path / "whole").read_bytes()
    assert not (tmp_path / "parts.parts").exists()


def test_parts_of_another_model_are_refused(scorer, trained, tmp_path, monkeypatch):
    places = Places.of(trained, GRAPH, inductive=False)
    monkeypatch.setattr(scoring, "remove_parts", lambda *_: None)
    write_scopes(scorer, places, TARGETS, tmp_path / "s")
    other = Scorer(trained, PprExtractor(20, edge_pos=True), 20, topk=5)
    with pytest.raises(RunError, match="part-000000: must belong to this model and these targets, got others"):
        write_scopes(other, places, TARGETS, tmp_path / "s")


def test_inductive_training_targets_are_scored_on_what_training_sees(scorer, trained, tmp_path):
    places = Places.of(trained, GRAPH, inductive=True)
    train = set(GRAPH.splits["train"].tolist())
    write_scopes(scorer, places, np.arange(120), tmp_path / "s")
    nodes = read_scope_file(tmp_path / "s").nodes
    seen = [set(nodes.node_id[a:b].tolist()) for a, b in zip(nodes.ptr, nodes.ptr[1:], strict=False)]
    assert all(seen[target] <= train for target in train)
    assert any(not seen[target] <= train for target in range(120))
    scopes = FileExtractor(tmp_path / "s", topk=6, other_graph=True)(places.view[0], GRAPH.splits["train"])
    assert len(scopes.node_id) == sum(len(seen[target]) for target in train)


def test_gnnexplainer_ranks_small_sets(trained, tmp_path):
    scorer = Scorer(trained, PprExtractor(10, edge_pos=True), 10, 4, "gnnexplainer", explainer_epochs=2)
    places = Places.of(trained, GRAPH, inductive=False)
    write_scopes(scorer, places, np.array([5, 60]), tmp_path / "s")
    found = read_scope_file(tmp_path / "s")
    assert found.nodes.targets.tolist() == [5, 60]
    assert np.diff(found.nodes.ptr).tolist() == [4, 4]
    assert found.origin.made_by.startswith("gnnexplainer epochs=2 of model ")
