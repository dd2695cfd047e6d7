"""Choice: one extractor of several, and the reason in one line, without test targets.

Not for: measuring them (comparison.py).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import mean

from shadow_gnn.studies.compare_extractors.record import ExtractorRow


def choose_extractor(rows: Sequence[ExtractorRow], *, metric: str | None, num_valid: int) -> tuple[str, str]:
    """Return the name of the row to begin with and the reason.

    With a probe: the fastest within one standard error of the best on validation. Without a probe: the largest share of
    the target's class, among scopes at least half as large as the largest. Close nodes share the class more often, and
    small scopes would win by their size alone. Without classes there is no criterion.
    """
    if metric is not None:
        return _by_probe(rows, metric.replace("_", "-"), num_valid)
    least = max(row.contents.num_nodes for row in rows) / 2
    judged = [row for row in rows if row.contents.homophily is not None and row.contents.num_nodes >= least]
    if judged:
        best = max(judged, key=lambda row: (row.contents.homophily or 0.0, -row.cpu_us))
        share = best.contents.homophily
        return best.name, f"no probe could be fitted; its scopes have the most of the target's own class ({share:.1%})"
    first = next((row for row in rows if row.name == "ppr"), rows[0])
    return first.name, "no criterion without classes; start with it and compare runs"


def _by_probe(rows: Sequence[ExtractorRow], metric: str, num_valid: int) -> tuple[str, str]:
    best = max(rows, key=lambda row: (mean(row.valid), -row.cpu_us))
    top = mean(best.valid)
    error = math.sqrt(max(top * (1 - top), 0.0) / max(1, num_valid))
    near = [row for row in rows if mean(row.valid) >= top - error]
    chosen = min(near, key=lambda row: row.cpu_us)
    reason = f"{metric} {mean(chosen.valid):.3f} of the probe on {num_valid:,} validation targets"
    if chosen is best:
        reason += ", the best"
        if len(near) > 1:
            reason += f" and the fastest of {len(near)} within one standard error ({error:.3f})"
    else:
        reason += f", within one standard error ({error:.3f}) of the best, {best.name} ({top:.3f}), and the fastest"
        reason += f" of these {len(near)} ({chosen.cpu_us:,.0f} against {best.cpu_us:,.0f} µs)"
    if chosen.contents.num_nodes <= 1:
        reason += "; the graph adds nothing that the probe can see"
    return chosen.name, reason
