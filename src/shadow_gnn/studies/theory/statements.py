"""Statements: the one table from names to checks.

Not for: printing or files (cli/studies/theory.py, report.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from shadow_gnn.base.files import Progress, silent
from shadow_gnn.studies.theory.distinct_aggregations import check_distinct_aggregations
from shadow_gnn.studies.theory.identity_layers import check_identity_layers
from shadow_gnn.studies.theory.infinite_propagation import check_infinite_propagation
from shadow_gnn.studies.theory.long_range import check_long_range
from shadow_gnn.studies.theory.outcome import Outcome
from shadow_gnn.studies.theory.pprgo import check_pprgo
from shadow_gnn.studies.theory.regular_graphs import check_regular_graphs
from shadow_gnn.studies.theory.tau import check_tau

STATEMENTS: dict[str, Callable[[], Outcome]] = {
    "infinite-propagation": check_infinite_propagation,
    "distinct-aggregations": check_distinct_aggregations,
    "tau": check_tau,
    "identity-layers": check_identity_layers,
    "regular-graphs": check_regular_graphs,
    "pprgo": check_pprgo,
    "long-range": check_long_range,
}


def run_statements(names: Sequence[str] = (), *, progress: Progress = silent) -> Iterator[Outcome]:
    """Check the statements of some names, in this order, or all; an unknown name is an error before any work.

    >>> [outcome.name for outcome in sg.run_statements(["identity-layers"])]
    ['identity-layers']
    """
    for name in names:
        if name not in STATEMENTS:
            raise ValueError(f"theory: names must be some of {', '.join(STATEMENTS)}, got {name!r}")
    return _outcomes(list(dict.fromkeys(names)) or list(STATEMENTS), progress)


def _outcomes(names: list[str], progress: Progress) -> Iterator[Outcome]:
    for done, name in enumerate(names):
        progress(name, done, len(names))
        yield STATEMENTS[name]()
    progress("", len(names), len(names))
