"""Picking: targets with a property, for somebody who does not know a name to look for.

Not for: the predictions that some properties are of (splits.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shadow_gnn.explore.answers import PickAnswer, PickedTarget
from shadow_gnn.explore.places import degrees_of, label_answer, label_answers
from shadow_gnn.explore.requests import PickBody
from shadow_gnn.explore.runs import ExploredRun
from shadow_gnn.explore.splits import SplitFacts, calibration_bin
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.graph.record import Graph

Ints = NDArray[np.int64]

PREDICTED = ("wrong", "unsure", "confused", "calibration")
"""Properties that need predictions."""


@dataclass(frozen=True, eq=False)
class Place:
    """Where targets are picked."""

    main: LiveGraph
    """The graph of the page."""
    run: ExploredRun | None
    classes: Sequence[str]
    """Names of the classes that a request numbers: those of the run, or of the graph."""
    facts: SplitFacts | None
    """Predictions of the split; None as long as there are none."""

    @property
    def graph(self) -> Graph:
        """The stored graph whose labels count."""
        return self.main.stored if self.run is None else self.run.live.stored


def pick(place: Place, body: PickBody, progress: float) -> PickAnswer:
    """Return the targets with a property, from an offset on."""
    if place.facts is None:
        if body.by in PREDICTED or (place.run is not None and place.run.predictor.is_links):
            return PickAnswer(progress=progress, total=0, nodes=[])
        chosen, total = _nodes(place, body)
        return PickAnswer(progress=1.0, total=total, nodes=_plain(place, chosen))
    rows = _rows(place, place.facts, body)
    shown = rows[body.offset : body.offset + body.limit]
    return PickAnswer(progress=1.0, total=len(rows), nodes=_predicted(place, place.facts, shown))


def class_of(classes: Sequence[str], given: int | str | None, name: str) -> int:
    """Return the number of a class that a request names."""
    if given is None:
        raise ValueError(f"pick: {name} must be given")
    if isinstance(given, str):
        if given in classes:
            return list(classes).index(given)
        raise ValueError(f"pick: {name} must be the name of a class, got {given!r:.80}")
    if given >= len(classes):
        raise ValueError(f"pick: {name} must be below {len(classes)}, got {given}")
    return given


def _rows(place: Place, facts: SplitFacts, body: PickBody) -> Ints:
    """Return the rows of a split with a property, in the order in which they are shown."""
    every, by = np.arange(len(facts.targets)), body.by
    if by == "random":
        return np.random.default_rng(body.seed).permutation(every)
    if by == "class":
        return np.flatnonzero(_has(facts.label, class_of(place.classes, body.class_, "class")))
    if by == "confused":
        known = _has(facts.label, class_of(place.classes, body.true, "true"))
        said = _has(facts.predicted, class_of(place.classes, body.predicted, "predicted"))
        return _by_confidence(facts, np.flatnonzero(known & said))
    if by == "degree":
        if body.bin is not None:
            return np.flatnonzero(facts.degree_bin == body.bin)
        return np.argsort(-facts.degree, kind="stable")
    if by == "calibration":
        if body.bin is None:
            raise ValueError("pick: bin must be given")
        return _by_confidence(facts, np.flatnonzero(calibration_bin(facts) == body.bin))
    if by == "wrong":
        return _by_confidence(facts, np.flatnonzero(facts.wrong))
    if facts.confidence is None:
        raise ValueError("pick: by must not be unsure for values, which have no probabilities")
    return np.argsort(facts.confidence, kind="stable")


def _has(label: NDArray[Any], number: int) -> NDArray[np.bool_]:
    """Tell which targets have a class, or a label."""
    found: NDArray[np.bool_] = label[:, number] > 0 if label.ndim == 2 else label == number
    return found


def _by_confidence(facts: SplitFacts, rows: Ints) -> Ints:
    """Put the most certain first; of values, those with the largest error."""
    key = facts.confidence
    if key is None:
        key = np.abs(facts.label.astype(np.float64) - facts.predicted)
    return rows[np.argsort(-key[rows], kind="stable")]


def _nodes(place: Place, body: PickBody) -> tuple[Ints, int]:
    """Return nodes with a property that needs no prediction, and how many there are in all."""
    graph, most = place.graph, body.offset + body.limit
    if body.split is not None and body.split not in graph.splits:
        raise ValueError(f"pick: split must be one of {', '.join(graph.splits) or 'none'}, got {body.split!r:.80}")
    split = None if body.split is None else graph.split(body.split)
    count = graph.num_nodes if split is None else len(split)
    if body.by == "random":
        rng = np.random.default_rng(body.seed)
        some = min(most, count)
        places = rng.permutation(count)[:some] if count < 1 << 20 else rng.integers(count, size=some)
        return (places if split is None else split[places])[body.offset :].astype(np.int64), count
    if body.by == "class":
        if graph.y is None or graph.y.dtype.kind == "f":
            raise ValueError("pick: by must not be class, as the graph has no classes")
        number = class_of(place.classes, body.class_, "class")
        labels = graph.y if split is None else graph.y[split]
        found = np.flatnonzero(_has(labels, number))
        found = found if split is None else split[found]
        return found[body.offset : most], len(found)
    nodes = np.arange(count) if split is None else split
    degree = graph.degrees(nodes)
    if body.bin is not None:
        nodes = nodes[np.frexp(degree.astype(np.float64))[1] == body.bin]
        return nodes[body.offset : most], len(nodes)
    return nodes[_largest(degree, most)[body.offset :]], count


def _largest(values: Ints, count: int) -> Ints:
    """Return the places of the largest values, the largest first; sorting all of a large graph would take seconds."""
    if count < len(values):
        bar = np.partition(values, len(values) - count)[len(values) - count]
        places = np.concatenate((np.flatnonzero(values > bar), np.flatnonzero(values == bar)[:count]))
    else:
        places = np.arange(len(values))
    return places[np.lexsort((places, -values[places]))][:count]


def _plain(place: Place, nodes: Ints) -> list[PickedTarget]:
    labels = label_answers(place.graph, nodes)
    degree = degrees_of(place.main, place.main.graph, nodes).tolist()
    return [
        PickedTarget(id=node, name=_name(place, node), label=label, degree=many, prediction=None, confidence=None)
        for node, label, many in zip(nodes.tolist(), labels, degree, strict=True)
    ]


def _predicted(place: Place, facts: SplitFacts, rows: Ints) -> list[PickedTarget]:
    found = []
    for row in rows.tolist():
        ends = np.atleast_1d(facts.targets[row]).tolist()
        target = PickedTarget(
            id=ends[0],
            name=_name(place, ends[0]),
            label=label_answer(facts.label[row]),
            degree=int(facts.degree[row]),
            prediction=label_answer(facts.predicted[row]),
            confidence=None if facts.confidence is None else float(facts.confidence[row]),
        )
        if len(ends) == 2:
            target["other_id"], target["other_name"] = ends[1], _name(place, ends[1])
        found.append(target)
    return found


def _name(place: Place, node: int) -> str | None:
    names = place.main.graph.node_name
    return None if names is None else names[node]
