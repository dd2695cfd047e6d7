"""Messages: a common slip gets one line that names the remedy, and leaves nothing behind."""

import os
import subprocess
import sys

import numpy as np
import pytest
import torch
from tests.communities import communities, small_recipe

from shadow_gnn import Graph, NodeNames, from_edges
from shadow_gnn.base.errors import RunError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.runs import folder as run_folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    (tmp_path / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    (tmp_path / "edges.csv").write_text("a,b\nb,c\n")
    (tmp_path / "large.csv").write_text("18446744073709551616,1\n1,2\n")
    (tmp_path / "cell.csv").write_text(f"a,{'x' * 5_000_000}\nb,c\n")
    (tmp_path / "labels.csv").write_text(f"node,label\na,{'x' * 5_000_000}\nb,c\n")
    return tmp_path


def set_(change):
    return ("train", "recipe.toml", "--out", "run", "--set", change)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (set_("training.lr=0.1"), "--set: training.lr: unknown key; did you mean learning_rate?"),
        (set_("training.device=cpu"), "--set: training.device: unknown key; did you mean accelerator?"),
        (set_("training.epochs=3"), "--set: training.epochs: unknown key; did you mean num_epochs?"),
        (set_("extractor.k=3"), "--set: extractor.k: unknown key; did you mean topk?"),
        (("train", "no.toml"), "no.toml: no such file; shadow init writes a recipe for a graph"),
        (("tune", "no.toml"), "no.toml: no such file; shadow init writes a recipe for a graph"),
        (("evaluate", "no"), "no: no such folder; shadow runs lists the runs in a folder"),
        (("predict", "no", "--out", "p.csv"), "no: no such folder; shadow runs lists the runs in a folder"),
        (("recommend", "no", "--node", 1), "no: no such folder; shadow runs lists the runs in a folder"),
        (("resume", "no"), "no: no such folder; shadow runs lists the runs in a folder"),
        (("runs", "no"), "no: no such folder; shadow train creates run folders in the folder runs"),
        (("evaluate", "g"), "g: is not a run folder: it has no run.json"),
        (("data", "info", "no"), "no: no such folder"),
        (("data", "info", "edges.csv"), "edges.csv: is not a folder"),
        (("evaluate",), "Missing argument 'run'; see shadow evaluate --help"),
        (("xyzzy",), "No such command 'xyzzy'; see shadow --help"),
        (
            ("data", "import", "edges.csv", "g"),
            "g: exists already; choose another folder, or replace it with --overwrite (overwrite=True in Python)",
        ),
        (
            ("data", "import", "large.csv", "new"),
            "large.csv: line 1: column 0 must fit 64 bits, got '18446744073709551616'; use --ids string",
        ),
        (
            ("data", "import", "cell.csv", "new"),
            "cell.csv: line 1 of 5,000,003 characters cannot be read: field larger than field limit (131072)",
        ),
        (
            ("data", "import", "edges.csv", "new", "--labels", "labels.csv"),
            "labels.csv: line 2 of 5,000,003 characters cannot be read: field larger than field limit (131072)",
        ),
        (
            ("data", "import", "edges.csv", "new", "--features", "no.npy"),
            "no.npy: no such file or directory",
        ),
    ],
)
def test_a_slip_is_one_line_and_leaves_nothing(shadow, folder, arguments, line):
    before = sorted(path for path in folder.rglob("*"))
    code, out, err = shadow(*arguments)
    assert (code, out, err) == (2, "", f"shadow: {line}\n")
    assert sorted(path for path in folder.rglob("*")) == before


@pytest.mark.parametrize(
    ("name", "meant"), [("GraphSAGE", "sage"), ("GAT", "gat"), ("GCN", "gcn"), ("SAGEConf", "SAGEConv")]
)
def test_layers_by_the_names_of_papers(shadow, folder, name, meant):
    code, _, err = shadow(*set_(f"model.layer={name}"))
    assert code == 2
    assert err.endswith(f"got {name!r}; did you mean {meant}?\n")
    assert err.count("\n") == 1
    assert not (folder / "run").exists()


@pytest.mark.parametrize("name", ["cuda", "mps"])
def test_an_accelerator_that_is_not_there_is_refused_before_the_run_folder(shadow, folder, name, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    code, out, err = shadow(*set_(f"training.accelerator={name}"))
    line = f'training: accelerator must be one of this machine, got "{name}"; auto takes the best of them'
    assert (code, out, err) == (2, "", f"shadow: {line}\n")
    assert not (folder / "run").exists()


@pytest.mark.parametrize(("src", "dst", "name"), [(["a"], [1], "src"), ([0], ["b"], "dst"), ([0.5], [1], "src")])
def test_from_edges_takes_no_text(src, dst, name):
    with pytest.raises(ValueError, match=f"^from_edges: {name} must be integer node ids, got .*; from_tables takes"):
        from_edges(src, dst)


def test_names_as_a_list_say_how_to_make_them():
    indptr, indices = np.array([0, 0, 1]), np.array([0], np.int32)
    with pytest.raises(TypeError, match=r"^Graph: node_name must be a NodeNames, got list; make one with NodeNames.of"):
        Graph(indptr, indices, directed=True, node_name=["a", "b"])
    assert Graph(indptr, indices, directed=True, node_name=NodeNames.of(["a", "b"])).node_name[1] == "b"


def test_a_fault_of_a_kept_recipe_names_the_file_once(tmp_path, monkeypatch):
    (tmp_path / "recipe.toml").write_text("[[[")
    monkeypatch.setattr(run_folder, "checksum_of", lambda data: "fits")
    with pytest.raises(RunError, match="is not TOML") as caught:
        run_folder._kept_recipe(tmp_path, "fits")
    assert str(caught.value).count(str(tmp_path)) == 1


# Looked for before anything is loaded: torch alone takes most of a second.
@pytest.mark.parametrize("arguments", [["train", "no.toml"], ["evaluate", "no"], ["predict", "no", "--out", "p.csv"]])
def test_a_missing_recipe_or_run_is_reported_before_libraries_are_loaded(arguments):
    heavy = {"numpy", "torch", "torch_geometric", "rich", "scipy", "pyarrow"}
    code = (
        f"import sys\nsys.argv = ['shadow', *{arguments!r}]\nfrom shadow_gnn.cli.main import main\n"
        f"try:\n    main()\nfinally:\n    print({heavy} & set(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stdout) == (2, "set()\n")
    assert "no such" in done.stderr


def test_a_fault_of_a_recipe_is_reported_before_torch_is_loaded(folder):
    code = (
        f"import sys\nsys.argv = ['shadow', *{set_('training.lr=1')!r}]\nfrom shadow_gnn.cli.main import main\n"
        "try:\n    main()\nfinally:\n    print('torch' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=dict(os.environ))
    assert (done.returncode, done.stdout) == (2, "False\n")
