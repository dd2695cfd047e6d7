"""`shadow draw`: pictures by id and name in every format, one line for faults."""

import json
from dataclasses import replace

import pytest
from tests.cli.called import fault, numbers, succeed
from tests.communities import communities

from shadow_gnn import NodeNames
from shadow_gnn.graph.store import open_graph, save_graph


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("drawn")
    save_graph(communities(), folder / "g")
    names = NodeNames.of([f"node-{number}" for number in range(120)])
    save_graph(replace(open_graph(folder / "g"), path=None, node_name=names, y=None, splits={}), folder / "named")
    return folder


@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_a_picture_in_the_format_of_its_ending(folder, ending, start):
    path = folder / f"s.{ending}"
    said = succeed("draw", folder / "g", 5, "--extractor", '{kind = "ppr", topk = 12}', "--plot", path)
    assert said.startswith(f"{path}: scope of 5: 12 nodes within ")
    assert path.read_bytes().startswith(start)


def test_svg_holds_the_names_and_classes(folder, monkeypatch):
    import matplotlib

    monkeypatch.setitem(matplotlib.rcParams, "svg.fonttype", "none")
    succeed("draw", folder / "named", "node-7", "--extractor", "node", "--plot", folder / "n.svg")
    assert "node-7" in (folder / "n.svg").read_text()
    succeed("draw", folder / "g", 7, "--plot", folder / "c.svg")
    assert "class 0 (" in (folder / "c.svg").read_text()


def test_json_counts_the_nodes_of_each_hop(folder):
    found = numbers("draw", folder / "named", "node-7", "--plot", folder / "j.png")
    assert found["node_id"] == 7
    assert sum(found["nodes_by_hop"]) == found["num_nodes"] <= 60
    assert found["nodes_by_hop"][0] == 1
    assert json.dumps(found["plot"]) == json.dumps(str(folder / "j.png"))


def test_faults(folder):
    assert "--plot must end in .png, .svg or .pdf, got s.gif" in fault("draw", folder / "g", 5, "--plot", "s.gif")
    assert fault("draw", folder / "named", "nobody").startswith("draw: ")
    assert "kind must be" in fault("draw", folder / "g", 5, "--extractor", "pbr")
