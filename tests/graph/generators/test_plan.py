"""Plans of synthetic graphs: refused values, and the disk need."""

import pytest

from shadow_gnn.graph.generators.plan import GraphPlan, disk_need


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"model": "er"}, "model must be dcsbm or rmat, got 'er'"),
        ({"num_nodes": 0}, "num_nodes must be from 1 to 2147483647, got 0"),
        ({"num_nodes": 1 << 31}, "num_nodes must be from 1"),
        ({"degree": -1}, "degree must be from 0 to 99, got -1"),
        ({"degree": 100}, "degree must be from 0 to 99, got 100"),
        ({"degree": float("nan")}, "degree must be from 0 to 99"),
        ({"num_columns": -1}, "num_columns must be from 0 to 65536, got -1"),
        ({"num_classes": 101}, "num_classes must be from 1 to 100, got 101"),
        ({"dtype": "int8"}, "dtype must be float16 or float32, got 'int8'"),
        ({"inside": 1.5}, "inside must be from 0 to 1, got 1.5"),
        ({"shares": (60.0, 30.0, 20.0)}, "shares must be percentages that sum to at most 100"),
        ({"seed": -1}, "seed must be from 0"),
    ],
)
def test_wrong_values_are_named(changes, fault):
    with pytest.raises(ValueError, match=fault):
        GraphPlan(**{"model": "dcsbm", "num_nodes": 100, "degree": 3, **changes})


def test_the_largest_graph_of_the_paper_in_gigabytes():
    need = disk_need(GraphPlan("dcsbm", 110_000_000, 29))
    assert need.topology == 3_190_000_000 * 4 + 110_000_001 * 8
    assert need.features == 110_000_000 * 128 * 2
    assert need.total == need.topology + need.features + need.others
    assert need.largest == need.total  # 44 GB; the keys of the edges (8 bytes an entry) are gone before the features.
    assert 43e9 < need.total < 45e9


def test_without_features_the_keys_decide():
    need = disk_need(GraphPlan("rmat", 1_000_000, 100, num_columns=0))
    # Keys of 8 bytes an entry, and the lists of an eighth of them before the space of those keys is given back.
    assert need.largest == (8 * 8 + 4) * 100_000_000 // 8 + 8 * 1_000_001 + 256


@pytest.mark.parametrize(("num_nodes", "expected"), [(3, 3), (1000, 16), (1_000_000, 100), (110_000_000, 11_000)])
def test_communities_have_the_same_size_in_all_large_graphs(num_nodes, expected):
    assert GraphPlan("dcsbm", num_nodes, 1, num_classes=min(16, num_nodes)).num_communities == expected
