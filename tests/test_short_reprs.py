"""Records show facts in a terminal and in a notebook, never arrays."""

from dataclasses import replace

import numpy as np
import pytest

from shadow_gnn import DenseFeatures, Loader, NodeNames, SparseFeatures, from_edges, open_graph, save_graph
from shadow_gnn.extract import PprExtractor
from tests.communities import communities


def small():
    return from_edges([0, 1, 2], [1, 2, 3])


def test_a_bare_graph():
    assert repr(small()) == "Graph(nodes: 4; edges: 3 undirected; features: none; labels: none)"


def test_a_full_graph():
    graph = replace(
        from_edges([0, 1], [1, 2], weight=[1.0, 2.0], edge_attr=np.ones((2, 5), np.float32), undirected=False),
        x=DenseFeatures(np.ones((3, 2), np.float16)),
        y=np.array([0, 1, 0]),
        class_name=NodeNames(np.array([0, 1, 2]), np.frombuffer(b"ab", np.uint8)),
        splits={"train": np.array([0, 1]), "test": np.array([2])},
        pairs={"test_pos": np.array([[0, 2]])},
    )
    assert repr(graph) == (
        "Graph(nodes: 3; edges: 2 directed, weighted; features: 2 float16; labels: 2 classes; edge features: 5; "
        "splits: train 2, test 1; pairs: test_pos 1)"
    )


@pytest.mark.parametrize(
    ("y", "fact"),
    [
        (np.zeros(4, np.int64), "classes"),
        (np.zeros(4, np.float32), "values"),
        (np.zeros((4, 7), np.uint8), "7 yes/no"),
    ],
)
def test_kinds_of_labels(y, fact):
    assert f"labels: {fact})" in repr(replace(small(), y=y))


def test_sparse_features_and_the_path(tmp_path):
    x = SparseFeatures(np.zeros(5, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 1234)
    save_graph(replace(small(), x=x), tmp_path / "g")
    assert repr(open_graph(tmp_path / "g")).endswith(f"features: 1,234 sparse; labels: none; path: {tmp_path / 'g'})")


def test_scopes():
    scopes = PprExtractor(topk=10)(small(), [0, 3])
    assert repr(scopes) == "Subgraphs(scopes: 2; nodes: 8; edges: 12)"
    assert repr(scopes[0]) == "Subgraphs(target: 0; nodes: 4; edges: 6; hops: 3)"
    pairs = PprExtractor(topk=10)(small(), [[0, 3], [1, 2]])
    assert repr(pairs) == "Subgraphs(scopes: 2 of pairs; nodes: 8; edges: 12)"
    assert repr(pairs[0]).startswith("Subgraphs(target: 0 and 3; ")


def test_batches():
    graph = communities()
    extractor = PprExtractor(topk=10, edge_pos=True)
    (batch,) = Loader(graph, extractor, [0, 1], batch_size=2, edge_arrays=("id",))
    facts = f"scopes: 2; nodes: {batch.num_nodes}; edges: {batch.num_edges}; order: hop; "
    width = graph.x.shape[1]
    assert repr(batch) == f"Batch({facts}features: {width}; labels: 2; edge arrays: edge_id; device: cpu)"


def test_notebooks_get_a_table_and_text_is_escaped():
    page = replace(small(), splits={"<b>": np.array([0])})._repr_html_()
    assert page.startswith("<table><caption>Graph</caption><tr><th>nodes</th><td>4</td></tr>")
    assert "&lt;b&gt; 1" in page
    for record in (PprExtractor()(small(), [0]), next(iter(Loader(small(), PprExtractor(), [0])))):
        assert record._repr_html_().startswith(f"<table><caption>{type(record).__name__}</caption>")
