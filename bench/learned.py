"""Learned scopes on the built-in graph: seconds of each phase of `shadow learn-scope`, and of GNNExplainer by target.

Not for: the quality of learned scopes (extractor_study.py).
"""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from common import CACHE, ROOT, Bar, Report, busy_share, finish, load_line, options

from shadow_gnn.graph.datasets import open_dataset
from shadow_gnn.graph.record import Graph
from shadow_gnn.graph.store import save_graph
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.studies.learned_scopes.phases import NORMAL, LearnedScopeOptions, SilentPhases, make_learned_scopes
from shadow_gnn.studies.learned_scopes.recipes import CANDIDATES_PER_NODE, candidate_extractor, scope_size
from shadow_gnn.studies.learned_scopes.scoring import Places, Scorer, score_targets
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.model_file import read_model

RECIPE = ROOT / "recipes" / "debian.toml"
MOST_SECONDS = 600.0
"""Time limit for the saliency scopes of all training targets on two cores."""
NUM_THREADS = 2


@dataclass(frozen=True)
class Mark:
    """The beginning of a phase."""

    name: str
    wall: float
    cpu: float

    @classmethod
    def now(cls, name: str) -> Mark:
        return cls(name, time.perf_counter(), time.process_time())


class Phases(SilentPhases):
    """Notes when each phase begins."""

    def __init__(self) -> None:
        self.marks: list[Mark] = []

    def on_phase(self, text: str) -> None:
        self.marks.append(Mark.now(text.split(":")[0]))


def small_graph(folder: Path) -> Path:
    """Save the built-in graph with a hundredth of its targets, to see that the script works."""
    graph = open_dataset("debian")
    splits = {name: nodes[::100] for name, nodes in graph.splits.items()}
    save_graph(replace(graph, splits=splits, path=None), folder)
    return folder


def two_phases(recipe: Recipe, folder: Path, graph: Graph, chosen_epochs: int | None, report: Report) -> None:
    """Run the whole command; add a row for each phase and the bar of the scoring."""
    phases = Phases()
    make_learned_scopes(recipe, folder, LearnedScopeOptions(num_epochs=chosen_epochs), watcher=phases)
    marks = [*phases.marks, Mark.now("end")]
    num_targets = sum(len(nodes) for nodes in graph.splits.values())
    for mark, after in pairwise(marks):
        wall, cpu = after.wall - mark.wall, after.cpu - mark.cpu
        each = f"{cpu / num_targets * 1e6:,.0f}" if mark.name == "scoring" else "-"
        report.rows.append([mark.name, f"{wall:.0f}", f"{cpu:.0f}", each])
        if mark.name == "scoring":
            claim = (
                f"saliency scopes of all {num_targets:,} targets, {len(graph.splits['train']):,} of them for training, "
                f"in at most {MOST_SECONDS:.0f} s on {NUM_THREADS} cores"
            )
            report.bars.append(Bar(claim, f"{wall:.0f} s", wall <= MOST_SECONDS))


def explained(recipe: Recipe, folder: Path, graph: Graph, count: int, report: Report) -> None:
    """Add the row of GNNExplainer on a few training targets, for the model of phase 1."""
    torch.set_num_threads(1)  # Its tensors are too small to share.
    assert recipe.extractor is not None
    trained, topk = read_model(folder / NORMAL), scope_size(recipe.extractor)
    num_candidates = CANDIDATES_PER_NODE * topk
    candidates = build_extractor(candidate_extractor(recipe.extractor, num_candidates), training=False, edge_pos=True)
    scorer = Scorer(trained, candidates, num_candidates, topk, "gnnexplainer")
    place = Places.of(trained, graph, inductive=False).whole
    targets = np.sort(np.random.default_rng(0).choice(graph.splits["train"], count, replace=False))
    score_targets(scorer, place, targets[:1])  # Loads PyG.
    begin = Mark.now("gnnexplainer")
    score_targets(scorer, place, targets)
    end = Mark.now("end")
    cpu = (end.cpu - begin.cpu) / count
    report.rows.append(
        [f"GNNExplainer, {count} targets", f"{end.wall - begin.wall:.0f}", f"{cpu * count:.0f}", f"{cpu * 1e6:,.0f}"]
    )
    hours = cpu * len(graph.splits["train"]) / 3600
    report.notes.append(f"GNNExplainer, {scorer.explainer_epochs} steps for each target, would take {hours:.1f} hours "
                        "of CPU time for all training targets.")  # fmt: skip


def main() -> None:
    chosen = options(__doc__ or "")
    torch.set_num_threads(NUM_THREADS)
    graph = open_dataset("debian")
    columns = ("phase", "seconds", "CPU s", "CPU µs per target")
    report = Report("Learned scopes on the built-in graph", columns, notes=[load_line(busy_share())])
    recipe = read_recipe(RECIPE)
    assert recipe.extractor is not None
    topk = scope_size(recipe.extractor)
    report.notes.append(
        f"`shadow learn-scope recipes/{RECIPE.name}`: {graph.num_nodes:,} nodes, GraphSAGE of "
        f"{recipe.model.num_layers} layers and width {recipe.model.hidden_dim}; "
        f"{CANDIDATES_PER_NODE * topk} PPR candidates of each target, {topk} of them kept. {NUM_THREADS} threads, "
        "one for GNNExplainer."
    )
    CACHE.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        folder = Path(name)
        if chosen.quick:
            recipe = recipe.model_copy(update={"graph": str(small_graph(folder / "small"))})
            graph = replace(graph, splits={split: nodes[::100] for split, nodes in graph.splits.items()}, path=None)
        two_phases(recipe, folder / "learned", graph, 2 if chosen.quick else None, report)
        explained(recipe, folder / "learned", graph, 2 if chosen.quick else 10, report)
    finish(report, chosen)


if __name__ == "__main__":
    main()
