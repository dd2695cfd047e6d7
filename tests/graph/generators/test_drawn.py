"""Drawn graphs follow their model: degrees, communities, labels and features against what the formulas say."""

import numpy as np
import pytest

from shadow_gnn.graph.generators.drawn import DrawnEdges, drawn_features, drawn_labels, drawn_splits
from shadow_gnn.graph.generators.plan import GraphPlan

LABEL_NOISE = 0.1
MASK = (1 << 64) - 1


def all_edges(plan, size=1 << 20):
    return np.concatenate([np.stack(pair) for pair in DrawnEdges(plan).blocks(size)], axis=1)


def mix64(z):
    z = (z + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def combine(key, word):
    return mix64(key ^ mix64(word))


def test_block_model_has_the_degrees_of_its_power_law():
    plan = GraphPlan("dcsbm", 4000, 50, num_classes=4, seed=5)
    degree = np.sort(np.bincount(all_edges(plan).ravel(), minlength=4000))[::-1]
    weight = ((np.arange(1000) + 0.5) / 1000) ** (-1 / 1.5)
    expected = np.repeat(2 * plan.num_edges / 4 * weight / weight.sum(), 4)
    for stretch in (slice(0, 4), slice(4, 40), slice(40, 400), slice(400, 4000)):
        assert degree[stretch].mean() == pytest.approx(expected[stretch].mean(), rel=0.05)


@pytest.mark.parametrize("inside", [0.0, 0.5, 1.0])
def test_block_model_keeps_its_share_of_edges_inside(inside):
    plan = GraphPlan("dcsbm", 4000, 50, num_classes=4, inside=inside, seed=5)
    src, dst = all_edges(plan)
    src, dst = src[src != dst], dst[src != dst]
    y = drawn_labels(plan)[:]
    same = inside + (1 - inside) / 4
    kept = (1 - LABEL_NOISE) ** 2
    assert (y[src] == y[dst]).mean() == pytest.approx(kept * same + (1 - kept) / 4, abs=0.03)


def test_recursive_model_has_the_degrees_of_its_quadrants():
    plan = GraphPlan("rmat", 256, 100, num_classes=2, seed=9)
    # The probability of each place as source and as receiver, level by level, with the noise of each level.
    source, receiver = np.ones(1), np.ones(1)
    key = combine(9, 7)
    for level in range(8, 0, -1):
        unit = ((combine(key, level) >> 11) + 0.5) * 2.0**-53
        moved = (2 * unit - 1) * 0.5 * 0.1
        a, b, d = 0.57 * (1 - 2 * moved / 0.8), 0.1 + moved, 0.23 * (1 - 2 * moved / 0.8)
        source = np.concatenate([source[:, None] * (a + b), source[:, None] * (b + d)], axis=1).ravel()
        receiver = np.concatenate([receiver[:, None] * (a + b), receiver[:, None] * (b + d)], axis=1).ravel()
    expected = np.sort(plan.num_edges * (source + receiver))[::-1]
    degree = np.sort(np.bincount(all_edges(plan).ravel(), minlength=256))[::-1]
    for stretch in (slice(0, 1), slice(1, 9), slice(9, 37), slice(37, 256)):
        assert degree[stretch].mean() == pytest.approx(expected[stretch].mean(), rel=0.06)


def test_recursive_model_has_communities():
    plan = GraphPlan("rmat", 5000, 20, num_classes=4, seed=2)
    src, dst = all_edges(plan)
    y = drawn_labels(plan)[:]
    by_chance = (y[src] == np.random.default_rng(0).permutation(y[dst])).mean()
    assert (y[src] == y[dst]).mean() > by_chance + 0.15
    assert max(src.max(), dst.max()) < 5000


@pytest.mark.parametrize("model", ["dcsbm", "rmat"])
def test_features_lie_around_the_center_of_their_group(model):
    plan = GraphPlan(model, 6000, 5, num_columns=32, num_classes=3, dtype="float32", seed=4)
    x, y = drawn_features(plan)[:], drawn_labels(plan)[:]
    center = np.stack([x[y == label].mean(axis=0) for label in range(3)])
    nearest = np.argmin(((x[:, None] - center) ** 2).sum(axis=2), axis=1)
    # Far better than chance, far from perfect: the neighbors are worth asking.
    assert 0.6 < (nearest == y).mean() < 0.95
    assert (x - center[y]).std() == pytest.approx(2 / np.sqrt(3), rel=0.1)


def test_splits_hold_their_shares_in_ascending_order_and_do_not_overlap():
    plan = GraphPlan("dcsbm", 600_000, 1, num_columns=0, shares=(10, 5, 85), seed=1)
    found = {name: rows[:] for name, rows in drawn_splits(plan).items()}
    assert [len(ids) / 600_000 for ids in found.values()] == pytest.approx([0.1, 0.05, 0.85], abs=0.003)
    assert all((np.diff(ids) > 0).all() for ids in found.values())
    np.testing.assert_array_equal(np.sort(np.concatenate(list(found.values()))), np.arange(600_000))
    rows = drawn_splits(plan)["test"]
    for start, stop in ((0, 0), (0, 1), (200_000, 300_000), (len(rows) - 1, len(rows) + 5)):
        np.testing.assert_array_equal(rows[start:stop], found["test"][start:stop])


def test_a_share_of_nothing_gives_no_split():
    assert list(drawn_splits(GraphPlan("rmat", 100, 1, shares=(50, 0, 0)))) == ["train"]


def test_a_half_width_feature_is_the_rounded_one():
    plan = GraphPlan("dcsbm", 100, 1, num_columns=7, dtype="float32")
    half = GraphPlan("dcsbm", 100, 1, num_columns=7)
    np.testing.assert_array_equal(drawn_features(half)[:], drawn_features(plan)[:].astype(np.float16))
