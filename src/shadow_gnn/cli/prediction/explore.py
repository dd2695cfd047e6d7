"""Explore: `shadow explore`, a page to look at scopes, predictions and their explanations.

Not for: the page and its answers (explore/); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shadow_gnn.cli.shared.options import GraphArgument, HostOption, JsonOption, PortOption, TokenFileOption
from shadow_gnn.cli.shared.output import print_json

if TYPE_CHECKING:
    from shadow_gnn.explore.runs import ExploredRun
    from shadow_gnn.graph.changes.live_graph import LiveGraph


def explore_command(
    graph: GraphArgument,
    run: Annotated[
        list[Path] | None, typer.Option(metavar="RUN", help="Folder of a run to predict with; can be repeated.")
    ] = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 0,
    token_file: TokenFileOption = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the address and open no browser.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Open a page that shows scopes, predictions and explanations, and how they change with the graph.

    Needs the extra `serve`: pip install 'shadow-gnn[serve]'. The page finds nodes by name, class or prediction, draws
    their scopes, explains predictions of the runs, and tries edits that leave the graph as it is. Without a run it
    shows scopes alone. Everything stays on this machine. Ctrl-C ends the command.

    \b
    Examples:
      shadow explore debian
      shadow explore my-graph --run runs/recipe-1 --run runs/recipe-2
      shadow explore my-graph --run runs/recipe-1 --port 8080 --no-open
    """
    import webbrowser

    from shadow_gnn.base import collector
    from shadow_gnn.base.idle_threads import sleep_when_idle

    sleep_when_idle()  # Before anything loads torch.
    collector.pause()
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.training.run_setup import open_recipe_graph

    try:
        from shadow_gnn.explore.explorer import Explorer
        from shadow_gnn.explore.routes import create_explorer_app
        from shadow_gnn.serve.server import listen, read_token, run_app
    except ImportError as error:
        raise ValueError(f"explore: {error.name} must be installed; pip install 'shadow-gnn[serve]'") from None
    from shadow_gnn.graph.changes.live_graph import LiveGraph

    token = read_token(token_file, host, command="explore")
    keep_freed_memory()
    live = LiveGraph(open_recipe_graph(graph))
    runs = _opened(run or [], live)
    opened = listen(host, port, command="explore")
    address = f"http://{f'[{host}]' if ':' in host else host}:{opened.getsockname()[1]}/"
    explorer = Explorer(live, runs, name=Path(graph).name, source=_source(graph))
    explorer.about()  # Loads what the first page would wait for.

    def started() -> None:
        if as_json:
            print_json({"url": address, "graph": live.stored.path, "runs": [one.name for one in runs]})
        else:
            typer.echo(f"{address}: {graph}, {live.stored.num_nodes:,} nodes, {len(runs)} run{'s' * (len(runs) != 1)}")
        if not no_open:
            webbrowser.open(address if token is None else f"{address}#token={token}")

    run_app(create_explorer_app(explorer, token=token), opened, started)


def _opened(folders: list[Path], live: LiveGraph) -> list[ExploredRun]:
    """Open all runs; each is shown by the name of its folder, or by its path if two have the same."""
    from shadow_gnn.cli.shared.trained import show_note
    from shadow_gnn.explore.runs import open_explored

    names = [folder.resolve().name for folder in folders]
    if len(set(names)) != len(names):
        names = [str(folder) for folder in folders]

    def warn(line: str) -> None:
        typer.echo(f"warning: {line}", err=True)

    return [
        open_explored(name, folder, live, note=show_note, warn=warn)
        for name, folder in zip(names, folders, strict=True)
    ]


def _source(graph: str) -> str:
    """Return the name of a built-in graph or dataset, or the whole path of a folder."""
    return str(Path(graph).resolve()) if Path(graph).exists() else graph
