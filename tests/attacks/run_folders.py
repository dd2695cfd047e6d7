"""Hostile recipes, run folders, models, checkpoints and scope files, with checksums that fit where there are any."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.attacks.attempt import Attack, shadow
from tests.communities import communities, small_recipe

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.files import checksum_of
from shadow_gnn.extract.scope_file import Origin, ScopeNodes, read_scope_file, write_scope_file
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.runs.folder import create_run, open_run
from shadow_gnn.training.runs.run import RunOptions, train_recipe

Build = Callable[[Path], Callable[[], object]]


def recipe(text: str | bytes) -> Build:
    """Return an attack by a recipe."""

    def build(place: Path) -> Callable[[], object]:
        save_graph(communities(), place / "g")
        (place / "r.toml").write_bytes(text if isinstance(text, bytes) else f'graph = "g"\n{text}'.encode())
        return shadow("train", "r.toml", "--out", "run")

    return build


def model(change: Callable[[Path], object]) -> Build:
    """Return an attack on `read_model` by a trained model that is changed."""

    def build(place: Path) -> Callable[[], object]:
        train_recipe(small_recipe(training__num_epochs=1), place / "run", options=RunOptions(graph=communities()))
        change(place / "run")
        return lambda: read_model("run")

    return build


def config(**changes: Any) -> Callable[[Path], object]:
    """Return a change of config.json with a checksum that fits; model__x changes the first branch's model."""

    def change(run: Path) -> None:
        content = json.loads((run / "config.json").read_text())
        del content["checksum"]
        for name, value in changes.items():
            place = content["branches"][0]["model"] if name.startswith("model__") else content
            place[name.removeprefix("model__")] = value
        (run / "config.json").write_bytes(dump_checked(content))

    return change


def weights(data: Callable[[bytes], bytes]) -> Callable[[Path], object]:
    """Return a change of the weights, with a config.json that fits."""

    def change(run: Path) -> None:
        path = run / "model.safetensors"
        path.write_bytes(data(path.read_bytes()))
        config(weights_blake2b=checksum_of(path.read_bytes()))(run)

    return change


def lying_header(data: bytes) -> bytes:
    """Return weights whose header claims 2^62 bytes for the first tensor."""
    length = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8 : 8 + length])
    name = next(key for key in header if key != "__metadata__")
    header[name] |= {"shape": [2**30, 2**30], "data_offsets": [0, 2**62]}
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data[8 + length :]


def flipped(name: str, at: int) -> Callable[[Path], object]:
    """Return a change of one bit of a file."""

    def change(run: Path) -> None:
        data = bytearray((run / name).read_bytes())
        data[at] ^= 1
        (run / name).write_bytes(data)

    return change


def more_topk(run: Path) -> None:
    """Change a digit of config.json without its checksum, as a flipped bit would."""
    path = run / "config.json"
    path.write_text(path.read_text().replace('"topk": 10', '"topk": 30'))


def run_folder(change: Callable[[Path], object]) -> Build:
    """Return an attack on the reader of run folders."""

    def build(place: Path) -> Callable[[], object]:
        save_graph(communities(), place / "g")
        create_run(place / "run", small_recipe(seed=7), open_graph(place / "g"), num_threads=1)
        change(place / "run")
        return lambda: open_run(Path("run"))

    return build


def text_in(name: str, text: str | bytes) -> Callable[[Path], object]:
    """Return a change of a whole file."""
    return lambda run: (run / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def linked(name: str) -> Callable[[Path], object]:
    """Return a change of a file to a link to a device without end."""

    def change(run: Path) -> None:
        (run / name).unlink()
        os.symlink("/dev/zero", run / name)

    return change


def checkpoint(data: bytes) -> Build:
    """Return an attack on the reader of checkpoints."""

    def build(place: Path) -> Callable[[], object]:
        (place / "c").write_bytes(data)
        return lambda: read_checkpoint(Path("c"))

    return build


def scopes(change: Callable[[bytes], bytes]) -> Build:
    """Return an attack by a scope file."""

    def build(place: Path) -> Callable[[], object]:
        nodes = ScopeNodes(np.array([1, 3]), np.array([0, 1, 2]), np.array([2, 4]), np.ones(2, np.float32))
        write_scope_file(place / "s", [nodes], Origin(10, "f" * 32, "by hand"))
        (place / "s").write_bytes(change((place / "s").read_bytes()))
        return lambda: read_scope_file("s")

    return build


def scope_header(change: Callable[[dict[str, Any]], object]) -> Callable[[bytes], bytes]:
    """Return a change of the header of a scope file."""

    def changed(data: bytes) -> bytes:
        length = int.from_bytes(data[:8], "little")
        header = json.loads(data[8 : 8 + length])
        change(header)
        text = json.dumps(header).encode()
        return len(text).to_bytes(8, "little") + text + data[8 + length :]

    return changed


def foreign_scopes(place: Path) -> Callable[[], object]:
    """Extract with a scope file that names a node which the graph does not have, with a checksum that fits."""
    from shadow_gnn.extract import FileExtractor

    save_graph(communities(), place / "g")
    graph = open_graph(place / "g")
    nodes = ScopeNodes(np.array([1]), np.array([0, 1]), np.array([500]), np.ones(1, np.float32))
    write_scope_file(place / "s", [nodes], Origin(1000, graph.fingerprint, "by hand"))
    return lambda: FileExtractor(path="s")(graph, [1])


ATTACKS = {
    "recipe_of_a_huge_model": Attack(
        recipe("[model]\nnum_layers = 1000000\n"), "r.toml: model.num_layers: must be at most 100, got 1000000"
    ),
    "recipe_of_an_endless_push": Attack(
        recipe('[extractor]\nkind = "ppr"\nteleport = 1e-17\n'),
        "r.toml: extractor.teleport: must be at least 0.001, got 1e-17",
    ),
    "recipe_of_a_tiny_tolerance": Attack(
        recipe('[extractor]\nkind = "ppr"\ntolerance = 5e-324\n'),
        "r.toml: extractor.tolerance: must be at least 1e-15, got 5e-324",
    ),
    "recipe_of_a_negative_rate": Attack(
        recipe("[training]\nlearning_rate = -1.0\n"), "r.toml: training.learning_rate: must be above 0.0, got -1.0"
    ),
    "recipe_of_a_rate_that_is_no_number": Attack(
        recipe("[training]\nlearning_rate = nan\n"), "r.toml: training.learning_rate: must be a finite number, got nan"
    ),
    "recipe_that_imports": Attack(
        recipe('[model]\nlayer = "os.system"\n'),
        "or a class of torch_geometric.nn.conv, got 'os.system'",
    ),
    "recipe_of_deep_lists": Attack(recipe("a = " + "[" * 100_000), "r.toml: is not TOML"),
    "recipe_of_2_mb": Attack(recipe(b"#" * (2 << 20)), "r.toml: must have at most 1048576 bytes"),
    "recipe_that_is_not_utf8": Attack(recipe(b"graph = '\xff'"), "r.toml: is not TOML"),
    "recipe_of_another_type": Attack(
        recipe('[model]\nhidden_dim = "256"\n'), 'r.toml: model.hidden_dim: must be an integer, got "256"'
    ),
    "recipe_of_long_walks": Attack(
        recipe('[extractor]\nkind = "simrank"\nwalk_length = 2147483647\n'),
        "r.toml: extractor.walk_length: must be at most 32, got 2147483647",
    ),
    "model_of_100_wide_layers": Attack(
        model(config(model__hidden_dim=16_384, model__num_layers=100)),
        "run/model.safetensors: weight branches.0.norm.scale must have shape (16384,), as in the model, got (8,)",
    ),
    "model_of_10_to_8_inputs": Attack(
        model(config(in_dim=10**8)),
        "run/model.safetensors: must have weights for 100000000 input columns, as config.json says",
    ),
    "model_of_too_many_inputs": Attack(
        model(config(in_dim=2**40)), "run/config.json: in_dim: Input should be less than or equal to 100000000"
    ),
    "model_of_an_unknown_layer": Attack(
        model(config(model__layer="pickle.loads")),
        "or a class of torch_geometric.nn.conv, got 'pickle.loads'",
    ),
    "model_with_a_changed_config": Attack(
        model(more_topk), "run/config.json: was edited or damaged: its checksum does not fit"
    ),
    "model_with_a_flipped_weight": Attack(
        model(flipped("model.safetensors", -5)),
        "run/model.safetensors: was edited or damaged: its checksum does not match config.json",
    ),
    "weights_that_lie": Attack(model(weights(lying_header)), "run/model.safetensors: is not a safetensors file"),
    "weights_of_a_pickle": Attack(
        model(weights(lambda data: b"\x80\x04cposix\nsystem\n(S'touch pwned'\ntR.")),
        "run/model.safetensors: is not a safetensors file",
    ),
    "weights_that_are_cut": Attack(
        model(weights(lambda data: data[:-100])), "run/model.safetensors: is not a safetensors file"
    ),
    "weights_of_no_tensors": Attack(
        model(weights(lambda data: struct.pack("<Q", 2) + b"{}")),
        "run/model.safetensors: must have weights for 3 input columns, as config.json says",
    ),
    "run_json_of_deep_lists": Attack(run_folder(text_in("run.json", "[" * 100_000)), "run/run.json: is not JSON"),
    "run_json_of_another_version": Attack(
        run_folder(text_in("run.json", '{"format": "shadow-run", "version": 9}')),
        "run/run.json: version must be 2, got 9",
    ),
    "run_json_with_a_flipped_bit": Attack(run_folder(flipped("run.json", 40)), "run/run.json: is not JSON"),
    "run_recipe_with_a_flipped_bit": Attack(
        run_folder(flipped("recipe.toml", 60)), "run/recipe.toml: was edited or damaged: its checksum does not fit"
    ),
    "run_json_that_links_to_a_device": Attack(
        run_folder(linked("run.json")), "run/run.json: cannot be read: not a regular file"
    ),
    "checkpoint_of_nothing": Attack(checkpoint(b""), "c: is not a checkpoint, or is cut off"),
    "checkpoint_with_a_huge_header": Attack(
        checkpoint(struct.pack("<Q", 2**62) + b"{}"), "c: is not a checkpoint, or is cut off"
    ),
    "checkpoint_of_a_pickle": Attack(
        checkpoint(b"\x80\x04cposix\nsystem\n(S'touch pwned'\ntR."), "c: is not a checkpoint, or is cut off"
    ),
    "scope_file_of_nothing": Attack(scopes(lambda data: b""), "s: is not a scope file"),
    "scope_file_with_a_huge_header": Attack(scopes(lambda data: b"\xff" * 8 + data[8:]), "s: is not a scope file"),
    "scope_file_that_is_cut": Attack(
        scopes(lambda data: data[:-3]), "s: was edited or damaged: it must have 536 bytes, got 533"
    ),
    "scope_file_with_a_flipped_bit": Attack(
        scopes(lambda data: data[:-3] + b"\x01" + data[-2:]), "s: was edited or damaged: its checksum does not fit"
    ),
    "scope_file_that_claims_too_much": Attack(
        scopes(scope_header(lambda h: h["node_id"].update(shape=[2**57]))),
        "s: was edited or damaged: node_id is not where it should be",
    ),
    "scope_file_of_objects": Attack(
        scopes(scope_header(lambda h: h["node_id"].update(dtype="O"))),
        "s: was edited or damaged: node_id must be a list of I32 or I64",
    ),
    "scope_file_of_a_shape_of_text": Attack(
        scopes(scope_header(lambda h: h["ptr"].update(shape="abc"))),
        "s: was edited or damaged: too many values to unpack (expected 1)",
    ),
    "scope_file_of_another_graph": Attack(
        foreign_scopes, "FileExtractor: graph must have 1000 nodes, as that of s, got 120"
    ),
}
