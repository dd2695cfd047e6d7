"""Serve: `shadow serve`, a trained model that answers over HTTP while its graph changes.

Not for: the work itself (serve/); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.existing import existing_run
from shadow_gnn.cli.shared.options import (
    HostOption,
    JsonOption,
    OtherScopesOption,
    PortOption,
    RunGraphOption,
    TokenFileOption,
)
from shadow_gnn.cli.shared.output import print_json


def serve_command(
    run: Annotated[Path | None, typer.Argument(help="Run folder.")] = None,
    runs: Annotated[
        list[str] | None,
        typer.Option("--run", metavar="NAME=FOLDER", help="A run of the same graph with its name; may be repeated."),
    ] = None,
    graph: RunGraphOption = None,
    host: HostOption = "127.0.0.1",
    port: PortOption = 8080,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that answer.")] = 1,
    token_file: TokenFileOption = None,
    updates: Annotated[
        Path | None, typer.Option(help="Folder of the log of updates.", show_default="GRAPH.updates")
    ] = None,
    follow: Annotated[
        Path | None,
        typer.Option(help="Follow the log that another service writes in this folder, and take no updates."),
    ] = None,
    compact_after: Annotated[
        int, typer.Option(min=0, help="Fold the log into the graph folder after this many updates; 0 for never.")
    ] = 0,
    extractor: OtherScopesOption = None,
    cache: Annotated[int, typer.Option(min=0, help="Scopes of hot nodes that are kept; 0 for none.")] = 1000,
    as_json: JsonOption = False,
) -> None:
    """Serve predictions over HTTP, also for nodes that the graph does not have, while the graph changes.

    Needs the extra `serve`: pip install 'shadow-gnn[serve]'. Paths: /v1/predict, /v1/explain, /v1/links, /v1/scope,
    /v1/retrieve, /v1/graph/edges, /v1/graph/nodes, /v1/graph/compact, /v1/reload, /v1/state, /healthz, /readyz,
    /metrics, /openapi.json, and if one process answers also / with the page of `shadow explore`. Updates are answered
    when they are safe in the log; a restart replays it. SIGTERM ends the service after the last answer, SIGHUP reads
    the runs again. --json prints the address as JSON when the service is ready.

    A normal GNN, also that of a hybrid, answers on scopes of 400 nodes by PPR, or those of --extractor.

    \b
    Examples:
      shadow serve runs/recipe-1
      shadow serve runs/recipe-1 --host 0.0.0.0 --port 80 --token-file token.txt
      shadow serve --run new=runs/recipe-2 --run old=runs/recipe-1 --workers 4
      shadow serve runs/recipe-1 --follow my-graph.updates --port 8081
    """
    from shadow_gnn.base import collector
    from shadow_gnn.base.idle_threads import sleep_when_idle

    sleep_when_idle()  # Before anything loads torch.
    collector.pause()
    from shadow_gnn.base.allocator import keep_freed_memory
    from shadow_gnn.cli.shared.trained import show_note
    from shadow_gnn.graph.changes.live_graph import LiveGraph, log_folder

    try:
        from shadow_gnn.explore.routes import add_explorer
        from shadow_gnn.explore.serving import explorer_of
        from shadow_gnn.serve.following import Following
        from shadow_gnn.serve.served_run import open_shared_graph
        from shadow_gnn.serve.server import listen, read_token, run_server
        from shadow_gnn.serve.start import Start
        from shadow_gnn.serve.writer import LocalWriter
    except ImportError as error:
        raise ValueError(f"serve: {error.name} must be installed; pip install 'shadow-gnn[serve]'") from None
    folders = _named_runs(run, runs or [])
    _check_together(follow, updates, workers, compact_after)
    token = read_token(token_file, host)
    start = Start({name: str(folder) for name, folder in folders.items()}, extractor, cache)
    keep_freed_memory()
    opened_graph = open_shared_graph(folders, graph)
    place = follow or (log_folder(opened_graph) if updates is None else updates)
    with listen(host, port, reserved=workers > 1) as opened:
        bound = opened.getsockname()[1]
        address = f"http://{host}:{bound}"

        def started(live: LiveGraph) -> None:
            facts = {
                "runs": {name: str(folder) for name, folder in folders.items()},
                "run": next(iter(folders.values())),
            }
            if as_json:
                where = {"url": address, **facts, "graph": opened_graph.path, "log": place, "version": live.version}
                print_json({**where, "workers": workers})
            else:
                names = ", ".join(map(str, folders.values()))
                typer.echo(f"{address}: {names} on {live.graph.num_nodes:,} nodes, version {live.version} of the graph")

        if workers > 1:
            from shadow_gnn.serve.workers import run_workers

            live = LiveGraph(opened_graph, place, note=show_note)
            run_workers(
                start,
                live,
                num_workers=workers,
                host=host,
                port=bound,
                token=token,
                compact_after=compact_after,
                started=lambda: started(live),
                note=show_note,
            )
            return
        service = start.service(
            opened_graph,
            lambda: LiveGraph(opened_graph, place, follow=follow is not None, note=show_note),
            lambda live, limits: (
                Following(live) if follow else LocalWriter(live, limits, compact_after=compact_after, note=show_note)
            ),
            note=show_note,
            warn=lambda line: typer.echo(f"warning: {line}", err=True),
        )
        explorer = explorer_of(service, folders)
        run_server(
            service,
            opened,
            token,
            lambda: started(service.live),
            note=show_note,
            extend=lambda app: add_explorer(app, explorer),
        )
        explorer.close()


def _named_runs(run: Path | None, named: list[str]) -> dict[str, Path]:
    """Return the folders of runs by name; the first one has the name of its folder if it is given without one."""
    found: dict[str, Path] = {} if run is None else {run.resolve().name: existing_run(run)}
    for text in named:
        name, separator, folder = text.partition("=")
        if not separator or not name or not folder or len(name) > 200:
            raise ValueError(f"serve: --run must be NAME=FOLDER, got {text!r:.80}")
        if name in found:
            raise ValueError(f"serve: --run must have different names, got {name!r} twice")
        found[name] = existing_run(Path(folder))
    if not found:
        raise ValueError("serve: a run must be given, as RUN or --run NAME=FOLDER")
    return found


def _check_together(follow: Path | None, updates: Path | None, workers: int, compact_after: int) -> None:
    """Raise for options of a writer if the service follows the log of another one."""
    if follow is None:
        return
    for name, given in (("--updates", updates is not None), ("--compact-after", compact_after > 0)):
        if given:
            raise ValueError(f"serve: {name} must be left out with --follow, which takes no updates")
    if workers > 1:
        raise ValueError("serve: --workers must be 1 with --follow; start several services that follow")
