"""Scope plots: one PNG of the contents and cost of an extractor's scopes.

Not for: the numbers in it (scopes.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadow_gnn.studies.analysis.scopes import Buckets, ScopeReport
from shadow_gnn.studies.figures import COLORS, picture

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_scopes(report: ScopeReport, title: str, path: Path | None = None) -> Figure:
    """Draw sizes, hop composition and time per target side by side; title: graph and extractor, in words."""
    with picture(path, (12, 3.8)) as figure:
        sizes, hops, times = figure.subplots(1, 3)
        _histogram(sizes, report.size_buckets)
        sizes.set_title(f"nodes of a scope: mean {report.num_nodes.mean:.0f}", fontsize=10)
        sizes.set_xlabel("nodes")
        _hop_bars(hops, report)
        _histogram(times, report.latency_buckets)
        latency = report.latency_us
        times.set_title(f"time of one target: median {latency.p50:.0f} µs, p99 {latency.p99:.0f} µs", fontsize=10)
        times.set_xlabel("µs (above p99: in the last bar)")
        figure.suptitle(f"{title}: {report.num_targets:,} targets", fontsize=11)
    return figure


def _histogram(axes: Any, buckets: Buckets) -> None:
    starts = [start for start, _, _ in buckets]
    widths = [stop - start for start, stop, _ in buckets]
    axes.bar(starts, [count for *_, count in buckets], width=widths, align="edge", color=COLORS[0], edgecolor="white")
    if len(buckets) == 1:
        axes.set_xlim(starts[0] - 4.5 * widths[0], starts[0] + 5.5 * widths[0])
    axes.set_ylabel("targets")


def _hop_bars(axes: Any, report: ScopeReport) -> None:
    hops = range(len(report.hop_share))
    axes.bar(hops, report.hop_share, color=COLORS[0], width=0.85)
    if len(hops) <= 12:
        for hop, share in zip(hops, report.hop_share, strict=True):
            axes.annotate(f"{share:.1%}", (hop, share), ha="center", va="bottom", fontsize=7)
    axes.set_title(f"hop composition: mean depth {report.depth.mean:.1f}", fontsize=10)
    axes.set(xlabel="hop", ylabel="share of nodes")
