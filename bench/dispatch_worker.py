"""One process of bench/dispatch.py: takes a core from a file, reads a case a line, answers with its CPU seconds.

Not for: building cores or comparing them.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from pathlib import Path

import torch

NUM_TARGETS, STEP_TARGETS, TOPK = 1000, 128, 200


def use_core(path: Path) -> None:
    """Put a core in the place of the installed one, before anything imports it."""
    spec = importlib.util.spec_from_file_location("shadow_gnn._core", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["shadow_gnn._core"] = module
    spec.loader.exec_module(module)
    import shadow_gnn

    shadow_gnn._core = module  # type: ignore[attr-defined]


def main(core: Path, data: Path) -> None:
    torch.set_num_threads(1)
    use_core(core)
    from common import graphs, random_targets

    from shadow_gnn import ModelRecipe, build_model, collate, keep_freed_memory
    from shadow_gnn.extract import PprExtractor

    keep_freed_memory()
    out, sys.stdout = sys.stdout, sys.stderr
    graph = next(iter(graphs(argparse.Namespace(data=data)).values()))
    extractor = PprExtractor(topk=TOPK, num_threads=1)
    targets = random_targets(graph, NUM_TARGETS)
    scopes = extractor(graph, targets[:STEP_TARGETS])
    in_dim = 64 if graph.x is None else graph.x.shape[1]
    steps = {}
    for layer in ("sage", "gat"):
        recipe = ModelRecipe(layer=layer, num_layers=5, hidden_dim=256, dropout=0.2, dropedge=0.1)
        model = build_model(recipe, in_dim=in_dim, out_dim=40, seed=0)
        batch = collate(graph, scopes, model=model)
        if batch.x is None:
            batch.x = torch.randn(batch.num_nodes, in_dim, generator=torch.Generator().manual_seed(0))
        steps[layer] = (model, batch, torch.optim.Adam(model.parameters()))

    def step(layer: str) -> None:
        model, batch, optimizer = steps[layer]
        loss = torch.nn.functional.cross_entropy(model(batch), torch.zeros(len(batch), dtype=torch.long))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    for line in sys.stdin:
        case = line.strip()
        begin = time.process_time()
        if case == "ppr":
            extractor(graph, targets)
        else:
            step(case)
        print(time.process_time() - begin, file=out, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
