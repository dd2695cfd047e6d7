"""Summary: where the contributions of many targets come from, and how accuracy depends on the target and its scope.

Not for: single targets (explain.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract.gather import array_rows
from shadow_gnn.inference.predictor import Predictor, ignore_note
from shadow_gnn.loading.batch import Batch
from shadow_gnn.studies.explain.contributions import Contributions, Method
from shadow_gnn.studies.explain.explain import class_number, each_contribution, input_names
from shadow_gnn.tasks.links.splits import make_splits
from shadow_gnn.tasks.metrics import METRICS, Scores
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.link_setup import split_options

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

MOST_GROUPS = 20
"""Classes or columns that are listed, the strongest ones."""
_PARTS = 10
"""Ranges of homophily, and of edge weights with equal numbers of edges (at most)."""


@dataclass(frozen=True)
class Group:
    """The contributions of some parts of all scopes."""

    name: str
    """The parts."""
    count: float
    """Parts per target."""
    share: float
    """Their share of the sizes of all contributions."""
    mean: float
    """Sum of their signed contributions per target."""


@dataclass(frozen=True)
class Bucket:
    """The quality of the predictions of some targets."""

    name: str
    """The targets."""
    count: int
    """Number of targets."""
    value: float
    """The metric."""


@dataclass(frozen=True)
class Summary:
    """Contributions and accuracy over the targets of a split."""

    split: str
    """Name of the split."""
    num_targets: int
    """Targets with known labels."""
    method: Method
    """The way of computing contributions."""
    metric: str
    """Name of the metric."""
    value: float
    """Its value over all targets."""
    contributions: dict[str, list[Group]]
    """By hop, class of the neighbor, edge weight and column; a table that the graph has nothing for is left out."""
    accuracy: dict[str, list[Bucket]]
    """By degree, size and homophily of the scope; homophily is the share of a scope's edges between equal classes. The
    degree of a pair is the smaller one of its ends."""

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain numbers and strings, ready for JSON."""
        return asdict(self)

    def plot(self) -> Figure:
        """Draw the tables, and return the figure; it is not shown or saved."""
        from shadow_gnn.studies.explain.summary_plot import draw_summary

        return draw_summary(self)


def summarize_split(
    predictor: Predictor,
    split: str = "test",
    *,
    num_targets: int = 1000,
    seed: int = 0,
    method: Method | None = None,
    explained_class: int | str | None = None,
    progress: Progress = silent,
) -> Summary:
    """Explain a sample of a split's targets, num_targets at most, and add up; the predictor must have scopes.

    By hop and class, contributions are those of nodes besides the target; by weight, those of edges.

    >>> summary = sg.summarize_split(predictor, "test", num_targets=5)
    >>> summary.num_targets
    5
    """
    predictor, targets, labels = _judged(predictor, split)
    if len(targets) == 0:
        raise ValueError(f"explain: split {split!r} must have targets with known labels, got none")
    if len(targets) > num_targets:
        chosen = np.random.default_rng(seed).choice(len(targets), num_targets, replace=False)
        chosen = chosen[np.argsort(targets[chosen], kind="stable")] if targets.ndim == 1 else np.sort(chosen)
        targets, labels = targets[chosen], None if labels is None else labels[chosen]
    sums, wanted, done = _Sums(predictor), class_number(predictor, explained_class), 0
    used: Method = "midpoint"
    for batches, found in each_contribution(predictor, targets, method=method, wanted=wanted):
        sums.add(batches, found, None if labels is None else labels[done : done + len(batches[0])])
        used = found.method
        done += len(batches[0])
        progress("explaining", done, len(targets))
    metric, value = sums.metric()
    return Summary(split, len(targets), used, metric, value, sums.contributions(), sums.accuracy())


def _judged(predictor: Predictor, split: str) -> tuple[Predictor, Ints, torch.Tensor | None]:
    """Return the targets of a split, and of pairs their labels and the predictor on the graph that they are judged in.

    Links are split as in training; held-out ones carry no messages.
    """
    if not predictor.is_links:
        return predictor, predictor.check(split_targets(predictor.graph, split)), None
    trained = predictor.trained
    links = make_splits(predictor.graph, split_options(trained.config.link, trained.config.seed))
    found = links.pairs_of(split)
    judge = Predictor(trained, links.graph_of(split), warn=ignore_note)
    return judge, judge.check(found.pairs), torch.from_numpy(found.labels)


class _Sums:
    """Everything that is added up, batch by batch."""

    def __init__(self, predictor: Predictor) -> None:
        self._predictor, self._graph, self._task = predictor, predictor.graph, predictor.trained.task
        self._has_classes = self._task.target == "classes"
        self._nodes: list[tuple[Ints, Ints, Floats]] = []  # hop, class, contribution
        self._edges: list[tuple[Floats, Floats]] = []  # weight, contribution
        self._columns: Floats | None = None  # [2, F]: sums of sizes, and of signed contributions
        self._logits: list[torch.Tensor] = []
        self._labels: list[torch.Tensor] = []
        self._facts: list[tuple[Ints, Ints, Floats]] = []  # degree, size, homophily

    def add(self, batches: Sequence[Batch], found: Contributions, labels: torch.Tensor | None) -> None:
        """Add the targets of one batch; labels: of pairs, None for those of the nodes."""
        on_cpu = [batch.to("cpu") for batch in batches]
        for batch, node, edge in zip(on_cpu, found.nodes, found.edges, strict=True):
            other = (batch.hop > 0).numpy()
            hop, node_id = batch.hop.numpy()[other], batch.node_id.numpy()[other]
            self._nodes.append((hop, self._classes(node_id), node.double().cpu().numpy()[other]))
            if batch.edge_weight is not None:
                self._edges.append((batch.edge_weight.double().numpy(), edge.double().cpu().numpy()))
        if found.columns is not None:
            columns = found.columns.double().cpu().numpy()
            sums = np.stack((np.abs(columns).sum(axis=0), columns.sum(axis=0)))
            self._columns = sums if self._columns is None else self._columns + sums
        first = on_cpu[0]
        known = first.y if labels is None else labels
        assert known is not None
        self._logits.append(found.logits.float().cpu())
        self._labels.append(known)
        target = first.targets.numpy()
        degree = self._graph.degrees(target.reshape(-1)).reshape(target.shape).min(axis=1)
        size = np.bincount(first.subgraph.numpy(), minlength=len(first))
        self._facts.append((degree, size, self._homophily(first)))

    def metric(self) -> tuple[str, float]:
        """Return the first metric of the task over all targets; of links, the share of pairs that is right."""
        name = "accuracy" if self._task.target == "links" else METRICS[self._task.target][0]
        return name, self._value(np.ones(len(torch.cat(self._labels)), bool))

    def contributions(self) -> dict[str, list[Group]]:
        """Return the tables of contributions."""
        hop, node_class, node = (np.concatenate(part) for part in zip(*self._nodes, strict=True))
        tables = {"hop": self._grouped(hop, node, lambda number: str(number), by_strength=False)}
        if self._has_classes and self._graph.y is not None:
            names = self._predictor.trained.config.class_names
            tables["class"] = self._grouped(
                node_class,
                node,
                lambda number: "unknown" if number < 0 else str(number) if names is None else names[number],
            )
        if sum(len(weight) for weight, _ in self._edges):
            tables["edge weight"] = self._by_weight()
        if self._columns is not None:
            count = np.full(self._columns.shape[1], self._num_targets)
            tables["column"] = self._groups(input_names(self._predictor), count, *self._columns)
        return tables

    def accuracy(self) -> dict[str, list[Bucket]]:
        """Return the tables of the metric."""
        degree, size, homophily = (np.concatenate(part) for part in zip(*self._facts, strict=True))
        tables = {
            "degree": self._buckets(_digits(degree), _range_text),
            "scope size": self._buckets(_digits(size), _range_text),
        }
        if self._has_classes:
            place = np.where(np.isnan(homophily), -1, np.minimum(_PARTS * np.nan_to_num(homophily), _PARTS - 1)).astype(
                np.int64
            )
            tables["homophily"] = self._buckets(place, _share_text)
        return tables

    def _by_weight(self) -> list[Group]:
        """Group edges by weight into ranges with equal numbers of edges."""
        weight, edge = (np.concatenate(part) for part in zip(*self._edges, strict=True))
        limits = np.unique(np.quantile(weight, np.linspace(0, 1, _PARTS + 1)))
        limits = np.repeat(limits, 2) if len(limits) == 1 else limits  # All weights are equal.
        place = np.clip(np.searchsorted(limits, weight, side="right") - 1, 0, len(limits) - 2)
        return self._grouped(place, edge, lambda at: f"{limits[at]:.4g} to {limits[at + 1]:.4g}", by_strength=False)

    @property
    def _num_targets(self) -> int:
        return sum(map(len, self._labels))

    def _grouped(
        self, group: Ints, contribution: Floats, name: Callable[[int], str], *, by_strength: bool = True
    ) -> list[Group]:
        """Add up contributions by group."""
        numbers, place = np.unique(group, return_inverse=True)
        sums: list[Any] = [
            np.bincount(place, values, minlength=len(numbers)) for values in (None, np.abs(contribution), contribution)
        ]
        return self._groups([name(number) for number in numbers.tolist()], *sums, by_strength=by_strength)

    def _groups(
        self, names: Sequence[str], count: Ints, size: Floats, signed: Floats, *, by_strength: bool = True
    ) -> list[Group]:
        """Make the rows of a table, in the given order or the strongest first."""
        total, num_targets = max(float(size.sum()), 1e-300), self._num_targets
        order = np.argsort(-size, kind="stable")[:MOST_GROUPS].tolist() if by_strength else range(len(names))
        return [
            Group(names[at], float(count[at] / num_targets), float(size[at] / total), float(signed[at] / num_targets))
            for at in order
        ]

    def _buckets(self, group: Ints, name: Callable[[int], str]) -> list[Bucket]:
        """Return the metric of each group of targets."""
        return [
            Bucket(name(number), int((group == number).sum()), self._value(group == number))
            for number in np.unique(group).tolist()
        ]

    def _value(self, chosen: NDArray[np.bool_]) -> float:
        rows = torch.from_numpy(chosen)
        if self._task.target == "links":
            logits, labels = torch.cat(self._logits)[rows, 0], torch.cat(self._labels)[rows]
            return float(((logits > 0) == (labels > 0)).double().mean())
        scores = Scores(self._task, (METRICS[self._task.target][0],))
        scores.update(torch.cat(self._logits)[rows], torch.cat(self._labels)[rows])
        (value,) = scores.compute().values()
        return value

    def _classes(self, node_id: Ints) -> Ints:
        labels = array_rows(self._graph, "y", node_id) if self._has_classes else None
        return np.full(len(node_id), -1) if labels is None else labels

    def _homophily(self, batch: Batch) -> Floats:
        """Return the share of each scope's edges between known equal classes; nan without known ones. [B]"""
        classes = self._classes(batch.node_id.numpy())
        sender, receiver = batch.edge_index().numpy()
        scope = batch.subgraph.numpy()[receiver]
        known = (classes[sender] >= 0) & (classes[receiver] >= 0)
        same = known & (classes[sender] == classes[receiver])
        counts = [np.bincount(scope[rows], minlength=len(batch)) for rows in (same, known)]
        share: Floats = np.divide(counts[0], counts[1], out=np.full(len(batch), np.nan), where=counts[1] > 0)
        return share


def _digits(number: Ints) -> Ints:
    """Return the number of binary digits: ranges 0, 1, 2 to 3, 4 to 7, and so on."""
    return np.frexp(number.astype(np.float64))[1].astype(np.int64)


def _range_text(digits: int) -> str:
    low, high = 2**digits // 2, max(2**digits - 1, 0)
    return str(low) if low == high else f"{low:,} to {high:,}"


def _share_text(place: int) -> str:
    return "no known edge" if place < 0 else f"{place / _PARTS:.1f} to {(place + 1) / _PARTS:.1f}"
