"""Equal bytes: the scopes of 10,000 targets over threads, batches, orders, processes, DataLoader workers."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
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

    folder = root / "place" / "equal"
    if not folder.exists():
        save_graph(communities(num_nodes=10_000), folder)
    graph = open_graph(folder)
    targets = np.random.default_rng(0).integers(graph.num_nodes, size=campaign.count or 10_000)
    campaign.counts["targets"] = len(targets)
    kinds, done = _kinds(graph, root), {}
    with context.SpawnContext().Pool(2, end_at_once) as pool:  # Its processes import torch: one pool for all kinds.
        ways = {**WAYS, "spawned processes": partial(_in_pool, pool)}
        for name, share in campaign.chosen(kinds):
            if not campaign.has_time(share):
                continue
            extractor = replace(kinds[name], num_threads=1)
            expected = digest(extractor(graph, targets, seed=SEED))
            done[name] = extractor, expected
            for way, extract in ways.items():
                _compare(campaign, name, way, extract(folder, graph, extractor, targets), expected)
    for (name, (_, expected)), found in zip(done.items(), _spawning_loader(graph, done, targets), strict=True):
        _compare(campaign, name, "a DataLoader that spawns", [found], expected)
    campaign.counts["kinds"] += len(done)


def _compare(campaign: Campaign, name: str, way: str, found: list[str], expected: str) -> None:
    campaign.counts["comparisons"] += len(found)
    campaign.check(f"{name}, {way}", "" if set(found) == {expected} else "other bytes")


def _kinds(graph: Any, root: Path) -> dict[str, Any]:
    """Return the extractors of the contract suite, with a scope file of this graph."""
    from shadow_gnn.extract import FileExtractor
    from shadow_gnn.extract.scope_file import Origin, write_scope_file
    from tests.extract.stored import any_nodes
    from tests.extract.test_contract import EXTRACTORS

    path = root / "place" / "equal.safetensors"
    write_scope_file(path, [any_nodes(graph)], Origin(graph.num_nodes, graph.fingerprint, "numbers"))
    return {**EXTRACTORS, "file": FileExtractor(path, topk=8, edge_pos=True)}


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


def end_at_once(*_: object) -> None:
    """Let SIGTERM end a worker, also while it waits for work: a handler in Python may come too late for that."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def extract_part(folder: Path, extractor: Any, targets: Targets) -> Any:
    """Extract in a worker process, which opens the graph itself."""
    from shadow_gnn.graph.store import open_graph

    return replace(extractor, num_threads=2)(open_graph(folder), targets, seed=SEED)


def _in_pool(pool: Any, folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    from shadow_gnn.extract.subgraphs import concat

    return [digest(concat(pool.map(partial(extract_part, folder, extractor), np.array_split(targets, 4))))]


def _forked(folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    with context.ForkContext().Pool(2, end_at_once) as pool:
        return _in_pool(pool, folder, graph, extractor, targets)


class Scopes:
    """A torch dataset whose items are the scopes of some targets, by one extractor after the other."""

    def __init__(self, graph: Any, extractors: list[Any], parts: list[Targets]) -> None:
        """Hold everything; the graph goes to the workers as it is."""
        self.graph, self.extractors, self.parts = graph, extractors, parts

    def __len__(self) -> int:
        """Return the number of parts of all extractors."""
        return len(self.extractors) * len(self.parts)

    def __getitem__(self, number: int) -> Any:
        """Extract a part."""
        kind, part = divmod(number, len(self.parts))
        return self.extractors[kind](self.graph, self.parts[part], seed=SEED)


def first(items: list[Any]) -> Any:
    """Return the only item of a batch."""
    return items[0]


def _loaded(start: Any, graph: Any, extractors: list[Any], targets: Targets) -> Iterator[str]:
    """Yield the checksum of each extractor's scopes, from two workers of a DataLoader."""
    from torch.utils.data import DataLoader

    from shadow_gnn.extract.subgraphs import concat

    parts = np.array_split(targets, 20)
    loader: Any = DataLoader(
        Scopes(graph, extractors, parts),  # type: ignore[arg-type]
        num_workers=2,
        collate_fn=first,
        worker_init_fn=end_at_once,
        multiprocessing_context=start,
    )
    found = iter(loader)
    for _ in extractors:
        yield digest(concat([next(found) for _ in parts]))


def _forking_loader(folder: Path, graph: Any, extractor: Any, targets: Targets) -> list[str]:
    return list(_loaded(context.ForkContext(), graph, [extractor], targets))


def _spawning_loader(graph: Any, done: dict[str, tuple[Any, str]], targets: Targets) -> Iterator[str]:
    return _loaded(context.SpawnContext(), graph, [extractor for extractor, _ in done.values()], targets)


WAYS: dict[str, Callable[[Path, Any, Any, Targets], list[str]]] = {
    "2 threads": partial(_threads, 2),
    "3 threads": partial(_threads, 3),
    "8 threads": partial(_threads, 8),
    "batches of 7": partial(_batches, 7),
    "batches of 128": partial(_batches, 128),
    "another order": _other_order,
    "8 Python threads": _python_threads,
    "forked processes": _forked,
    "a DataLoader that forks": _forking_loader,
}
