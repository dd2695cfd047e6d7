"""Diffused graphs against dense matrices and PyG's GDC."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.linalg import expm
from tests.communities import communities
from tests.extract.graphs import graphs, some_graphs
from torch_geometric.data import Data
from torch_geometric.transforms import GDC

from shadow_gnn.extract.diffused import FeatureNeighbors, HeatDiffusion, Kept, PprDiffusion, diffuse_graph
from shadow_gnn.extract.diffused import walks as walks_module
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.graph.verify import verify_graph

GRAPHS = some_graphs()
NODES = 60
EXACT = {
    "ppr": PprDiffusion(teleport=0.15, tolerance=1e-10),
    "heat": HeatDiffusion(time=3.0, tolerance=0.0),
}


def dense(graph: Graph) -> NDArray[np.float64]:
    """Return the matrix whose row v holds the weights of what v receives."""
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    row = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    matrix[row, graph.indices] = 1.0 if graph.edge_weight is None else graph.edge_weight
    return matrix


def diffusion(graph: Graph, kind: str, *, symmetric: bool, self_loop: float) -> NDArray[np.float64]:
    """Return the whole diffusion matrix, by a dense solve or exponential."""
    matrix = dense(graph) + self_loop * np.eye(graph.num_nodes)
    degree = matrix.sum(axis=1)
    degree[degree == 0] = 1
    step = matrix / np.sqrt(np.outer(degree, degree)) if symmetric else matrix / degree[:, None]
    if kind == "heat":
        return np.asarray(expm(-3.0 * (np.eye(len(step)) - step)))
    return 0.15 * np.linalg.inv(np.eye(len(step)) - 0.85 * step)


def gdc(graph: Graph, kind: str, sparsification: dict[str, Any], out: str | None = None) -> NDArray[np.float64]:
    """Return what PyG's exact GDC makes of the graph, with loops of weight 1."""
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    index = torch.from_numpy(np.stack((graph.indices.astype(np.int64), receiver)))
    weight = None if graph.edge_weight is None else torch.from_numpy(graph.edge_weight)
    options = {"method": "ppr", "alpha": 0.15} if kind == "ppr" else {"method": "heat", "t": 3.0}
    transform = GDC(1, "sym", out, options, sparsification, exact=True)  # type: ignore[arg-type]
    data = transform(Data(edge_index=index, edge_attr=weight, num_nodes=graph.num_nodes))
    matrix = np.zeros((graph.num_nodes, graph.num_nodes))
    matrix[data.edge_index[0], data.edge_index[1]] = data.edge_attr
    return matrix


def without_own(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    return matrix * (1 - np.eye(len(matrix)))


@pytest.mark.parametrize("kind", ["ppr", "heat"])
@pytest.mark.parametrize("name", ["hubs", "weighted"])
def test_threshold_gives_the_graph_of_pygs_gdc(name: str, kind: str) -> None:
    graph = GRAPHS[name]
    found = diffuse_graph(graph, EXACT[kind], Kept(None, 0.004))
    expected = without_own(gdc(graph, kind, {"method": "threshold", "eps": 0.004}))
    assert not found.directed
    np.testing.assert_allclose(dense(found), expected, atol=2e-6)
    assert 0 < found.num_edges < NODES * (NODES - 1)


@pytest.mark.parametrize("kind", ["ppr", "heat"])
def test_topk_gives_the_graph_of_pygs_gdc(kind: str) -> None:
    graph = GRAPHS["weighted"]
    expected = without_own(gdc(graph, kind, {"method": "topk", "k": 9, "dim": 0}))
    # PyG keeps the best of each column; the matrix is symmetric, so these are the best of each row of ours.
    found = diffuse_graph(graph, EXACT[kind], Kept(9, directed=True))
    assert found.directed
    np.testing.assert_allclose(dense(found), expected.T, atol=2e-6)
    both = diffuse_graph(graph, EXACT[kind], Kept(9))
    np.testing.assert_allclose(dense(both), (expected + expected.T) / 2, atol=2e-6)
    assert np.array_equal(dense(both), dense(both).T)


@pytest.mark.parametrize("kind", ["ppr", "heat"])
@settings(max_examples=25, deadline=None)
@given(graph=graphs(), self_loop=st.sampled_from([0.0, 1.0, 2.5]), symmetric=st.booleans())
def test_any_graph_diffuses_as_a_dense_solve(kind: str, graph: Graph, self_loop: float, symmetric: bool) -> None:
    # A walk at a dead end starts again, where a matrix would lose it: loops leave none.
    if graph.directed and self_loop == 0:
        self_loop = 1.0
    symmetric = symmetric and not graph.directed
    source = replace(EXACT[kind], self_loop=self_loop, transition="symmetric" if symmetric else "walk")
    found = diffuse_graph(graph, source, Kept(None, 1e-4, directed=True))
    expected = without_own(diffusion(graph, kind, symmetric=symmetric, self_loop=self_loop))
    expected[expected < 1e-4] = 0
    np.testing.assert_allclose(dense(found), expected, atol=5e-6, rtol=1e-4)


@pytest.mark.parametrize("kind", ["ppr", "heat"])
def test_a_coarser_tolerance_only_loses_scores(kind: str) -> None:
    graph, exact = GRAPHS["big hubs"], EXACT[kind]
    coarse = replace(exact, tolerance=1e-3)
    scores, found = (dense(diffuse_graph(graph, one, Kept(None, 1e-9))) for one in (exact, coarse))
    assert (found <= scores + 1e-7).all()
    assert 0 < found.sum() < scores.sum()
    if kind == "ppr":
        degree = np.diff(graph.indptr) + 1
        assert (scores - found <= 1e-3 * np.sqrt(np.outer(degree, degree)) + 1e-7).all()


@pytest.mark.parametrize("kind", ["ppr", "heat"])
def test_parts_of_any_size_give_the_same_graph(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, source = GRAPHS["weighted"], EXACT[kind]
    whole = diffuse_graph(graph, source, Kept(9))
    monkeypatch.setattr(walks_module, "_MOST_ROWS", 7)
    stages: list[tuple[str, int, int]] = []
    parts = diffuse_graph(graph, source, Kept(9), num_threads=2, progress=lambda *stage: stages.append(stage))
    assert parts.fingerprint == whole.fingerprint
    assert stages == [*(("scores", start, NODES) for start in range(0, NODES, 7)), ("scores", NODES, NODES)]


def test_directed_graphs_stay_directed_and_rows_can_sum_to_one() -> None:
    graph = GRAPHS["directed"]
    found = diffuse_graph(graph, EXACT["ppr"], Kept(9, normalize="rows"))
    assert found.directed
    total = dense(found).sum(axis=1)
    np.testing.assert_allclose(total[total > 0], 1, rtol=1e-6)
    assert not diffuse_graph(graph, EXACT["ppr"], Kept(9, directed=False)).directed


def test_symmetric_normalization_divides_by_both_degrees() -> None:
    plain, scaled = (
        dense(diffuse_graph(GRAPHS["hubs"], EXACT["heat"], Kept(9, normalize=normalize)))
        for normalize in ("none", "symmetric")
    )
    degree = plain.sum(axis=1)
    degree[degree == 0] = 1
    np.testing.assert_allclose(scaled, plain / np.sqrt(np.outer(degree, degree)), rtol=1e-5)
    assert np.array_equal(scaled, scaled.T)


@pytest.mark.parametrize("source", [*EXACT.values(), FeatureNeighbors()], ids=["ppr", "heat", "features"])
@pytest.mark.parametrize("name", ["one node", "no edges", "two components", "directed path", "hubs, wide ids"])
def test_every_graph_can_be_diffused_and_kept(source: Any, name: str, tmp_path: Path) -> None:
    graph = GRAPHS[name]
    found = diffuse_graph(graph, source, Kept(4))
    save_graph(found, tmp_path / "diffused")
    verify_graph(tmp_path / "diffused")
    assert open_graph(tmp_path / "diffused").fingerprint == found.fingerprint
    assert found.directed == graph.directed


def test_all_but_the_edges_is_as_it_was() -> None:
    graph = replace(communities(), edge_id=None)
    found = diffuse_graph(graph, PprDiffusion(), Kept(8))
    assert found.x is graph.x
    assert found.y is graph.y
    assert {name: ids.tolist() for name, ids in found.splits.items()} == {
        name: ids.tolist() for name, ids in graph.splits.items()
    }
    assert found.fingerprint != graph.fingerprint


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Kept(0), "diffuse: topk must be at least 1, got 0"),
        (lambda: Kept(None), "threshold must be above 0 where topk is None, got 0"),
        (lambda: Kept(threshold=-1), "threshold must be at least 0, got -1"),
        (lambda: Kept(normalize="all"), "normalize must be none, rows or symmetric, got 'all'"),  # type: ignore[arg-type]
        (lambda: PprDiffusion(teleport=0), "PprDiffusion: teleport must be at least 0.001 and below 1, got 0"),
        (lambda: PprDiffusion(tolerance=0), "PprDiffusion: tolerance must be at least 1e-15 and below 1, got 0"),
        (lambda: PprDiffusion(self_loop=-1), "PprDiffusion: self_loop must be at least 0, got -1"),
        (lambda: HeatDiffusion(time=0), "HeatDiffusion: time must be above 0 and at most 100, got 0"),
        (lambda: HeatDiffusion(tolerance=-1), "HeatDiffusion: tolerance must be at least 0 and below 1, got -1"),
        (lambda: FeatureNeighbors("near"), "search must be exact or hnsw, got 'near'"),  # type: ignore[arg-type]
        (lambda: FeatureNeighbors(num_links=1), "num_links must be an integer from 2 to 10,000, got 1"),
    ],
)
def test_bad_options_get_one_clear_line(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_what_does_not_fit_the_graph_is_named() -> None:
    with pytest.raises(ValueError, match="transition must be walk for a directed graph, got 'symmetric'"):
        diffuse_graph(GRAPHS["directed"], PprDiffusion(transition="symmetric"))
    with pytest.raises(ValueError, match="transition must be auto, symmetric or walk, got 'lazy'"):
        diffuse_graph(GRAPHS["hubs"], PprDiffusion(transition="lazy"))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="none or symmetric for an undirected result, got 'rows'"):
        diffuse_graph(GRAPHS["hubs"], PprDiffusion(), Kept(normalize="rows"))
    with pytest.raises(ValueError, match="none or rows for a directed result, got 'symmetric'"):
        diffuse_graph(GRAPHS["directed"], PprDiffusion(), Kept(normalize="symmetric"))
