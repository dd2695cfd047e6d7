"""Commands that make something, each on a small graph in seconds: what they leave, and how to finish after a kill."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.faults.results import Result, changed_graph_of, files_of, leftovers, run_of
from tests.faults.trials import run
from tests.faults.warm import import_for
from tests.faults.workplace import fresh


@dataclass(frozen=True)
class Job:
    """A command in a fresh folder, from which the inputs are `../place`."""

    name: str
    argv: tuple[str, ...]
    result: Callable[[Path], Result]
    """Read what is under final names in the folder: {} if nothing is; what is half-made raises."""
    resume: tuple[str, ...] | None = None
    """The command after a kill, if `out` is there already; None for the same one."""
    given: str = ""
    """Folder of `../place` whose contents are in the fresh folder."""

    def fresh(self, root: Path, name: str) -> Path:
        """Return a new folder to run in."""
        folder = fresh(root, name)
        if self.given:
            shutil.copytree(root / "place" / self.given, folder, dirs_exist_ok=True)
        return folder

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
        if found and self.result is files_of and (missing := sorted({*expected} - {*found})):
            return f"half-made: without {missing}"
        # Checkpoints of an epoch and parts of several runs may still be missing; what is there must be right.
        wrong = [
            name
            for name, value in found.items()
            if name in expected and name != "best.toml" and value != expected[name]  # The best one may still change.
        ]
        return f"half-made: {wrong}" if wrong else ""


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
                     "training.num_epochs=1", "--out", "out"),
            run_of),
        _folder("data generate", "data", "generate", "dcsbm", "--nodes", "3000", "--degree", "8", "--features", "6",
                "--classes", "3", "--memory", "64MB", "--out", "out"),
        Job("learn-scope", ("learn-scope", "../place/recipe.toml", "--topk", "5", "--normal-epochs", "1", "--method",
                            "full", "--set", "training.num_epochs=1", "--out", "out"), run_of),
        _folder("data append", "data", "append", "../place/tables", "out", "--nodes", "../place/more.csv", "--edges",
                "../place/more-edges.csv"),
        Job("graph compact", ("graph", "compact", "out"), changed_graph_of, given="updated"),
        Job("export", ("export", "../place/done", "out.pt2"), files_of),
        Job("explain", ("explain", "../place/done", "--node", "1", "--node", "2", "--html", "out.html",
                        "--json"), files_of),
        Job("correct", ("correct", "../place/done", "--out", "out.csv", "--scale", "1.5"), files_of),
        Job("ensemble", ("ensemble", "../place/done", "../place/done", "--out", "out.parquet"), files_of),
        Job("draw", ("draw", "../place/graph", "17", "--plot", "out.png"), files_of),
        Job("init", ("init", "../place/graph", "--out", "out.toml", "--overwrite"), files_of),
    )
}  # fmt: skip


def reference(root: Path, job: Job) -> tuple[Result, float]:
    """Run a job without a fault, into `whole`; return what it leaves and the seconds it takes.

    Later campaigns have the results of the first one.
    """
    kept = root / f"whole {job.name} {zlib.crc32(repr(job.argv).encode()):08x}"  # Two campaigns may use one name.
    if not kept.exists():
        _REFERENCES[kept] = _run_reference(root, job)
        (root / "whole").rename(kept)
    shutil.copytree(kept, fresh(root, "whole"), dirs_exist_ok=True)
    return _REFERENCES[kept]


_REFERENCES: dict[Path, tuple[Result, float]] = {}


def _run_reference(root: Path, job: Job) -> tuple[Result, float]:
    import_for(job.argv, job.fresh(root, "whole"))
    folder = job.fresh(root, "whole")
    ending = run(job.argv, folder)
    assert ending.code == 0, (job.name, ending)
    assert not ending.fault, (job.name, ending)
    return job.result(folder), ending.seconds
