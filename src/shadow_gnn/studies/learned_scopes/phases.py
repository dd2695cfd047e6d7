"""Phases: train a normal GNN, write the scopes learned from it, train the shaDow model on them; resumes after a kill.

Not for: the ranking of nodes (scoring.py), or the recipes of the phases (recipes.py).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, Protocol, get_args

import numpy as np
from pydantic import Field, ValidationError

from shadow_gnn.base.errors import RunError
from shadow_gnn.base.files import Progress, new_folder, silent, write_file
from shadow_gnn.base.memory_available import available_memory
from shadow_gnn.extract import Extractor
from shadow_gnn.extract.scope_file import read_scope_file
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.recipe import Recipe, Record
from shadow_gnn.recipe.file import read_recipe, write_recipe
from shadow_gnn.studies.learned_scopes.recipes import (
    CANDIDATES_PER_NODE,
    Method,
    candidate_extractor,
    check_recipe,
    learned_recipe,
    normal_recipe,
    scope_size,
)
from shadow_gnn.studies.learned_scopes.scoring import Explainer, Places, Scorer, remove_parts, write_scopes
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.footprint import run_need
from shadow_gnn.training.model_file import read_model
from shadow_gnn.training.run_setup import open_recipe_graph
from shadow_gnn.training.runs.folder import RECIPE, RESULT, Run, check_graph, locked, open_run, read_json, write_json
from shadow_gnn.training.runs.run import RunOptions, RunWatcher, SilentRun, resume_run, train_recipe, with_graph_path

RECORD, SCOPES = "learned-scopes.json", "scopes.safetensors"
NORMAL, LEARNED, ORIGINAL = "normal", "learned", "original"
MOST_FULL_EDGES = 5_000_000
"""Graphs with more CSR entries use neighbor sampling in phase 1."""
_OVERLAP_TARGETS = 1000


class LearnedScopesRecord(Record):
    """The content of learned-scopes.json: everything that decides the scopes, except the recipe."""

    format: Literal["shadow-learned-scopes"] = "shadow-learned-scopes"
    """Identifies the file."""
    version: Literal[1] = 1
    """Version of the folder's layout."""
    explainer: Explainer
    """Method of ranking candidates."""
    explainer_epochs: Annotated[int, Field(ge=1, le=1_000_000)]
    """Steps of GNNExplainer for each target."""
    topk: Annotated[int, Field(ge=1, le=1_000_000)]
    """Maximum size of a learned scope."""
    candidates: Annotated[int, Field(ge=1, le=1_000_000)]
    """Maximum number of candidates of a target."""
    targets: Literal["splits", "all"]
    """Nodes with a scope: those of the splits, or all."""
    method: Method
    """Training method of the normal GNN."""
    num_epochs: Annotated[int, Field(ge=1, le=1_000_000)] | None
    """Epochs of the normal GNN; None for those derived from the recipe."""
    source: str | None
    """A run with the model to explain; None to train one."""


@dataclass(frozen=True)
class LearnedScopeOptions:
    """Optional settings of `make_learned_scopes`."""

    explainer: Explainer = "saliency"
    """Method of ranking candidates: the gradient with respect to every message, or PyG's GNNExplainer."""
    explainer_epochs: int = 100
    """Steps of GNNExplainer for each target."""
    topk: int | None = None
    """Maximum size of a learned scope; None for that of the recipe."""
    candidates: int | None = None
    """Maximum number of candidates from the recipe's extractor; None for 4 times topk."""
    targets: Literal["splits", "all"] = "splits"
    """Nodes with a scope."""
    method: Method | None = None
    """Training method of the normal GNN; None for full on small graphs, else neighbor."""
    num_epochs: int | None = None
    """Epochs of the normal GNN; None for those of the recipe, and at least 100 if an epoch is one step."""
    source: Path | None = None
    """A finished run with the model to explain; replaces phase 1."""
    compare: bool = False
    """Also train the unchanged recipe, on the scopes of its own extractor."""


class PhaseWatcher(RunWatcher, Protocol):
    """Receives the events of all phases."""

    def on_phase(self, text: str) -> None:
        """Called when a phase begins."""
        ...


class SilentPhases(SilentRun):
    """A watcher that does nothing."""

    def on_phase(self, text: str) -> None:
        """Do nothing."""


def make_learned_scopes(
    recipe: Recipe,
    folder: str | Path,
    options: LearnedScopeOptions | None = None,
    *,
    watcher: PhaseWatcher | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Make learned scopes for a recipe of a shaDow model and train it on them; return the content of result.json.

    The folder contains normal (the run of phase 1), scopes.safetensors (the scope file), learned (the run of phase 2)
    and, to compare, original (the unchanged recipe). The same call resumes after a stop at any moment, with the same
    scopes and results on the same processor with as many threads.
    """
    folder, options, watcher = Path(folder), options or LearnedScopeOptions(), watcher or SilentPhases()
    check_recipe(recipe)
    graph = open_recipe_graph(recipe.graph)
    recipe = with_graph_path(recipe, graph)
    record = _record(recipe, graph, options, _kept_method(folder))
    _open_folder(folder, recipe, record)
    work = _Work(folder, recipe, graph, record, watcher)
    with locked(folder):
        normal = work.explained()
        work.write_scopes(normal, progress)
        learned = work.trained(
            LEARNED, "phase 2: the shaDow model on the learned scopes", learned_recipe(recipe, work.scopes, record.topk)
        )
        original = None
        if options.compare:
            original = work.trained(ORIGINAL, "to compare: the recipe with its own scopes", recipe)
        result = work.summary(normal, learned, original)
        write_json(folder / RESULT, result)
    return result


@dataclass(frozen=True, eq=False)
class _Work:
    """One folder's recipe, graph and options."""

    folder: Path
    recipe: Recipe
    graph: Graph
    record: LearnedScopesRecord
    watcher: PhaseWatcher

    @property
    def scopes(self) -> Path:
        return self.folder / SCOPES

    def extractor(self, num_nodes: int) -> Extractor:
        """Return the recipe's own extractor with scopes of another size."""
        assert self.recipe.extractor is not None
        return build_extractor(candidate_extractor(self.recipe.extractor, num_nodes), training=False, edge_pos=True)

    def explained(self) -> Run:
        """Return the run with the model to explain, trained if necessary."""
        if self.record.source is None:
            recipe = normal_recipe(self.recipe, self.record.method, self.record.num_epochs)
            return self.trained(NORMAL, f"phase 1: a normal GNN ({self.record.method})", recipe)
        run = open_run(self.record.source)
        if run.result is None:
            raise RunError(f"{run.folder}: must be finished to explain its model; run shadow resume {run.folder}")
        check_graph(run, self.graph)
        return run

    def trained(self, name: str, phase: str, recipe: Recipe) -> Run:
        """Train a recipe in a subfolder, or resume it; a finished run stays unchanged."""
        place = self.folder / name
        run_options = RunOptions(graph=self.graph, watcher=self.watcher)
        if not place.exists():
            self.watcher.on_phase(phase)
            return train_recipe(recipe, place, options=run_options)
        if open_run(place).result is None:
            self.watcher.on_phase(phase)
        return resume_run(place, options=run_options)

    def write_scopes(self, normal: Run, progress: Progress) -> None:
        """Rank the candidates of all targets, if not done yet."""
        if self.scopes.exists():
            remove_parts(self.scopes)  # Left by a kill just before the removal.
            return
        record, trained = self.record, read_model(normal.folder)
        self.watcher.on_phase(f"scoring: {record.candidates} candidates of each target by {record.explainer}")
        size, extractor, seed = record.candidates, self.extractor(record.candidates), self.recipe.seed
        scorer = Scorer(trained, extractor, size, record.topk, record.explainer, record.explainer_epochs, seed)
        places = Places.of(trained, self.graph, inductive=self.recipe.task.inductive)
        write_scopes(scorer, places, _targets(self.graph, record.targets), self.scopes, progress=progress)

    def summary(self, normal: Run, learned: Run, original: Run | None) -> dict[str, Any]:
        """Return the scores of each model, and the overlap of the scopes with those of the recipe's extractor."""
        assert learned.result is not None
        assert self.recipe.extractor is not None
        runs = {NORMAL: normal, LEARNED: learned, ORIGINAL: original}
        results = {name: None if run is None else run.result for name, run in runs.items()}
        return {
            "monitor": learned.result["monitor"],
            "scopes": str(self.scopes),
            "num_targets": len(read_scope_file(self.scopes).nodes),
            "topk": self.record.topk,
            "extractor": self.recipe.extractor.kind,
            "shared": self._shared(),
            **{
                name: None if found is None else {"valid": found["valid"], "test": found["test"]}
                for name, found in results.items()
            },
        }

    def _shared(self) -> float:
        """Return the share of the learned scopes' nodes, without targets, that the recipe's extractor also chooses."""
        nodes = read_scope_file(self.scopes)
        places = np.unique(np.linspace(0, len(nodes.nodes) - 1, _OVERLAP_TARGETS).astype(np.int64))
        some = nodes.take(places)
        own = self.extractor(self.record.topk)(self.graph, some.targets, seed=self.recipe.seed)
        keys = [
            np.repeat(some.targets, np.diff(ptr)) * self.graph.num_nodes + node_id
            for ptr, node_id in ((some.ptr, some.node_id), (own.ptr, own.node_id))
        ]
        of_targets = some.targets * (self.graph.num_nodes + 1)
        learned, known = (np.setdiff1d(part, of_targets) for part in keys)
        return float(np.isin(learned, known).mean()) if len(learned) else 1.0


def _targets(graph: Graph, which: Literal["splits", "all"]) -> Ints:
    if which == "all":
        return np.arange(graph.num_nodes)
    return np.unique(np.concatenate([graph.split(name) for name in graph.splits]))


def _record(recipe: Recipe, graph: Graph, options: LearnedScopeOptions, kept: Method | None) -> LearnedScopesRecord:
    """Complete the options; kept: the method chosen when the folder was created."""
    assert recipe.extractor is not None
    topk = scope_size(recipe.extractor) if options.topk is None else options.topk
    candidates = CANDIDATES_PER_NODE * topk if options.candidates is None else options.candidates
    if candidates < topk:
        raise ValueError(f"learn-scope: candidates must be at least topk {topk}, got {candidates}")
    candidate_extractor(recipe.extractor, candidates)  # Raises for an extractor without a size.
    try:
        return LearnedScopesRecord(
            explainer=options.explainer,
            explainer_epochs=options.explainer_epochs,
            topk=topk,
            candidates=candidates,
            targets=options.targets,
            method=options.method or kept or _method(recipe, graph),
            num_epochs=options.num_epochs,
            source=None if options.source is None else str(options.source.absolute()),
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"learn-scope: {first['loc'][0]}: {first['msg']}, got {first['input']}") from error


def _method(recipe: Recipe, graph: Graph) -> Method:
    """Choose full for a small graph that fits into half of the available memory."""
    if graph.num_edges > MOST_FULL_EDGES:
        return "neighbor"
    free = available_memory()
    fits = free is None or 2 * run_need(normal_recipe(recipe, "full"), graph).total <= free
    return "full" if fits else "neighbor"


def _kept_method(folder: Path) -> Method | None:
    """Return the method of an existing folder: available memory decides only once."""
    found = read_json(folder / RECORD).get("method") if (folder / RECORD).exists() else None
    return next((method for method in get_args(Method) if method == found), None)


def _open_folder(folder: Path, recipe: Recipe, record: LearnedScopesRecord) -> None:
    """Create the folder, or check that it has the same recipe and options."""
    if not os.path.lexists(folder):
        with new_folder(folder) as temporary:
            write_file(temporary / RECIPE, write_recipe(recipe).encode())
            write_json(temporary / RECORD, record.model_dump(mode="json"))
        return
    if not (folder / RECORD).exists():
        raise RunError(f"{folder}: exists already and is not from learn-scope; choose another --out")
    before, now = read_json(folder / RECORD), record.model_dump(mode="json")
    for name in now:
        if before.get(name) != now[name]:
            raise RunError(
                f"{folder}: was started with {name} {before.get(name)!r:.100}, got {now[name]!r}; choose another --out"
            )
    if read_recipe(folder / RECIPE) != recipe:
        raise RunError(f"{folder}: was started with another recipe, see {folder / RECIPE}; choose another --out")
