"""Init: `shadow init`, a commented starter recipe for a graph.

Not for: the choice of its values (training/defaults), or the text (recipe/starter.py).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.options import GraphArgument, JsonOption
from shadow_gnn.cli.shared.output import print_json


def init_command(
    graph: GraphArgument,
    out: Annotated[Path, typer.Option(help="Recipe to create, .toml.")] = Path("recipe.toml"),
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an existing recipe.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Write a starter recipe for a graph, with a comment on every key.

    The values follow from the graph, as in `shadow train --graph`; lines that begin with # and a key show defaults.

    \b
    Examples:
      shadow init my-graph
      shadow init my-graph --out deep.toml --overwrite
    """
    if out.suffix != ".toml":
        raise ValueError(f"init: --out must end in .toml, got {out.name}")
    if out.exists() and not overwrite:
        raise ValueError(f"init: {out} exists already; choose another --out, or replace it with --overwrite")
    from shadow_gnn.base.files import write_file
    from shadow_gnn.recipe.starter import starter_text
    from shadow_gnn.training.defaults import choose_recipe, graph_facts
    from shadow_gnn.training.run_setup import open_recipe_graph

    found = choose_recipe(graph_facts(open_recipe_graph(graph)), graph)
    reasons = [f"{choice.setting}: {choice.reason}" for choice in found.choices]
    head = [
        f"Starter recipe for the graph {graph}. Train it with: shadow train {out}",
        "A line such as #key = value shows a default; remove the # to change it.",
        *(f"Chosen: {reason}." for reason in reasons),
    ]
    write_file(out, starter_text(found.recipe, head).encode())
    if as_json:
        print_json({"out": out, "graph": graph, "choices": list(found.choices)})
        return
    for reason in reasons:
        typer.echo(reason)
    typer.echo(f"next: shadow train {out}")
