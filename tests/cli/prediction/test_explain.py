"""`shadow explain`: tables with names, JSON, pictures, a page, pairs, summaries, and every fault as one line."""

import json
from dataclasses import replace

import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities, names, near_ring, one_thread, small_recipe  # noqa: F401

from shadow_gnn import explain, summarize_split
from shadow_gnn.graph.record import NodeNames
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.training.runs.run import train_recipe

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """Runs of nodes with names, of links with names, and of a normal GNN."""
    folder = tmp_path_factory.mktemp("work")
    graph = replace(
        communities(),
        node_name=names(["7" if node == 3 else f"node {node}" for node in range(120)]),
        class_name=NodeNames.of(["red", "green", "blue"]),
        column_names=("size", "<b>", "age"),
    )
    save_graph(graph, folder / "g")
    save_graph(replace(near_ring(), node_name=names([f"n{node}" for node in range(90)])), folder / "ring")
    cases = {
        "run": {"graph": str(folder / "g")},
        "links": {"graph": str(folder / "ring"), "task__kind": "link"},
        "normal": {
            "graph": str(folder / "g"),
            "extractor": None,
            "training__method": "full",
            "model__encoding": "none",
        },
    }
    for name, changes in cases.items():
        train_recipe(small_recipe(training__num_epochs=1, **changes), folder / name)
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def test_tables_name_nodes_edges_and_columns(folder):
    text = succeed("explain", "run", "--node", "node 17", "--top", 3)
    found = explain("run", None, 17)
    assert text.startswith(f"node 17: {found.answer_text}, probability ")
    for row in found.top_nodes(3):
        assert f"{row['node']} " in text
        assert f"{row['contribution']:+.4f}" in text
    assert f"{found.top_edges(1)[0]['contribution']:+.4f}" in text
    assert "<b>" in text
    assert len(text.splitlines()) < 25


def test_a_name_goes_before_an_id(folder):
    """A node with the name 7 is there; node 8 has another name than 8."""
    found = numbers("explain", "run", "--node", "7", "--node", "8")["explanations"]
    assert [one["target"] for one in found] == [3, 8]
    assert [one["target_name"] for one in found] == ["7", "node 8"]


def test_json_holds_the_record(folder):
    (found,) = numbers("explain", "run", "--node", "node 17", "--class", "blue", "--method", "occlusion")[
        "explanations"
    ]
    expected = explain("run", None, 17, explained_class=2, method="occlusion").to_dict(10)
    assert found == json.loads(json.dumps(expected))
    assert (found["class_name"], found["method"]) == ("blue", "occlusion")


def test_files_are_written_by_their_options(folder):
    succeed("explain", "run", "--node", "5", "--node", "6", "--png", "a.png", "--svg", "a.svg", "--html", "a.html")
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (folder / "a.svg").read_text()
    assert "node 5" in (folder / "a.html").read_text()


def test_two_nodes_are_a_pair_of_a_link_prediction(folder):
    text = succeed("explain", "links", "--node", "n3", "--node", "n9")
    assert text.startswith("n3 and n9: link ")
    found = numbers("explain", "links", "--node", "n3", "--node", "n9", "--node", "4", "--node", "5")["explanations"]
    assert [one["target"] for one in found] == [[3, 9], [4, 5]]
    assert "--node must be given twice for each pair" in fault("explain", "links", "--node", "n3")
    assert " targets of test, accuracy " in succeed("explain", "links", "--summary")
    assert "class must be None" in fault("explain", "links", "--node", "1", "--node", "2", "--class", "1")


def test_a_normal_gnn_is_explained_on_all_nodes_that_reach_the_target(folder):
    (found,) = numbers("explain", "normal", "--node", "node 17", "--top", 1000)["explanations"]
    predicted = open_predictor("normal").predict([17])
    assert found["prediction"]["probability"] == pytest.approx(predicted.probability[0].tolist(), abs=1e-4)
    assert max(row["hop"] for row in found["nodes"]) == 2


def test_a_summary_prints_every_table(folder):
    text = succeed("explain", "run", "--summary", "--split", "valid", "--png", "s.png", "--svg", "s.svg")
    assert text.startswith("30 targets of valid, accuracy ")
    for title in ("hop", "class", "column"):
        assert f"contribution by {title}" in text
    for title in ("degree", "scope size", "homophily"):
        assert f"accuracy by {title}" in text
    found = numbers("explain", "run", "--summary", "--split", "valid", "--num-targets", 9)
    assert found.pop("warnings") == []
    assert found == json.loads(json.dumps(summarize_split(open_predictor("run"), "valid", num_targets=9).to_dict()))
    assert (folder / "s.png").stat().st_size > 10_000
    assert "<svg" in (folder / "s.svg").read_text()


def test_other_scopes_can_be_explained(folder):
    table = '{kind = "full", num_hops = 1}'
    (found,) = numbers("explain", "run", "--node", "node 17", "--extractor", table, "--top", 1000)["explanations"]
    assert max(row["hop"] for row in found["nodes"]) == 1


def test_faults_are_one_line(folder):
    assert fault("explain", "run") == "explain: either --node or --summary must be given, got neither"
    assert fault("explain", "run", "--node", "1", "--summary").endswith("got both")
    assert "--node must name a node of the graph, got 'nobody'" in fault("explain", "run", "--node", "nobody")
    assert "--method must be midpoint, gradient, integrated" in fault(
        "explain", "run", "--node", "1", "--method", "magic"
    )
    assert "class must be one of the model's (red, green, blue)" in fault(
        "explain", "run", "--node", "1", "--class", "x"
    )
    assert fault("explain", "run", "--node", "1", "--png", "a.svg") == "explain: --png must end in .png, got a.svg"
    assert "--html must be used without --summary" in fault("explain", "run", "--summary", "--html", "a.html")
    assert fault("explain", "run", "--node", "1", "--split", "valid").endswith(
        "--split must be used with --summary, got valid"
    )
    assert fault("explain", "run", "--node", "1", "--seed", 0).endswith("--seed must be used with --summary, got 0")
    assert fault("explain", "run", "--summary", "--top", 3) == "explain: --top must be used with --node, got 3"
