"""Default: the recipe of `shadow train` without one, and the lines that explain it.

Not for: the rules (training/defaults) or the probe itself (studies/advise).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from shadow_gnn.cli.shared.voice import say

if TYPE_CHECKING:
    from shadow_gnn.base.ranks import Ranks
    from shadow_gnn.graph.record import Graph
    from shadow_gnn.recipe import Recipe

PROBE_TARGETS = 2_000
"""Training targets from which on a probe is worth its minute."""
PROBE_MINUTES = 1.0


def chosen_recipe(
    graph: str, changes: list[str] | None, probe: bool | None, ranks: Ranks, *, to_stderr: bool = False
) -> Recipe:
    """Choose a recipe for a graph, print a line for each choice, and apply the changes of --set.

    probe: None for a graph with enough training targets; several processes have no probe.
    """
    from shadow_gnn.recipe.file import change_recipe
    from shadow_gnn.training.defaults import choose_recipe, graph_facts
    from shadow_gnn.training.run_setup import open_recipe_graph

    if probe and not ranks.alone:
        raise ValueError("train: --probe must be used with one process, got several")
    opened = open_recipe_graph(graph)
    facts = graph_facts(opened)
    found = choose_recipe(facts, graph)
    recipe, lines = found.recipe, [f"{choice.setting}: {choice.reason}" for choice in found.choices]
    if ranks.alone and (facts.num_train >= PROBE_TARGETS if probe is None else probe):
        recipe, line = _probed(opened)
        lines.append(line)
    if ranks.is_main:
        for line in lines:
            say(line, to_stderr=to_stderr)
    return change_recipe(recipe.model_copy(update={"graph": graph}), changes or [])


def _probed(graph: Graph) -> tuple[Recipe, str]:
    """Return the best network of a short advice, and a line about it."""
    from shadow_gnn.cli.shared.progress import progress_bar
    from shadow_gnn.studies.advise import AdviseOptions, advise

    with progress_bar() as progress:
        found = advise(graph, AdviseOptions(minutes=PROBE_MINUTES), progress)
    row = next(row for row in found.rows if row.name == found.network)
    text = f"{found.network}: best network of a probe of {found.seconds:.0f} s, {found.metric} {row.score:.4f}"
    if found.recommended != found.network:
        text += f"; shadow advise would recommend {found.recommended}"
    return found.network_recipe, text
