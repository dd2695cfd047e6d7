"""Predictor: a trained model opened on the graph of training or another one with the same features.

Not for: tables of predictions (write_predictions.py), nor for metrics (evaluation.py).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from shadow_gnn.base.bf16 import check_bf16, use_working_kernels
from shadow_gnn.base.errors import FitWarning, RunError
from shadow_gnn.base.files import Progress, silent
from shadow_gnn.base.ranks import ALONE, Ranks
from shadow_gnn.extract.core_calls import check_targets
from shadow_gnn.extract.protocol import Hide
from shadow_gnn.graph.node_ids import node_ids
from shadow_gnn.graph.record import Graph
from shadow_gnn.inference.line_up import lined_up
from shadow_gnn.inference.other_scopes import ExtractorLike, as_extractor, scopes_note, with_extractor
from shadow_gnn.inference.predictions import Ints, Predictions
from shadow_gnn.loading.batch import Batch, collate
from shadow_gnn.loading.epochs import derive_seed
from shadow_gnn.normal.inputs.columns import make_inputs
from shadow_gnn.normal.loaders import joint_loader
from shadow_gnn.tasks.links.pairs import check_pairs
from shadow_gnn.training.build import build_extractor
from shadow_gnn.training.evaluate import Output, Sources, forward, outputs
from shadow_gnn.training.model_file import CONFIG, TrainedModel, check_model_fits, read_config, read_model
from shadow_gnn.training.run_setup import EVALUATION_FACTOR, make_loaders, open_recipe_graph, whole_graph
from shadow_gnn.training.runs.folder import RECORD, check_graph, check_one_run, check_run_folder, open_run

Note = Callable[[str], None]
"""Receives a line for the user."""

_BLOCK_PAIRS = 1 << 14


def ignore_note(line: str) -> None:
    """Drop a note."""


def warn_note(line: str) -> None:
    """Give a line as a Python warning."""
    warnings.warn(line, FitWarning, stacklevel=4)


class Predictor:
    """A trained model on a graph; checks, inputs and extractors are made once.

    >>> predictor = sg.Predictor(sg.read_model("runs/first"), graph)
    >>> predictor.predict([0, 7]).predicted.shape
    (2,)
    """

    def __init__(
        self,
        trained: TrainedModel,
        graph: Graph,
        *,
        extractor: ExtractorLike | None = None,
        warn: Note = warn_note,
    ) -> None:
        """Check that the model fits the graph, and prepare everything that does not depend on targets.

        extractor: predict on these scopes instead of those of training, or instead of the whole graph of a normal GNN.
        warn: receives a line about each difference from the graph of training that may mislead.

        Columns and classes with names are put in the order of training: `graph` is then the graph in that order.
        """
        self.warn, self.opened_graph = warn, graph
        graph = lined_up(trained.config, graph, warn, trained.import_toml)
        check_model_fits(trained.config, graph)
        if extractor is not None:
            trained = with_extractor(trained, as_extractor(extractor), graph)
        config, model = trained.config, trained.model
        self.trained, self.graph = trained, graph
        self.batch_size = EVALUATION_FACTOR * config.batch_size
        self.inputs = make_inputs(config.inputs, graph, trained.task)
        hide: Hide = config.link.hide if config.target == "links" else "none"
        self.extractors = tuple(
            build_extractor(branch.extractor, training=False, edge_pos=bool(layout.edge_arrays), hide=hide)
            for branch, layout in zip(config.branches, model.layouts, strict=True)
            if branch.extractor is not None
        )
        self.scope_seed = derive_seed("scopes", config.seed, None)
        self._device = next(model.parameters()).device
        if config.precision == "bf16" and self._device.type == "cpu":
            check_bf16()
        model.eval()

    def __repr__(self) -> str:
        """Name the model and the graph."""
        config = self.trained.config
        return f"Predictor({config.target}, {self.graph.num_nodes:,} nodes of {self.graph.path or 'a graph in memory'})"

    @property
    def is_links(self) -> bool:
        """Whether targets are pairs."""
        return self.trained.config.target == "links"

    def predict(self, targets: ArrayLike, *, embedding: bool = False, progress: Progress = silent) -> Predictions:
        """Predict nodes [B], or pairs [B, 2], given as ids or names, in one call; fast for a single target.

        A known link between the ends of a pair is hidden. In an undirected graph the order of a pair does not matter.
        embedding: also return the inputs of the head.
        """
        given = node_ids(self.graph, targets, "predict")
        checked, config = self.check(given), self.trained.config
        most = 1 if config.joint is not None else self.batch_size  # A joint batch of one target is its scope.
        if len(checked) == 0 or config.is_normal or len(checked) > most:
            found = list(self.blocks(given, embedding=embedding, progress=progress))
            return found[0] if len(found) == 1 else _joined(found)
        distinct, place = np.unique(checked, axis=0, return_inverse=True) if self.is_links else (checked, None)
        batches = self.batches(distinct)
        model, precision = self.trained.model, self.trained.config.precision
        logits, embedded = forward(model, batches, self._device, precision, embedding)
        if place is not None:
            rows = torch.from_numpy(place.reshape(-1))
            logits, embedded = logits[rows], None if embedded is None else embedded[rows]
        return self.predictions(given.astype(np.int64, copy=False), logits, embedded)

    def blocks(
        self,
        targets: ArrayLike | range,
        *,
        embedding: bool = False,
        probabilities: bool = True,
        ranks: Ranks = ALONE,
        progress: Progress = silent,
    ) -> Iterator[Predictions]:
        """Predict many targets block by block in bounded memory; yield at least one block, even an empty one.

        A normal GNN takes one pass over the graph. ranks: they share the targets; only the main one gets predictions.
        probabilities: False allows larger blocks, as rows are narrower.
        """
        given = targets if isinstance(targets, range) else node_ids(self.graph, targets, "predict")
        if self.trained.config.is_normal and len(given):
            for output in self.outputs(self.check(given), embedding=embedding):
                yield self.predictions(output.node_id.numpy(), output.logits, output.embedding)
            return
        step = _BLOCK_PAIRS if self.is_links else block_rows(self, probabilities=probabilities, embedding=embedding)
        for start in range(0, max(1, len(given)), step):
            block = np.asarray(given[start : start + step])
            parts, done = [], start
            for output in self._block(self.check(block), embedding, ranks):
                parts.append(output)
                done += len(output.logits)
                progress("predicting", done, len(given))
            if ranks.is_main:
                yield self._joined_block(block, parts, embedding)

    def outputs(self, targets: Ints, *, embedding: bool = False, ranks: Ranks = ALONE) -> Iterator[Output]:
        """Run the model over checked targets, batch by batch."""
        precision = self.trained.config.precision
        return outputs(self.trained.model, self.loaders(targets), precision=precision, embedding=embedding, ranks=ranks)

    def loaders(self, targets: Ints, *, labels: NDArray[np.float32] | None = None) -> Sources:
        """Return a loader for each branch, in the order of the targets; the graph for a normal GNN.

        labels [P]: of pairs to evaluate, 1 for a link and 0 for none.
        """
        config = self.trained.config
        if config.is_normal:
            return whole_graph(self.graph, targets, self.inputs)
        if config.joint is not None:
            return [
                joint_loader(
                    config.joint,
                    self.graph,
                    self.extractors[0],
                    targets,
                    self.trained.model,
                    batch_size=self.batch_size,
                    seed=config.seed,
                    inputs=self.inputs,
                )
            ]
        return make_loaders(
            self.graph,
            self.extractors,
            self.trained.model,
            targets,
            self.batch_size,
            config.seed,
            inputs=self.inputs,
            labels=labels,
        )

    def batches(self, targets: Ints) -> tuple[Batch, ...]:
        """Return a batch of checked targets for each branch, made in this thread; a normal GNN has none."""
        return tuple(self._batch(number, targets) for number in range(len(self.extractors)))

    def check(self, targets: ArrayLike | range) -> Ints:
        """Return targets as integers, nodes [B] or pairs [B, 2] with ordered ends; raise for invalid ones."""
        array = node_ids(self.graph, targets, "predict")
        if self.is_links:
            if array.ndim == 1 and array.size:
                raise ValueError("predict: targets must be pairs for a model that predicts links, got nodes")
            return check_pairs("predict", self.graph, array)
        if array.ndim == 2:
            kind = self.trained.config.target
            raise ValueError(f"predict: model must be one that predicts links, this one predicts {kind}")
        return check_targets(self.graph, array, "predict")[:, 0]

    def predictions(self, targets: Ints, logits: torch.Tensor, embedding: torch.Tensor | None = None) -> Predictions:
        """Turn the model's outputs for targets into predictions."""
        task, config = self.trained.task, self.trained.config
        found = task.probabilities(logits)
        probability = None if found is None else found.numpy()
        if self.is_links:
            assert probability is not None
            probability = probability[:, 0]
        return Predictions(
            targets,
            config.target,
            (logits[:, 0] > 0).numpy() if self.is_links else task.predictions(logits).numpy(),
            probability,
            logits.numpy(),
            None if embedding is None else embedding.numpy(),
            config.class_names,
            self.graph.node_name,
        )

    def _batch(self, branch: int, targets: Ints) -> Batch:
        """Extract and collate the scopes of one batch in this thread, as a loader does in its own thread."""
        extractor, layout = self.extractors[branch], self.trained.model.layouts[branch]
        scopes = extractor(self.graph, targets, seed=self.scope_seed)
        batch = collate(
            self.graph,
            scopes,
            order=layout.order,
            features=self.inputs is None,
            edge_arrays=layout.edge_arrays,
            edge_graph=extractor.edge_graph(self.graph),
            target_row=np.arange(len(targets)),
        )
        batch = batch if self.inputs is None else self.inputs(batch)
        return batch if self._device.type == "cpu" else batch.to(self._device)

    def _block(self, checked: Ints, embedding: bool, ranks: Ranks) -> Iterator[Output]:
        """Run the model over a block; equal pairs are scored once, so their scores are the same."""
        if len(checked) == 0:
            return
        if not self.is_links:
            yield from self.outputs(checked, embedding=embedding, ranks=ranks)
            return
        distinct, place = np.unique(checked, axis=0, return_inverse=True)
        found = list(self.outputs(distinct, embedding=embedding, ranks=ranks))
        if found:
            rows = torch.from_numpy(place.reshape(-1))
            logits = torch.cat([output.logits for output in found])[rows]
            embedded = [output.embedding for output in found if output.embedding is not None]
            yield Output(torch.from_numpy(checked), logits, None, torch.cat(embedded)[rows] if embedded else None)

    def _joined_block(self, block: NDArray[np.integer], parts: list[Output], embedding: bool) -> Predictions:
        model = self.trained.model
        logits = [part.logits for part in parts] or [torch.zeros(0, self.trained.config.out_dim)]
        embedded = [part.embedding for part in parts if part.embedding is not None] or [
            torch.zeros(0, model.head.in_dim)
        ]
        targets = block.astype(np.int64, copy=False)
        if self.is_links:
            targets = targets.reshape(-1, 2)
        return self.predictions(targets, torch.cat(logits), torch.cat(embedded) if embedding else None)


_BLOCK_NUMBERS = 1 << 23


def block_rows(predictor: Predictor, *, probabilities: bool = True, embedding: bool = False) -> int:
    """Return the number of targets of a block: whole batches, fewer for wide rows."""
    trained = predictor.trained
    width = 8 + trained.config.out_dim * (1 + probabilities) + (trained.model.head.in_dim if embedding else 0)
    return max(1, min(_BLOCK_NUMBERS // width, 1 << 16) // predictor.batch_size) * predictor.batch_size


def open_predictor(
    folder: str | Path,
    graph: Graph | str | None = None,
    *,
    extractor: ExtractorLike | None = None,
    grow: Callable[[Graph], Graph] | None = None,
    note: Note = ignore_note,
    warn: Note = warn_note,
) -> Predictor:
    """Open the model of a run folder on its graph, or on another graph, given as object, folder or name.

    extractor: see Predictor. grow: returns the graph with more nodes and edges. note: receives a line if the run's
    graph has changed since training, or if scopes are others than those of training. warn: see Predictor.

    >>> predictor = sg.open_predictor("runs/first", graph)
    >>> predictor.predict([0]).probability.shape
    (1, 2)
    """
    trained = open_trained(folder)
    if extractor is not None and (line := scopes_note(trained.config, as_extractor(extractor))):
        note(line)
    if graph is not None:
        opened = graph if isinstance(graph, Graph) else open_recipe_graph(graph)
        return Predictor(trained, opened if grow is None else grow(opened), extractor=extractor, warn=warn)
    run = open_run(folder)
    opened = open_recipe_graph(run.recipe.graph)
    try:
        check_graph(run, opened)
    except RunError:
        note(f"{opened.path} has changed since the model was trained on it")
    return Predictor(trained, opened if grow is None else grow(opened), extractor=extractor, warn=warn)


def open_trained(folder: str | Path) -> TrainedModel:
    """Read the model of a finished run folder; raise if there is none."""
    folder = Path(folder)
    check_run_folder(folder)
    check_one_run(folder)
    if (folder / RECORD).exists() and not (folder / CONFIG).exists():
        raise RunError(f"{folder}: is not finished; continue with shadow resume {folder}")
    if not (folder / CONFIG).exists():
        raise RunError(f"{folder}: is not a run folder: it has no {RECORD}")
    if read_config(folder).precision == "bf16":
        use_working_kernels()
    return read_model(folder)


def _joined(parts: list[Predictions]) -> Predictions:
    """Join the predictions of several blocks."""
    arrays: dict[str, Any] = {}
    for name in ("targets", "predicted", "probability", "logits", "embedding"):
        if getattr(parts[0], name) is not None:
            arrays[name] = np.concatenate([getattr(part, name) for part in parts])
    return replace(parts[0], **arrays)
