"""Comparison: extract scopes of the same targets with every candidate, in turns, and compare them.

Not for: the candidates (candidates.py) or the recommendation (choice.py).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.extract import Subgraphs
from shadow_gnn.graph.record import Graph, Ints
from shadow_gnn.studies.baselines.problem import Inputs, input_matrix, make_problem
from shadow_gnn.studies.baselines.scope_sgc import Probe, fit_probe, scope_rows
from shadow_gnn.studies.compare_extractors.candidates import Candidate
from shadow_gnn.studies.compare_extractors.choice import choose_extractor
from shadow_gnn.studies.compare_extractors.contents import Tally, jaccard
from shadow_gnn.studies.compare_extractors.labels import SeenLabels, seen_labels
from shadow_gnn.studies.compare_extractors.record import Comparison, ExtractorRow
from shadow_gnn.tasks.task import label_kind, split_targets

POWERS = (1, 2, 4, 8)
"""Steps of propagation for the probe: from direct neighbors to a mixture of the whole scope."""
_CHUNK = 256


@dataclass(frozen=True)
class CompareOptions:
    """Extent of the measurements."""

    size: int = 100
    """Maximum scope size."""
    num_targets: int = 1000
    """Targets to sample from each split, or from all nodes of a graph without splits."""
    seeds: tuple[int, ...] = (0,)
    """Random seeds; each has its own targets and scopes."""


@dataclass
class _Measured:
    """Measurements of one candidate so far, over all seeds."""

    candidate: Candidate
    tally: Tally = field(default_factory=Tally)
    cpu_seconds: float = 0.0
    probes: list[Probe] = field(default_factory=list)

    def row(self, num_scopes: int) -> ExtractorRow:
        probes = self.probes
        return ExtractorRow(
            name=self.candidate.name,
            settings=self.candidate.settings,
            cpu_us=self.cpu_seconds * 1e6 / num_scopes,
            contents=self.tally.result(),
            valid=tuple(probe.valid for probe in probes),
            test=tuple(probe.test for probe in probes if probe.test is not None),
            powers=tuple(probe.power for probe in probes),
        )


def compare_extractors(
    graph: Graph, candidates: Sequence[Candidate], options: CompareOptions, progress: Progress = silent
) -> Comparison:
    """Measure every candidate on the same targets; default candidates may be skipped, with a note."""
    begin = time.perf_counter()
    if graph.num_nodes == 0 or not options.seeds:
        raise ValueError("compare-extractors: graph must have nodes and seeds must be given, got none")
    kept, notes = _that_serve(graph, candidates)
    seen, label_note = seen_labels(graph)
    why_not = _no_probe(graph)
    x = None if why_not else input_matrix(graph)
    measured = [_Measured(candidate) for candidate in kept]
    overlap = np.zeros((len(kept), len(kept)))
    samples = [_sample(graph, options.num_targets, seed) for seed in options.seeds]
    for seed, sample in zip(options.seeds, samples, strict=True):
        overlap += _one_seed(_Round(graph, sample, seed, seen, x), measured, progress)
    num_scopes = sum(len(nodes) for sample in samples for nodes in sample.values())
    rows = tuple(one.row(num_scopes) for one in measured)
    metric = None if x is None else make_problem(graph).metric
    recommended, reason = choose_extractor(rows, metric=metric, num_valid=len(samples[0].get("valid", ())))
    return Comparison(
        size=options.size,
        seeds=options.seeds,
        num_targets={name: len(nodes) for name, nodes in samples[0].items()},
        metric=metric,
        num_known=0 if seen is None else seen.num_known,
        rows=rows,
        overlap=tuple(tuple(line) for line in (overlap / num_scopes).tolist()),
        notes=tuple(note for note in (*notes, label_note, why_not) if note),
        recommended=recommended,
        reason=reason,
        seconds=time.perf_counter() - begin,
    )


@dataclass(frozen=True, eq=False)
class _Round:
    """The input of all candidates for one seed."""

    graph: Graph
    sample: Mapping[str, Ints]
    seed: int
    seen: SeenLabels | None
    x: Inputs | None

    def chunks(self) -> Iterator[tuple[str, Ints]]:
        for name, nodes in self.sample.items():
            for start in range(0, len(nodes), _CHUNK):
                yield name, nodes[start : start + _CHUNK]


def _that_serve(graph: Graph, candidates: Sequence[Candidate]) -> tuple[list[Candidate], list[str]]:
    """Try every candidate on one target, which also allocates its scratch memory."""
    kept, notes = [], []
    for candidate in candidates:
        try:
            candidate.extractor(graph, np.zeros(1, np.int64))
        except ValueError as error:
            if candidate.required:
                raise
            notes.append(f"skipped: {candidate.name}: {error}")
        else:
            kept.append(candidate)
    if not kept:
        raise ValueError("compare-extractors: --extractors must name at least one that can serve the graph, got none")
    return kept, notes


def _no_probe(graph: Graph) -> str:
    """Return the reason for a missing probe; empty otherwise."""
    if graph.x is None or graph.y is None:
        missing = " and no ".join(name for name, array in (("features", graph.x), ("labels", graph.y)) if array is None)
        return f"no probe: the graph has no {missing}"
    if not {"train", "valid"} <= graph.splits.keys():
        return "no probe: the graph has no splits train and valid"
    return "no probe: labels must be classes, got values" if label_kind(graph) == "values" else ""


def _sample(graph: Graph, count: int, seed: int) -> dict[str, Ints]:
    """Sample targets with labels from each split, or from all nodes without labels or splits."""
    rng = np.random.default_rng(seed)
    if graph.y is None or not {"train", "valid"} <= graph.splits.keys():
        return {"all": np.sort(rng.choice(graph.num_nodes, min(count, graph.num_nodes), replace=False, shuffle=False))}
    pools = {name: split_targets(graph, name) for name in ("train", "valid", "test") if name in graph.splits}
    return {
        name: np.sort(rng.choice(pool, min(count, len(pool)), replace=False, shuffle=False))
        for name, pool in pools.items()
    }


@dataclass(frozen=True, eq=False)
class _Part:
    """The probe's part of the scopes of one chunk, without edges."""

    split: str
    sizes: Ints
    node_id: Ints
    rows: list[NDArray[np.float32]]


def _one_seed(given: _Round, measured: Sequence[_Measured], progress: Progress) -> NDArray[np.float64]:
    """Extract, count and fit for one seed; return the sums of the overlaps over all targets."""
    overlap = np.zeros((len(measured), len(measured)))
    parts: list[list[_Part]] = [[] for _ in measured]
    total = sum(len(nodes) for nodes in given.sample.values())
    done = 0
    for split, nodes in given.chunks():
        progress("extracting", done, total)
        done += len(nodes)
        scopes = [_extract(given, one, nodes) for one in measured]
        for a, b in itertools.combinations_with_replacement(range(len(scopes)), 2):
            overlap[a, b] += jaccard(scopes[a], scopes[b], given.graph.num_nodes).sum()
        if given.x is not None:
            for found, kept in zip(scopes, parts, strict=True):
                kept.append(_Part(split, np.diff(found.ptr), found.node_id, scope_rows(found, POWERS)))
    if given.x is not None:
        problem = make_problem(replace(given.graph, splits=given.sample))
        for number, (one, kept) in enumerate(zip(measured, parts, strict=True)):
            progress("fitting probes", number, len(measured))
            one.probes.append(fit_probe(problem, given.x, _joined(kept, given.graph.num_nodes)))
    return overlap + np.triu(overlap, 1).T


def _extract(given: _Round, one: _Measured, nodes: Ints) -> Subgraphs:
    """Extract the scopes of one chunk and add its time and contents."""
    begin = time.process_time()
    found = one.candidate.extractor(given.graph, nodes, seed=given.seed)
    one.cpu_seconds += time.process_time() - begin
    one.tally.add(found, None if given.seen is None else given.seen.of(found.node_id))
    return found


def _joined(parts: Sequence[_Part], num_nodes: int) -> dict[int, dict[str, csr_array[Any]]]:
    """Join the rows of Â^k of all chunks: by power, then by split."""
    joined: dict[int, dict[str, csr_array[Any]]] = {power: {} for power in POWERS}
    for split in dict.fromkeys(part.split for part in parts):
        own = [part for part in parts if part.split == split]
        sizes = np.concatenate([part.sizes for part in own])
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes)))
        node_id = np.concatenate([part.node_id for part in own])
        for place, power in enumerate(POWERS):
            data = np.concatenate([part.rows[place] for part in own])
            joined[power][split] = csr_array((data, node_id, indptr), shape=(len(sizes), num_nodes))
    return joined
