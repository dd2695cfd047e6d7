"""Readers to fuzz: each takes any bytes as a file or as edits of a folder, reads it and uses what it read.

Not for: the choice of bytes (fuzz_readers.py).
"""

from __future__ import annotations

import atexit
import io
import json
import os
import pickle
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from tests.attacks.signed import sign
from tests.communities import communities, small_recipe
from tests.fuzz.graph_uses import use_folder, use_graph
from tests.graph.test_store import full_graph
from tests.raw_layouts import write_ogb_text, write_planetoid, write_saint

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.files import checksum_of
from shadow_gnn.extract import FileExtractor
from shadow_gnn.extract.scope_file import Origin, ScopeNodes, write_scope_file
from shadow_gnn.graph.importing.detect import read_source
from shadow_gnn.graph.importing.formats.pickled import read_pickled, read_torch
from shadow_gnn.graph.importing.formats.planetoid import read_planetoid
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.inference.predictor import Predictor, ignore_note, open_trained
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.training.checkpoint import read_checkpoint
from shadow_gnn.training.runs.folder import create_run, open_run
from shadow_gnn.training.runs.run import RunOptions, train_recipe

SOUND = "SHADOW_FUZZ_FILES"
"""Environment variable with the folder of the sound files."""


@dataclass(frozen=True)
class Reader:
    """A reader to fuzz."""

    seeds: Callable[[], list[bytes]]
    """Makes good inputs to begin with."""
    use: Callable[[bytes, Path], object]
    """Reads an input, with an empty folder to write it to, and uses it."""


@cache
def sound_files() -> Path:
    """Make the sound files once: graph folders, a run, and sources of imports; or find those of another process."""
    if SOUND in os.environ:
        return Path(os.environ[SOUND])
    place = Path(tempfile.mkdtemp(prefix="shadow-fuzz-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    save_graph(full_graph(), place / "full")
    save_graph(full_graph(sparse=True), place / "sparse")
    save_graph(communities(40), place / "plain")
    graph = open_graph(place / "plain")
    train_recipe(small_recipe(training__num_epochs=1), place / "trained", options=RunOptions(graph=graph))
    create_run(place / "run", small_recipe(seed=7), graph, num_threads=1)
    nodes = ScopeNodes(np.array([1, 3]), np.array([0, 2, 3]), np.array([2, 4, 5]), np.array([2, 1, 1], np.float32))
    write_scope_file(place / "scopes", [nodes], Origin(40, graph.fingerprint, "by hand"))
    write_saint(place / "saint")
    write_ogb_text(place / "ogb")
    write_planetoid(place / "planetoid", "cora")
    return place


def _edited(folder: Path, data: bytes) -> None:
    """Edit the files of a folder as bytes say: groups of file, kind, place and value; a first odd byte signs them."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
    for start in range(1, len(data) - 7, 8):
        number, kind, at, value = data[start], data[start + 1], data[start + 2 : start + 4], data[start + 4 : start + 8]
        path = files[number % len(files)]
        content = bytearray(path.read_bytes())
        place = int.from_bytes(at, "little") % (len(content) + 1)
        if kind % 4 == 0:
            content[place : place + 1 + kind // 64] = value[: 1 + kind // 64]
        elif kind % 4 == 1:
            del content[place : place + value[0]]
        elif kind % 4 == 2:
            content[place:place] = value
        else:
            number = int.from_bytes(value, "little", signed=True) * (1 << (kind // 4 % 32))
            place -= place % 8
            content[place : place + 8] = (number % 2**64).to_bytes(8, "little")
        path.write_bytes(content)


def _graph_folder(name: str) -> Callable[[bytes, Path], object]:
    def use(data: bytes, place: Path) -> None:
        shutil.copytree(sound_files() / name, place / "g")
        _edited(place / "g", data)
        if data[:1] and data[0] % 2:
            try:
                sign(place / "g")
            except (ValueError, KeyError, TypeError, AttributeError, OSError, RecursionError):
                return  # Not even a graph.json that someone could sign.
        use_folder(place / "g", check=not (data[:1] and data[0] % 4 == 2))

    return use


def _graph_json(data: bytes, place: Path) -> None:
    """Use a graph.json of any content, with a checksum that fits if it is an object."""
    shutil.copytree(sound_files() / "full", place / "g")
    (place / "g" / "graph.json").write_bytes(_signed(data))
    use_folder(place / "g", check=False)


def _signed(data: bytes) -> bytes:
    try:
        content = json.loads(data)
        return dump_checked({name: value for name, value in content.items() if name != "checksum"})
    except (ValueError, AttributeError, RecursionError):
        return data


def _use_run(data: bytes, place: Path) -> None:
    shutil.copytree(sound_files() / "run", place / "r")
    _edited(place / "r", data)
    open_run(place / "r")


def _predict(folder: Path) -> None:
    Predictor(open_trained(folder), open_graph(sound_files() / "plain"), warn=ignore_note).predict(np.arange(3))


def _use_model(data: bytes, place: Path) -> None:
    shutil.copytree(sound_files() / "trained", place / "r")
    _edited(place / "r", data)
    _predict(place / "r")


def _use_config(data: bytes, place: Path) -> None:
    shutil.copytree(sound_files() / "trained", place / "r")
    (place / "r" / "config.json").write_bytes(_signed(data))
    _predict(place / "r")


def _use_weights(data: bytes, place: Path) -> None:
    shutil.copytree(sound_files() / "trained", place / "r")
    (place / "r" / "model.safetensors").write_bytes(data)
    content = json.loads((place / "r" / "config.json").read_text()) | {"weights_blake2b": checksum_of(data)}
    (place / "r" / "config.json").write_bytes(_signed(json.dumps(content).encode()))
    _predict(place / "r")


def _use_scopes(data: bytes, place: Path) -> None:
    (place / "s").write_bytes(data)
    FileExtractor(place / "s", missing="node")(open_graph(sound_files() / "plain"), [1, 2, 3])


def _use_checkpoint(data: bytes, place: Path) -> None:
    (place / "c").write_bytes(data)
    read_checkpoint(place / "c")


def _use_recipe(data: bytes, place: Path) -> None:
    (place / "r.toml").write_bytes(data)
    recipe = read_recipe(place / "r.toml")
    (place / "again.toml").write_text(write_recipe(recipe))
    assert read_recipe(place / "again.toml") == recipe


def _imported(name: str) -> Callable[[bytes, Path], object]:
    """Return a use of an importer of one file."""

    def use(data: bytes, place: Path) -> None:
        (place / name).write_bytes(data)
        use_graph(read_source(place / name)[0])

    return use


def _folder_imported(name: str, read: Callable[[Path], Any]) -> Callable[[bytes, Path], object]:
    """Return a use of an importer of a folder."""

    def use(data: bytes, place: Path) -> None:
        shutil.copytree(sound_files() / name, place / name)
        _edited(place / name, data)
        use_graph(read(place / name)[0])

    return use


def _read(read: Callable[[Path], Any]) -> Callable[[bytes, Path], object]:
    def use(data: bytes, place: Path) -> None:
        (place / "file").write_bytes(data)
        read(place / "file")

    return use


def _npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, indptr=np.array([0, 1, 2]), indices=np.array([1, 0]), x=np.ones((2, 2), np.float32))
    return stream.getvalue()


def _parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    stream = io.BytesIO()
    pq.write_table(pa.table({"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [1.0, 2.0, 0.5]}), stream)
    return stream.getvalue()


def _torch(value: Any, *, zipped: bool) -> bytes:
    stream = io.BytesIO()
    torch.save(value, stream, _use_new_zipfile_serialization=zipped)
    return stream.getvalue()


def _edits() -> list[bytes]:
    rng = random.Random(0)
    return [bytes([number]) + rng.randbytes(8 * (number % 3)) for number in range(8)]


def _file(*parts: str) -> Callable[[], list[bytes]]:
    return lambda: [sound_files().joinpath(*parts).read_bytes()]


PLAIN = {"edge": np.array([[0, 1], [1, 2]]), "year": np.arange(2), "more": [1, 2.5, "text", None, (3,)]}

READERS: dict[str, Reader] = {
    "graph-folder": Reader(_edits, _graph_folder("full")),
    "graph-folder-sparse": Reader(_edits, _graph_folder("sparse")),
    "graph-json": Reader(_file("full", "graph.json"), _graph_json),
    "run-folder": Reader(_edits, _use_run),
    "model-folder": Reader(_edits, _use_model),
    "model-config": Reader(_file("trained", "config.json"), _use_config),
    "model-weights": Reader(_file("trained", "model.safetensors"), _use_weights),
    "scope-file": Reader(_file("scopes"), _use_scopes),
    "recipe": Reader(_file("run", "recipe.toml"), _use_recipe),
    "edge-list": Reader(
        lambda: [b"src,dst,weight\n0,1,2.5\n1,2,1\n", b"a\tb\nb\tc\n", b"# x\n0 1\n"], _imported("e.csv")
    ),
    "parquet": Reader(lambda: [_parquet()], _imported("e.parquet")),
    "npz": Reader(lambda: [_npz()], _imported("g.npz")),
    "saint": Reader(_edits, _folder_imported("saint", read_source)),
    "ogb": Reader(_edits, _folder_imported("ogb", read_source)),
    "planetoid": Reader(_edits, _folder_imported("planetoid", lambda folder: read_planetoid(folder, "cora"))),
    "pickle": Reader(lambda: [pickle.dumps(PLAIN, protocol) for protocol in (0, 2, 4)], _read(read_pickled)),
    "torch-file": Reader(lambda: [_torch(PLAIN, zipped=way) for way in (False, True)], _read(read_torch)),
    "checkpoint": Reader(
        lambda: [path.read_bytes() for path in sorted((sound_files() / "trained" / "checkpoints").glob("*"))[:1]],
        _use_checkpoint,
    ),
}
