"""`shadow learn-scope`: one folder, one line of result, a kill that changes nothing, and every fault as one line."""

import signal
import time
from functools import partial

import pytest
from tests.cli import called
from tests.communities import communities, one_thread, small_recipe  # noqa: F401

from shadow_gnn.cli.scopes.learn_scope import result_line
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe, write_recipe

OPTIONS = ("--topk", "6", "--candidates", "20", "--normal-epochs", "4")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "g")
    (tmp_path / "recipe.toml").write_text(write_recipe(small_recipe(graph="g", training__num_epochs=6)))
    return tmp_path


run = partial(called.run, "learn-scope")


def wait_for(path, process):
    begin = time.monotonic()
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() - begin < 120
        time.sleep(0.005)


def test_a_killed_command_goes_on_and_ends_as_one_that_was_left_alone(folder):
    done = run("recipe.toml", *OPTIONS, "--compare")
    assert done.exit_code == 0, done.exception
    last = done.stdout.splitlines()[-1]
    assert last.startswith("test accuracy: learned scopes 0.")
    assert ", ppr scopes 0." in last
    assert ", normal GNN 0." in last
    assert last.endswith("120 scopes in runs/recipe-learned/scopes.safetensors")
    for stage in ("killed/normal/checkpoints", "killed/scopes.safetensors"):
        process = called.start("learn-scope", "recipe.toml", *OPTIONS, "--out", "killed")
        wait_for(folder / stage, process)
        process.send_signal(signal.SIGKILL)
        process.communicate()
    done = run("recipe.toml", *OPTIONS, "--run", "killed")
    assert done.exit_code == 0, done.exception
    assert "phase 1" not in done.stdout  # It was done before.
    assert "phase 2: the shaDow model on the learned scopes" in done.stdout
    for name in ("scopes.safetensors", "learned/model.safetensors"):
        assert (folder / "killed" / name).read_bytes() == (folder / "runs/recipe-learned" / name).read_bytes()


def test_the_scope_file_serves_other_recipes_and_shadow_extract(folder):
    assert run("recipe.toml", *OPTIONS, "--every-node", "--set", "seed=3").exit_code == 0
    path = "runs/recipe-learned/scopes.safetensors"
    extractor = {"kind": "file", "path": path, "topk": 4}
    other = small_recipe(graph="g", extractor=extractor, model__layer="gat", training__num_epochs=1)
    (folder / "other.toml").write_text(write_recipe(other))
    done = called.run("train", "other.toml")
    assert done.exit_code == 0, done.exception
    kept = read_recipe(folder / "runs" / "other-1" / "recipe.toml")
    assert kept.extractor.path == str(folder / path)  # It means the same from anywhere.
    done = called.run("extract", "g", "--extractor", f'{{kind = "file", path = "{path}", topk = 5}}')
    assert done.exit_code == 0, done.exception
    assert "120 targets, file/1 " in done.stdout
    done = called.run("extract", "g", "--extractor", "file")
    assert str(done.exception) == "extract: extractor.path: must be set"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--candidates", "5"), "learn-scope: candidates must be at least topk 10, got 5"),
        (("--set", "extractor.kind=node"), "recipe.toml: "),
        (("--from", "g"), "g: is not a run folder: it has no run.json"),
        (("--set", "model.layer=mlp"), 'learn-scope: model.layer must read messages, got "mlp"'),
    ],
)
def test_faults_are_one_line(folder, arguments, message):
    done = run("recipe.toml", *arguments)
    assert done.exit_code != 0
    assert message in str(done.exception)
    assert not (folder / "runs" / "recipe-learned" / "scopes.safetensors").exists()


def test_the_result_names_what_is_known():
    scores = {"valid": {"accuracy": 0.5}, "test": {}}
    result = {
        "monitor": "accuracy",
        "extractor": "khop",
        "learned": scores,
        "original": None,
        "normal": {"valid": {"accuracy": 0.25}, "test": {}},
        "shared": 0.5,
        "num_targets": 1200,
        "scopes": "s",
    }
    expected = (
        "valid accuracy: learned scopes 0.5000, normal GNN 0.2500; 50% of the learned scopes' nodes are in those "
    )
    assert result_line(result) == expected + "of khop too; 1,200 scopes in s"
