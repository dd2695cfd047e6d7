"""What commands leave in a folder, read as the program reads it, without times; and what they should not leave."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path
from typing import Any

Result = dict[str, Any]
_TIME = re.compile(rb"[\d,.]+ CPU seconds")


def files_of(folder: Path) -> Result:
    """Return the bytes of all files of a result that appears in one step."""
    out = next(folder.glob("out*"), None)
    if out is None:
        return {}
    if out.is_file():
        return {out.name: out.read_bytes()}
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*") if path.is_file()}


def run_of(folder: Path) -> Result:
    """Return everything of the runs below `out` that does not depend on time."""
    from shadow_gnn.training.checkpoint import read_checkpoint
    from shadow_gnn.training.runs.card import CARD
    from shadow_gnn.training.runs.folder import RECORD, open_run

    found: Result = {}
    final = [record for record in sorted(folder.glob(f"out/**/{RECORD}")) if not _is_temporary(record, folder)]
    for record in final:
        place, name = record.parent, str(record.parent.relative_to(folder))
        opened = open_run(place)
        if opened.result is not None:
            same = {key: value for key, value in opened.result.items() if not re.search("seconds|checksum", key)}
            found |= {f"{name}/{key}": value for key, value in same.items()}
            found[f"{name}/metrics"] = _metrics(place / "metrics.csv")
            found[f"{name}/card"] = _TIME.sub(b"", (place / CARD).read_bytes())
        for path in sorted(place.glob("checkpoints/*.safetensors")):
            tensors = read_checkpoint(path).tensors
            if path.stem != "best" or opened.result is not None:  # There is a better one in a later epoch.
                found[f"{name}/{path.stem}"] = {key: value.numpy().tobytes() for key, value in tensors.items()}
        if (place / "model.safetensors").exists():
            found[f"{name}/model"] = (place / "model.safetensors").read_bytes()
    for name in ("scopes.safetensors", "best.toml"):
        if (path := folder / "out" / name).exists():
            found[name] = path.read_bytes()
    return found


def _is_temporary(path: Path, folder: Path) -> bool:
    """Tell whether a file is below a folder that has not got its final name; `leftovers` looks at these."""
    return any(part.endswith(".tmp") for part in path.relative_to(folder).parts)


def _metrics(path: Path) -> list[dict[str, str]]:
    with open(path, newline="") as handle:
        return [{key: text for key, text in row.items() if "seconds" not in key} for row in csv.DictReader(handle)]


def changed_graph_of(folder: Path) -> Result:
    """Return the graph `out` with the updates of its log, which no compaction changes, and both once they are one."""
    from shadow_gnn.graph.changes.live_graph import LiveGraph, log_folder
    from shadow_gnn.graph.store import open_graph

    copy = folder.with_name("copy")  # To open a log changes it.
    shutil.copytree(folder, copy)
    try:
        stored = open_graph(copy / "out")
        live = LiveGraph(stored, log_folder(stored))
        assert live.log is not None
        found = contents(live)
        if live.version == live.log.head.first:
            found["log"] = live.log.path.read_bytes()
            found |= {f"out/{path.name}": path.read_bytes() for path in (folder / "out").iterdir() if path.is_file()}
        live.close()
    finally:
        shutil.rmtree(copy)
    return found


def contents(live: Any) -> Result:
    """Return version, keys, lists, features and names of a graph with its updates."""
    import numpy as np

    from shadow_gnn import _core

    graph = live.graph
    lists = _core.lists_of(graph.view, 0, graph.num_nodes)
    features = graph.features.rows(np.arange(graph.num_nodes))
    return {
        "version": live.version,
        "keys": live.keys.rows(),
        "lists": [None if array is None else array.tobytes() for array in lists[:3]],
        "features": features.tobytes(),
        "names": [graph.names[node] for node in range(graph.num_nodes)] if graph.names is not None else None,
    }


def leftovers(folder: Path, endings: tuple[str, ...] = (".tmp", ".work")) -> str:
    """Return the temporary names below a folder, empty if there are none."""
    found = [str(path.relative_to(folder)) for path in folder.rglob("*") if path.name.endswith(endings)]
    return f"leftovers: {found}" if found else ""
