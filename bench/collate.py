"""Collating scopes to a Batch, in both orders, against extracting them."""

from __future__ import annotations

import argparse

from common import Bar, Report, busy_share, finish_each, in_turns, load_line, micro, options, random_targets

from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.graph.record import Graph
from shadow_gnn.loading.batch import collate

ORDERS = ("hop", "subgraph")


def compare(name: str, graph: Graph, count: int, report: Report) -> None:
    targets = random_targets(graph, count)
    for label, extractor in (("ppr", PprExtractor(num_threads=1)), ("khop", KhopExtractor(num_threads=1))):
        subgraphs = extractor(graph, targets)
        calls = {"extract": lambda extractor=extractor: extractor(graph, targets)}
        for order in ORDERS:
            calls[f"{order}, bare"] = lambda subgraphs=subgraphs, order=order: collate(
                graph, subgraphs, order=order, features=False
            )
            calls[order] = lambda subgraphs=subgraphs, order=order: collate(graph, subgraphs, order=order)
        seconds = {key: value / len(targets) for key, value in in_turns(calls, rounds=9).items()}
        width = 0 if graph.x is None else graph.x.shape[1]
        bare = (f"{order}, bare" for order in ORDERS)
        report.rows.append([name, label, str(width), *(micro(seconds[key]) for key in ("extract", *ORDERS, *bare))])
        for order in ORDERS:
            share = seconds[order] / seconds["extract"]
            claim = f"{name} {label}: collating by {order} costs less than the extraction"
            report.bars.append(Bar(claim, f"{share:.2f} of it", bool(share < 1)))


def main(chosen: argparse.Namespace) -> None:
    columns = (
        "graph",
        "extractor",
        "features",
        "extraction",
        "by hop",
        "by subgraph",
        "by hop, bare",
        "by subgraph, bare",
    )
    report = Report("Collating against extraction, CPU µs per target", columns, notes=[load_line(busy_share())])
    report.notes.append(
        "Bare: without looking up features and labels (a copy of rows, whose cost depends on their width)."
    )
    finish_each(report, chosen, compare, quick=64, full=256)


if __name__ == "__main__":
    main(options(__doc__ or ""))
