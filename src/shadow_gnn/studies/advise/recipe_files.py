"""Recipe files: the recommendation as recipes with comments on the reasons.

Not for: the choice (choice.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.studies.advise.record import Candidate, Row

ADVICE, PARTNER = "advice.toml", "advice-normal.toml"


def recipe_files(
    candidates: Sequence[Candidate], rows: Sequence[Row], chosen: int, network: int, reason: str, graph: str
) -> dict[str, str]:
    """Return the text of each file by name: one recipe, or two for the hybrid.

    network: place of the best candidate that one recipe trains.
    """
    one = candidates[chosen]
    head = [f"Recommended by shadow advise {graph}: {one.name}.", f"Reason: {reason}."]
    head += [f"{row.name}: {row.score:.4f} ({row.low:.4f} to {row.high:.4f}) on validation" for row in rows]
    if one.family == "smoothed":
        head.append(f"No recipe has logistic regression: shadow baselines {graph} --only smoothed fits it.")
        head.append(f"This is the recipe of the best network, {candidates[network].name}.")
        return {ADVICE: _text(head, candidates[network])}
    if one.family == "served":
        head.append(f"After training, predict on scopes: shadow predict RUN --extractor '{one.serve}'")
    if one.family != "hybrid":
        return {ADVICE: _text(head, one)}
    normal = next(other for other in candidates if other.family == "normal")
    head.append(f"Train this file and {PARTNER}, then average both runs: shadow ensemble RUN-1 RUN-2")
    return {ADVICE: _text(head, one), PARTNER: _text(head[:2], normal)}


def _text(head: Sequence[str], candidate: Candidate) -> str:
    assert candidate.recipe is not None
    return "".join(f"# {line}\n" for line in head) + "\n" + write_recipe(candidate.recipe)
