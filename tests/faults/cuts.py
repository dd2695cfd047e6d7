"""Files of a graph cut, replaced or removed while commands read them: one line, or the true result."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.communities import communities, small_recipe
from tests.faults.campaign import Campaign
from tests.faults.jobs import Job
from tests.faults.results import Result, files_of, run_of
from tests.faults.trials import Ending, Trial, run
from tests.faults.warm import import_for
from tests.faults.workplace import fresh

_TIMES = re.compile("second|latency|_us$")


def cuts(campaign: Campaign, root: Path) -> None:
    """Cut or replace 300 files under commands that extract, train, predict, describe and save."""
    place = _prepare(root)
    names = campaign.chosen(READERS)
    for name, share in names:
        job = READERS[name]
        import_for(job.argv, _with_graph(root, place))
        folder = _with_graph(root, place)
        whole = run(job.argv, folder)
        assert whole.code == 0, whole
        expected = _said(job, folder, whole)
        for number in campaign.trials(-(-300 // len(names)), share):
            rng = random.Random(f"{campaign.seed} {name} {number}")
            folder = _with_graph(root, place)
            path = rng.choice(sorted(folder.glob("graph/**/*.npy")))
            harm = rng.choice(list(HARMS))
            trial = Trial(job.argv, folder)
            ended = trial.ends_within(rng.uniform(0, whole.seconds))
            HARMS[harm](path, rng)
            ending = trial.ending()
            campaign.counts["trials"] += 1
            campaign.counts["files"] += not ended  # Others were harmed after the command had ended.
            campaign.counts["refused"] += ending.code == 2
            where = f"{name}, {path.name} {harm}"
            silent = "" if ending.code else _difference(expected, _said(job, folder, ending))
            campaign.check(where, ending.fault, silent)


def _cut(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size))


def _cut_pages(path: Path, rng: random.Random) -> None:
    os.truncate(path, rng.randrange(path.stat().st_size // 4096 + 1) * 4096)


def _replace(path: Path, rng: random.Random) -> None:
    """Put other bytes of the same length under the name; the open map keeps the old ones."""
    other = path.with_name(".other")
    other.write_bytes(rng.randbytes(path.stat().st_size))
    os.replace(other, path)


def _remove(path: Path, rng: random.Random) -> None:
    path.unlink()


HARMS: dict[str, Callable[[Path, random.Random], None]] = {
    "cut": _cut,
    "cut at a page": _cut_pages,
    "replaced": _replace,
    "removed": _remove,
}


def _nothing(folder: Path) -> Result:
    return {}


READERS = {
    job.name: job
    for job in (
        Job("extract", ("extract", "graph", "--json"), _nothing),
        Job("data info", ("data", "info", "graph", "--json"), _nothing),
        Job("train", ("train", "recipe.toml", "--out", "out"), run_of),
        Job("predict", ("predict", "done", "--out", "out.csv"), files_of),
        Job("data diffuse", ("data", "diffuse", "graph", "out", "--topk", "8"), files_of),
        Job("evaluate", ("evaluate", "done", "--json"), _nothing),
    )
}


def _prepare(root: Path) -> Path:
    """Make a graph of many pages, a recipe and a finished run, all in a folder to copy."""
    from shadow_gnn.graph.record import DenseFeatures
    from shadow_gnn.graph.store import save_graph
    from shadow_gnn.recipe.file import write_recipe

    place = root / "place" / "cuts"
    if place.exists():
        return place
    place.mkdir()
    graph = communities(num_nodes=2000)
    assert isinstance(graph.x, DenseFeatures)
    features = np.tile(graph.x.matrix, (1, 20))
    save_graph(replace(graph, x=DenseFeatures(features)), place / "graph")
    recipe = small_recipe(graph="graph", training__num_epochs=2, training__batch_size=500)
    (place / "recipe.toml").write_text(write_recipe(recipe))
    folder = _with_graph(root, place)  # Where the trials will be: a run has the absolute path of its graph.
    ending = run(("train", "recipe.toml", "--out", "done"), folder)
    assert ending.code == 0, ending
    shutil.copytree(folder / "done", place / "done")
    return place


def _with_graph(root: Path, place: Path) -> Path:
    folder = fresh(root, "trial")
    folder.rmdir()
    shutil.copytree(place, folder)
    return folder


def _said(job: Job, folder: Path, ending: Ending) -> Result:
    """Return the result of a command: files, and what it has printed as JSON, without times."""
    printed = {}
    if "--json" in job.argv:
        printed = {key: value for key, value in json.loads(ending.out).items() if not _TIMES.search(key)}
    return {**job.result(folder), **printed}


def _difference(expected: Result, found: Result) -> str:
    names = [name for name in sorted({*expected, *found}) if expected.get(name) != found.get(name)]
    return f"silently another result: {names}" if names else ""
