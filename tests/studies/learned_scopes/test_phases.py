"""The phases one after the other: what they leave, how they go on, and one line where they cannot."""

import os

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe  # noqa: F401
from tests.killed import kill_and_finish, seconds_of

from shadow_gnn.base.errors import RunError
from shadow_gnn.extract.scope_file import read_scope_file
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.studies.learned_scopes import scoring
from shadow_gnn.studies.learned_scopes.phases import LearnedScopeOptions, make_learned_scopes
from shadow_gnn.training.runs.folder import open_run, read_json
from shadow_gnn.training.runs.run import train_recipe

QUICK = LearnedScopeOptions(topk=6, candidates=20, num_epochs=3)


@pytest.fixture(scope="module")
def graph(tmp_path_factory):
    folder = tmp_path_factory.mktemp("graph") / "g"
    save_graph(communities(), folder)
    return str(folder)


def files(folder):
    """Return the scope file and the results, without times."""
    runs = {name: open_run(folder / name).result for name in ("normal", "learned")}
    results = {
        name: {key: value for key, value in run.items() if "seconds" not in key and "checksum" not in key}
        for name, run in runs.items()
    }
    return (folder / "scopes.safetensors").read_bytes(), results


def test_everything_is_left_below_one_folder(graph, tmp_path):
    recipe = small_recipe(graph=graph)
    result = make_learned_scopes(recipe, tmp_path / "out", LearnedScopeOptions(topk=6, num_epochs=3, compare=True))
    scopes = read_scope_file(tmp_path / "out" / "scopes.safetensors")
    whole = communities()
    expected = np.sort(np.concatenate([whole.splits[name] for name in ("train", "valid", "test")]))
    assert scopes.nodes.targets.tolist() == expected.tolist()
    assert np.diff(scopes.nodes.ptr).max() == 6
    normal, learned = (open_run(tmp_path / "out" / name) for name in ("normal", "learned"))
    assert normal.recipe.training.method == "full"
    assert learned.recipe.extractor.path == str(tmp_path / "out" / "scopes.safetensors")
    assert read_json(tmp_path / "out" / "result.json") == result
    assert result["learned"]["test"] == learned.result["test"]
    assert result["normal"]["valid"] == normal.result["valid"]
    assert result["original"]["test"]["accuracy"] > 0
    assert 0 < result["shared"] < 1
    assert read_recipe(tmp_path / "out" / "recipe.toml") == recipe
    assert make_learned_scopes(recipe, tmp_path / "out", LearnedScopeOptions(topk=6, num_epochs=3)) == {
        **result,
        "original": None,
    }


def test_another_run_can_be_explained_and_all_nodes_get_scopes(graph, tmp_path):
    normal = train_recipe(small_recipe(graph=graph, extractor=None, training__method="neighbor"), tmp_path / "n")
    options = LearnedScopeOptions(topk=6, candidates=20, targets="all", source=normal.folder)
    make_learned_scopes(small_recipe(graph=graph, task__inductive=True), tmp_path / "out", options)
    assert len(read_scope_file(tmp_path / "out" / "scopes.safetensors").nodes) == 120
    assert not (tmp_path / "out" / "normal").exists()


def test_a_folder_goes_on_only_with_what_it_was_begun_with(graph, tmp_path):
    recipe = small_recipe(graph=graph)
    make_learned_scopes(recipe, tmp_path / "out", QUICK)
    with pytest.raises(RunError, match=r"out: was started with topk 6, got 5; choose another --out"):
        make_learned_scopes(recipe, tmp_path / "out", LearnedScopeOptions(topk=5, candidates=20, num_epochs=3))
    with pytest.raises(RunError, match=r"out: was started with another recipe, see .*recipe.toml"):
        make_learned_scopes(recipe.model_copy(update={"seed": 1}), tmp_path / "out", QUICK)
    with pytest.raises(RunError, match="normal: exists already and is not from learn-scope"):
        make_learned_scopes(recipe, tmp_path / "out" / "normal", QUICK)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (LearnedScopeOptions(topk=30, candidates=20), "learn-scope: candidates must be at least topk 30, got 20"),
        (LearnedScopeOptions(topk=0), "PprExtractor: topk must be at least 1, got 0"),
    ],
)
def test_wrong_options_are_named_before_anything_is_made(graph, tmp_path, options, message):
    with pytest.raises(ValueError, match=message):
        make_learned_scopes(small_recipe(graph=graph), tmp_path / "out", options)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_kills_at_any_moment_change_nothing(graph, tmp_path, monkeypatch):
    monkeypatch.setitem(scoring._PART_TARGETS, "saliency", 10)
    recipe = small_recipe(graph=graph)
    folder = tmp_path / "killed"
    duration = seconds_of(learning(recipe, tmp_path / "whole"))
    moments = (
        part * duration for part in (0.02, 0.5, 0.3, 0.2, 0.1, 0.05)
    )  # How much is left varies; the first kills.
    assert kill_and_finish(learning(recipe, folder), moments) >= 1
    scopes, results = files(folder)
    expected_scopes, expected = files(tmp_path / "whole")
    assert scopes == expected_scopes
    assert results == expected


def learning(recipe, folder):
    """Return what learns in one thread, for a process of its own."""

    def learn():
        torch.set_num_threads(1)
        make_learned_scopes(recipe, folder, QUICK)

    return learn
