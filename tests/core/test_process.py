"""The core inside a process: threads, forks, signals, and files that change under an open map."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from tests.extract.graphs import random_edges, some_graphs
from tests.extract.reference import graph_of
from tests.extract.test_contract import assert_same

from shadow_gnn.base.errors import FolderError
from shadow_gnn.extract import FullExtractor, PprExtractor
from shadow_gnn.graph.store import open_graph, save_graph

GRAPH = some_graphs()["big hubs"]


def extract_in_child(queue: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    scopes = PprExtractor(topk=15, num_threads=2)(some_graphs()["big hubs"], np.arange(50))
    queue.put(scopes.node_id.tobytes())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
@pytest.mark.filterwarnings("ignore:This process.*is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_child_process_extracts_the_same_bytes(method: str) -> None:
    here = PprExtractor(topk=15, num_threads=2)(GRAPH, np.arange(50))
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    child = context.Process(target=extract_in_child, args=(queue,))
    child.start()
    assert queue.get(timeout=120) == here.node_id.tobytes()
    child.join(timeout=60)
    assert child.exitcode == 0


def test_many_python_threads_at_once() -> None:
    expected = PprExtractor(topk=15)(GRAPH, np.arange(100))
    results: list[object] = []

    def work() -> None:
        results.extend(PprExtractor(topk=15, num_threads=2)(GRAPH, np.arange(100)) for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 30
    for scopes in results:
        assert_same(scopes, expected)  # type: ignore[arg-type]


def cut(path: Path, size: int) -> None:
    os.truncate(path, size)


@pytest.mark.parametrize("extractor", [PprExtractor(topk=15), FullExtractor(2, edge_pos=True)], ids=["ppr", "full"])
@pytest.mark.parametrize("name", ["indptr.npy", "indices.npy"])
def test_a_file_cut_while_open_is_an_error_and_not_a_death(tmp_path: Path, name: str, extractor: PprExtractor) -> None:
    graph = graph_of(30000, random_edges(30000, 60000, seed=9))
    save_graph(graph, tmp_path / "g")
    mapped = open_graph(tmp_path / "g")
    targets = np.arange(0, 30000, 100)
    extractor(mapped, targets)
    cut(tmp_path / "g" / name, 4096)
    with pytest.raises(FolderError, match="cut or removed while it was open"):
        extractor(mapped, targets)
    # The core is as good as new for the next call.
    assert_same(extractor(GRAPH, np.arange(50)), extractor(GRAPH, np.arange(50)))


def test_ctrl_c_ends_a_long_extraction() -> None:
    code = textwrap.dedent("""
        import numpy as np
        from shadow_gnn.extract import PprExtractor
        from shadow_gnn.graph.record import Graph
        rng = np.random.default_rng(0)
        ends = rng.integers(20000, size=(2, 200000))
        keep = ends[0] != ends[1]
        pairs = np.unique(np.concatenate([ends[:, keep].T, ends[::-1, keep].T]), axis=0)
        indptr = np.searchsorted(pairs[:, 0], np.arange(20001))
        graph = Graph(indptr.astype(np.int64), pairs[:, 1].astype(np.int32))
        print("ready", flush=True)
        try:
            PprExtractor(topk=2000, precision=1e-5)(graph, np.arange(20000))
        except KeyboardInterrupt:
            print("stopped", flush=True)
    """)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(0.5)
        child.send_signal(signal.SIGINT)
        assert child.stdout.readline() == "stopped\n"


def test_the_first_bad_target_reaches_python_and_the_next_call_works() -> None:
    from shadow_gnn import _core

    view = _core.GraphView(GRAPH.indptr, GRAPH.indices, None, True)
    targets = np.arange(300).reshape(-1, 1)
    targets[200], targets[250] = 10**6, -5
    for num_threads in (1, 2, 7):
        with pytest.raises(ValueError, match=r"got (1000000|-5)"):
            _core.extract_node(view, targets, positions=False, seed=0, num_threads=num_threads)
    _core.extract_node(view, targets[:200], positions=False, seed=0, num_threads=2)


def test_memory_and_descriptors_stay_flat() -> None:
    import psutil

    process = psutil.Process()
    extractor = PprExtractor(topk=50, num_threads=2)
    for _ in range(20):
        extractor(GRAPH, np.arange(400))
    before = process.memory_info().rss, process.num_fds(), process.num_threads()
    for _ in range(200):
        extractor(GRAPH, np.arange(400))
    after = process.memory_info().rss, process.num_fds(), process.num_threads()
    assert after[0] - before[0] < 20 * 2**20
    assert after[1:] == before[1:]
