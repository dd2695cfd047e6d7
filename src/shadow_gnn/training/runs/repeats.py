"""Repeats: one recipe trained with several seeds, each in its own run, with mean and deviation of the metrics.

Not for: a single run (run.py).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from shadow_gnn.base.checked_json import dump_checked
from shadow_gnn.base.errors import RunError, WriteError
from shadow_gnn.base.files import checksum_of, new_folder, write_blocks
from shadow_gnn.base.ranks import join_ranks
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.folder import RECIPE, REPEATS, RESULT, locked, read_json, repeated_recipe, write_json
from shadow_gnn.training.runs.run import RunOptions, resume_run, train_recipe, with_graph_path

VERSION = 1
MAX_REPEATS = 1000


def train_repeats(recipe: Recipe, folder: str | Path, num_repeats: int, options: RunOptions | None = None) -> Path:
    """Train a recipe with the seeds seed, seed + 1, ... in one folder, summarize, and return the folder."""
    folder, options = Path(folder), options or RunOptions()
    if not 2 <= num_repeats <= MAX_REPEATS:
        raise ValueError(f"train_repeats: num_repeats must be from 2 to {MAX_REPEATS}, got {num_repeats}")
    ranks = join_ranks()
    if ranks.is_main and os.path.lexists(folder):
        raise WriteError(f"{folder}: exists already; choose another folder, or continue with shadow resume {folder}")
    graph = options.graph or open_recipe_graph(recipe.graph)
    text = write_recipe(with_graph_path(recipe, graph)).encode()
    record = {"format": "shadow-repeats", "version": VERSION, "num_repeats": num_repeats, "recipe": checksum_of(text)}
    files = {RECIPE: text, REPEATS: dump_checked(record)}
    if ranks.is_main:
        with new_folder(folder) as temporary:
            for name, data in files.items():
                write_blocks(temporary / name, iter([memoryview(data)]), len(data))
    ranks.from_main(None)  # The others read the folder now.
    return resume_repeats(folder, replace(options, graph=graph))


def resume_repeats(folder: str | Path, options: RunOptions | None = None) -> Path:
    """Train the unfinished repeats, and summarize all."""
    folder, options = Path(folder), options or RunOptions()
    num_repeats, recipe = count_repeats(folder), repeated_recipe(folder)
    options = replace(
        options,
        graph=options.graph or open_recipe_graph(recipe.graph),
        cache_folder=options.cache_folder or folder / "cache",
    )
    results: list[dict[str, Any]] = []
    ranks = join_ranks()
    with locked(folder) if ranks.is_main else nullcontext():
        for number in range(num_repeats):
            place = folder / f"repeat-{number}"
            if ranks.from_main(place.exists()):
                run = resume_run(place, options=options)
            else:
                run = train_recipe(recipe.model_copy(update={"seed": recipe.seed + number}), place, options=options)
            results.append(ranks.from_main(run.result))
        if ranks.is_main:
            write_json(folder / RESULT, summarize(results))
    return folder


def is_repeats(folder: str | Path) -> bool:
    """Tell whether a folder holds the repeats of a recipe rather than one run."""
    return (Path(folder) / REPEATS).exists()


def count_repeats(folder: Path) -> int:
    """Return the number of repeats of a folder, finished or not."""
    content = read_json(folder / REPEATS)
    if content.get("format") != "shadow-repeats" or content.get("version") != VERSION:
        found = content.get("version")
        raise RunError(
            f"{folder / REPEATS}: version must be {VERSION}, got {found!r:.40}; it is from another shadow-gnn"
        )
    count = content.get("num_repeats")
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= MAX_REPEATS:
        raise RunError(f"{folder / REPEATS}: num_repeats must be from 2 to {MAX_REPEATS}, got {count!r:.40}")
    return count


def summarize(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return mean, sample deviation and values of every metric."""
    return {
        "num_repeats": len(results),
        "monitor": results[0]["monitor"],
        "valid": {name: _spread([result["valid"][name] for result in results]) for name in results[0]["valid"]},
        "test": {name: _spread([result["test"][name] for result in results]) for name in results[0]["test"]},
        "best_epoch": [result["best_epoch"] for result in results],
        "seconds_per_epoch": mean(result["seconds_per_epoch"] for result in results),
    }


def _spread(values: Sequence[float | None]) -> dict[str, Any]:
    defined = [value for value in values if value is not None and math.isfinite(value)]
    if len(defined) < len(values):
        return {"mean": None, "deviation": None, "values": list(values)}
    return {"mean": mean(defined), "deviation": stdev(defined), "values": list(values)}
