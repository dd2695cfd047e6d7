"""The recommendation follows from validation and time, never from test targets."""

from dataclasses import replace

import pytest

from shadow_gnn.studies.compare_extractors.choice import choose_extractor
from shadow_gnn.studies.compare_extractors.contents import Contents
from shadow_gnn.studies.compare_extractors.record import ExtractorRow


def row(name, valid=(), cpu_us=10.0, num_nodes=50.0, homophily=None, test=()):
    contents = Contents(num_nodes, (1.0,), homophily, None, 0)
    return ExtractorRow(name, {}, cpu_us, contents, valid, test, (1,) * len(valid))


def test_the_best_on_validation_wins_where_others_are_clearly_behind():
    name, reason = choose_extractor(
        [row("ppr", (0.8,), 100.0), row("khop", (0.6,), 1.0)], metric="accuracy", num_valid=100
    )
    assert name == "ppr"
    assert reason == "accuracy 0.800 of the probe on 100 validation targets, the best"


def test_of_those_within_one_standard_error_the_fastest_wins():
    # The error of 0.8 on 100 targets is 0.04.
    rows = [row("ppr", (0.8,), 100.0), row("khop", (0.77,), 5.0), row("fire", (0.75,), 1.0)]
    name, reason = choose_extractor(rows, metric="micro_f1", num_valid=100)
    assert name == "khop"
    assert reason == (
        "micro-f1 0.770 of the probe on 100 validation targets, within one standard error (0.040) of the best, "
        "ppr (0.800), and the fastest of these 2 (5 against 100 µs)"
    )


def test_several_seeds_count_by_their_mean():
    rows = [row("ppr", (0.9, 0.5)), row("khop", (0.8, 0.8))]
    assert choose_extractor(rows, metric="accuracy", num_valid=1000)[0] == "khop"


@pytest.mark.parametrize("test", [(0.0,), (1.0,)])
def test_test_targets_have_no_say(test):
    rows = [row("ppr", (0.8,)), row("khop", (0.6,))]
    assert choose_extractor(
        [rows[0], replace(rows[1], test=test)], metric="accuracy", num_valid=100
    ) == choose_extractor(rows, metric="accuracy", num_valid=100)


def test_it_says_where_the_graph_adds_nothing():
    rows = [row("ppr", (0.8,), 100.0), row("node", (0.8,), 1.0, num_nodes=1.0)]
    name, reason = choose_extractor(rows, metric="accuracy", num_valid=100)
    assert name == "node"
    assert reason.endswith("; the graph adds nothing that the probe can see")


def test_without_a_probe_classes_decide_among_scopes_of_like_size():
    rows = [row("ppr", homophily=0.6), row("full", homophily=0.7), row("khop", homophily=0.9, num_nodes=20.0)]
    name, reason = choose_extractor(rows, metric=None, num_valid=0)
    assert name == "full"
    assert "70.0%" in reason


def test_without_classes_ppr_is_where_to_begin():
    name, reason = choose_extractor([row("khop"), row("ppr")], metric=None, num_valid=0)
    assert name == "ppr"
    assert "no criterion without classes" in reason
    assert choose_extractor([row("khop")], metric=None, num_valid=0)[0] == "khop"
