"""Explaining: quality and CPU time of every method on graphs with known edges, and time compared with a prediction.

Not for: explanations of real graphs, where nobody knows the truth. Writes docs/explaining-results.md.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np
import torch
from common import CACHE, ROOT, Bar, Report, busy_share, load_line
from numpy.typing import NDArray
from run_all import machine

from shadow_gnn.base.allocator import keep_freed_memory
from shadow_gnn.graph.store import save_graph
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import Predictor, open_predictor
from shadow_gnn.recipe import Recipe
from shadow_gnn.recipe.file import read_recipe
from shadow_gnn.studies.explain.contributions import Method
from shadow_gnn.studies.explain.explain import explain
from shadow_gnn.studies.explain.planted import PlantedGraph, ba_shapes, relay_graph, tree_cycle
from shadow_gnn.studies.explain.quality import fidelity, strongest_messages, truth_auc
from shadow_gnn.training.runs.run import train_recipe

PAGE = ROOT / "docs" / "explaining-results.md"
FloatArray = NDArray[np.float64]
METHODS: tuple[Method, ...] = get_args(Method)
DEFAULT: Method = "midpoint"
LEAST_AUC, LEAST_RATIO, MOST_TIMES = 0.9, 50.0, 3.0
MOST_TRAIN = 20_000
"""Training targets of a model, at most."""
TIMED = 40
"""Targets of the built-in graph whose predictions and explanations are timed."""
HEAD = """# Results of explanations

Written by `python bench/explaining.py`: every method of [`shadow explain`](explaining.md) on graphs whose labels are
decided by known edges. The model is GIN of width 32, trained here; the targets are nodes with deciding edges that it
predicts correctly.

- BA-shapes and tree-cycle are the graphs of the GNNExplainer paper: the edges of its house or cycle decide the class of
  a node. Scopes have all nodes within 3 and 5 hops, as many as the model has layers. BA-shapes has a second model that
  reads the outputs of all layers (`skip = "concat"`), as do the models of the other graphs.
- The relay graph has 100,000 nodes: the class of a target comes from a source over a relay, two edges, among decoys.
  Scopes have 60 nodes by PPR, the model has 3 layers.

AUC ranks the edges of a scope by the size of their contributions, deciding edges against all others; the mean is over
targets. fidelity+, fidelity- and unfaithfulness are PyG's metrics, for as many edges as decide: those that speak most
for the class, as PyG's threshold `topk` chooses them. "by size" has the same three metrics for the edges with the
largest contributions of either sign; masks of GNNExplainer have no sign. A metric counts as worse than GNNExplainer's
if it is worse by more than two standard errors of the mean difference, target by target.

GNNExplainer has PyG's default of 100 steps. Times are CPU milliseconds on one thread, extraction and record included:
of targets one by one, and of batches of up to 64.

Machine: {machine}.

"""


@dataclass(frozen=True)
class Case:
    """A graph and the settings of its model."""

    title: str
    planted: PlantedGraph
    extractor: dict[str, Any]
    num_layers: int
    num_epochs: int
    learning_rate: float = 0.01
    skip: str = "concat"


@dataclass(frozen=True)
class Outcome:
    """Results of one method on one graph."""

    auc: float
    fidelity: FloatArray
    """[targets, 3], fidelity+, fidelity- and unfaithfulness."""
    by_size: FloatArray
    """[targets, 3], the same for edges of either sign."""
    alone: float
    """CPU seconds per target, one by one."""
    batched: float
    """CPU seconds per target in batches."""


def cases(quick: bool) -> list[Case]:
    few = 0.1 if quick else 1
    relays = relay_graph(4000 if quick else 100_000)
    return [
        Case("BA-shapes", ba_shapes(), {"kind": "full", "num_hops": 3}, 3, int(200 * few), 0.005, "none"),
        Case("BA-shapes, all layers", ba_shapes(), {"kind": "full", "num_hops": 3}, 3, int(200 * few), 0.005),
        Case("Tree-cycle", tree_cycle(9, 80), {"kind": "full", "num_hops": 5}, 5, int(60 * few)),
        Case("Relay graph", relays, {"kind": "ppr", "topk": 60}, 3, int(10 * few)),
    ]


def trained(case: Case, folder: Path) -> Predictor:
    """Train the model of a case unless its folder has one, and open it."""
    if (folder / "run").exists():
        return open_predictor(folder / "run")
    graph = case.planted.graph
    rng = np.random.default_rng(0)
    train = graph.splits["train"]
    some = np.sort(rng.choice(train, min(len(train), MOST_TRAIN), replace=False))
    valid = graph.splits["valid"][:2000]
    save_graph(replace(graph, splits={**graph.splits, "train": some, "valid": valid}), folder / "graph")
    recipe = Recipe.model_validate(
        {
            "graph": str(folder / "graph"),
            "extractor": case.extractor,
            "model": {
                "layer": "gin",
                "num_layers": case.num_layers,
                "hidden_dim": 32,
                "norm": "none",
                "skip": case.skip,
                "encoding": "none",
                "standardize": case.title == "Relay graph",
            },
            "training": {
                "num_epochs": case.num_epochs,
                "learning_rate": case.learning_rate,
                "batch_size": 64,
                "schedule": "cosine",
                "evaluate_every": 5,
                "checkpoint_every": 20,
            },
        }
    )
    train_recipe(recipe, folder / "run")
    return open_predictor(folder / "run")


def measured(case: Case, predictor: Predictor, targets: np.ndarray, method: Method) -> Outcome:
    """Explain all targets by one method, one by one and in batches, and judge the explanations."""
    explain(predictor, None, int(targets[0]), method=method)  # Loads what the method needs.
    begin = time.process_time()
    found = [explain(predictor, None, int(target), method=method) for target in targets]
    alone = (time.process_time() - begin) / len(targets)
    begin = time.process_time()
    explain(predictor, None, targets, method=method)
    batched = (time.process_time() - begin) / len(targets)
    aucs: list[float] = []
    judged: dict[bool, list[tuple[float, ...]]] = {False: [], True: []}
    for one in found:
        (batch,) = predictor.batches(np.array(one.targets))
        count = len(case.planted.deciding(one.targets[0]))
        for either_sign, rows in judged.items():
            chosen = strongest_messages(batch, one, count, either_sign=either_sign)
            rows.append(astuple(fidelity(predictor.trained.model, batch, chosen)))
        if (auc := truth_auc(case.planted, one)) is not None:
            aucs.append(auc)
    return Outcome(float(np.mean(aucs)), np.array(judged[False]), np.array(judged[True]), alone, batched)


def section(case: Case, folder: Path, num_targets: int) -> Report:
    """Train, explain by every method, and compare with the bars."""
    torch.set_num_threads(1)
    predictor = trained(case, folder)
    graph, rng = case.planted.graph, np.random.default_rng(1)
    decided = np.flatnonzero(np.diff(case.planted.truth_ptr))
    some = np.sort(rng.choice(decided, min(2 * num_targets, len(decided)), replace=False))
    targets = some[predictor.predict(some).predicted == graph.y[some]][:num_targets]
    accuracy = evaluate_split(predictor, "test").metrics["accuracy"]
    columns = ("method", "AUC", "fidelity+", "fidelity-", "unfaithfulness", "by size", "CPU ms", "CPU ms in batches")
    report = Report(case.title, columns)
    report.notes.append(
        f"{graph.num_nodes:,} nodes; accuracy on nodes with deciding edges {accuracy:.3f}; {len(targets)} targets."
    )
    outcomes = {method: measured(case, predictor, targets, method) for method in METHODS}
    for method, found in outcomes.items():
        name = f"{method} (default)" if method == DEFAULT else method
        values = (found.auc, *found.fidelity.mean(axis=0))
        by_size = " / ".join(f"{value:.2f}" for value in found.by_size.mean(axis=0))
        times = (f"{1e3 * found.alone:.1f}", f"{1e3 * found.batched:.2f}")
        report.rows.append([name, *(f"{value:.3f}" for value in values), by_size, *times])
    report.bars += bars(outcomes[DEFAULT], outcomes["gnnexplainer"])
    return report


def bars(own: Outcome, other: Outcome) -> list[Bar]:
    """Compare the default with the truth and with GNNExplainer."""
    ratio = other.alone / own.alone
    gain = (own.fidelity - other.fidelity) * np.array([1, -1, -1])
    error = gain.std(axis=0, ddof=1) / np.sqrt(len(gain))
    no_worse = bool((gain.mean(axis=0) >= -2 * error).all())
    gains = ", ".join(f"{mean:+.3f} +- {one:.3f}" for mean, one in zip(gain.mean(axis=0), error, strict=True))
    return [
        Bar(f"AUC of the default at least {LEAST_AUC}", f"{own.auc:.3f}", own.auc >= LEAST_AUC),
        Bar(
            f"at least {LEAST_RATIO:.0f} times faster than GNNExplainer, one by one",
            f"{ratio:.0f} times, in batches {other.batched / own.batched:.0f} times",
            ratio >= LEAST_RATIO,
        ),
        Bar(
            "no worse fidelity than GNNExplainer in any of the three metrics: gains and standard errors",
            gains,
            no_worse,
        ),
    ]


def debian_recipe() -> Recipe:
    return read_recipe(ROOT / "recipes" / "debian.toml", ["training.num_epochs=1"])


def trained_debian(recipe: Recipe, folder: Path) -> Predictor:
    """Train on the built-in graph unless the folder has a model of it, and open it."""
    if not (folder / "debian").exists():
        train_recipe(recipe, folder / "debian")
    torch.set_num_threads(1)
    return open_predictor(folder / "debian")


def times(folder: Path, quick: bool) -> Report:
    """Compare the time of the default with that of a prediction, on the recipe of the built-in graph."""
    recipe = debian_recipe()
    predictor = trained_debian(recipe, folder)
    targets = np.random.default_rng(0).choice(predictor.graph.splits["test"], 5 if quick else TIMED, replace=False)
    report = Report("Time compared with a prediction", ("targets", "predict, ms", "explain, ms", "times"))
    report.notes.append(
        f"`recipes/debian.toml`: {recipe.model.layer}, {recipe.model.num_layers} layers of {recipe.model.hidden_dim}, "
        "scopes of 50 nodes. Median CPU milliseconds per call, in turns."
    )
    worst = 0.0
    for title, size in (("one", 1), ("64", 64)):
        pairs = []
        for start in [*range(0, len(targets), size)] * (10 if size == 64 else 3):
            some = targets[start : start + size]
            pairs.append([_seconds(predictor.predict, some), _seconds(explain, predictor, None, some)])
        predict, explained = np.median(pairs, axis=0)
        worst = max(worst, explained / predict)
        report.rows.append([title, f"{1e3 * predict:.2f}", f"{1e3 * explained:.2f}", f"{explained / predict:.2f}"])
    claim = f"the default takes at most {MOST_TIMES:.0f} times the time of the prediction"
    report.bars.append(Bar(claim, f"{worst:.2f} times", worst <= MOST_TIMES))
    return report


def _seconds(call: Any, *given: Any) -> float:
    begin = time.process_time()
    call(*given)
    return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small graphs and few epochs, to see that the script works"
    )
    parser.add_argument("--models", type=Path, help="folder that keeps trained models, for a shorter measurement later")
    parser.add_argument("--train", action="store_true", help="train the models of --models and measure nothing")
    chosen = parser.parse_args()
    if chosen.train and chosen.models is None:
        parser.error("--train must be used with --models")
    keep_freed_memory()
    torch.set_num_threads(1)
    CACHE.mkdir(parents=True, exist_ok=True)
    load = load_line(busy_share())
    with tempfile.TemporaryDirectory(dir=CACHE) as name:
        models = chosen.models or Path(name)
        folders = [(case, models / str(number)) for number, case in enumerate(cases(chosen.quick))]
        for _, folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        if chosen.train:
            for case, folder in folders:
                trained(case, folder)
            trained_debian(debian_recipe(), models)
            return
        reports = []
        for case, folder in folders:
            reports.append(section(case, folder, 5 if chosen.quick else 100))
            print(reports[-1].text(), flush=True)
        reports.append(times(models, chosen.quick))
        print(reports[-1].text(), flush=True)
    if not chosen.quick:
        text = "\n".join(report.markdown() for report in reports)
        PAGE.write_text(HEAD.format(machine=machine()) + text + f"\n{load}\n")
    sys.exit(1 if any(bar.passed is False for report in reports for bar in report.bars) else 0)


if __name__ == "__main__":
    main()
