"""Equal bytes: the scopes of 10,000 targets over threads, batches, orders, processes, DataLoader workers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from hashlib import blake2b
from multiprocessing import context
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.communities import communities
from tests.faults.campaign import Campaign

SEED = 3
Targets = NDArray[np.int64]
Extract = Callable[[Targets], Any]


def equal(campaign: Campaign, root: Path) -> None:
    """Compare every way to extract with one thread and one call, for every kind of the contract suite."""
    from shadow_gnn.graph.store import open_graph, save_graph
    from tests.extract.test_contract import EXTRACTORS

    folder = root / "place" / "equal"
    if not folder.exists():
        save_graph(communities(num_nodes=10_000), folder)
    graph = open_graph(folder)
    targets = np.random.default_rng(0).integers(graph.num_nodes, size=campaign.count or 10_000)
    kinds = {name: extractor for name, extractor in EXTRACTORS.items() if name != "file"}
    campaign.counts["targets"] = len(targets)
    for name, share in campaign.chosen(kinds):
        if not campaign.has_time(share):
            continue
        extractor = replace(kinds[name], num_threads=1)
        expected = digest(extractor(graph, targets, seed=SEED))
        campaign.counts["kinds"] += 1
        for way, extract in WAYS.items():
            found = extract(folder, graph, extractor, targets)
            campaign.counts["comparisons"] += len(found)
            campaign.check(f"{name}, {way}", "" if set(found) == {expected} else "other bytes")


def digest(scopes: Any) -> str:
    """Return a checksum over all arrays of scopes."""
    found = blake2b()
    for field in fields(scopes):
        array = getattr(scopes, field.name)
        found.update(b"None" if array is None else np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _threads(num_threads: int, folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    return [digest(replace(extractor, num_threads=num_threads)(graph, targets, seed=SEED))]


def _in_batches(size: int, graph: Any, extractor: Any, targets: Targets) -> Any:
    from shadow_gnn.extract.subgraphs import concat

    return concat([extractor(graph, targets[at : at + size], seed=SEED) for at in range(0, len(targets), size)])


def _batches(size: int, folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    return [digest(_in_batches(size, graph, replace(extractor, num_threads=2), targets))]


def _other_order(folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    from shadow_gnn.extract.subgraphs import select

    order = np.random.default_rng(1).permutation(len(targets))
    return [digest(select(extractor(graph, targets[order], seed=SEED), np.argsort(order)))]


def _python_threads(folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    """Extract the same in eight Python threads at once, each with two threads of the core."""
    found: list[str] = []

    def work() -> None:
        found.append(digest(_in_batches(1000, graph, replace(extractor, num_threads=2), targets)))

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found if len(found) == 8 else ["a thread failed"]


def extract_part(folder: Path, extractor: Any, targets: Targets) -> Any:
    """Extract in a worker process, which opens the graph itself."""
    from shadow_gnn.graph.store import open_graph

    return replace(extractor, num_threads=2)(open_graph(folder), targets, seed=SEED)


def _processes(method: Any, folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    from shadow_gnn.extract.subgraphs import concat

    with method().Pool(2) as pool:
        parts = pool.map(partial(extract_part, folder, extractor), np.array_split(targets, 4))
    return [digest(concat(parts))]


class Scopes:
    """A torch dataset whose items are the scopes of some targets."""

    def __init__(self, graph: Any, extractor: Any, parts: list[Targets]) -> None:
        """Hold everything; the graph goes to the workers as it is."""
        self.graph, self.extractor, self.parts = graph, extractor, parts

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self.parts)

    def __getitem__(self, number: int) -> Any:
        """Extract a part."""
        return self.extractor(self.graph, self.parts[number], seed=SEED)


def first(items: list[Any]) -> Any:
    """Return the only item of a batch."""
    return items[0]


def _data_loader(method: str, folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    from torch.utils.data import DataLoader

    from shadow_gnn.extract.subgraphs import concat

    start = {"fork": context.ForkContext, "spawn": context.SpawnContext}[method]()
    parts = np.array_split(targets, 20)
    loader: Any = DataLoader(
        Scopes(graph, extractor, parts),  # type: ignore[arg-type]
        num_workers=2,
        collate_fn=first,
        multiprocessing_context=start,
    )
    return [digest(concat(list(loader)))]


WAYS: dict[str, Callable[[Path, Any, Any, Targets], list[str]]] = {
    "2 threads": partial(_threads, 2),
    "3 threads": partial(_threads, 3),
    "8 threads": partial(_threads, 8),
    "batches of 7": partial(_batches, 7),
    "batches of 128": partial(_batches, 128),
    "another order": _other_order,
    "8 Python threads": _python_threads,
    "forked processes": partial(_processes, context.ForkContext),
    "spawned processes": partial(_processes, context.SpawnContext),
    "a DataLoader that forks": partial(_data_loader, "fork"),
    "a DataLoader that spawns": partial(_data_loader, "spawn"),
}
