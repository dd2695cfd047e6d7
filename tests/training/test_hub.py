"""Hub: a run is pushed without paths or data, loaded again by its id, and its card has metadata that the Hub reads."""

import json
import shutil

import numpy as np
import pytest
import torch
from tests.communities import communities
from tests.training.hub_stand_in import TOKEN, hub_stand_in

from shadow_gnn import Predictor, Recipe, from_pretrained, read_model, save_graph, share_run, train_recipe
from shadow_gnn.base.errors import RunError
from shadow_gnn.cli.main import app

hub = pytest.importorskip("huggingface_hub", reason="huggingface_hub is not installed")
constants = pytest.importorskip("huggingface_hub.constants")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hub")
    save_graph(communities(), folder / "villages")
    recipe = Recipe.model_validate(
        {
            "graph": str(folder / "villages"),
            "extractor": {"kind": "ppr", "topk": 10},
            "model": {"num_layers": 2, "hidden_dim": 8},
            "training": {"num_epochs": 2},
        }
    )
    return train_recipe(recipe, folder / "first")


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    with hub_stand_in() as found:
        yield found


def test_a_shared_model_is_loaded_by_its_id(run, server):
    address = share_run(run.folder, "me/villages", private=True, endpoint=server.address)
    assert address == f"{server.address}/me/villages"
    assert set(server.files["me/villages"]) == {"README.md", "config.json", "model.safetensors"}
    assert server.private["me/villages"]
    loaded, own = from_pretrained("me/villages", endpoint=server.address), read_model(run.folder)
    assert loaded.config == own.config
    for name, weight in own.model.state_dict().items():
        assert torch.equal(loaded.model.state_dict()[name], weight)


def test_nothing_shared_names_a_path_of_this_machine(run):
    text = (run.folder / "README.md").read_text() + (run.folder / "config.json").read_text()
    assert str(run.folder.parent) not in text
    assert "villages" in text


def test_a_folder_is_loaded_without_the_hub(run):
    found = Predictor(from_pretrained(run.folder), communities()).predict([0, 1])
    own = Predictor(read_model(run.folder), communities()).predict([0, 1])
    assert np.array_equal(found.scores, own.scores)


def test_the_card_has_metadata_that_the_hub_reads(run):
    card = hub.ModelCard.load(run.folder / "README.md")
    assert card.data.library_name == "shadow-gnn"
    assert card.data.pipeline_tag == "graph-ml"
    measured = {result.metric_name: result.metric_value for result in card.data.eval_results}
    result = run.result
    assert measured == {f"test {name}": value for name, value in result["test"].items()}
    assert card.data.eval_results[0].dataset_name == "villages"


def test_the_card_tells_data_recipe_and_versions(run):
    text = (run.folder / "README.md").read_text()
    recipe = json.loads(text.split("```json\n")[1].split("```")[0])
    assert recipe["graph"] == "villages"
    assert recipe["model"] == {"num_layers": 2, "hidden_dim": 8}
    assert "| nodes | 120 |" in text
    assert f"| torch | {torch.__version__} |" in text
    assert f"{run.result['num_parameters']:,} parameters" in text


def test_a_refused_token_is_one_line(run, server, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(RunError, match="share: me/other could not be pushed: ") as caught:
        share_run(run.folder, "me/other", endpoint=server.address)
    assert "\n" not in str(caught.value)
    assert server.files == {}


def test_an_unknown_id_is_one_line(server):
    with pytest.raises(RunError, match="me/nothing: is not a folder, and the Hub did not give it: ") as caught:
        from_pretrained("me/nothing", endpoint=server.address)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["villages", "me/vil/lages", "me/ village", ""])
def test_a_wrong_id_is_refused(run, name):
    with pytest.raises(ValueError, match="share: repo_id must be OWNER/NAME"):
        share_run(run.folder, name)


def test_a_damaged_or_unfinished_run_is_not_shared(run, tmp_path, server):
    shutil.copytree(run.folder, tmp_path / "damaged")
    weights = bytearray((tmp_path / "damaged" / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (tmp_path / "damaged" / "model.safetensors").write_bytes(weights)
    with pytest.raises(RunError, match=r"model\.safetensors: was edited or damaged"):
        share_run(tmp_path / "damaged", "me/damaged", endpoint=server.address)
    shutil.copytree(run.folder, tmp_path / "stopped")
    (tmp_path / "stopped" / "result.json").unlink()
    with pytest.raises(RunError, match="stopped: is not finished; shadow resume continues it"):
        share_run(tmp_path / "stopped", "me/stopped", endpoint=server.address)
    assert server.asked == []


def test_the_command_says_where_the_model_is(run, server, monkeypatch, capsys):
    monkeypatch.setattr(constants, "ENDPOINT", server.address)
    monkeypatch.setattr("huggingface_hub.hf_api.constants.ENDPOINT", server.address)
    app(["share", str(run.folder), "me/by-command", "--json"], standalone_mode=False)
    found = json.loads(capsys.readouterr().out)
    assert found == {
        "address": f"{server.address}/me/by-command",
        "files": ["README.md", "config.json", "model.safetensors"],
    }
    assert "me/by-command" in server.files
