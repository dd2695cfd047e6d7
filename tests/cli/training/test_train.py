"""`shadow train`, `resume`, `evaluate`, `predict`, `runs`: their output and files, and every fault as one line."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from tests.cli.called import fault, run, start, succeed
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401

from shadow_gnn.cli.shared.live import Live
from shadow_gnn.cli.shared.screen import Screen
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.recipe.keys import recipe_keys
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe

GRAPH = communities()


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A folder with a graph, a recipe, a finished run and repeats."""
    folder = tmp_path_factory.mktemp("work")
    before = os.getcwd()
    os.chdir(folder)
    save_graph(GRAPH, "g")
    (folder / "recipe.toml").write_text(write_recipe(small_recipe(graph="g")))
    assert run("train", "recipe.toml").exit_code == 0
    assert run("train", "recipe.toml", "--repeat", 2, "--set", "training.num_epochs=1", "--out", "many").exit_code == 0
    os.chdir(before)
    return folder


@pytest.fixture
def folder(trained, monkeypatch):
    monkeypatch.chdir(trained)
    return trained


def test_train_prints_a_line_per_epoch_and_what_came_out(folder):
    text = succeed("train", "recipe.toml", "--set", "training.num_epochs=2", "--out", "out-a")
    lines = text.splitlines()
    assert lines[0].startswith("out-a: sage, 2 layers of 8, ")
    assert lines[0].endswith("60 training targets, seed 0")
    assert re.fullmatch(
        r"epoch 1/2  loss \d\.\d{4}  train accuracy \d\.\d{4}  valid accuracy \d\.\d{4}  \d+\.\d s  best", lines[1]
    )
    assert lines[2].startswith("epoch 2/2")
    assert [line.split()[0] for line in lines[4:6]] == ["valid", "test"]
    assert "s per epoch; out-a" in lines[6]


def test_runs_are_numbered_below_runs(folder):
    assert (folder / "runs/recipe-1/result.json").exists()


def test_repeats_print_mean_and_deviation(folder):
    text = succeed("resume", "many")
    assert len(re.findall(r"0\.\d{4} ± 0\.\d{4}", text)) == 6
    assert "2 repeats, mean ± sample standard deviation" in text


def test_graph_can_be_given_on_the_command_line(folder):
    save_graph(with_labels(GRAPH, "values"), "values", overwrite=True)
    (folder / "bare.toml").write_text("[extractor]\ntopk = 5\n[model]\nhidden_dim = 8\n[training]\nnum_epochs = 1\n")
    assert "mae" in succeed("train", "bare.toml", "--graph", "values", "--out", "out-b")


def test_every_key_of_a_recipe_can_be_shown():
    lines = succeed("train", "--keys").splitlines()
    for key in recipe_keys():
        assert any(line.startswith(key.name + " ") for line in lines)
        assert f"    {key.text}" in lines
    assert "model.num_layers = 3    (integer from 1 to 100)" in lines


def test_evaluate_prints_tables_or_json(folder):
    text = succeed("evaluate", "runs/recipe-1")
    assert "test, 30 targets" in text
    assert "by degree of the target" in text
    found = json.loads(succeed("evaluate", "runs/recipe-1", "--json"))
    result = json.loads((folder / "runs/recipe-1/result.json").read_text())
    assert found["metrics"] == pytest.approx(result["test"])
    assert sum(bucket["count"] for bucket in found["by_degree"]) == found["num_targets"] == 30
    valid = json.loads(succeed("evaluate", "runs/recipe-1", "--split", "valid", "--json"))
    assert valid["metrics"] == pytest.approx(result["valid"])


def test_evaluate_reports_classes_and_errors(folder):
    text = succeed("evaluate", "runs/recipe-1", "--report", "--errors", "2", "--plot", "report.svg")
    for words in ("by class", "ROC-AUC", "calibration error"):
        assert words in text
    assert (folder / "report.svg").read_text().startswith("<?xml")
    found = json.loads(succeed("evaluate", "runs/recipe-1", "--report", "--errors", "2", "--json"))
    report = found["report"]
    assert sum(map(sum, report["confusion"])) == found["num_targets"]
    assert sum(report["calibration"]["count"]) == found["num_targets"]
    assert len(report["errors"]) <= 2
    assert json.loads(succeed("evaluate", "runs/recipe-1", "--json"))["report"] is None


def test_evaluate_on_another_graph(folder):
    save_graph(communities(num_nodes=160, seed=3), "other", overwrite=True)
    assert json.loads(succeed("evaluate", "runs/recipe-1", "--graph", "other", "--json"))["num_targets"] == 40


def test_predict_writes_a_row_per_target(folder):
    said = succeed("predict", "runs/recipe-1", "--targets", "test", "--out", "p.parquet")
    assert re.fullmatch(r"p.parquet: 30 predictions, [\d,]+ targets/s\n", said)
    table = pq.read_table("p.parquet").to_pydict()
    assert list(table) == ["node_id", "class", "probability"]
    assert table["node_id"] == GRAPH.splits["test"].tolist()
    accuracy = np.mean(np.array(table["class"]) == GRAPH.y[GRAPH.splits["test"]])
    result = json.loads((folder / "runs/recipe-1/result.json").read_text())
    assert accuracy == pytest.approx(result["test"]["accuracy"])


def test_predict_by_ids_by_file_and_of_all(folder):
    succeed("predict", "runs/recipe-1", "--targets", "5,3", "--out", "p.csv", "--no-probabilities")
    assert [line.split(",")[0] for line in (folder / "p.csv").read_text().splitlines()[1:]] == ["5", "3"]
    (folder / "ids.txt").write_text("5\n3\n3\n")
    succeed("predict", "runs/recipe-1", "--targets", "ids.txt", "--out", "p.parquet", "--embedding")
    assert pq.read_table("p.parquet").column("node_id").to_pylist() == [5, 3, 3]
    save_graph(communities(num_nodes=160, seed=3), "grown", overwrite=True)
    assert "160 predictions" in succeed("predict", "runs/recipe-1", "--graph", "grown", "--out", "p.parquet")


def test_a_changed_graph_is_worth_a_line(folder):
    save_graph(communities(), "g2", overwrite=True)
    succeed("train", "recipe.toml", "--graph", "g2", "--out", "out-c", "--set", "training.num_epochs=1")
    save_graph(communities(seed=1), "g2", overwrite=True)
    result = run("evaluate", "out-c")
    assert result.exit_code == 0
    assert "g2 has changed since the model was trained on it" in result.stderr


def test_runs_prints_a_table_or_json(folder):
    text = succeed("runs")
    assert re.search(r"recipe-1 +sage +2 +ppr 10 +accuracy +0\.\d{4} +0\.\d{4} +\d+\.\d\d +3 +finished", text)
    assert json.loads(succeed("runs", ".", "--json"))[0]["name"] == "many"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("train", "no.toml"), "no.toml: no such file; shadow init writes a recipe for a graph"),
        (("train", "recipe.toml", "--out", "g"), "g: exists already; choose another folder"),
        (("train", "recipe.toml", "--graph", "debain"), "did you mean debian?"),
        (("train", "recipe.toml", "--set", "model.layer=sagee"), "did you mean sage?"),
        (("train", "recipe.toml", "--set", "task.target=values"), "target must be 'classes'"),
        (("resume", "no"), "no: no such folder"),
        (("resume", "g"), "g: is not a run folder: it has no run.json"),
        (("resume", "many", "--from", "best"), "--from must be given with one repeat, such as many/repeat-0"),
        (("evaluate", "many"), "many: holds several repeats; name one of them, for example many/repeat-0"),
        (("evaluate", "g"), "g: is not a run folder: it has no run.json"),
        (("evaluate", "runs/recipe-1", "--split", "dev"), "must have a split 'dev'"),
        (("predict", "runs/recipe-1", "--out", "p.txt"), "out must end in .parquet or .csv, got p.txt"),
        (("predict", "runs/recipe-1", "--targets", "120", "--out", "p.csv"), "node ids from 0 to 119, got 120"),
        (("predict", "runs/recipe-1", "--targets", "dev", "--out", "p.csv"), "predict: --targets must be one of all"),
        (("predict", "runs/recipe-1", "--graph", "debian", "--out", "p.csv"), "must have 3 feature columns"),
        (("runs", "no"), "no: no such folder; shadow train creates run folders in the folder runs"),
    ],
)
def test_faults_are_one_clear_line(folder, arguments, text):
    found = fault(*arguments)
    assert text in found
    assert "\n" not in found


def test_all_faults_of_a_recipe_are_lines_of_their_own(folder):
    (folder / "bad.toml").write_text("[model]\nnum_layer = 3\ndropout = 2.0\n")
    with start("train", "bad.toml", "--set", "model.laye=x") as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (2, "")
    assert err.splitlines() == [
        "shadow: bad.toml: graph: must be set",
        "shadow: bad.toml: model.dropout: must be below 1.0, got 2.0",
        "shadow: bad.toml: model.num_layer: unknown key; did you mean num_layers?",
        "shadow: --set: model.laye: unknown key; did you mean layer?",
    ]


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_ctrl_c_ends_soon_and_says_how_to_go_on(folder, number, code):
    name = f"stopped-{code}"
    changes = ("--set", "training.num_epochs=100000", "--set", "training.checkpoint_every=1")
    with start("train", "recipe.toml", "--out", name, *changes) as process:
        for line in process.stdout:
            if line.startswith("epoch      3/"):
                break
        begin = time.monotonic()
        process.send_signal(number)
        _, err = process.communicate(timeout=30)
    assert time.monotonic() - begin < 2
    assert process.returncode == code
    assert f"stopped; finished epochs are saved, resume with: shadow resume {name}" in err
    assert json.loads(succeed("runs", ".", "--json"))[-1]["state"] in ("stopped", "finished")
    assert list((folder / name / "checkpoints").glob("epoch-*"))
    assert not list((folder / name).rglob("*.tmp"))


class Interrupted(Live):
    """Shows the beginning and stops there."""

    def __init__(self):
        super().__init__(Screen())

    def on_step(self, step):
        raise KeyboardInterrupt


def test_a_killed_process_is_resumed_by_another(folder, capsys):
    changes = ("--set", "training.num_epochs=40")
    with start("train", "recipe.toml", "--out", "killed", *changes) as process:
        for line in process.stdout:
            if line.startswith("epoch  5/40"):
                break
        process.kill()
    assert "stopped" in succeed("runs", ".")
    torch.set_num_threads(2)
    with pytest.raises(KeyboardInterrupt):
        resume_run("killed", options=RunOptions(watcher=Interrupted()))
    torch.set_num_threads(1)
    assert "note: started with 1 threads, now 2: last digits may differ" in capsys.readouterr().out
    text = succeed("resume", "killed")
    assert "resumed after epoch" in text
    assert "note" not in text
    succeed("train", "recipe.toml", "--out", "alone", *changes)
    results = [json.loads((folder / name / "result.json").read_text()) for name in ("killed", "alone")]
    assert results[0]["test"] == results[1]["test"]
    assert results[0]["best_epoch"] == results[1]["best_epoch"]


def test_bf16_keeps_weights_in_float32_and_says_nothing_of_itself(folder):
    # In a process of its own: where the processor's bf16 is broken, the command must find that out before it starts.
    changes = ("--set", "training.precision=bf16", "--set", "model.dropout=0.0", "--set", "training.num_epochs=8")
    with start("train", "recipe.toml", "--out", "half", *changes, "--set", "training.batch_size=60") as process:
        _, err = process.communicate()
    assert (process.returncode, err) == (0, "")
    tensors = read_checkpoint(folder / "half/checkpoints/best.safetensors").tensors
    assert {tensor.dtype for name, tensor in tensors.items() if name != "random.cpu"} == {torch.float32}
    assert json.loads((folder / "half/result.json").read_text())["valid"]["accuracy"] > 0.6


def test_a_bar_shows_loss_and_time_left_on_a_terminal(folder, monkeypatch, capsys):
    monkeypatch.setattr("shadow_gnn.cli.shared.live._REFRESH_SECONDS", 0.0)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("FORCE_COLOR", "1")
    screen = Screen()
    options = RunOptions(watcher=Live(screen), graph=GRAPH)
    train_recipe(small_recipe(), folder / "bar", options=options)
    screen.stop()
    text = capsys.readouterr().out
    assert "epoch 1/3" in text
    assert re.search(r"loss \d\.\d{4}", text)
    assert "left" in text


def test_help_teaches_and_stays_fast():
    begin = time.monotonic()
    with start("--help") as process:
        out, _ = process.communicate()
    seconds = time.monotonic() - begin
    for name in ("train", "evaluate", "predict", "resume", "runs"):
        assert name in out
        text = succeed(name, "--help")
        assert "Examples:" in text
    assert seconds < 2  # 0.2 s where nothing else runs.


def test_evaluate_loads_no_library_that_it_does_not_need(folder):
    heavy = {"torchmetrics", "matplotlib", "scipy", "lightning_fabric", "torch_geometric", "pandas", "pyarrow"}
    code = (
        "import sys\nsys.argv = ['shadow', 'evaluate', 'runs/recipe-1']\nfrom shadow_gnn.cli.main import main\n"
        f"try:\n    main()\nfinally:\n    print({heavy} & set(sys.modules), file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=folder, check=True)
    assert done.stderr == "set()\n"
