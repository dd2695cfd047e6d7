"""shadow data diffuse, and training with scopes of the graph it makes."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn import open_graph, save_graph
from shadow_gnn.cli.main import main
from shadow_gnn.graph.verify import verify_graph

RECIPE = """
graph = "small"
[extractor]
kind = "{kind}"
topk = 10
scope_graph = "near"
scope_edges = "{edges}"
[model]
hidden_dim = 8
num_layers = 2
[training]
num_epochs = 2
batch_size = 16
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "small")
    return tmp_path


def run(*arguments: str) -> int:
    """Run the command line in this process and return its exit code."""
    handler, words = signal.getsignal(signal.SIGTERM), sys.argv
    sys.argv = ["shadow", *arguments]
    try:
        with pytest.raises(SystemExit) as caught:
            main()
    finally:
        sys.argv = words
        signal.signal(signal.SIGTERM, handler)
    return int(caught.value.code or 0)


@pytest.mark.parametrize(
    "options",
    [
        ("--topk", "9"),
        ("--kind", "heat", "--time", "2", "--threshold", "0.01"),
        ("--kind", "features", "--topk", "6", "--normalize", "symmetric"),
        ("--kind", "ppr", "--directed", "--normalize", "rows", "--self-loop", "0", "--transition", "walk"),
    ],
)
def test_makes_a_graph_folder_that_stands_alone(
    folder: Path, options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "diffuse", "small", "other", *options) == 0
    assert "other: 120 nodes, " in capsys.readouterr().out
    verify_graph("other")
    made, source = open_graph("other"), open_graph("small")
    assert made.directed == ("--directed" in options)
    assert made.edge_weight is not None
    np.testing.assert_array_equal(made.y, source.y)
    assert made.x is not None
    assert source.x is not None
    assert made.x.fingerprint == source.x.fingerprint
    assert not (folder / "other" / "x.npy").is_symlink()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--time", "2"), "diffuse: --time must be used with heat, got --kind ppr"),
        (("--kind", "features", "--self-loop", "1"), "--self-loop must be used with ppr or heat, got --kind features"),
        (("--kind", "heat", "--search", "exact"), "--search must be used with features, got --kind heat"),
        (("--normalize", "rows"), " must be none or symmetric for an undirected result"),
        (("--threshold", "0"), "threshold must be above 0 where topk is None"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_leaves_nothing(
    folder: Path, options: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "diffuse", "small", "other", *options) == 2
    assert message in capsys.readouterr().err
    assert sorted(path.name for path in folder.iterdir()) == ["small"]


def test_a_folder_that_is_there_is_replaced_only_on_request(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("data", "diffuse", "small", "other", "--topk", "5") == 0
    before = open_graph("other").fingerprint
    assert run("data", "diffuse", "small", "other", "--topk", "9") == 2
    assert "exists already" in capsys.readouterr().err
    assert open_graph("other").fingerprint == before
    assert run("data", "diffuse", "small", "other", "--topk", "9", "--overwrite") == 0
    assert open_graph("other").fingerprint != before


@pytest.mark.parametrize(("kind", "edges"), [("ppr", "graph"), ("ppr", "scope_graph"), ("similar", "scope_graph")])
def test_a_recipe_trains_and_predicts_with_scopes_of_another_graph(
    folder: Path, kind: str, edges: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "diffuse", "small", "near", "--kind", "features", "--topk", "6") == 0
    (folder / "recipe.toml").write_text(RECIPE.format(kind=kind, edges=edges))
    assert run("train", "recipe.toml", "--out", "run") == 0
    config = json.loads((folder / "run" / "config.json").read_text())
    assert config["branches"][0]["extractor"]["scope_graph"] == str(folder / "near")
    weighted = None if edges == "graph" else [{"edge_dim": 0, "edge_weight": True}]
    assert config["branch_edges"] == weighted
    result = json.loads((folder / "run" / "result.json").read_text())
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    capsys.readouterr()
    assert run("evaluate", "../run", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["metrics"]["accuracy"] == pytest.approx(result["test"]["accuracy"])


def test_branches_of_an_ensemble_have_edges_of_different_graphs(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("data", "diffuse", "small", "near", "--topk", "6") == 0
    table, rest = RECIPE.format(kind="ppr", edges="scope_graph").split("[model]")
    other = table.replace("[extractor]", "[[branches]]\n[branches.extractor]")
    (folder / "recipe.toml").write_text(f"{other}[[branches]]\n[branches.extractor]\ntopk = 8\n[model]{rest}")
    assert run("train", "recipe.toml", "--out", "run") == 0
    config = json.loads((folder / "run" / "config.json").read_text())
    assert [edges["edge_weight"] for edges in config["branch_edges"]] == [True, False]
    result = json.loads((folder / "run" / "result.json").read_text())
    capsys.readouterr()
    assert run("evaluate", "run", "--json") == 0
    accuracy = json.loads(capsys.readouterr().out)["metrics"]["accuracy"]
    assert accuracy == pytest.approx(result["test"]["accuracy"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("extractor.scope_graph=missing", "missing: no such folder"),
        ("task.inductive=true", "extractor.scope_graph: must be left out with task.inductive"),
        ("task.kind=link", "extractor.scope_graph: must be left out for links unless link.split is"),
        ("extractor.scope_edges=both", "must be graph or scope_graph, got"),
        ("extractor.scope_graph=large", "scope_graph must have the 120 nodes of the graph, got 130"),
        ("extractor.scope_graph=arrows", "scope_graph must be undirected as the graph is, got one that is directed"),
    ],
)
def test_a_scope_graph_that_does_not_fit_is_one_line(
    folder: Path, change: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    save_graph(communities(), "near")
    save_graph(communities(130), "large")
    assert run("data", "diffuse", "small", "arrows", "--directed") == 0
    (folder / "recipe.toml").write_text(RECIPE.format(kind="ppr", edges="graph"))
    assert run("train", "recipe.toml", "--set", change, "--out", "run") == 2
    error = capsys.readouterr().err
    assert message in error
    assert not (folder / "run").exists()


def test_a_run_does_not_go_on_with_another_scope_graph(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from shadow_gnn.training.runs.run import resume_run

    assert run("data", "diffuse", "small", "near", "--topk", "9") == 0
    (folder / "recipe.toml").write_text(RECIPE.format(kind="ppr", edges="graph"))
    assert run("train", "recipe.toml", "--out", "run") == 0
    (folder / "run" / "result.json").unlink()
    resume_run("run")
    (folder / "run" / "result.json").unlink()
    assert run("data", "diffuse", "small", "near", "--topk", "5", "--overwrite") == 0
    capsys.readouterr()
    assert run("resume", "run") == 2
    assert "scopes must be unchanged since the run began" in capsys.readouterr().err
