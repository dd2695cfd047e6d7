"""Every extractor against PPR at equal scope size: CPU time per target, one thread."""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np
from common import Bar, Report, busy_share, finish_each, in_turns, load_line, micro, options, random_targets

from shadow_gnn.graph.record import Graph
from shadow_gnn.studies.compare_extractors.candidates import Candidate, default_candidates

SIZE = 200
MOST = 3.0
OTHER_BARS = {"simrank": 30.0}
"""Most times PPR's time per target, where it is not MOST."""
BARS_ON = ("ogbn-arxiv", "power-law-1e5")


def compare(name: str, graph: Graph, count: int, report: Report) -> None:
    """Time all candidates that serve a graph in turns, and compare each with PPR."""
    targets = random_targets(graph, count)
    candidates = [candidate for candidate in default_candidates(SIZE) if serves(name, graph, candidate, report)]
    calls = {candidate.name: partial(candidate.extractor, graph, targets) for candidate in candidates}
    seconds = in_turns(calls, rounds=5)
    for candidate in candidates:
        scopes = candidate.extractor(graph, targets)
        each = seconds[candidate.name] / len(targets)
        ratio = seconds[candidate.name] / seconds["ppr"]
        sizes, touched = np.diff(scopes.ptr).mean(), scopes.edges_touched.mean()
        report.rows.append([name, candidate.name, micro(each), f"{ratio:.2f}", f"{sizes:.0f}", f"{touched:,.0f}"])
        if candidate.name not in ("ppr", "node") and name in BARS_ON:
            most = OTHER_BARS.get(candidate.name, MOST)
            claim = f"{name}: {candidate.name} at most {most:g} times PPR's time per target"
            report.bars.append(Bar(claim, f"{ratio:.2f} times", bool(ratio <= most)))


def serves(name: str, graph: Graph, candidate: Candidate, report: Report) -> bool:
    """Tell whether an extractor can work on a graph; if not, the report says why."""
    try:
        candidate.extractor(graph, np.zeros(1, np.int64))
    except ValueError as error:
        report.notes.append(f"{name}: {candidate.name} is left out: {error}")
        return False
    return True


def main(chosen: argparse.Namespace) -> None:
    columns = ("graph", "extractor", "CPU µs", "times PPR", "nodes", "edges touched")
    report = Report(f"Extractors at scopes of {SIZE} nodes", columns, notes=[load_line(busy_share())])
    report.notes.append(
        "Per target, 1 thread, random targets, medians of 5 alternating rounds. Every extractor has its default "
        f"settings except for the size, at most {SIZE} nodes; khop draws with a fanout for that many nodes."
    )
    finish_each(report, chosen, compare, quick=64, full=512)


if __name__ == "__main__":
    main(options(__doc__ or ""))
