"""The same network in PyG's own operators behind FastAPI: k_hop_subgraph, SAGEConv and edge_index.

Requests that wait are predicted together, as in `shadow serve`. Run as a script it serves; weights are random, as only
the speed counts.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import socket
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from pydantic import BaseModel
from serving_callers import Server

NUM_LAYERS, WIDTH = 5, 256


class Body(BaseModel):
    """Nodes to predict."""

    nodes: list[int]


class Peer(Server):
    """The peer in a process of its own."""

    def __init__(self, folder: Path, num_hops: int) -> None:
        self._start([sys.executable, __file__, "--graph", str(folder), "--num-hops", str(num_hops)])


def serve(folder: Path, num_hops: int) -> None:
    """Answer requests until the process is ended."""
    import torch
    import uvicorn
    from fastapi import FastAPI
    from torch_geometric.nn import SAGEConv
    from torch_geometric.utils import k_hop_subgraph

    from shadow_gnn import open_graph
    from shadow_gnn.serve.waiting import Job, WaitingWork

    graph = open_graph(folder)
    nodes = np.arange(graph.num_nodes)
    receiver = np.repeat(nodes, np.diff(graph.indptr))
    edge_index = torch.from_numpy(np.stack((np.asarray(graph.indices, np.int64), receiver)))
    features = np.ones((graph.num_nodes, 1), np.float32) if graph.x is None else graph.x.rows(nodes)
    x, num_classes = torch.from_numpy(features), int(graph.y.max()) + 1
    widths = [x.shape[1], *[WIDTH] * NUM_LAYERS]
    layers = [SAGEConv(before, after) for before, after in pairwise(widths)]
    head = torch.nn.Linear(WIDTH, num_classes)

    def predict(targets: list[int]) -> torch.Tensor:
        found, edges, places, _ = k_hop_subgraph(
            torch.tensor(targets), num_hops, edge_index, relabel_nodes=True, num_nodes=graph.num_nodes
        )
        with torch.inference_mode():
            hidden = x[found]
            for layer in layers:
                hidden = torch.relu(layer(hidden, edges))
            return head(hidden[places]).softmax(dim=1)

    def answer(jobs: Sequence[Job[list[int]]]) -> None:
        rows = predict([target for job in jobs for target in job.work]).split([len(job.work) for job in jobs])
        for job, part in zip(jobs, rows, strict=True):
            job.future.set_result(part.tolist())

    work: WaitingWork[list[int]] = WaitingWork("predict", answer, most_waiting=1024, most_size=256)
    app = FastAPI()

    @app.post("/v1/predict")
    async def predict_nodes(body: Body) -> dict[str, list[list[float]]]:
        return {"predictions": await asyncio.wrap_future(work.submit(body.nodes, len(body.nodes)))}

    @app.get("/readyz")
    async def readyz() -> dict[str, bool]:
        return {"ready": True}

    opened = socket.create_server(("127.0.0.1", 0))
    print(json.dumps({"url": f"http://127.0.0.1:{opened.getsockname()[1]}"}, indent=2), flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[opened])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--num-hops", type=int, required=True)
    chosen = parser.parse_args()
    serve(chosen.graph, chosen.num_hops)
