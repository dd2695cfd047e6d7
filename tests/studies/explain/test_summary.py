"""Summary: the sums of single explanations, and the accuracy of groups of predictions, by slow and obvious loops."""

import json
from collections import defaultdict
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.communities import communities, near_ring, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn import explain, summarize_split
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import NodeNames
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.tasks.links.splits import make_splits
from shadow_gnn.training.link_setup import split_options
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

pytestmark = pytest.mark.usefixtures("one_thread")


def weighted_communities():
    """Communities with weights, names, and some unknown classes."""
    graph = communities()
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    keep = row <= graph.indices
    weight = np.random.default_rng(0).uniform(0.5, 2, keep.sum())
    made = from_edges(row[keep], graph.indices[keep], graph.num_nodes, weight=weight)
    y = graph.y.copy()
    y[np.setdiff1d(np.arange(graph.num_nodes), np.concatenate(list(graph.splits.values())))] = -1
    y[graph.splits["valid"][::2]] = -1
    return replace(made, x=graph.x, y=y, splits=graph.splits, class_name=NodeNames.of(["red", "green", "blue"]))


def predictor_of(graph, folder, **changes):
    train_recipe(small_recipe(training__num_epochs=1, **changes), folder / "run", options=RunOptions(graph=graph))
    return Predictor(read_model(folder / "run"), graph)


def test_tables_equal_the_sums_of_single_explanations(tmp_path):
    graph = weighted_communities()
    predictor = predictor_of(graph, tmp_path)
    found = summarize_split(predictor, "test")
    targets = graph.splits["test"]
    assert (found.num_targets, found.split, found.method, found.metric) == (
        len(targets),
        "test",
        "midpoint",
        "accuracy",
    )
    by_hop, by_class, total = defaultdict(list), defaultdict(list), 0.0
    by_column = np.zeros(3)
    for target in targets:
        one = explain(predictor, None, int(target))
        for hop, node_class, value in zip(one.hop, one.node_class, one.node_contribution, strict=True):
            if hop > 0:
                by_hop[str(hop)].append(value)
                by_class["unknown" if node_class < 0 else ("red", "green", "blue")[node_class]].append(value)
                total += abs(value)
        by_column += np.abs(one.column_contribution)
    for title, expected in (("hop", by_hop), ("class", by_class)):
        groups = {group.name: group for group in found.contributions[title]}
        assert set(groups) == set(expected)
        for name, values in expected.items():
            assert groups[name].count == pytest.approx(len(values) / len(targets))
            assert groups[name].share == pytest.approx(np.abs(values).sum() / total, rel=1e-3)
            assert groups[name].mean == pytest.approx(np.sum(values) / len(targets), rel=1e-2, abs=1e-4)
    columns = {group.name: group.share for group in found.contributions["column"]}
    for number in range(3):
        assert columns[f"column {number}"] == pytest.approx(by_column[number] / by_column.sum(), rel=1e-3)
    assert sum(group.share for group in found.contributions["edge weight"]) == pytest.approx(1)
    assert len(found.contributions["edge weight"]) == 10
    assert json.loads(json.dumps(found.to_dict()))["num_targets"] == len(targets)
    assert isinstance(found.plot(), Figure)


def test_accuracy_is_that_of_each_group_of_targets(tmp_path):
    graph = weighted_communities()
    predictor = predictor_of(graph, tmp_path)
    found, targets = summarize_split(predictor, "test"), graph.splits["test"]
    right = predictor.predict(targets).predicted == graph.y[targets]
    assert found.value == pytest.approx(right.mean())
    groups = defaultdict(lambda: defaultdict(list))
    for target, hit in zip(targets, right, strict=True):
        degree = int(graph.indptr[target + 1] - graph.indptr[target])
        low = 0 if degree == 0 else 2 ** int(np.log2(degree))
        groups["degree"][str(low) if low < 2 else f"{low} to {2 * low - 1}"].append(hit)
        one = explain(predictor, None, int(target))
        size = 2 ** int(np.log2(len(one.node_id)))
        groups["scope size"][str(size) if size < 2 else f"{size} to {2 * size - 1}"].append(hit)
        classes = dict(zip(one.node_id.tolist(), one.node_class.tolist(), strict=True))
        known = [(classes[a], classes[b]) for a, b in one.edge.tolist() if classes[a] >= 0 and classes[b] >= 0]
        share = np.mean([a == b for a, b in known]) if known else -1
        part = min(int(10 * share + 1e-9), 9)
        groups["homophily"]["no known edge" if share < 0 else f"{part / 10:.1f} to {(part + 1) / 10:.1f}"].append(hit)
    assert set(found.accuracy) == set(groups)
    for title, expected in groups.items():
        buckets = {bucket.name: (bucket.count, bucket.value) for bucket in found.accuracy[title]}
        assert buckets == {name: (len(hits), pytest.approx(np.mean(hits))) for name, hits in expected.items()}


def test_a_sample_is_drawn_by_the_seed_and_other_labels_work(tmp_path):
    graph = with_labels(communities(), "values")
    predictor = predictor_of(graph, tmp_path)
    found = summarize_split(predictor, "test", num_targets=10, seed=1)
    assert found.num_targets == 10
    assert found.metric == "mae"
    assert set(found.accuracy) == {"degree", "scope size"}
    assert set(found.contributions) == {"hop", "column"}
    assert summarize_split(predictor, "test", num_targets=10, seed=1) == found
    assert summarize_split(predictor, "test", num_targets=10, seed=2) != found
    with pytest.raises(ValueError, match="task: graph must have a split 'all'"):
        summarize_split(predictor, "all")


def test_equal_weights_and_scopes_of_one_node_have_summaries(tmp_path):
    graph = weighted_communities()
    equal = replace(graph, edge_weight=np.full(graph.num_edges, 2, np.float32), fingerprint_hint=None)
    predictor = predictor_of(equal, tmp_path)
    (group,) = summarize_split(predictor, "test").contributions["edge weight"]
    assert group.name == "2 to 2"
    assert group.share == pytest.approx(1)
    alone = Predictor(predictor.trained, equal, extractor={"kind": "node"}, warn=lambda _: None)
    found = summarize_split(alone, "test")
    assert found.contributions["hop"] == []
    assert "edge weight" not in found.contributions
    assert [bucket.name for bucket in found.accuracy["homophily"]] == ["no known edge"]


def test_links_are_summarized_on_the_graph_without_held_out_ones(tmp_path):
    predictor = predictor_of(near_ring(), tmp_path, task__kind="link")
    found = summarize_split(predictor, "test")
    config = predictor.trained.config
    links = make_splits(predictor.graph, split_options(config.link, config.seed))
    pairs = links.pairs_of("test")
    judge = Predictor(predictor.trained, links.graph_of("test"), warn=lambda _: None)
    right = (judge.predict(pairs.pairs).probability > 0.5) == pairs.labels
    assert (found.num_targets, found.metric) == (len(pairs), "accuracy")
    assert found.value == pytest.approx(right.mean())
    degree = judge.graph.degrees(pairs.pairs.reshape(-1)).reshape(-1, 2).min(axis=1)
    for bucket in found.accuracy["degree"]:
        low, *high = map(int, bucket.name.split(" to "))
        rows = (degree >= low) & (degree <= (high or [low])[0])
        assert (bucket.count, bucket.value) == (rows.sum(), pytest.approx(right[rows].mean()))
    assert set(found.contributions) == {"hop"}
    each = explain(judge, None, pairs.pairs)
    share = sum(np.abs(one.node_contribution[one.hop == 1]).sum() for one in each)
    every = sum(np.abs(one.node_contribution[one.hop > 0]).sum() for one in each)
    assert found.contributions["hop"][0].share == pytest.approx(share / every, rel=1e-4)
    some = summarize_split(predictor, "test", num_targets=10, seed=1)
    assert (some.num_targets, sum(bucket.count for bucket in some.accuracy["degree"])) == (10, 10)


@pytest.mark.parametrize(("share", "count", "expected"), [(1.0, 1, (0.2065, 1)), (0.5, 100, (0.4038, 0.5962))])
def test_intervals_are_wide_where_few_targets_are(share, count, expected):
    """The limits of (1, 1) and (50, 100) by hand: 1 / (1 + z²), and 0.5 ± 0.0962."""
    from shadow_gnn.studies.explain.summary_plot import wilson_interval

    assert wilson_interval(share, count) == pytest.approx(expected, abs=5e-4)


def test_a_picture_shows_every_table_with_its_values(tmp_path):
    found = summarize_split(predictor_of(communities(), tmp_path), "test")
    figure = found.plot()
    titles = {axes.get_title(): axes for axes in figure.axes if axes.get_title()}
    assert set(titles) == {f"contribution by {name}" for name in found.contributions} | {
        f"accuracy by {name} (targets)" for name in found.accuracy
    }
    for name, groups in found.contributions.items():
        bars = titles[f"contribution by {name}"].patches
        assert [bar.get_width() for bar in bars] == [group.share for group in groups[:12]]
        assert [bool(bar.get_hatch()) for bar in bars] == [group.mean < 0 for group in groups[:12]]
    for name, buckets in found.accuracy.items():
        axes = titles[f"accuracy by {name} (targets)"]
        assert [bar.get_width() for bar in axes.patches] == [bucket.value for bucket in buckets[:12]]
        assert axes.get_yticklabels()[0].get_text() == f"{buckets[0].name} ({buckets[0].count:,})"
    assert f"{found.num_targets:,} targets of test: accuracy {found.value:.4f}" in figure.get_suptitle()
