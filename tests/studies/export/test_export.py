"""Export: an exported program gives the logits of the model, for scopes of other sizes than it was traced with."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.communities import communities
from tests.rounding import ROUNDING

from shadow_gnn import Loader, Recipe, export_model, open_dataset, read_model, save_graph, train_recipe
from shadow_gnn.cli.main import app
from shadow_gnn.extract import PprExtractor
from shadow_gnn.studies.export import ScopeProgram
from shadow_gnn.training.runs.run import RunOptions

EXTRACTOR = PprExtractor(topk=10)
MODELS = {
    "sage": {"layer": "sage"},
    "gcn, ppr": {"layer": "gcn", "encoding": "ppr"},
    "gat": {"layer": "gat", "num_heads": 2},
    "gin, concat": {"layer": "gin", "skip": "concat", "encoding": "none"},
    "sgc": {"layer": "sgc", "encoding": "none"},
    "residual": {"layer": "sage", "skip": "residual", "encoding_join": "concat"},
}


def trained(folder, **tables):
    save_graph(communities(), folder / "g", overwrite=True)
    model = {"num_layers": 2, "hidden_dim": 8, **tables.pop("model", {})}
    extractor = {"kind": "ppr", "topk": 10}
    table = {
        "graph": str(folder / "g"),
        "extractor": extractor,
        "model": model,
        "training": {"num_epochs": 1},
        **tables,
    }
    return train_recipe(Recipe.model_validate(table), folder / "run").folder


def assert_close(found, expected):
    torch.testing.assert_close(found, expected, **ROUNDING)


def batches(model):
    """Give batches of 1 and of 59 targets."""
    yield from Loader(communities(), EXTRACTOR, [3], model=model)
    yield from Loader(communities(), EXTRACTOR, range(59), batch_size=59, model=model)


@pytest.mark.parametrize("name", MODELS)
def test_the_program_gives_the_model_logits(tmp_path, name):
    model = read_model(trained(tmp_path, model=MODELS[name])).model
    program = ScopeProgram(model)
    for batch in batches(model):
        with torch.no_grad():
            assert_close(program(**program.arrays(batch)), model(batch))


@pytest.mark.parametrize("name", ["sage", "gat"])
def test_a_written_torch_program_gives_the_model_logits(tmp_path, name):
    found = read_model(trained(tmp_path, model=MODELS[name]))
    inputs = export_model(found, tmp_path / "model.pt2")
    loaded = torch.export.load(tmp_path / "model.pt2").module()
    program = ScopeProgram(found.model)
    assert inputs == program.inputs
    for batch in batches(found.model):
        with torch.no_grad():
            assert_close(loaded(**program.arrays(batch)), found.model(batch))


@pytest.mark.parametrize("name", ["sage", "gcn, ppr", "gat"])
def test_a_written_onnx_file_gives_the_model_logits(tmp_path, name):
    onnx = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    found = read_model(trained(tmp_path, model=MODELS[name]))
    export_model(found, tmp_path / "model.onnx")
    session = onnx.InferenceSession(tmp_path / "model.onnx", providers=["CPUExecutionProvider"])
    program = ScopeProgram(found.model)
    assert tuple(given.name for given in session.get_inputs()) == program.inputs
    for batch in batches(found.model):
        arrays = {key: value.numpy() for key, value in program.arrays(batch).items()}
        (logits,) = session.run(None, arrays)
        with torch.no_grad():
            assert_close(torch.from_numpy(logits), found.model(batch))


def test_links_are_exported_with_both_ends(tmp_path):
    link = {"split": "random"}
    folder = trained(tmp_path, task={"kind": "link"}, link=link, model={"encoding": "hop"})
    found = read_model(folder)
    program = ScopeProgram(found.model)
    (batch,) = Loader(communities(), EXTRACTOR, np.array([[0, 5], [7, 100]]), model=found.model)
    with torch.no_grad():
        assert_close(program(**program.arrays(batch)), found.model(batch))


@pytest.mark.parametrize(
    ("tables", "part"),
    [
        ({"model": {"readout": "mean"}}, "the readout mean"),
        ({"model": {"layer": "GraphConv"}}, "the PyG layer GraphConv"),
        ({"model": {"layer": "transformer"}}, "the layer transformer"),
        ({"inputs": {"learned_dim": 4}}, "has inputs.learned_dim, computed from the whole graph"),
    ],
)
def test_a_part_that_cannot_be_exported_is_named(tmp_path, tables, part):
    folder = trained(tmp_path, **tables)
    with pytest.raises(ValueError, match=rf"export: model must .*{part}"):
        export_model(read_model(folder), tmp_path / "model.pt2")
    assert not (tmp_path / "model.pt2").exists()


def test_the_command_writes_and_names_the_inputs(tmp_path, capsys):
    folder = trained(tmp_path)
    app(["export", str(folder), str(tmp_path / "m.pt2")], standalone_mode=False)
    assert "x, edge_index, hop, target_node" in capsys.readouterr().out
    assert (tmp_path / "m.pt2").exists()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"export: path must end in \.pt2 or \.onnx, got 'model\.pkl'"):
        export_model(read_model(trained(tmp_path)), tmp_path / "model.pkl")


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["pt2", "onnx"])
def test_a_thousand_targets_of_the_built_in_graph_agree(tmp_path, ending):
    onnx = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    recipe = {"graph": "debian", "extractor": {"kind": "ppr", "topk": 50}, "model": {"num_layers": 3, "hidden_dim": 32}}
    graph = open_dataset("debian")
    small = replace(graph, splits={name: split[:500] for name, split in graph.splits.items()}, path=None)
    options = RunOptions(graph=small)
    run = train_recipe(
        Recipe.model_validate({**recipe, "training": {"num_epochs": 1}}), tmp_path / "run", options=options
    )
    found, path = read_model(run.folder), tmp_path / f"model.{ending}"
    export_model(found, path)
    program = ScopeProgram(found.model)
    if ending == "pt2":
        loaded = torch.export.load(path).module()
    else:
        session = onnx.InferenceSession(path, providers=["CPUExecutionProvider"])
    targets = np.random.default_rng(0).choice(graph.num_nodes, 1000, replace=False)
    for batch in Loader(graph, PprExtractor(topk=50), targets, batch_size=100, model=found.model):
        arrays = program.arrays(batch)
        with torch.no_grad():
            if ending == "pt2":
                logits = loaded(**arrays)
            else:
                logits = torch.from_numpy(session.run(None, {key: value.numpy() for key, value in arrays.items()})[0])
            assert_close(logits, found.model(batch))
