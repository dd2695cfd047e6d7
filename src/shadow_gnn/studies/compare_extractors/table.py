"""Table: a comparison of extractors as columns and cells of text, and as Markdown.

Not for: printing (cli).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev

from shadow_gnn.studies.compare_extractors.record import Comparison, ExtractorRow

_NUM_HOPS = 3
"""Hops with a column; the last one includes the rest."""


def columns(found: Comparison) -> list[str]:
    """Return the headings of all columns that the graph allows, the extractor's name first."""
    hops = [f"hop {hop}" for hop in range(1, _NUM_HOPS)] + [f"hop {_NUM_HOPS}+"]
    heads = ["extractor", "CPU µs", "nodes", *hops]
    if found.num_known:
        heads += ["homophily", "entropy"]
    if found.metric is not None:
        metric = found.metric.replace("_", "-")
        heads += [f"valid {metric}"] + ([f"test {metric}"] if found.rows[0].test else [])
    return heads


def cells(found: Comparison) -> list[list[str]]:
    """Return one row of text for each extractor, with the headings of columns()."""
    return [_cells(found, row) for row in found.rows]


def _cells(found: Comparison, row: ExtractorRow) -> list[str]:
    share = [*row.contents.hop_share, *[0.0] * _NUM_HOPS]
    hops = [*share[: _NUM_HOPS - 1], sum(share[_NUM_HOPS - 1 :])]
    line = [row.name, f"{row.cpu_us:,.0f}", f"{row.contents.num_nodes:.1f}", *(f"{part:.1%}" for part in hops)]
    if found.num_known:
        line += [_number(row.contents.homophily), _number(row.contents.entropy)]
    if found.metric is not None:
        line += [_spread(row.valid)] + ([_spread(row.test)] if found.rows[0].test else [])
    return line


def overlap_rows(found: Comparison) -> list[list[str]]:
    """Return the matrix of overlaps as text, each row with the extractor's name first."""
    return [
        [row.name, *(f"{value:.2f}" for value in values)] for row, values in zip(found.rows, found.overlap, strict=True)
    ]


def markdown(found: Comparison, title: str) -> str:
    """Return everything as a Markdown page."""
    names = [row.name for row in found.rows]
    parts = [
        f"# Extractors on {title}",
        headline(found),
        _markdown_table(columns(found), cells(found)),
        "\n".join(f"- {note}" for note in found.notes),
        "## Overlap",
        "Mean share of the nodes of either scope that both have.",
        _markdown_table(["", *names], overlap_rows(found)),
        "## Recommendation",
        f"**{found.recommended}**: {found.reason}",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def headline(found: Comparison) -> str:
    """Return one line on targets, size, seeds and time."""
    parts = (f"{count:,}" if name == "all" else f"{count:,} {name}" for name, count in found.num_targets.items())
    targets = " + ".join(parts)
    several = f", {len(found.seeds)} seeds" if len(found.seeds) > 1 else f", seed {found.seeds[0]}"
    return f"{targets} targets, scopes of at most {found.size} nodes, one thread{several}, {found.seconds:.0f} s in all"


def _markdown_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _spread(values: Sequence[float]) -> str:
    if not values:
        return ""
    return f"{mean(values):.4f}" + (f" ± {stdev(values):.4f}" if len(values) > 1 else "")
