"""Datasets are found by name, and what is not the paper's is said."""

import pytest
from tests.communities import communities

from shadow_gnn.base.errors import SourceError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.studies.paper.data import available_titles, comparable, data_lines, data_titles, here_title, open_found
from shadow_gnn.studies.paper.experiment import ReproduceOptions


@pytest.fixture
def folder(tmp_path):
    save_graph(communities(), tmp_path / "flickr")
    save_graph(communities(), tmp_path / "debian")
    return tmp_path


def test_those_that_are_there_are_opened(folder):
    assert list(open_found(("reddit", "flickr"), folder)) == ["flickr"]
    assert open_found(("flickr",), folder)["flickr"].num_nodes == 120


def test_one_graph_folder_is_the_dataset_of_its_name_or_the_only_one(folder):
    assert list(open_found(("reddit", "flickr"), folder / "flickr")) == ["flickr"]
    assert list(open_found(("reddit",), folder / "flickr")) == ["reddit"]
    with pytest.raises(SourceError, match=r"flickr: must have the name of a dataset, reddit, yelp, or be a folder"):
        open_found(("reddit", "yelp"), folder / "flickr")


def test_nothing_there_says_how_to_get_it(tmp_path, monkeypatch):
    with pytest.raises(SourceError, match="shadow data get reddit"):
        open_found(("reddit", "yelp"), tmp_path)
    monkeypatch.setenv("SHADOW_DATA", str(tmp_path / "data"))
    with pytest.raises(SourceError, match=r"data; run `shadow data get reddit"):
        open_found(("reddit", "yelp"), None)
    save_graph(communities(), tmp_path / "data" / "yelp")
    assert list(open_found(("reddit", "yelp"), None)) == ["yelp"]


def test_titles_of_figures_name_what_is_not_the_papers(folder):
    graphs = open_found(("flickr", "debian"), folder)
    assert data_titles(graphs, ReproduceOptions()) == {"flickr": "stand-in for flickr", "debian": "debian"}
    assert data_titles(graphs, ReproduceOptions(fast=True))["flickr"] == "stand-in for flickr (--fast)"
    assert comparable(graphs, ReproduceOptions()) == set()


def test_lines_say_what_is_there(folder):
    first, verdict, other, unknown, missing = data_lines(("flickr", "debian", "reddit"), folder)
    graph = communities()
    assert first == (
        f"- flickr: 120 nodes, {graph.num_edges} neighbor entries, 3 feature columns, 60 train, 30 valid, 30 test; "
        f"fingerprint `{graph.fingerprint}`"
    )
    assert verdict.startswith(
        "  - NOT the paper's data, accuracies are not comparable: nodes must be 89,250, got 120; "
    )
    assert other.startswith("- debian: 120 nodes")
    assert unknown == "  - not a dataset of the paper"
    assert missing == "- not available: reddit; `shadow data get NAME`"


def test_a_panel_names_the_stand_ins(tmp_path):
    save_graph(communities(), tmp_path / "flickr")
    options = ReproduceOptions(data=tmp_path)
    titles = available_titles(("flickr", "reddit"), options)
    assert titles == {"flickr": "stand-in for flickr", "reddit": "reddit"}
    assert here_title(titles) == "here: stand-in for flickr"
    assert here_title({"reddit": "reddit"}) == "here"
