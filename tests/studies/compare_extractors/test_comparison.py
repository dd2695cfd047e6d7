"""A comparison: the same targets for all, numbers that follow from the scopes, and what a graph lacks left out."""

import math
from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, one_thread, with_labels  # noqa: F401
from tests.extract.doubles import ExtractorDouble

from shadow_gnn.extract import PprExtractor
from shadow_gnn.studies.baselines.logistic import fit_logistic
from shadow_gnn.studies.baselines.problem import make_problem, split_inputs
from shadow_gnn.studies.compare_extractors import (
    CompareOptions,
    compare_extractors,
    default_candidates,
    read_candidates,
)
from shadow_gnn.studies.compare_extractors.contents import Tally
from shadow_gnn.studies.compare_extractors.labels import seen_labels

GRAPH = communities()
SMALL = CompareOptions(size=10, num_targets=1000)


def compare(graph=GRAPH, texts=("ppr,full,node",), options=SMALL):
    return compare_extractors(graph, read_candidates(texts, options.size), options)


def test_numbers_follow_from_the_scopes():
    found = compare()
    ppr, full, node = found.rows
    assert found.num_targets == {"train": 60, "valid": 30, "test": 30}
    assert found.num_known == 60
    scopes = PprExtractor(topk=10)(GRAPH, np.arange(GRAPH.num_nodes))
    assert ppr.contents.num_nodes == pytest.approx(len(scopes.node_id) / GRAPH.num_nodes)
    seen = np.full(GRAPH.num_nodes, -1)
    seen[GRAPH.splits["train"]] = GRAPH.y[GRAPH.splits["train"]]
    tally = Tally()
    tally.add(scopes, seen[scopes.node_id])
    assert ppr.contents.homophily == pytest.approx(tally.result().homophily)
    assert ppr.contents.hop_share == pytest.approx(tally.result().hop_share)
    assert [found.overlap[place][place] for place in range(3)] == [1.0] * 3
    assert found.overlap[0][1] == found.overlap[1][0]
    assert found.overlap[0][2] == pytest.approx(0.1)  # The target is one of ten nodes.
    assert all(row.cpu_us > 0 for row in found.rows)
    assert node.contents.homophily is None
    assert full.contents.num_nodes == 10.0


def test_the_probe_of_single_nodes_is_logistic_regression():
    problem = make_problem(GRAPH)
    expected = fit_logistic(problem, split_inputs(problem, GRAPH.x))
    (row,) = compare(texts=("node",)).rows
    assert (row.valid, row.test) == ((expected.valid,), (expected.test,))


def test_labels_of_validation_and_test_change_nothing_but_their_own_scores():
    hidden = np.array(GRAPH.y)
    for split in ("valid", "test"):
        hidden[GRAPH.splits[split]] = 0
    before, after = compare(), compare(replace(GRAPH, y=hidden))
    for one, other in zip(before.rows, after.rows, strict=True):
        assert one.contents == other.contents
    hidden = np.array(GRAPH.y)
    hidden[GRAPH.splits["test"]] = 0
    assert [row.valid for row in compare(replace(GRAPH, y=hidden)).rows] == [row.valid for row in before.rows]


def test_seeds_draw_targets_and_scopes_of_their_own():
    options = CompareOptions(size=10, num_targets=20, seeds=(0, 1, 2))
    found = compare(texts=("khop",), options=options)
    (row,) = found.rows
    assert found.num_targets == {"train": 20, "valid": 20, "test": 20}
    assert len(row.valid) == len(row.test) == len(row.powers) == 3
    alone = [compare(texts=("khop",), options=replace(options, seeds=(seed,))).rows[0] for seed in options.seeds]
    assert row.valid == tuple(one.valid[0] for one in alone)
    assert row.contents.num_nodes == pytest.approx(np.mean([one.contents.num_nodes for one in alone]))


def test_a_graph_without_labels_or_features_has_the_other_columns():
    found = compare(replace(GRAPH, x=None, y=None))
    assert found.metric is None
    assert found.num_targets == {"all": 120}
    assert found.notes == (
        "homophily and entropy are missing: the graph has no labels",
        "no probe: the graph has no features and no labels",
    )
    assert found.recommended == "ppr"
    found = compare(replace(GRAPH, x=None))
    assert found.notes[-1] == "no probe: the graph has no features"
    assert found.rows[0].contents.homophily is not None
    assert "the target's own class" in found.reason


def test_a_graph_without_splits_shows_all_classes():
    found = compare(replace(GRAPH, splits={}))
    assert found.num_known == 120
    assert found.notes == (
        "homophily and entropy see the classes of all 120 labeled nodes",
        "no probe: the graph has no splits train and valid",
    )
    assert seen_labels(replace(GRAPH, splits={"test": np.arange(3)}))[0] is None


def test_several_labels_have_a_probe_and_values_have_none():
    found = compare(with_labels(GRAPH, "multilabel"))
    assert found.metric == "micro_f1"
    assert found.num_known == 0
    found = compare(with_labels(GRAPH, "values"))
    assert found.notes[-1] == "no probe: labels must be classes, got values"


def test_no_test_split_is_no_fault():
    found = compare(replace(GRAPH, splits={name: GRAPH.splits[name] for name in ("train", "valid")}))
    assert all(len(row.valid) == 1 and row.test == () for row in found.rows)


class Refusing(ExtractorDouble):
    """An extractor that needs what the graph does not have."""

    def __call__(self, graph, targets, *, seed=0):
        raise ValueError("RefusingExtractor: graph must have wings, it has none")


def test_what_cannot_serve_is_left_out_aloud_unless_it_was_asked_for():
    ppr, *_ = default_candidates(10)
    refusing = replace(ppr, name="refusing", extractor=Refusing())
    found = compare_extractors(GRAPH, [ppr, refusing], SMALL)
    assert [row.name for row in found.rows] == ["ppr"]
    assert found.notes[0] == "skipped: refusing: RefusingExtractor: graph must have wings, it has none"
    with pytest.raises(ValueError, match="must have wings"):
        compare_extractors(GRAPH, [replace(refusing, required=True)], SMALL)
    with pytest.raises(ValueError, match="at least one that can serve"):
        compare_extractors(GRAPH, [refusing], SMALL)


def test_progress_and_time_are_told():
    seen = []
    found = compare_extractors(
        GRAPH, default_candidates(10), SMALL, lambda stage, done, total: seen.append((stage, total))
    )
    assert {stage for stage, _ in seen} == {"extracting", "fitting probes"}
    assert math.isfinite(found.seconds)
