"""A folder with everything that commands are tried on: graphs, tables, a recipe, a finished run, a log of updates."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.communities import communities, small_recipe
from tests.faults.trials import run

SPACE = "model.dropout = [0.0, 0.2]\n"


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
    recipe = small_recipe(
        graph=str(place / "graph"), training__num_epochs=4, training__cache="disk", training__batch_size=75
    )
    (place / "recipe.toml").write_text(write_recipe(recipe))
    (place / "space.toml").write_text(SPACE)
    rng = np.random.default_rng(0)
    edges = rng.integers(2000, size=(8000, 2))
    (place / "edges.csv").write_text("src,dst\n" + "".join(f"{a},{b}\n" for a, b in edges))
    labels = np.stack((np.arange(2000), rng.integers(3, size=2000)), axis=1)
    (place / "labels.csv").write_text("node,label\n" + "".join(f"{a},{b}\n" for a, b in labels))
    _fill_tables(place)
    _fill_updates(place)
    for command in ("train recipe.toml --out done", "data import old-edges.csv tables --nodes old.csv"):
        ending = run(command.split(), place)
        assert ending.code == 0, ending.err


def _fill_tables(place: Path) -> None:
    """Write tables of nodes and edges, and of more of both."""
    rng = np.random.default_rng(1)
    for name, first, last in (("old", 0, 200), ("more", 200, 240)):
        rows = [f"n{node},{rng.random():.4f},{rng.choice(['red', 'blue'])}" for node in range(first, last)]
        (place / f"{name}.csv").write_text("\n".join(("name,size,color", *rows, "")))
        ends = [f"n{a},n{b}" for a, b in rng.integers(last, size=(2 * last, 2))]
        (place / f"{name}-edges.csv").write_text("\n".join(("src,dst", *ends, "")))


def _fill_updates(place: Path) -> None:
    """Make a graph and a log of updates to it."""
    from shadow_gnn.graph.changes.live_graph import LiveGraph
    from shadow_gnn.graph.changes.update import Update
    from shadow_gnn.graph.store import open_graph, save_graph

    save_graph(communities(), place / "updated" / "out")
    live = LiveGraph(open_graph(place / "updated" / "out"), place / "updated" / "out.updates")
    for number in range(20):
        node = live.graph.num_nodes
        features, ends = np.full((1, 3), number, np.float32), np.array([[node, number], [node, 30 + number]])
        gone = np.array([[node - 1, number - 1]]) if number % 3 else np.zeros((0, 2), np.int64)
        update = Update(f"key {number}", f"digest {number}", 1, features, set_edges=ends, remove_edges=gone)
        assert not isinstance(live.commit([update])[0], Exception)
    live.close()


def _resume_from_small_steps() -> None:
    """Let long jobs save their progress often, as if they took hours; let tune fork its workers, as this costs less."""
    import multiprocessing

    from shadow_gnn.cli.shared import progress
    from shadow_gnn.graph.importing.bounded import out_of_core
    from shadow_gnn.inference import predictor, resumable
    from shadow_gnn.studies.learned_scopes import scoring

    progress.LINE_SECONDS = float("inf")  # On a busy machine, lines of progress would come before the one of the fault.
    out_of_core.CHECKPOINT_SECONDS = 0.0
    resumable.MIN_TARGETS, resumable._KEEP_SECONDS = 10, 0.0
    predictor._BLOCK_NUMBERS = 500
    scoring._PART_TARGETS["saliency"] = 40
    forking = multiprocessing.get_context("fork")
    multiprocessing.get_context = lambda method=None: forking  # type: ignore[assignment]
