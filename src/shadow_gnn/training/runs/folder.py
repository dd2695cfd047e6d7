"""Run folder: the files of a run, its lock, and the checks on opening it.

Not for: training (run.py); nothing here needs torch.
"""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field, ValidationError

from shadow_gnn.base.checked_json import dump_checked, read_checked, without_checksum
from shadow_gnn.base.errors import RecipeError, RunError, WriteError
from shadow_gnn.base.files import checksum_of, new_folder, read_bytes, read_object, write_blocks, write_file
from shadow_gnn.base.short_repr import as_html, as_line
from shadow_gnn.base.temporary import remove_abandoned, remove_abandoned_below
from shadow_gnn.graph.manifest import read_manifest
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import MANIFEST
from shadow_gnn.recipe import Recipe, Record
from shadow_gnn.recipe.file import read_recipe, write_recipe

VERSION: Final = 2
INIT, WARM = "init", "warm"
"""Folders of a run: the model of training.init, and the run of training.warm_start."""
RECIPE, RECORD, VERSIONS, RESULT, METRICS = "recipe.toml", "run.json", "versions.json", "result.json", "metrics.csv"
REPEATS, HYBRID = "repeats.json", "hybrid.json"
MAX_BYTES = 1 << 24
_LOCK = ".lock"
_PACKAGES = ("shadow-gnn", "torch", "torch_geometric", "lightning-fabric", "safetensors", "numpy")

Hash = Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
RunState = Literal["finished", "running", "stopped"]


class RunRecord(Record):
    """Contents of run.json: the identity of a run, complete enough to resume it."""

    format: Literal["shadow-run"] = "shadow-run"
    """Identifies the file among other run.json files."""
    version: Literal[2] = VERSION
    """Version of the run folder's layout."""
    run_id: Annotated[str, Field(pattern="^[0-9a-f]{12}$")]
    """Random; also in the checkpoints."""
    started: str
    """Date and time in UTC."""
    seed: Annotated[int, Field(ge=0, lt=2**53)]
    """Random seed of the run."""
    fingerprint: Hash
    """Of the graph's topology."""
    content: Hash | None
    """Of the graph's features, labels and splits; None for a graph in memory."""
    scopes: Hash | None = None
    """Of the extractors, including everything else they read; None for a run of an earlier version."""
    init: Hash | None = None
    """Of the weights that training began with, which are kept in the folder; None for random ones."""
    recipe: Hash
    """Of recipe.toml."""
    num_threads: Annotated[int, Field(ge=1, le=100_000)]
    """Threads of torch: results are equal to the last digit for the same number, type of processor and versions."""


@dataclass(frozen=True)
class Run:
    """One execution of a recipe with one seed."""

    folder: Path
    """Folder of all its files."""
    recipe: Recipe
    """The complete recipe."""
    record: RunRecord
    """Contents of run.json."""

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
    folder: Path,
    recipe: Recipe,
    graph: Graph,
    *,
    num_threads: int,
    scopes: Sequence[str] | None = None,
    init: str | None = None,
    write_init: Callable[[Path], None] | None = None,
) -> Run:
    """Make a run folder, complete or not at all.

    scopes: the keys of its extractors. init: checksum of the weights that training begins with, which write_init writes
    into a folder.
    """
    recipe_text = write_recipe(recipe).encode()
    record = RunRecord(
        run_id=secrets.token_hex(6),
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        seed=recipe.seed,
        fingerprint=graph.fingerprint,
        content=content_hash(graph),
        scopes=None if scopes is None else _hash_of(scopes),
        init=init,
        recipe=checksum_of(recipe_text),
        num_threads=num_threads,
    )
    files = {
        RECIPE: recipe_text,
        RECORD: dump_checked(record.model_dump(mode="json")),
        VERSIONS: dump_checked(versions(num_threads)),
    }
    with new_folder(folder) as temporary:
        for name, data in files.items():
            write_blocks(temporary / name, iter([memoryview(data)]), len(data))
        (temporary / "checkpoints").mkdir()
        if write_init is not None:
            (temporary / INIT).mkdir()
            write_init(temporary / INIT)
    return Run(folder, recipe, record)


def check_run_folder(folder: Path) -> None:
    """Raise unless a path is a folder."""
    if not folder.is_dir():
        fault = "is not a folder" if folder.exists() else "no such folder"
        raise RunError(f"{folder}: {fault}")


def check_one_run(folder: Path) -> None:
    """Raise unless a folder holds one run, instead of several models."""
    if (folder / REPEATS).exists():
        raise RunError(f"{folder}: holds several repeats; name one of them, for example {folder / 'repeat-0'}")
    if (folder / HYBRID).exists():
        raise RunError(
            f"{folder}: holds several models; name one of them, such as {folder / 'normal'} or {folder / 'scopes'}"
        )


def open_run(folder: str | Path) -> Run:
    """Open a run folder; raise a RunError if it is not one.

    >>> run = sg.open_run("runs/first")
    >>> sorted(run.result["test"])[:1]
    ['accuracy']
    """
    folder = Path(folder)
    check_run_folder(folder)
    check_one_run(folder)
    if not (folder / RECORD).exists():
        raise RunError(f"{folder}: is not a run folder: it has no {RECORD}")
    content = read_object(folder / RECORD, MAX_BYTES, RunError)
    if content.get("format") != "shadow-run" or content.get("version") != VERSION:
        found = content.get("version")
        raise RunError(
            f"{folder / RECORD}: version must be {VERSION}, got {found!r:.40}; it is from another shadow-gnn"
        )
    content = without_checksum(folder / RECORD, content, RunError)
    try:
        record = RunRecord.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        raise RunError(f"{folder / RECORD}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from error
    return Run(folder, _kept_recipe(folder, record.recipe), record)


def repeated_recipe(folder: Path) -> Recipe:
    """Return the recipe of the repeats in a folder, with the seed of the first."""
    return _kept_recipe(folder, read_json(folder / REPEATS).get("recipe"))


def _kept_recipe(folder: Path, checksum: object) -> Recipe:
    """Read recipe.toml after comparing its checksum."""
    path = folder / RECIPE
    if checksum_of(read_bytes(path, MAX_BYTES, RunError)) != checksum:
        raise RunError(f"{path}: was edited or damaged: its checksum does not fit; train an edited recipe as a new run")
    try:
        return read_recipe(path)
    except RecipeError as error:
        fault = error.faults[0].removeprefix(f"{path}: ").removeprefix(f"{RECIPE}: ")
        raise RunError(f"{path}: {fault}") from error


def free_folder(recipe: str | Path) -> Path:
    """Return the first of runs/<name of the recipe's file>-1, -2, ... that does not exist yet."""
    number = 1
    while os.path.lexists(Path("runs") / f"{Path(recipe).stem}-{number}"):
        number += 1
    return Path("runs") / f"{Path(recipe).stem}-{number}"


def check_graph(run: Run, graph: Graph) -> None:
    """Raise unless a graph is unchanged since the run began."""
    same_content = run.record.content is None or run.record.content == content_hash(graph)
    if graph.fingerprint == run.record.fingerprint and same_content:
        return
    what = "edges" if graph.fingerprint != run.record.fingerprint else "features, labels, splits or pairs"
    raise RunError(
        f"{run.folder}: graph {graph.path or 'in memory'} must be unchanged since the run began, "
        f"its {what} have changed; train again"
    )


def check_scopes(run: Run, scopes: Sequence[str]) -> None:
    """Raise unless the keys of the extractors are unchanged since the run began."""
    if run.record.scopes not in (None, _hash_of(scopes)):
        raise RunError(
            f"{run.folder}: scopes must be unchanged since the run began, "
            "another graph or file that an extractor reads has changed; train again"
        )


def _hash_of(texts: Sequence[str]) -> str:
    return checksum_of(*(f"{text}\n".encode() for text in texts))


def content_hash(graph: Graph) -> str | None:
    """Hash the checksums of a folder's features, labels, splits and pairs; None for a graph in memory."""
    if graph.path is None:
        return None
    files = sorted(read_manifest(graph.path / MANIFEST).files.items())
    kinds = ("x", "y", "split/", "pairs/", "edge_attr")
    return _hash_of([f"{name} {entry.blake2b}" for name, entry in files if name.startswith(kinds)])


def versions(num_threads: int) -> dict[str, Any]:
    """Return versions and properties of the machine that may influence the numbers of a run."""
    found: dict[str, Any] = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = None
    machine = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    return {**found, **machine, "threads": num_threads}


def run_state(folder: Path) -> RunState:
    """Return whether a run is finished, in use by a process, or stopped."""
    if (folder / RESULT).exists():
        return "finished"
    try:
        with locked(folder):
            return "stopped"
    except RunError:
        return "running"
    except WriteError:  # Nobody works in a folder that cannot be written to.
        return "stopped"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a folder for this process; the system releases the lock however the process ends."""
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
    """Remove the temporary files and folders of a killed process; the caller must hold the lock."""
    for place in (folder, folder / "checkpoints"):
        remove_abandoned(place)
    remove_abandoned_below(folder / "cache")


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write JSON with its checksum in a single step."""
    write_file(path, dump_checked(content))


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object of a run folder after comparing its checksum; a RunError names the file."""
    return read_checked(path, MAX_BYTES, RunError)
