"""Averages: exact means, weights that validation asks for, and members that do not fit refused by name."""

from dataclasses import replace

import numpy as np
import pytest
from tests.communities import communities, one_thread, with_labels  # noqa: F401

from shadow_gnn.inference.averaging import Member, average, best_subset, check_members, chosen_weights, join
from shadow_gnn.inference.evaluation import score_metrics

GRAPH = communities()
NODES = np.arange(120)
CLASSES = {"kind": "classes", "out_dim": 3}


def member(name="a", scores=None, **changes):
    values = {**CLASSES, "fingerprint": GRAPH.fingerprint, "graph": GRAPH, **changes}
    return Member(name, predict=lambda targets: None if scores is None else scores[targets], **values)


def right_on(nodes) -> np.ndarray:
    """Probabilities that are right on some nodes and wrong on the others."""
    y = np.where(np.isin(NODES, nodes), GRAPH.y, (GRAPH.y + 1) % 3)
    return (0.1 + 0.7 * np.eye(3)[y]).astype(np.float32)


def test_average_is_the_weighted_mean():
    first, second = np.array([[1, 0]], np.float32), np.array([[0, 1]], np.float32)
    assert average([first, second], [0.25, 0.75]).tolist() == [[0.25, 0.75]]


def test_joined_models_are_judged_by_split():
    sure = right_on(NODES) * 1.1
    found = join([member("a", sure), member("b", right_on([]))], GRAPH, NODES)
    assert [(row.name, row.weight, row.valid, row.test) for row in found.models] == [
        ("a", 0.5, 1.0, 1.0),
        ("b", 0.5, 0.0, 0.0),
    ]
    assert (found.whole.valid, found.whole.test) == (1.0, 1.0)
    np.testing.assert_allclose(found.predictions.scores, (sure + right_on([])) / 2, rtol=1e-6)


def test_splits_that_no_target_is_of_are_not_judged():
    found = join([member("a", right_on(NODES))] * 2, GRAPH, GRAPH.splits["test"])
    assert (found.whole.valid, found.whole.test) == (None, 1.0)
    assert len(found.predictions.scores) == 30
    with pytest.raises(ValueError, match="targets must include nodes of the split 'valid' to choose weights"):
        join([member("a", right_on(NODES))] * 2, GRAPH, GRAPH.splits["test"], choose=chosen_weights)


WAYS = pytest.mark.parametrize("choose", [chosen_weights, best_subset])


@WAYS
def test_validation_leaves_out_what_only_harms(choose):
    scores = [right_on(NODES), right_on([])]
    assert choose("classes", scores, GRAPH.y) == [1.0, 0.0]
    found = join([member("a", scores[0]), member("b", scores[1])], GRAPH, NODES, choose=choose)
    assert found.whole.valid == 1.0
    assert sum(row.weight for row in found.models) == pytest.approx(1)


@WAYS
def test_validation_joins_models_that_complete_each_other(choose):
    """Each is right on two of three parts, and sure enough that two outvote the third."""
    parts = [number == NODES % 3 for number in range(3)]
    scores = [right_on(NODES[~part]) for part in parts]
    weights = choose("classes", scores, GRAPH.y)
    assert min(weights) > 0
    assert score_metrics("classes", average(scores, weights), GRAPH.y)["accuracy"] == 1.0
    assert all(score_metrics("classes", part, GRAPH.y)["accuracy"] == pytest.approx(2 / 3) for part in scores)


def test_the_best_subset_has_the_smallest_loss_of_all_means():
    rng = np.random.default_rng(0)
    scores = [rng.dirichlet(np.ones(3), len(NODES)).astype(np.float32) for _ in range(2)]
    scores.append((0.5 * right_on(NODES[::2]) + 0.5 * scores[0]).astype(np.float32))

    def loss(chosen):
        mean = sum(scores[number] for number in chosen) / len(chosen)
        return -np.log(mean[NODES, GRAPH.y]).mean()

    sets = [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2)]
    best = min(sets, key=loss)
    expected = [1 / len(best) if number in best else 0.0 for number in range(3)]
    assert best_subset("classes", scores, GRAPH.y) == pytest.approx(expected)


@WAYS
def test_test_labels_do_not_choose(choose):
    scores = [right_on(NODES[::2]), right_on(NODES[1::3]), right_on(NODES[:50])]
    members = [member(str(number), part) for number, part in enumerate(scores)]
    test = GRAPH.splits["test"]
    y = GRAPH.y.copy()
    y[test] = (y[test] + 1) % 3
    one, other = (
        [row.weight for row in join(members, graph, NODES, choose=choose).models]
        for graph in (GRAPH, replace(GRAPH, y=y))
    )
    assert one == other


@pytest.mark.parametrize("kind", ["multilabel", "values"])
def test_other_targets_are_averaged_too(kind):
    graph = with_labels(GRAPH, kind)
    y = graph.y.astype(np.float32).reshape(120, -1)
    answer = {"kind": kind, "out_dim": y.shape[1]}
    low, high = (y * 0.8 + 0.1, y * 0.8 + 0.1) if kind == "multilabel" else (y - 1, y + 1)
    members = [member("a", low, graph=graph, **answer), member("b", high, graph=graph, **answer)]
    found = join(members, graph, NODES, choose=chosen_weights)
    assert found.whole.test == pytest.approx(1.0 if kind == "multilabel" else 0.0)
    if kind == "values":
        assert [row.weight for row in found.models] == [0.5, 0.5]


OTHER = communities(seed=9)
SHUFFLED = replace(GRAPH, splits={**GRAPH.splits, "train": GRAPH.splits["test"], "test": GRAPH.splits["train"]})


@pytest.mark.parametrize(
    ("other", "text"),
    [
        ({"fingerprint": OTHER.fingerprint, "graph": OTHER}, "b must be of the graph of a, its edges differ"),
        ({"out_dim": 4}, "b must predict the 3 classes of a, got 4"),
        ({"kind": "multilabel"}, "b must predict classes as a does, got multilabel"),
        ({"graph": replace(GRAPH, y=(GRAPH.y + 1) % 3)}, "b must be of a graph with the labels of a, they differ"),
        ({"graph": SHUFFLED}, "b must be of a graph with the split 'train' of a"),
    ],
)
def test_members_that_do_not_fit_are_one_line(other, text):
    with pytest.raises(ValueError, match=text) as caught:
        check_members([member("a"), member("b", **other)])
    assert "\n" not in str(caught.value)


def test_tables_must_have_the_same_targets():
    tables = [
        member(name, graph=None, fingerprint=None, node_id=ids) for name, ids in (("a", NODES), ("b", NODES[::-1]))
    ]
    with pytest.raises(ValueError, match="b must have the targets of a in the same order"):
        check_members(tables)
    check_members([tables[0], tables[0], member("run")])


def test_names_of_classes_must_agree_where_both_have_them():
    named = [{"class_names": tuple(names)} for names in ("abc", "acb")]
    with pytest.raises(ValueError, match="b must predict the classes of a, their names differ"):
        check_members([member("a", **named[0]), member("b", **named[1])])
    check_members([member("a", **named[0]), member("b")])


def test_one_is_no_ensemble():
    with pytest.raises(ValueError, match="must join at least two runs or tables, got 1"):
        check_members([member()])


def test_labels_of_an_average_have_thresholds_of_their_own():
    y = np.zeros((60, 2), np.uint8)
    y[::2, 0] = y[::3, 1] = 1
    scores = (0.2 * y + 0.1).astype(np.float32)  # All below one half, and in the right order.
    splits = {"train": np.arange(20), "valid": np.arange(20, 40), "test": np.arange(40, 60)}
    graph = replace(communities(num_nodes=60), y=y, splits=splits)
    members = [Member(name, "multilabel", 2, lambda nodes: scores[nodes]) for name in "ab"]
    found = join(members, graph, np.arange(60))
    assert (found.whole.valid, found.whole.test, found.models[0].test) == (1.0, 1.0, 1.0)
    assert found.predictions.predicted.tolist() == y.tolist()
    without = join(members, replace(graph, splits={"test": splits["test"]}), np.arange(60))
    assert without.whole.test == 0.0
    assert not without.predictions.predicted.any()
