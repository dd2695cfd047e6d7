"""Candidates are read from kinds and tables, share a size and one thread, and are refused in one line."""

import re

import pytest

from shadow_gnn.base.errors import RecipeError
from shadow_gnn.extract import KhopExtractor, PprExtractor, StochasticPprExtractor
from shadow_gnn.studies.compare_extractors.candidates import default_candidates, read_candidates
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds


def test_kinds_and_tables_share_the_size():
    found = read_candidates(["ppr, khop", "{teleport = 0.1}", '{kind = "khop", num_hops = 1, fanout = 3}'], 20)
    assert [candidate.name for candidate in found] == [
        *("ppr", "khop", "ppr teleport=0.1", "khop num_hops=1 fanout=3"),
    ]
    assert found[0].extractor == PprExtractor(topk=20, num_threads=1)
    assert found[2].extractor == PprExtractor(topk=20, teleport=0.1, num_threads=1)
    assert found[3].extractor == KhopExtractor(num_hops=1, fanout=3, max_nodes=20, num_threads=1)
    assert found[2].settings["teleport"] == 0.1
    assert all(candidate.required for candidate in found)


def test_what_is_drawn_in_training_is_drawn():
    (candidate,) = read_candidates(["stochastic-ppr"], 20)
    assert candidate.extractor == StochasticPprExtractor(topk=20, num_threads=1)


def test_defaults_are_all_kinds_that_a_size_is_enough_for():
    found = default_candidates(20)
    assert [candidate.name for candidate in found] == comparable_kinds()
    assert not any(candidate.required for candidate in found)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["pr"], "kind must be"),
        (["ppr,ppr"], "--extractors must be different, got ppr twice"),
        (["{kind = }"], "--extractors must be a kind or a TOML table"),
        (["{}\nx = 1"], "--extractors must be a kind or one TOML table"),
        (["{teleprt = 0.1}"], "extractor.teleprt: unknown key; did you mean teleport?"),
        (["{teleport = 2}"], "extractor.teleport: must be below 1"),
    ],
)
def test_faults_are_one_line_each(texts, message):
    with pytest.raises((ValueError, RecipeError), match=re.escape(message)):
        read_candidates(texts, 20)
