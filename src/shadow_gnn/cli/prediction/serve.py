"""Serve: `shadow serve`, a trained model that answers over HTTP while its graph changes.

Not for: the work itself (serve/); heavy libraries load when the command runs.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shadow_gnn.cli.shared.options import JsonOption, OtherScopesOption, RunArgument, RunGraphOption
from shadow_gnn.cli.shared.output import print_json


def serve_command(
    run: RunArgument,
    graph: RunGraphOption = None,
    host: Annotated[str, typer.Option(help="Address to listen on; another than this machine's needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 8080,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token that callers must send; without it, the variable SHADOW_TOKEN."),
    ] = None,
    updates: Annotated[
        Path | None, typer.Option(help="Folder of the log of updates.", show_default="GRAPH.updates")
    ] = None,
    extractor: OtherScopesOption = None,
    cache: Annotated[int, typer.Option(min=0, help="Scopes of hot nodes that are kept; 0 for none.")] = 1000,
    as_json: JsonOption = False,
) -> None:
    """Serve predictions over HTTP, also for nodes that the graph does not have, while the graph changes.

    Needs the extra `serve`: pip install 'shadow-gnn[serve]'. Paths: /v1/predict, /v1/links, /v1/scope, /v1/retrieve,
    /v1/graph/edges, /v1/graph/nodes, /healthz, /readyz, /metrics, /openapi.json. Updates are answered when they are
    safe in the log; a restart replays it, `shadow graph compact` folds it into the graph folder. SIGTERM ends the
    service after the last answer. --json prints the address as JSON when the service is ready.

    \b
    Examples:
      shadow serve runs/recipe-1
      shadow serve runs/recipe-1 --host 0.0.0.0 --port 80 --token-file token.txt
    """
    from shadow_gnn.cli.shared.trained import open_run_predictor, show_note
    from shadow_gnn.graph.changes.live_graph import log_folder

    try:
        from shadow_gnn.serve.server import listen, read_token, run_server
        from shadow_gnn.serve.service import Service
    except ImportError as error:
        raise ValueError(f"serve: {error.name} must be installed; pip install 'shadow-gnn[serve]'") from None
    token = read_token(token_file, host)
    predictor = open_run_predictor(run, graph, extractor, command="serve")
    opened = listen(host, port)
    address = f"http://{host}:{opened.getsockname()[1]}"
    place = log_folder(predictor.graph) if updates is None else updates
    service = Service(predictor, place, note=show_note, cached=cache)

    def started() -> None:
        version, num_nodes = service.live.version, service.live.graph.num_nodes
        if as_json:
            print_json({"url": address, "run": run, "graph": predictor.graph.path, "log": place, "version": version})
        else:
            typer.echo(f"{address}: {run} on {num_nodes:,} nodes, version {version} of the graph")

    run_server(service, opened, token, started)
