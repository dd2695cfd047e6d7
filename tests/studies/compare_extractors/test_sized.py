"""Every kind of extractor has settings for a wanted scope size, or says why it is left out."""

import numpy as np
import pytest
from tests.communities import communities

from shadow_gnn.extract import KINDS
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.compare_extractors.candidates import default_candidates
from shadow_gnn.studies.compare_extractors.sized import LEFT_OUT, comparable_kinds, sized_table

GRAPH = communities()


def test_khop_has_the_fanout_of_the_size():
    assert sized_table("khop", 7) == {"kind": "khop", "num_hops": 2, "fanout": 2, "max_nodes": 7}
    assert sized_table("khop", 1)["fanout"] == 1
    assert sized_table("khop", 100)["fanout"] == 10


def test_scored_kinds_have_topk():
    assert sized_table("ppr", 30) == {"kind": "ppr", "topk": 30}
    assert sized_table("node", 30) == {"kind": "node"}


@pytest.mark.parametrize("kind", comparable_kinds())
@pytest.mark.parametrize("size", [1, 2, 50, 100_000])
def test_every_table_is_right(kind, size):
    assert Recipe.model_validate({"graph": "g", "extractor": sized_table(kind, size)}).extractor.kind == kind


@pytest.mark.parametrize("candidate", default_candidates(9), ids=lambda candidate: candidate.name)
def test_scopes_have_at_most_that_size(candidate):
    scopes = candidate.extractor(GRAPH, np.arange(30))
    assert np.diff(scopes.ptr).max() <= 9
    if candidate.name in ("ppr", "full"):
        assert np.diff(scopes.ptr).min() == 9


def test_kinds_that_are_left_out_are_known_or_to_come():
    assert "ppr" in comparable_kinds()
    assert not set(comparable_kinds()) & set(LEFT_OUT)
    assert set(comparable_kinds()) <= set(KINDS)
