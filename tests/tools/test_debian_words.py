"""The table of words: a description becomes features like those of the built-in graph."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from build_debian_words import table, word_rows
from text_features import reduced, word_weights

from shadow_gnn import open_dataset

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def words(monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import debian_words

    yield debian_words
    del sys.modules["debian_words"]


def some_bags() -> list[list[str]]:
    rng = np.random.default_rng(0)
    return [[f"w{word}" for word in rng.zipf(1.5, 30) % 40] for _ in range(200)]


def test_rows_of_words_turn_weights_into_features():
    weights = word_weights(some_bags(), 8)
    features = reduced(weights, 5).astype(np.float32)
    np.testing.assert_allclose(weights @ word_rows(weights, features), features, atol=1e-5)


def test_a_description_of_the_table_has_the_features_of_its_node(words, tmp_path, monkeypatch):
    bags = some_bags()
    features = reduced(word_weights(bags, 8), 5).astype(np.float32)
    np.savez(tmp_path / "table.npz", **table(bags, features, 1000))
    monkeypatch.setattr(words, "TABLE", tmp_path / "table.npz")
    for bag, expected in zip(bags[:20], features[:20], strict=True):
        found = words.description_features(" ".join(bag))
        np.testing.assert_allclose(found, expected, atol=0.02 * np.abs(features).max())


@pytest.mark.parametrize(
    ("text", "section"),
    [("A first-person shooter game with many levels and monsters", "games"), ("English spelling dictionary", "text")],
)
def test_a_description_is_near_packages_of_its_section(words, text, section):
    graph = open_dataset("debian")
    rows = graph.x.rows(np.arange(graph.num_nodes))
    found = words.description_features(text)
    nearest = np.argsort(-(rows @ found) / np.maximum(np.linalg.norm(rows, axis=1), 1e-9))[:30]
    sections = Counter(graph.class_name[int(graph.y[node])] for node in nearest)
    assert sections.most_common(1)[0][0] == section


def test_a_description_without_known_words_is_refused(words):
    with pytest.raises(ValueError, match="must have a word of the table, got 'qqqq'"):
        words.description_features("qqqq")
