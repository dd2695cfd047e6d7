"""Explain: records of every kind of model, equal to its predictions, with names, tables and files."""

import json
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from tests.communities import communities, names, near_ring, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn import explain
from shadow_gnn.graph.record import NodeNames
from shadow_gnn.inference.predictor import Predictor
from shadow_gnn.studies.explain.explain import (
    class_number,
    each_contribution,
    each_explanation,
    input_names,
    with_scopes,
)
from shadow_gnn.studies.explain.explanation import Explanation, strongest
from shadow_gnn.studies.explain.files import save_explanations
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.run import RunOptions, train_recipe

pytestmark = pytest.mark.usefixtures("one_thread")
EVIL = '<img src=x onerror=alert(1)></script><script>alert("$x_1$")</script>'
BRANCHES = [{"extractor": {"topk": 5}}, {"extractor": {"kind": "khop", "num_hops": 1, "fanout": 3}}]


def named(graph):
    """Return the graph with names of nodes, classes and columns that a page must not run."""
    return replace(
        graph,
        node_name=names([EVIL if node == 0 else f"node {node}" for node in range(graph.num_nodes)]),
        class_name=NodeNames.of(["red", EVIL, "blue"]),
        column_names=("a", EVIL, "c"),
    )


CASES = {
    "classes": (named(communities()), {}),
    "values": (with_labels(communities(), "values"), {}),
    "multilabel": (with_labels(communities(), "multilabel"), {}),
    "branches": (communities(), {"extractor": None, "branches": BRANCHES}),
    "inputs": (communities(), {"inputs__smooth": 1, "inputs__labels": True, "inputs__degree": True}),
    "normal": (communities(), {"extractor": None, "training__method": "full", "model__encoding": "none"}),
    "normal gcn": (
        communities(),
        {"extractor": None, "training__method": "full", "model__encoding": "none", "model__layer": "gcn"},
    ),
    "joint": (communities(), {"training__method": "joint"}),
    "pool": (communities(), {"model__readout": "mean"}),
    "conv": (communities(), {"model__layer": "SAGEConv"}),
    "links": (near_ring(), {"task__kind": "link"}),
}


@pytest.fixture(scope="module", params=CASES)
def predictor(request, tmp_path_factory):
    graph, changes = CASES[request.param]
    folder = tmp_path_factory.mktemp("run") / "run"
    train_recipe(small_recipe(training__num_epochs=1, **changes), folder, options=RunOptions(graph=graph))
    return Predictor(read_model(folder), graph)


@pytest.fixture(scope="module")
def one(tmp_path_factory):
    """A predictor on a graph with names."""
    graph, _ = CASES["classes"]
    folder = tmp_path_factory.mktemp("run") / "run"
    train_recipe(small_recipe(training__num_epochs=1), folder, options=RunOptions(graph=graph))
    return Predictor(read_model(folder), graph)


def targets_of(predictor):
    return np.array([[3, 5], [8, 20], [0, 44]]) if predictor.is_links else np.array([3, 8, 0])


def test_predictions_are_those_of_the_predictor(predictor):
    targets = targets_of(predictor)
    found = explain(predictor, None, targets)
    assert [one.targets for one in found] == [np.atleast_1d(target).tolist() for target in targets]
    for row, one in enumerate(found):
        expected = predictor.predict(targets[row : row + 1])  # Joint scopes depend on batch mates.
        np.testing.assert_allclose(one.prediction.logits, expected.logits, rtol=1e-3, atol=1e-4)
        assert one.targets == one.node_id[: len(one.targets)].tolist() or len(predictor.extractors) > 1
        assert (np.sort(one.hop) == one.hop).all() or predictor.trained.config.branches[0].model.readout != "center"
        assert len(np.unique(one.node_id)) == len(one.node_id)
        assert json.loads(json.dumps(one.to_dict()))["method"] == one.method


def test_one_target_alone_equals_many(predictor):
    targets = targets_of(predictor)
    for many, target in zip(explain(predictor, None, targets), targets, strict=True):
        alone = explain(predictor, None, target)
        assert isinstance(alone, Explanation)
        for name in ("node_id", "hop", "edge"):
            assert np.array_equal(getattr(alone, name), getattr(many, name))
        for name in ("node_contribution", "edge_contribution", "column_contribution"):
            if getattr(alone, name) is not None:
                np.testing.assert_allclose(getattr(alone, name), getattr(many, name), rtol=1e-3, atol=1e-4)


def test_edges_are_there_once_and_sums_are_kept(predictor):
    scoped = with_scopes(predictor)
    targets = scoped.check(targets_of(predictor))
    for one in each_explanation(scoped, targets, method="occlusion"):
        pairs = {frozenset(pair) for pair in one.edge.tolist()}
        assert len(pairs) == len(one.edge)
        place = dict(zip(one.node_id.tolist(), one.hop.tolist(), strict=True))
        assert all(place[sender] >= place[receiver] for sender, receiver in one.edge.tolist())
    recipe = scoped.trained.config.branches[0].model
    if recipe.readout == "center" and recipe.layer != "SAGEConv":
        for one in each_explanation(scoped, targets, method="gradient"):
            assert one.node_contribution.sum() == pytest.approx(one.edge_contribution.sum(), rel=1e-3, abs=1e-4)


def test_columns_have_the_names_of_all_inputs(predictor):
    found = explain(predictor, None, targets_of(predictor))[0]
    width = predictor.trained.config.input_dim
    if found.column_contribution is None:
        assert predictor.is_links
        assert found.column_names == ()
    else:
        assert len(found.column_contribution) == len(found.column_value) == len(found.column_names) == width
        assert list(found.column_names) == input_names(predictor)
    assert repr(found).startswith("Explanation(target: ")
    assert len(repr(found)) < 400


def test_inputs_are_named_in_the_order_of_the_columns():
    class Fake:
        class trained:
            class config:
                in_dim, out_dim, class_names = 2, 2, ("yes", "no")
                inputs = small_recipe(inputs__smooth=1, inputs__labels=True, inputs__smooth_labels=1).inputs

        graph = replace(communities(), column_names=("a", "b", "c"))

    Fake.trained.config.inputs = Fake.trained.config.inputs.model_copy(update={"graph_degree": True})
    assert input_names(Fake) == [
        "a", "b", "c", "a, smoothed 1 times", "b, smoothed 1 times", "c, smoothed 1 times", "label yes", "label no",
        "label yes, smoothed 1 times", "label no, smoothed 1 times", "degree in the graph",
    ]  # fmt: skip


def test_another_class_is_explained_by_number_or_name(one):
    predicted = explain(one, None, 3)
    other = next(number for number in (0, 2) if number != predicted.chosen)
    found = explain(one, None, 3, explained_class=other)
    assert found.chosen == other
    share = found.prediction.probability[0][other]
    assert found.answer == pytest.approx(np.log(share / (1 - share)), abs=1e-4)
    by_name = explain(one, None, 3, explained_class=("red", EVIL, "blue")[other])
    assert np.array_equal(by_name.edge_contribution, found.edge_contribution)
    assert class_number(one, "1") == 1
    with pytest.raises(ValueError, match=r"explain: class must be one of the model's \(red, .*\), got 'pink'"):
        explain(one, None, 3, explained_class="pink")
    with pytest.raises(ValueError, match="explain: class must be from 0 to 2, got 7"):
        explain(one, None, 3, explained_class=7)


def test_a_target_can_be_given_by_name(one):
    assert explain(one, None, "node 3").targets == [3]
    assert [found.targets for found in explain(one, None, ["node 8", EVIL])] == [[8], [0]]


def test_tables_are_sorted_by_size_and_named(one):
    found = explain(one, one.graph, 3)
    rows = found.top_nodes(5)
    sizes = [abs(row["contribution"]) for row in found.top_nodes(None)]
    assert sizes == sorted(sizes, reverse=True)
    assert len(rows) == 5
    assert rows[0]["node"] == one.graph.node_name[rows[0]["node_id"]]
    assert {"class", "hop", "score"} <= set(rows[0])
    assert found.top_columns(2)[0]["column"] in ("a", EVIL, "c")
    assert found.top_edges(1)[0]["contribution"] == found.edge_contribution[np.abs(found.edge_contribution).argmax()]
    assert strongest(np.array([0.0, -2.0, 1.0, 0.0]), None) == [1, 2]
    assert "&lt;img" in explain(one, None, 0)._repr_html_()
    assert "<img" not in explain(one, None, 0)._repr_html_()


def test_a_picture_has_a_legend_and_few_names_that_never_meet(one):
    from itertools import combinations

    from matplotlib.backends.backend_agg import FigureCanvasAgg

    from shadow_gnn.studies.figures import boxes_meet

    figure = explain(one, None, 0).plot()
    (legend,) = figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names[:3] == ["target", "speaks for it", "speaks against it"]
    counts = [int(text.rsplit("(", 1)[1][:-1]) for text in names[3:]]
    assert sum(counts) == len(explain(one, None, 0).node_id) - 1
    markers = [handle.get_marker() for handle in legend.legend_handles[3:]]
    shapes = {marker if isinstance(marker, str) else marker.vertices.tobytes() for marker in markers}
    assert len(shapes) == len(counts) > 1
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    texts = [text for text in figure.axes[0].texts if text.get_text()]
    assert 2 <= sum(not text.get_text().startswith("hop ") for text in texts) <= 25
    assert any(text.get_text() == "hop 1" for text in texts)
    boxes = [text.get_window_extent(canvas.get_renderer()).extents for text in texts]
    assert not any(boxes_meet(first, second) for first, second in combinations(boxes, 2))


def test_pictures_and_pages_are_written_by_the_ending(one, tmp_path):
    found = explain(one, None, [0, 3])
    assert isinstance(found[0].plot(), Figure)
    found[0].save(tmp_path / "one.png")
    assert (tmp_path / "one.png").read_bytes().startswith(b"\x89PNG")
    save_explanations(found, tmp_path / "two.svg")
    svg = (tmp_path / "two.svg").read_text()
    assert "<svg" in svg
    assert "<img" not in svg
    save_explanations(found, tmp_path / "again.svg")
    assert (tmp_path / "again.svg").read_text() == svg
    with pytest.raises(ValueError, match=r"explain: one\.gif must end in \.png, \.svg or \.html"):
        found[0].save(tmp_path / "one.gif")
    with pytest.raises(ValueError, match=r"explain: a picture must have at most 20 targets, got 21; use \.html"):
        save_explanations([found[0]] * 21, tmp_path / "many.png")


def test_no_name_runs_in_a_page_and_nothing_is_fetched(one, tmp_path):
    import re

    save_explanations(explain(one, None, [0, 3]), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "<img" not in page
    assert page.count("<script") == page.count("</script") == 2
    assert "default-src 'none'" in page
    assert re.findall(r"https?://[^\"' ]+", page) == ["http://www.w3.org/2000/svg"]
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert word not in page
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)[1])
    assert data["targets"][0]["target_name"] == EVIL
    drawn = data["targets"][0]["drawn_nodes"]
    assert all(0 <= end < len(drawn) for edge in data["targets"][0]["drawn_edges"] for end in edge[:2])
    assert sum(node["target"] for node in drawn) == 1


def test_large_scopes_are_drawn_in_part(one):
    from shadow_gnn.studies.explain.drawing import MOST_NODES, drawn_part

    found = explain(one, None, 3)
    size = 3 * MOST_NODES
    rng = np.random.default_rng(0)
    large = replace(
        found,
        node_id=np.concatenate(([3], 1000 + np.arange(size))),
        hop=np.concatenate(([0], 1 + np.arange(size) % 3)),
        score=np.ones(size + 1, np.float32),
        node_class=None,
        node_contribution=np.concatenate(([0.0], rng.standard_normal(size))),
        edge=np.stack((1000 + np.arange(size), np.full(size, 3)), axis=1),
        edge_weight=None,
        edge_contribution=rng.standard_normal(size),
    )
    drawn = drawn_part(large)
    assert len(drawn.node) == MOST_NODES
    assert 0 in drawn.node
    place, size = drawn.rings.place, drawn.rings.radius
    apart = np.hypot(*(place[:, None] - place[None]).T) - size[:, None] - size[None]
    assert apart[np.triu_indices(MOST_NODES, 1)].min() > 0
    kept = set(large.node_id[drawn.node].tolist())
    for at, (first, second) in zip(drawn.edge, drawn.ends, strict=True):
        assert large.edge[at].tolist() == large.node_id[drawn.node[[first, second]]].tolist()
    assert len(drawn.edge) == len(kept) - 1


def test_scopes_without_a_limit_start_with_one(one):
    targets = one.graph.splits["test"]
    assert [len(batches[0]) for batches, _ in each_contribution(one, targets)] == [30]
    full = Predictor(one.trained, one.graph, extractor={"kind": "full", "num_hops": 2}, warn=lambda _: None)
    sizes = [len(batches[0]) for batches, _ in each_contribution(full, targets)]
    assert sizes == [1, 8, 21]
    assert [found.targets[0] for found in each_explanation(full, targets)] == targets.tolist()


def test_a_run_folder_or_a_trained_model_can_be_explained(tmp_path):
    from shadow_gnn.graph.store import open_graph, save_graph

    save_graph(communities(), tmp_path / "g")
    run = train_recipe(small_recipe(graph=str(tmp_path / "g"), training__num_epochs=1), tmp_path / "r")
    graph = open_graph(tmp_path / "g")
    found = explain(run.folder, None, 3)
    other = explain(read_model(run.folder), graph, 3)
    assert np.array_equal(found.edge_contribution, other.edge_contribution)
    with pytest.raises(ValueError, match="explain: graph must be a Graph for a trained model, got None"):
        explain(read_model(run.folder), None, 3)
    with pytest.raises(ValueError, match="explain: graph must be None or the predictor's own, got another"):
        explain(Predictor(read_model(run.folder), graph), communities(), 3)
