"""Commands that make something, each on a small graph in seconds: what they leave, and how to finish after a kill."""

from __future__ import annotations

import csv
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tests.communities import communities, small_recipe
from tests.faults.trials import run

SPACE = "model.dropout = [0.0, 0.2]\n"
Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """A command in a fresh folder, from which the inputs are `../place`."""

    name: str
    argv: tuple[str, ...]
    result: Callable[[Path], Result]
    """Read what is under final names in the folder: {} if nothing is; what is half-made raises."""
    resume: tuple[str, ...] | None = None
    """The command after a kill, if `out` is there already; None for the same one."""

    def next_argv(self, folder: Path) -> Sequence[str]:
        """Return the command that begins or continues."""
        return self.resume if self.resume and (folder / "out").exists() else self.argv

    def finish(self, folder: Path, expected: Result, before: Callable[[], object] = lambda: None) -> str:
        """Run the command again after a fault; return what is wrong then, empty if nothing is."""
        ending = run(self.next_argv(folder), folder, before)
        if ending.code != 0:
            return f"the next run ended with {ending.code}: {ending.err[-300:]}"
        return ending.fault or self.compare(folder, expected) or leftovers(folder)

    def compare(self, folder: Path, expected: Result) -> str:
        """Return in which files a finished result differs, empty if in none."""
        found = self.result(folder)
        different = [name for name in sorted({*found, *expected}) if found.get(name) != expected.get(name)]
        return f"another result: {different}" if different else ""

    def half_made(self, folder: Path, expected: Result) -> str:
        """Return what is wrong with final names after a fault: they must be missing or whole."""
        try:
            found = self.result(folder)
        except Exception as error:
            return f"half-made: {type(error).__name__}: {error}"
        # Checkpoints of an epoch and parts of several runs may still be missing; what is there must be right.
        wrong = [
            name
            for name, value in found.items()
            if name in expected and name != "best.toml" and value != expected[name]  # The best one may still change.
        ]
        return f"half-made: {wrong}" if wrong else ""


def files_of(folder: Path) -> Result:
    """Return the bytes of all files of a result that appears in one step."""
    out = next(folder.glob("out*"), None)
    if out is None:
        return {}
    if out.is_file():
        return {out.name: out.read_bytes()}
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def run_of(folder: Path) -> Result:
    """Return everything of the runs below `out` that does not depend on time, read as the program reads it."""
    from shadow_gnn.training.checkpoint import read_checkpoint
    from shadow_gnn.training.runs.folder import RECORD, open_run

    found: Result = {}
    for record in sorted(folder.glob(f"out/**/{RECORD}")):
        place, name = record.parent, str(record.parent.relative_to(folder))
        opened = open_run(place)
        if opened.result is not None:
            found |= {f"{name}/{key}": value for key, value in opened.result.items() if "seconds" not in key}
            found[f"{name}/metrics"] = _metrics(place / "metrics.csv")
        for path in sorted(place.glob("checkpoints/*.safetensors")):
            tensors = read_checkpoint(path).tensors
            if path.stem != "best" or opened.result is not None:  # There is a better one in a later epoch.
                found[f"{name}/{path.stem}"] = {key: value.numpy().tobytes() for key, value in tensors.items()}
        if (place / "model.safetensors").exists():
            found[f"{name}/model"] = (place / "model.safetensors").read_bytes()
    for name in ("scopes.safetensors", "best.toml"):
        if (path := folder / "out" / name).exists():
            found[name] = path.read_bytes()
    return found


def _metrics(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as handle:
        return [{key: text for key, text in row.items() if "seconds" not in key} for row in csv.DictReader(handle)]


def leftovers(folder: Path, endings: tuple[str, ...] = (".tmp", ".work")) -> str:
    """Return the temporary names below a folder, empty if there are none."""
    found = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(endings)]
    return f"leftovers: {found}" if found else ""


def _folder(name: str, *argv: str) -> Job:
    """Return a job whose folder appears in one step, at the end."""
    return Job(name, argv, files_of, (*argv, "--overwrite"))


JOBS = {
    job.name: job
    for job in (
        _folder("import", "data", "import", "../place/edges.csv", "out", "--labels", "../place/labels.csv"),
        _folder("import --memory", "data", "import", "../place/edges.csv", "out", "--memory", "64MB"),
        Job("train", ("train", "../place/recipe.toml", "--out", "out"), run_of, ("resume", "out")),
        Job("predict", ("predict", "../place/done", "--out", "out.csv", "--embedding"), files_of),
        _folder("data diffuse", "data", "diffuse", "../place/graph", "out", "--topk", "8"),
        Job("tune", ("tune", "../place/recipe.toml", "--space", "../place/space.toml", "--trials", "2", "--set",
                     "training.num_epochs=2", "--out", "out"),
            run_of),
        _folder("data generate", "data", "generate", "dcsbm", "--nodes", "3000", "--degree", "8", "--features", "6",
                "--classes", "3", "--memory", "64MB", "--out", "out"),
        Job("learn-scope", ("learn-scope", "../place/recipe.toml", "--topk", "5", "--normal-epochs", "2", "--method",
                            "full", "--out", "out"), run_of),
    )
}  # fmt: skip


@contextmanager
def workplace() -> Iterator[Path]:
    """Yield a folder whose `place` has a graph, a recipe, a finished run and tables; it is removed at the end."""
    root = Path(tempfile.mkdtemp(prefix="shadow-faults-")).resolve()
    try:
        _fill(root / "place")
        _resume_from_small_steps()
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


def fresh(root: Path, name: str) -> Path:
    """Return a new empty folder next to `place`; an earlier one of that name is removed."""
    folder = root / name
    if folder.exists():
        for inner, _, _ in os.walk(folder):
            os.chmod(inner, 0o755)
        shutil.rmtree(folder)
    folder.mkdir()
    return folder


def _fill(place: Path) -> None:
    from shadow_gnn.graph.store import save_graph
    from shadow_gnn.recipe.file import write_recipe

    place.mkdir()
    graph = communities(num_nodes=300)
    save_graph(graph, place / "graph")
    recipe = small_recipe(graph=str(place / "graph"), training__num_epochs=4, training__cache="disk")
    (place / "recipe.toml").write_text(write_recipe(recipe))
    (place / "space.toml").write_text(SPACE)
    rng = np.random.default_rng(0)
    edges = rng.integers(2000, size=(8000, 2))
    (place / "edges.csv").write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in edges))
    labels = np.stack((np.arange(2000), rng.integers(3, size=2000)), axis=1)
    (place / "labels.csv").write_text("node,label\n" + "".join(f"{a},{b}\n" for a, b in labels))
    for ending in (run(("train", "recipe.toml", "--out", "done"), place),):
        assert ending.code == 0, ending.err


def _resume_from_small_steps() -> None:
    """Let long jobs save their progress often, as if they took hours; let tune fork its workers, as this costs less."""
    import multiprocessing

    from shadow_gnn.graph.importing.bounded import out_of_core
    from shadow_gnn.inference import predictor, resumable
    from shadow_gnn.studies.learned_scopes import scoring

    out_of_core.CHECKPOINT_SECONDS = 0.0
    resumable.MIN_TARGETS, resumable._KEEP_SECONDS = 10, 0.0
    predictor._BLOCK_NUMBERS = 500
    scoring._PART_TARGETS["saliency"] = 40
    forking = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda method=None: forking  # type: ignore[assignment]


def references(root: Path, names: Sequence[str]) -> dict[str, tuple[Result, float]]:
    """Run jobs without a fault; return what each leaves and the seconds it takes."""
    found = {}
    for name in names:
        folder = fresh(root, "whole")
        ending = run(JOBS[name].argv, folder)
        assert ending.code == 0, (name, ending)
        assert not ending.fault, (name, ending)
        found[name] = JOBS[name].result(folder), ending.seconds
    return found
