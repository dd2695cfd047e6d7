"""`shadow compare-extractors`: the tables, Markdown, JSON and PNG, and faults as one line."""

import json
from dataclasses import replace
from functools import partial

import pytest
from tests.cli import called
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.graph.store import save_graph
from shadow_gnn.studies.compare_extractors.sized import comparable_kinds


@pytest.fixture
def folder(tmp_path):
    save_graph(communities(), tmp_path / "g")
    return tmp_path / "g"


run = partial(called.run, "compare-extractors")


def test_prints_the_table_the_overlaps_and_a_recommendation(folder):
    result = run(folder, "--extractors", "ppr,node", "--size", 10)
    assert result.exit_code == 0, result.exception
    lines = result.stdout.splitlines()
    assert lines[0].startswith("60 train + 30 valid + 30 test targets, scopes of at most 10 nodes, one thread, seed 0")
    assert lines[1].split() == [
        *("extractor", "CPU", "µs", "nodes", "hop", "1", "hop", "2", "hop", "3+"),
        *("homophily", "entropy", "valid", "accuracy", "test", "accuracy"),
    ]
    assert lines[5].split() == ["overlap", "ppr", "node"]
    assert lines[6].split() == ["ppr", "1.00", "0.10"]
    assert "homophily and entropy see the classes of the 60 training nodes alone" in lines
    assert lines[-1].startswith("begin with ")


def test_every_kind_is_compared_by_default(folder, tmp_path):
    result = run(folder, "--size", 10, "--num-targets", 20, "--repeat", 2, "--out", tmp_path / "t.json")
    assert result.exit_code == 0, result.exception
    found = json.loads((tmp_path / "t.json").read_text())
    assert [row["name"] for row in found["rows"]] == comparable_kinds()
    assert found["seeds"] == [0, 1]
    assert " ± " in result.stdout


def test_json_alone(folder, tmp_path):
    arguments = (folder, "--extractors", "ppr,node", "--size", 10)
    found = json.loads(run(*arguments, "--json", "--out", tmp_path / "t.json").stdout)
    assert found == json.loads((tmp_path / "t.json").read_text())
    assert [row["name"] for row in found["rows"]] == ["ppr", "node"]


def test_writes_markdown_and_png(folder, tmp_path):
    files = ("--out", tmp_path / "t.md", "--plot", tmp_path / "t.png")
    result = run(folder, "--extractors", "ppr,node", "--extractors", "{topk = 5}", *files)
    assert result.exit_code == 0, result.exception
    text = (tmp_path / "t.md").read_text()
    assert text.startswith("# Extractors on g\n")
    assert "| ppr topk=5 |" in text
    assert "## Recommendation" in text
    assert (tmp_path / "t.png").read_bytes()[:4] == b"\x89PNG"


def test_a_bare_graph_has_fewer_columns(tmp_path):
    save_graph(replace(communities(), x=None, y=None, splits={}), tmp_path / "bare")
    result = run(tmp_path / "bare", "--extractors", "ppr,khop", "--plot", tmp_path / "t.png")
    assert result.exit_code == 0, result.exception
    assert "homophily  " not in result.stdout
    assert "no probe: the graph has no features and no labels" in result.stdout
    assert (tmp_path / "t.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "t.txt"], "--out must end in .md or .json, got t.txt"),
        (["--extractors", "pprr"], "did you mean ppr?"),
        (["--extractors", "ppr,ppr"], "must be different"),
    ],
)
def test_faults_are_one_line(folder, arguments, message):
    result = run(folder, *arguments)
    assert result.exit_code != 0
    assert message in str(result.exception)
