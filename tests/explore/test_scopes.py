"""Scopes of the page: those of the extractors, with predictions and explanations of the library, and code for them."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest
from tests.communities import communities, one_thread, with_labels  # noqa: F401
from tests.explore.explored import KINDS, scope
from tests.rounding import ROUNDING

from shadow_gnn.explore.explorer import Explorer
from shadow_gnn.explore.runs import LatestScores
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import Graph, NodeNames
from shadow_gnn.recipe import Recipe
from shadow_gnn.studies.explain.explain import explain


@pytest.fixture
def alone():
    """Return explorers of graphs in memory, without runs."""
    opened = []

    def make(graph):
        opened.append(Explorer(LiveGraph(graph), name="g"))
        return opened[-1]

    yield make
    for explorer in opened:
        explorer.close()


def path_graph(**more: object) -> Graph:
    """0 - 1 - 2 - 3."""
    plain = from_edges(np.array([0, 1, 2]), np.array([1, 2, 3]), 4)
    return Graph(plain.indptr, plain.indices, **more)


def test_a_scope_without_a_run_is_that_of_the_extractor(explored):
    explorer = explored("rich")
    graph = explorer.live.stored
    found = scope(explorer, node="n7", extractor={"kind": "ppr", "options": {"topk": 9}})
    wanted = PprExtractor(topk=9)(graph, [7])[0]
    assert [node["id"] for node in found["nodes"]] == wanted.node_id.tolist()
    assert [node["hop"] for node in found["nodes"]] == wanted.hop.tolist()
    assert [node["score"] for node in found["nodes"]] == wanted.score.tolist()
    assert [node["degree"] for node in found["nodes"]] == np.diff(graph.indptr)[wanted.node_id].tolist()
    assert [node["label"] for node in found["nodes"]] == graph.y[wanted.node_id].tolist()
    for node in found["nodes"]:
        assert node["name"] == f"n{node['id']}"
        assert node["id"] in graph.splits[node["split"]]
        row = graph.x.rows(np.array([node["id"]]))[0]
        best = sorted(range(3), key=lambda column: -abs(row[column]))
        assert [(one["column"], one["name"]) for one in node["features"]] == [(at, "abc"[at]) for at in best]
    weight = dict(zip(zip(graph.indices, np.repeat(np.arange(120), np.diff(graph.indptr))), graph.edge_weight))  # noqa: B905
    places = [node["id"] for node in found["nodes"]]
    assert len(found["edges"]) == len(wanted.indices) // 2
    for edge in found["edges"]:
        assert edge["weight"] == weight[places[edge["from"]], places[edge["to"]]]
        assert edge["contribution"] is None
    assert (found["prediction"], found["truth"], found["explanation"], found["model_version"]) == (None,) * 4
    assert found["target"] == [0]


@pytest.mark.parametrize("kind", ["plain", "rich", "rich, directed", "values", "multilabel", "branches", "labels"])
def test_predictions_and_contributions_are_those_of_the_library(explored, kind):
    explorer = explored(kind)
    predictor = explorer.runs["run"].predictor
    found = scope(explorer, node=11, run="run", explain=True)
    wanted = explain(predictor, None, 11)
    nodes = {node["id"]: node["contribution"] for node in found["nodes"]}
    assert list(nodes) == wanted.node_id.tolist()
    np.testing.assert_allclose(list(nodes.values()), wanted.node_contribution, **ROUNDING)
    ids = list(nodes)
    assert [[ids[edge["from"]], ids[edge["to"]]] for edge in found["edges"]] == wanted.edge.tolist()
    np.testing.assert_allclose([edge["contribution"] for edge in found["edges"]], wanted.edge_contribution, **ROUNDING)
    columns = {one["name"]: one["contribution"] for one in found["explanation"]["columns"]}
    for row in wanted.top_columns(30):
        np.testing.assert_allclose(columns[row["column"]], row["contribution"], **ROUNDING)
    assert found["explanation"]["method"] == wanted.method
    np.testing.assert_allclose(found["explanation"]["answer"], wanted.answer, **ROUNDING)
    plain = scope(explorer, node=11, run="run")["prediction"]
    row = predictor.predict([11]).row(0)
    if kind == "values":
        np.testing.assert_allclose(plain["value"], row["value"], **ROUNDING)
        assert found["truth"]["value"] == float(explorer.live.stored.y[11])
    else:
        shares = {one["number"]: one["probability"] for one in plain["probabilities"]}
        np.testing.assert_allclose([shares[number] for number in range(len(shares))], row["probability"], **ROUNDING)
        assert list(shares.values()) == sorted(shares.values(), reverse=True)
    if kind == "multilabel":
        assert plain["labels"] == np.flatnonzero(row["label"]).tolist()
        assert found["truth"]["labels"] == np.flatnonzero(explorer.live.stored.y[11]).tolist()
    elif kind != "values":
        assert plain["number"] == row["class"]
        assert found["truth"]["number"] == explorer.live.stored.y[11]
        assert found["truth"]["right"] == (row["class"] == explorer.live.stored.y[11])


@pytest.mark.parametrize("method", ["integrated", "occlusion", "gnnexplainer"])
def test_other_methods_and_classes_can_be_asked_for(explored, method):
    explorer = explored("normal" if method == "gnnexplainer" else "rich")
    other = {} if method == "gnnexplainer" else {"class": "green"}
    assert method in explorer.about()["runs"][0]["methods"]
    found = scope(explorer, node=11, run="run", explain=True, method=method, **other)
    assert found["explanation"]["method"] == method
    if other:
        assert (found["explanation"]["number"], found["explanation"]["text"]) == (1, "green")
        wanted = explain(explorer.runs["run"].predictor, None, 11, method=method, explained_class="green")
        shares = [node["contribution"] for node in found["nodes"]]
        np.testing.assert_allclose(shares, wanted.node_contribution, **ROUNDING)


def test_a_pair_is_predicted_and_explained(explored):
    explorer = explored("links")
    graph = explorer.live.stored
    linked = int(graph.indices[graph.indptr[20]])
    found = scope(explorer, pair=[20, linked], run="run", explain=True)
    predictor = explorer.runs["run"].predictor
    wanted = predictor.predict([[20, linked]]).probability[0]
    np.testing.assert_allclose(found["prediction"]["probability"], wanted, **ROUNDING)
    assert found["truth"]["number"] == 1
    assert [found["nodes"][place]["id"] for place in found["target"]] == [20, linked]
    free = next(node for node in range(90) if node not in graph.neighbors(20) and node != 20)
    assert scope(explorer, pair=[20, free], run="run")["truth"]["number"] == 0
    assert scope(explorer, pair=[20, free])["prediction"] is None


def test_a_hybrid_predicts_the_mean_of_its_members(explored):
    from shadow_gnn.inference.hybrid import open_hybrid, predict_hybrid

    explorer = explored("hybrid")
    hybrid = open_hybrid(explorer.runs["run"].folder)
    found = scope(explorer, node=11, run="run", explain=True)
    wanted = predict_hybrid(hybrid, np.array([11]), explorer.live.stored).scores[0]
    shares = sorted(found["prediction"]["probabilities"], key=lambda one: one["number"])
    np.testing.assert_allclose([one["probability"] for one in shares], wanted, **ROUNDING)
    assert explorer.about()["runs"][0]["type"] == "hybrid"
    again = scope(explorer, node=11, run="run", extractor={"kind": "full", "options": {"num_hops": 1}})
    assert scope(explorer, node=11, run="run")["prediction"] == found["prediction"] != again["prediction"]
    assert all(partner.kept.get(11, 0) is not None for partner in explorer.runs["run"].partners)


@pytest.mark.parametrize("kind", ["rich", "khop", "links"])
@pytest.mark.parametrize("with_run", [True, False])
def test_the_code_makes_the_same_scope(explored, kind, with_run, capsys):
    explorer = explored(kind)
    target = {"pair": [8, 20]} if kind == "links" else {"node": 8}
    body = {
        **target,
        "extractor": {"kind": "khop", "options": {"num_hops": 2, "fanout": 3}},
        "edits": {
            "new_nodes": [{"edges": [{"to": 8}]}],
            "add_edges": [{"from": 8, "to": 50}],
            "remove_nodes": [9],
        },
    }
    if kind == "rich":
        body["edits"]["features"] = [{"node": 50, "column": "b", "value": 3.0}]
    for asked in ({**target}, body):
        found = scope(explorer, **asked, **({"run": "run"} if with_run else {}))
        names: dict = {}
        exec(compile(found["python"], "shown", "exec"), names)
        first = explorer.live.graph.num_nodes
        ids = [node["id"] if node["id"] is not None else first + node["new"] for node in found["nodes"]]
        assert names["scope"].node_id.tolist() == ids
        assert names["scope"].score.tolist() == [node["score"] for node in found["nodes"]]
        if with_run:
            row = names["predictor"].predict(names["targets"]).row(0)
            given = row["probability"] if kind == "links" else max(row["probability"])
            np.testing.assert_allclose(found["prediction"]["probability"], given, **ROUNDING)
        recipe = Recipe.model_validate(tomllib.loads(found["recipe"]))
        if asked is body:
            assert recipe.extractor.kind == "khop"
            assert recipe.extractor.fanout == 3
    capsys.readouterr()


def test_the_latest_scores_are_kept():
    kept = LatestScores(most=2)
    for target in (1, 2, 3):
        kept.put(target, 0, (np.full((1, 2), target, np.float32), 10 * target))
    assert kept.get(1, 0) is None
    assert kept.get(2, 0)[1] == 20
    assert kept.get(3, 1) is None


def test_the_run_s_own_extractor_is_shown_as_it_is(explored):
    explorer = explored("khop")
    found = scope(explorer, node=3, run="run")["extractor"]
    assert found == explorer.about()["runs"][0]["extractor"]
    assert found == {"kind": "khop", "options": {"num_hops": 2, "fanout": 3, "replace": False}}


def test_occlusion_of_large_scopes_is_refused_in_one_line(explored, monkeypatch):
    monkeypatch.setattr("shadow_gnn.explore.scopes.MOST_OCCLUDED", 20)
    with pytest.raises(ValueError, match="scope: method occlusion must be used for at most 20 nodes and messages"):
        scope(explored("plain"), node=3, run="run", explain=True, method="occlusion")
    assert scope(explored("plain"), node=3, run="run", explain=True)["explanation"]["method"] == "midpoint"


def test_scopes_of_bare_graphs(alone):
    explorer = alone(path_graph())
    found = scope(explorer, node=1, extractor={"kind": "full", "options": {"num_hops": 1}})
    assert [(node["id"], node["name"], node["label"], node["split"]) for node in found["nodes"]] == [
        (1, None, None, None),
        (0, None, None, None),
        (2, None, None, None),
    ]
    assert [(edge["from"], edge["to"]) for edge in found["edges"]] == [(1, 0), (2, 0)]
    assert all(node["features"] == [] for node in found["nodes"])
    about = explorer.about()
    assert (about["graph"]["label_kind"], about["graph"]["classes"], about["graph"]["columns"]) == (None, [], None)
    with pytest.raises(ValueError, match="node: must be an id, as the graph has no names"):
        scope(explorer, node="1")


def test_names_that_look_like_markup_stay_text(alone):
    evil = "<img src=x onerror=alert(1)>"
    names = NodeNames.of(["a", evil, "'; print(1) #", "d"])
    explorer = alone(path_graph(node_name=names, y=np.array([0, 1, 0, 1]), class_name=NodeNames.of([evil, "b"])))
    found = scope(explorer, node=evil)
    assert found["nodes"][0]["name"] == evil
    assert explorer.about()["graph"]["classes"] == [evil, "b"]
    assert evil not in found["python"]


def test_large_scopes_are_refused_in_one_line(alone):
    count = 3000
    hub = from_edges(np.zeros(count, np.int64), np.arange(1, count + 1), count + 1)
    explorer = alone(Graph(hub.indptr, hub.indices))
    with pytest.raises(ValueError, match="scope: must have at most 2,000 nodes to be shown, got more"):
        scope(explorer, node=0, extractor={"kind": "full", "options": {"num_hops": 1}})
    with pytest.raises(ValueError, match="scope: topk must be at most 2000 to be shown, got 5000"):
        scope(explorer, node=0, extractor={"kind": "ppr", "options": {"topk": 5000}})
    assert len(scope(explorer, node=0, extractor={"kind": "ppr", "options": {"topk": 50}})["nodes"]) == 50


def test_too_many_edges_are_refused_in_one_line(alone):
    count = 300
    first, second = np.triu_indices(count, 1)
    dense = from_edges(first, second, count)
    explorer = alone(Graph(dense.indptr, dense.indices))
    with pytest.raises(ValueError, match=r"scope: must have at most 40,000 edges to be shown, got 44,850"):
        scope(explorer, node=0, extractor={"kind": "full", "options": {"num_hops": 1}})


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ({"node": 999}, "node: must be node ids from 0 to 119, got 999"),
        ({"node": 1, "pair": [1, 2]}, "scope: request must have a node or a pair, and not both"),
        ({}, "scope: request must have a node or a pair, and not both"),
        ({"pair": [1, 2], "run": "run"}, "scope: target must be a node, as the run predicts nodes"),
        ({"node": 1, "run": "other"}, "run: must be one of run, got 'other'"),
        ({"node": 1, "explain": True}, "scope: explain must be used with a run"),
        ({"node": 1, "run": "run", "explain": True, "class": 7}, "explain: class must be from 0 to 2, got 7"),
        ({"node": 1, "extractor": {"kind": "nosuch"}}, "scope: extractor: kind must be"),
        (
            {"node": 1, "extractor": {"kind": "ppr", "options": {"topk": 0}}},
            "scope: extractor.topk: must be",
        ),
        ({"node": 1, "extractor": {"kind": "ppr", "options": {"tpok": 1}}}, "scope: extractor.tpok: unknown key"),
        ({"node": {"new": 0}}, "scope: new must be the place of a new node, below 0, got 0"),
    ],
)
def test_wrong_requests_are_refused_in_one_line(explored, body, line):
    with pytest.raises(ValueError, match=r"^[^\n]*$") as caught:
        scope(explored("plain"), **body)
    assert str(caught.value).startswith(line)


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "ppr", "options": {"scope_graph": "/etc"}},
        {"kind": "file", "options": {"path": "/etc/passwd"}},
        {"kind": "combined", "options": {"parts": [{"extractor": {"kind": "ppr", "scope_graph": "/etc"}}]}},
    ],
)
def test_no_request_names_a_file(explored, options):
    with pytest.raises(ValueError, match=r"extractor: (scope_graph|path) must be left out, as the page opens no files"):
        scope(explored("plain"), node=1, extractor=options)


def test_about_has_every_option_of_every_kind(explored):
    from shadow_gnn.extract.kinds import KINDS as EXTRACTORS
    from shadow_gnn.recipe.extractor_table import table_of

    about = explored("rich").about()
    kinds = {one["kind"]: one for one in about["extractors"]}
    assert set(kinds) == set(EXTRACTORS) - {"file"}
    for kind, one in kinds.items():
        keys = set(table_of(EXTRACTORS[kind]).model_fields) - {"scope_graph", "scope_edges", "index"}
        assert {option["name"] for option in one["options"]} == keys
        assert all(option["doc"] for option in one["options"])
    (topk,) = [option for option in kinds["ppr"]["options"] if option["name"] == "topk"]
    assert (topk["type"], topk["default"], topk["min"]) == ("int", 200, 1)
    graph, (run,) = about["graph"], about["runs"]
    assert (graph["classes"], graph["columns"]) == (["red", "green", "blue"], ["a", "b", "c"])
    assert graph["edges"] == KINDS["rich"][0].num_edges // 2
    assert (run["layer"], run["num_layers"], run["extractor"]["options"]["topk"]) == ("gat", 2, 10)
    assert "gnnexplainer" not in run["methods"]
    assert run["metrics"]["accuracy"] == explored("rich").runs["run"].metrics["accuracy"]


def test_a_label_kind_is_told(alone):
    for kind in ("values", "multilabel"):
        explorer = alone(with_labels(communities(), kind))
        assert explorer.about()["graph"]["label_kind"] == kind
        assert scope(explorer, node=0)["nodes"][0]["label"] is not None
