"""Run folder: what a run leaves on the disk, who is working on it, and how it is found again.

Not for: training (run.py); nothing here needs torch.
"""

from __future__ import annotations

import json
import os
import platform
import secrets
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from shadow_gnn.base.errors import RecipeError, RunError, WriteError
from shadow_gnn.base.files import new_checksum, new_folder, read_object, write_blocks, write_file
from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.graph.manifest import read_manifest
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST
from shadow_gnn.recipe import Recipe, Record
from shadow_gnn.recipe.file import read_recipe, write_recipe

VERSION = 1
RECIPE, RECORD, VERSIONS, RESULT, METRICS = "recipe.toml", "run.json", "versions.json", "result.json", "metrics.csv"
REPEATS = "repeats.json"
MAX_BYTES = 1 << 24
_LOCK = ".lock"
_PACKAGES = ("shadow-gnn", "torch", "torch_geometric", "lightning-fabric", "torchmetrics", "safetensors", "numpy")

Hash = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
RunState = Literal["finished", "running", "stopped"]


class RunRecord(Record):
    """What run.json says: what a run is of, so that it goes on with nothing else."""

    format: Literal["shadow-run"] = "shadow-run"
    """Tells the file from any other run.json."""
    version: Literal[1] = 1
    """Version of the run folder's layout."""
    run_id: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]
    """Drawn once; checkpoints carry it."""
    started: str
    """Date and time in UTC."""
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    """Random seed of the run."""
    fingerprint: Hash
    """Of the graph's topology."""
    content: Hash | None
    """Of the graph's features, labels and splits; None for a graph that was in memory."""
    scopes: Hash | None = None
    """Of the extractors with all that they read beside the graph; None for a run of before."""
    num_threads: Annotated[int, Field(ge=1, le=100_000)]
    """Threads of torch: results are equal to the last digit for the same number, type of processor and versions."""


@dataclass(frozen=True)
class Run:
    """One execution of a recipe with one seed."""

    folder: Path
    """Where everything of it is."""
    recipe: Recipe
    """What is done, complete."""
    record: RunRecord
    """What it is done on."""

    def __repr__(self) -> str:
        """Show the folder and the result in one line."""
        return as_line("Run", self._facts())

    def _repr_html_(self) -> str:
        """Show the same as a table in a notebook."""
        return as_html("Run", self._facts())

    def _facts(self) -> dict[str, str]:
        model, result = self.recipe.model, self.result
        facts = {"folder": str(self.folder), "model": f"{model.num_layers} layers of {model.layer}-{model.hidden_dim}"}
        if result is None:
            return {**facts, "state": "not finished"}
        value = result["test"].get(result["monitor"])
        return {**facts, f"test {result['monitor']}": "-" if value is None else f"{value:.4f}"}

    @property
    def result(self) -> dict[str, Any] | None:
        """The metrics and times of a finished run; None before that."""
        path = self.folder / RESULT
        return read_json(path) if path.exists() else None


def create_run(
    folder: Path, recipe: Recipe, graph: Graph, *, num_threads: int, scopes: Sequence[str] | None = None
) -> Run:
    """Make a run folder, whole or not at all. scopes: the keys of its extractors."""
    record = RunRecord(
        run_id=secrets.token_hex(6),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=recipe.seed,
        fingerprint=graph.fingerprint,
        content=content_hash(graph),
        scopes=None if scopes is None else _hash_of(scopes),
        num_threads=num_threads,
    )
    files = {
        RECIPE: write_recipe(recipe),
        RECORD: _dump(record.model_dump(mode="json")),
        VERSIONS: _dump(versions(num_threads)),
    }
    with new_folder(folder) as temporary:
        for name, text in files.items():
            data = text.encode()
            write_blocks(temporary / name, iter([memoryview(data)]), len(data))
        (temporary / "checkpoints").mkdir()
    return Run(folder, recipe, record)


def open_run(folder: str | Path) -> Run:
    """Open a run folder; a RunError says in one line why it is none."""
    folder = Path(folder)
    if not folder.is_dir():
        raise RunError(f"{folder}: is not a folder")
    if not (folder / RECORD).exists():
        raise RunError(f"{folder}: is not a run folder: it has no {RECORD}")
    content = read_json(folder / RECORD)
    if content.get("format") != "shadow-run" or content.get("version") != VERSION:
        found = content.get("version")
        raise RunError(
            f"{folder / RECORD}: version must be {VERSION}, got {found!r:.40}; it is from another shadow-gnn"
        )
    try:
        record = RunRecord.model_validate(content)
        return Run(folder, read_recipe(folder / RECIPE), record)
    except ValidationError as error:
        first = error.errors()[0]
        raise RunError(f"{folder / RECORD}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    except RecipeError as error:
        raise RunError(f"{folder / RECIPE}: {error.faults[0].removeprefix(RECIPE + ': ')}") from error


def free_folder(recipe: str | Path) -> Path:
    """Return the first of runs/<name of the recipe's file>-1, -2, ... that is not there yet."""
    number = 1
    while os.path.lexists(Path("runs") / f"{Path(recipe).stem}-{number}"):
        number += 1
    return Path("runs") / f"{Path(recipe).stem}-{number}"


def check_graph(run: Run, graph: Graph) -> None:
    """Raise unless a graph is the one that the run began with."""
    same_content = run.record.content is None or run.record.content == content_hash(graph)
    if graph.fingerprint == run.record.fingerprint and same_content:
        return
    what = "edges" if graph.fingerprint != run.record.fingerprint else "features, labels, splits or pairs"
    raise RunError(
        f"{run.folder}: graph {graph.path or 'in memory'} must be as the run began with it, its {what} have changed; "
        "train anew"
    )


def check_scopes(run: Run, scopes: Sequence[str]) -> None:
    """Raise unless the extractors, told by their keys, choose scopes as when the run began."""
    if run.record.scopes not in (None, _hash_of(scopes)):
        raise RunError(
            f"{run.folder}: scopes must be chosen as the run began with, another graph or file that an extractor reads "
            "has changed; train anew"
        )


def _hash_of(texts: Sequence[str]) -> str:
    checksum = new_checksum()
    for text in texts:
        checksum.update(f"{text}\n".encode())
    return str(checksum.hexdigest())


def content_hash(graph: Graph) -> str | None:
    """Hash the checksums of a folder's features, labels, splits and pairs; None for a graph in memory."""
    if graph.path is None:
        return None
    checksum = new_checksum()
    for name, entry in sorted(read_manifest(graph.path / MANIFEST).files.items()):
        if name.startswith(("x", "y", "split/", "pairs/", "edge_attr")):
            checksum.update(f"{name} {entry.blake2b}\n".encode())
    return str(checksum.hexdigest())


def versions(num_threads: int) -> dict[str, Any]:
    """Return the versions and facts of the machine that a run's numbers may depend on."""
    found: dict[str, Any] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    machine = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    return {**found, **machine, "threads": num_threads}


def run_state(folder: Path) -> RunState:
    """Say whether a run is finished, being worked on by a process, or neither."""
    if (folder / RESULT).exists():
        return "finished"
    try:
        with locked(folder):
            return "stopped"
    except RunError:
        return "running"
    except WriteError:  # A folder that nobody can write to is one that nobody works on.
        return "stopped"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; the system lets go of it however the process ends."""
    import fcntl

    try:
        handle = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise WriteError(f"{folder / _LOCK}: cannot be written: {error.strerror or error}") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise RunError(f"{folder}: another process is working on this run") from None
        yield
    finally:
        os.close(handle)


def remove_leftovers(folder: Path) -> None:
    """Remove what a killed process had not yet given its name, files and folders; only for who holds the folder."""
    places = (folder.glob(".*.tmp"), (folder / "checkpoints").glob(".*.tmp"), (folder / "cache").rglob(".*.tmp"))
    for path in list(chain.from_iterable(places)):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON in a single step."""
    write_file(path, _dump(content).encode())


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object of a run folder; a RunError names the file."""
    return read_object(path, MAX_BYTES, RunError)


def _dump(content: Mapping[str, Any]) -> str:
    return json.dumps(content, indent=1) + "\n"
