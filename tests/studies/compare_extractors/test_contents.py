"""Contents of scopes: exact values on graphs small enough to draw, and against a plain loop."""

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.extract import FullExtractor, NodeExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.studies.compare_extractors.contents import UNKNOWN, Tally, jaccard, label_agreement

# 0 - 1 - 2 - 3 - 4
PATH = from_edges(np.arange(4), np.arange(1, 5), 5)


def contents_of(extractor, targets, label=None):
    tally = Tally()
    for target in targets:  # One by one: blocks add up.
        scopes = extractor(PATH, [target])
        tally.add(scopes, None if label is None else np.asarray(label)[scopes.node_id])
    return tally.result()


def test_sizes_and_hops_are_counted_without_the_targets():
    found = contents_of(FullExtractor(num_hops=2), [0, 2])
    assert found.num_nodes == 4.0  # 0 1 2 and 2 1 3 0 4
    assert found.hop_share == pytest.approx((3 / 6, 3 / 6))
    assert (found.homophily, found.entropy, found.num_judged) == (None, None, 0)


def test_the_target_alone_has_no_other_hops():
    found = contents_of(NodeExtractor(), [0, 2], [0, 0, 0, 0, 0])
    assert (found.num_nodes, found.hop_share, found.homophily, found.num_judged) == (1.0, (), None, 0)


def test_homophily_and_entropy_leave_the_target_and_unknown_classes_out():
    label = [1, 1, 0, 1, UNKNOWN]
    two = FullExtractor(num_hops=2)
    # 0 sees 1, 0: half of its own class, one bit. 3 sees 0 (node 2), 1 (node 1): likewise.
    found = contents_of(two, [0, 3], label)
    assert (found.homophily, found.entropy, found.num_judged) == (0.5, 1.0, 2)
    # 2 sees 1, 1, 1: none of its own class, all alike.
    found = contents_of(two, [2], label)
    assert (found.homophily, found.entropy) == (0.0, 0.0)
    # 4 is not known itself, so it is not judged.
    assert contents_of(two, [4], label).num_judged == 0


def test_label_agreement_equals_a_plain_loop():
    graph = communities()
    scopes = PprExtractor(topk=12)(graph, np.arange(60))
    rng = np.random.default_rng(0)
    seen = np.where(rng.random(graph.num_nodes) < 0.3, graph.y, UNKNOWN)
    homophily, entropy = [], []
    for scope in scopes:
        target, others = seen[scope.node_id[0]], seen[scope.node_id[1:]]
        others = others[others != UNKNOWN]
        if target == UNKNOWN or len(others) == 0:
            continue
        share = np.bincount(others)[np.bincount(others) > 0] / len(others)
        homophily.append((others == target).mean())
        entropy.append(-(share * np.log2(share)).sum())
    found = label_agreement(scopes, seen[scopes.node_id])
    assert 0 < len(homophily) < 60
    assert found[0] == pytest.approx(homophily)
    assert found[1] == pytest.approx(entropy)


def test_jaccard_equals_that_of_sets():
    graph = communities()
    targets = np.array([5, 3, 9, 100])
    a, b = PprExtractor(topk=12)(graph, targets), FullExtractor(num_hops=1)(graph, targets)
    expected = []
    for one, other in zip(a, b, strict=True):
        first, second = set(one.node_id.tolist()), set(other.node_id.tolist())
        expected.append(len(first & second) / len(first | second))
    assert jaccard(a, b, graph.num_nodes) == pytest.approx(expected)
    assert jaccard(a, a, graph.num_nodes).tolist() == [1.0] * 4


def test_jaccard_is_of_the_same_targets():
    one, other = (NodeExtractor()(PATH, [target]) for target in (0, 1))
    with pytest.raises(ValueError, match="must be of the same targets"):
        jaccard(one, other, 5)
