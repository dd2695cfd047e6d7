"""Learned size: the weights of a normal GNN on scopes of its most influential nodes, next to PPR's, by size.

Not for: training on learned scopes (shadow learn-scope). Findings: docs/what-was-tried.md.
Usage: python bench/learned_size.py RUN...; the finished runs of normal GNNs, by full batches
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import torch
from common import Report

from shadow_gnn.extract import BaseExtractor, FileExtractor, PprExtractor
from shadow_gnn.inference.evaluation import evaluate_split
from shadow_gnn.inference.predictor import open_predictor
from shadow_gnn.studies.learned_scopes.scoring import Places, Scorer, write_scopes
from shadow_gnn.tasks.task import split_targets


def main() -> None:
    """Evaluate every size and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="RUN")
    parser.add_argument("--sizes", nargs="+", type=int, default=[25, 50, 100])
    parser.add_argument("--candidates", type=int, default=400)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    report = Report("Learned scopes by size, validation accuracy", ("run", "nodes", "PPR", "learned"))
    for run in chosen.runs:
        whole = open_predictor(run)
        graph, trained = whole.graph, whole.trained

        def score(extractor: BaseExtractor | None, run: str = run) -> str:
            return f"{100 * evaluate_split(open_predictor(run, extractor=extractor), 'valid').metrics['accuracy']:.2f}"

        places, targets = Places.of(trained, graph, inductive=False), split_targets(graph, "valid")
        candidates = PprExtractor(topk=chosen.candidates)
        with tempfile.TemporaryDirectory() as folder:
            for size in chosen.sizes:
                path = Path(folder) / f"{size}.safetensors"
                write_scopes(Scorer(trained, candidates, chosen.candidates, size), places, targets, path)
                row = (Path(run).name, str(size), score(PprExtractor(topk=size)), score(FileExtractor(path=str(path))))
                report.rows.append(row)
                print(row, flush=True)
        row = (Path(run).name, str(chosen.candidates), score(candidates), "")
        report.rows += [row, (Path(run).name, "whole graph", score(None), "")]
        print(*report.rows[-2:], flush=True)
    print(report.text())


if __name__ == "__main__":
    main()
