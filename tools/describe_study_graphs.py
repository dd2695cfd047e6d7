"""Describe the graphs for studies: measure the built graph folders and write the tables of docs/study-graphs.md.

    python tools/describe_study_graphs.py OUT

Results are kept as OUT/<name>.described.json and measured again only when the graph folder is newer.
"""

from __future__ import annotations

import argparse
import json
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from build_study_graphs import BUILDERS, HELD_OUT
from numpy.typing import NDArray

from shadow_gnn import Graph, open_graph
from shadow_gnn.studies.baselines.problem import make_problem
from shadow_gnn.studies.baselines.runs import run_baselines

PAGE = Path(__file__).resolve().parent.parent / "docs" / "study-graphs.md"
MEASURED = ("raw", "sgc", "lp")
BETWEEN = re.compile(r"(<!-- (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
NUM_RANDOM_PAIRS = 1_000_000


@dataclass(frozen=True)
class Description:
    """Figures of one graph."""

    num_nodes: int
    num_edges: int
    """Undirected."""
    num_columns: int
    num_classes: int
    labels_per_target: float
    split_nodes: dict[str, int]
    median_degree: float
    largest_degree: int
    num_isolated: int
    homophily: float
    """Share of the edges between labeled nodes that join nodes with a common label."""
    homophily_by_chance: float
    """The same share of random pairs of labeled nodes."""
    constant: float
    """Test score of the best constant prediction on the training targets."""
    scores: dict[str, float]
    """Test scores of the baselines: accuracy, or micro-F1 of several labels."""


def label_rows(y: NDArray[Any], num_classes: int) -> NDArray[np.uint8]:
    """Return labels as yes/no columns; a node without a label has none."""
    if y.ndim == 2:
        return np.asarray(y)
    rows = np.zeros((len(y), num_classes), np.uint8)
    known = np.flatnonzero(y >= 0)
    rows[known, y[known]] = 1
    return rows


def share_with_common_label(rows: NDArray[np.uint8], one: NDArray[Any], other: NDArray[Any]) -> float:
    """Return the share of the pairs of nodes whose labels have one in common."""
    blocks = [slice(at, at + 100_000) for at in range(0, len(one), 100_000)]
    return sum(int((rows[one[at]] & rows[other[at]]).any(axis=1).sum()) for at in blocks) / len(one)


def homophily(graph: Graph, rows: NDArray[np.uint8]) -> tuple[float, float]:
    """Return the share of edges with a common label, and that of random pairs, of labeled nodes only."""
    labeled = rows.any(axis=1)
    receiver = np.repeat(np.arange(graph.num_nodes), np.diff(graph.indptr))
    sender = np.asarray(graph.indices)
    known = labeled[receiver] & labeled[sender]
    nodes = np.flatnonzero(labeled)
    one, other = np.random.default_rng(0).choice(nodes, size=(2, NUM_RANDOM_PAIRS))
    return (
        share_with_common_label(rows, receiver[known], sender[known]),
        share_with_common_label(rows, one[one != other], other[one != other]),
    )


def micro_f1(rows: NDArray[np.uint8], predicted: NDArray[Any]) -> float:
    """Return the micro-F1 of predicting the same labels for every row."""
    return float(2 * rows[:, predicted].sum() / (rows.sum() + len(predicted) * len(rows)))


def constant_score(graph: Graph, rows: NDArray[np.uint8]) -> float:
    """Return the test score of the most frequent class, or of the set of most frequent labels, of the training targets.

    With one label a node, micro-F1 of one predicted class is accuracy.
    """
    train, test = rows[graph.splits["train"]], rows[graph.splits["test"]]
    order = np.argsort(-train.sum(axis=0), kind="stable")
    most = 1 if graph.y is not None and graph.y.ndim == 1 else len(order)
    best = max((order[:size] for size in range(1, most + 1)), key=lambda labels: micro_f1(train, labels))
    return micro_f1(test, best)


def describe(graph: Graph) -> Description:
    """Measure one graph."""
    assert graph.y is not None
    assert graph.x is not None
    assert graph.class_name is not None
    rows = label_rows(graph.y, len(graph.class_name))
    degree = np.diff(graph.indptr)
    common, by_chance = homophily(graph, rows)
    found = [results[0] for results in run_baselines(make_problem(graph), MEASURED)]
    return Description(
        num_nodes=graph.num_nodes,
        num_edges=graph.num_edges // 2,
        num_columns=graph.x.shape[1],
        num_classes=len(graph.class_name),
        labels_per_target=float(rows.sum() / rows.any(axis=1).sum()),
        split_nodes={name: len(graph.splits[name]) for name in ("train", "valid", "test")},
        median_degree=float(np.median(degree)),
        largest_degree=int(degree.max()),
        num_isolated=int((degree == 0).sum()),
        homophily=common,
        homophily_by_chance=by_chance,
        constant=constant_score(graph, rows),
        scores={result.name: float(result.test) for result in found if result.test is not None},
    )


def described(out: Path, name: str) -> Description:
    """Return the figures of a graph folder, measured now or by an earlier run."""
    path, kept = out / name / "graph.json", out / f"{name}.described.json"
    if not kept.exists() or kept.stat().st_mtime < path.stat().st_mtime:
        kept.write_text(json.dumps(asdict(describe(open_graph(out / name))), indent=1) + "\n")
    return Description(**json.loads(kept.read_text()))


def shape_row(name: str, found: Description) -> str:
    """Return a line of the table of sizes."""
    return (
        f"| {name} | {found.num_nodes:,} | {found.num_edges:,} | {2 * found.num_edges / found.num_nodes:.1f} "
        f"| {found.median_degree:.0f} | {found.largest_degree:,} | {found.num_isolated:,} | {found.num_columns} "
        f"| {' / '.join(f'{number:,}' for number in found.split_nodes.values())} |"
    )


def label_row(name: str, found: Description) -> str:
    """Return a line of the table of labels and scores."""
    kind = "one" if found.labels_per_target == 1 else f"{found.labels_per_target:.2f}"
    scores = " | ".join(f"{100 * found.scores[key]:.1f}" for key in MEASURED)
    return (
        f"| {name} | {'held out' if name in HELD_OUT else 'tuning'} | {found.num_classes} | {kind} "
        f"| {found.homophily:.2f} | {found.homophily_by_chance:.2f} | {100 * found.constant:.1f} | {scores} |"
    )


SHAPE_HEAD = """\
| graph | nodes | undirected edges | mean degree | median | largest | isolated | features | train / valid / test |
| --- | --- | --- | --- | --- | --- | --- | --- | --- |"""
LABEL_HEAD = """\
| graph | use | classes | labels per target | edge homophily | by chance | constant | raw | sgc | lp |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"""


def main() -> None:
    """Measure all graphs and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder with the graph folders of build_study_graphs.py")
    out = parser.parse_args().out
    found = {name: described(out, name) for name in BUILDERS}
    sources = {name: json.loads((out / f"{name}.json").read_text()) for name in BUILDERS}
    tables = {
        "shapes": "\n".join([SHAPE_HEAD, *(shape_row(*item) for item in found.items())]),
        "labels": "\n".join([LABEL_HEAD, *(label_row(*item) for item in found.items())]),
        "sources": "\n".join(
            f"- **{name}**: {', '.join(f'{key} {value}' for key, value in source.items())}"
            for name, source in sources.items()
        ),
    }
    text = BETWEEN.sub(lambda match: f"{match[1]}{tables[match[2]]}\n{match[3]}", PAGE.read_text())
    PAGE.write_text(text)
    print("\n\n".join(tables.values()))


if __name__ == "__main__":
    main()
