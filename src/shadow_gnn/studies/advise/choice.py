"""Choice: the candidate to recommend, and the reason in one sentence.

Not for: measuring them (candidates.py, judge.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from shadow_gnn.studies.advise.judge import Gains, difference
from shadow_gnn.studies.advise.record import Candidate


def choose(candidates: Sequence[Candidate], each: Sequence[Gains]) -> tuple[int, str]:
    """Return the place of the recommended candidate and the reason.

    It is the one whose predictions read the fewest nodes among those within one standard error, paired by target, of
    the best single model. The hybrid needs two trainings: it is recommended only if its whole 95 % interval is
    above that model.
    """
    singles = [place for place, one in enumerate(candidates) if one.family != "hybrid"]
    best = max(singles, key=lambda place: float(each[place].mean()))
    for place, one in enumerate(candidates):
        if one.family == "hybrid":
            apart = difference(each[place], each[best])
            if apart.low > 0:
                return place, (
                    f"the mean of both models is better than the best single one, {candidates[best].name}, by "
                    f"{_points(apart.value)} (95 % interval {_points(apart.low)} to {_points(apart.high)})"
                )
    chosen = _cheapest_near(candidates, each, singles)
    return chosen, _reason(candidates, each, best, chosen)


def choose_network(candidates: Sequence[Candidate], each: Sequence[Gains]) -> int:
    """Return the place of the best candidate that a single recipe trains: scopes, or a normal GNN."""
    places = [place for place, one in enumerate(candidates) if one.family in ("scope", "normal")]
    return max(places, key=lambda place: float(each[place].mean()))


def unfinished_note(candidates: Sequence[Candidate]) -> str | None:
    """Return a line about networks that the time cut short, because it weakens the recommendation; None without any."""
    short = [one.name for one in candidates if one.family in ("scope", "normal") and one.note]
    if not short:
        return None
    return f"not trained to the end: {', '.join(short)}; with more --minutes the recommendation may change"


def _cheapest_near(candidates: Sequence[Candidate], each: Sequence[Gains], singles: Sequence[int]) -> int:
    best = max(singles, key=lambda place: float(each[place].mean()))
    near = [place for place in singles if place == best or _is_near(each[place], each[best])]
    return min(near, key=lambda place: (round(candidates[place].num_nodes), candidates[place].cpu_seconds))


def _is_near(gain: Gains, best: Gains) -> bool:
    apart = difference(gain, best)
    return apart.value >= -hypot(apart.node_error, apart.seed_error)


def _reason(candidates: Sequence[Candidate], each: Sequence[Gains], best: int, chosen: int) -> str:
    first, one = candidates[best], candidates[chosen]
    text = "it is the best on validation"
    if chosen != best:
        apart = difference(each[chosen], each[best])
        text = (
            f"it is the cheapest of those within one standard error of the best, {first.name} "
            f"({_points(apart.value)}), with {one.num_nodes:,.0f} against {first.num_nodes:,.0f} nodes a prediction"
        )
    scopes = [place for place, other in enumerate(candidates) if other.family == "scope"]
    if one.family == "alone":
        return f"{text}; the graph adds nothing to the features of the target"
    if one.family == "smoothed":
        return f"{text}; smoothing the features once is enough, no model on scopes or on the graph is better"
    if one.family in ("normal", "served") and scopes:
        top = max(scopes, key=lambda place: float(each[place].mean()))
        apart = difference(each[top], each[best])
        if apart.high < 0:
            served = any(
                other.family == "served" and _is_near(gain, each[best])
                for other, gain in zip(candidates, each, strict=True)
            )
            why = (
                "although scopes are wide enough to answer with the weights of the normal GNN"
                if served
                else "because breadth decides: scopes of these sizes are too small for this graph"
            )
            return (
                f"{text}; no model trained on scopes reaches it in this time: {candidates[top].name} is "
                f"{_points(-apart.value)} below (95 % interval {_points(-apart.high)} to {_points(-apart.low)}), {why}"
            )
        return f"{text}; {candidates[top].name} is not clearly worse, with {_points(apart.value)}"
    return text


def _points(value: float) -> str:
    return f"{value:+.4f}" if value < 0 else f"{value:.4f}"
