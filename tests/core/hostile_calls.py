"""Random calls into every entry of the core with hostile arguments: each returns or raises an error with a name.

    python -m tests.core.hostile_calls --calls 1000 --seed 0

Call n depends on (seed, n) alone, so `--first n --calls 1` repeats it. A call that is long by its arguments gets
a signal and must answer it. A second process reports the number of a call that kills the process, and of one that takes
longer than two seconds. `make fuzz-core` runs it with a sanitized core.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import tests.conftest  # noqa: F401  Puts a sanitized core in the place of the installed one.
from tests.core.hostile_arguments import good_lists, spoil, view
from tests.watched import FAULT, watch

from shadow_gnn import _core

NAMED = (ValueError, TypeError, IndexError, OverflowError, MemoryError, _core.CorruptGraph, _core.FileChanged)
PATIENCE = 0.25  # seconds until a call gets the signal
LIMIT = 2.0  # seconds that any call may take
BIG = 2**31 - 1

Arguments = tuple[list[Any], dict[str, Any]]
Make = Callable[[random.Random], tuple[Callable[..., object], list[Any], dict[str, Any]]]


class Patience(BaseException):
    """The call took long and was told to end."""


def entries() -> set[str]:
    """Return every name of the core that can be called, classes by their constructor and methods."""
    found: set[str] = set()
    for name, value in vars(_core).items():
        if name.startswith("_") or (isinstance(value, type) and issubclass(value, BaseException)):
            continue
        if isinstance(value, type):
            members = {f"{name}.{member}" for member in vars(value) if not member.startswith("_")}
            # Features has no constructor: it is made by its static methods.
            found |= members | ({name} if name != "Features" else set())
        elif callable(value):
            found.add(name)
    return found


def nodes(rng: random.Random) -> int:
    return rng.choice([0, 1, 2, 5, 9, 9, 30])


def ids(rng: random.Random, num_nodes: int, *shape: int) -> Any:
    return np.array([rng.randrange(max(num_nodes, 1)) for _ in range(int(np.prod(shape)))], np.int64).reshape(shape)


def threads(rng: random.Random) -> int:
    return rng.choice([1, 2, 3])


def common(rng: random.Random) -> dict[str, Any]:
    options = {"positions": rng.random() < 0.5, "seed": rng.randrange(2**64), "num_threads": threads(rng)}
    return options | ({"hide": rng.choice([0, 1, 2])} if rng.random() < 0.5 else {})


def numbers(rng: random.Random, *shape: int, kind: Any = np.float32) -> Any:
    return np.array([rng.uniform(-2, 2) for _ in range(int(np.prod(shape)))]).astype(kind).reshape(shape)


def extraction(name: str, options: Callable[[random.Random, int], dict[str, Any]]) -> Make:
    """Return a generator of calls to a function that takes a graph, targets and options."""

    def make(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
        size = nodes(rng)
        targets = ids(rng, size, rng.choice([0, 1, 3]), rng.choice([1, 1, 2, 5]))
        graph = view(rng, size)
        return getattr(_core, name), [graph, targets], options(rng, size) | common(rng)

    return make


def ppr_options(rng: random.Random, _: int) -> dict[str, Any]:
    return {
        "topk": rng.choice([1, 4, 20]),
        "teleport": 0.3,
        "tolerance": rng.choice([0.0, 1e-4, 1e-12]),
        "precision": 0.15,
        "threshold": rng.choice([0.0, 0.1]),
        "relative_threshold": rng.random() < 0.5,
        "stochastic": rng.random() < 0.5,
        "max_nodes": rng.choice([1, 5, BIG]),
        "bare": rng.random() < 0.2,
    }


def khop_options(rng: random.Random, _: int) -> dict[str, Any]:
    fanout = rng.choice([-1, 0, 1, 3])
    return {"num_hops": rng.choice([0, 1, 3]), "fanout": fanout, "replace": rng.random() < 0.5, "max_nodes": BIG}


def similar_options(rng: random.Random, size: int) -> dict[str, Any]:
    options = {"topk": 3, "candidates": 5, "teleport": 0.3, "precision": 1.0, "max_nodes": BIG}
    more = ids(rng, size, 6)
    given = rng.random() < 0.3
    lists = {"more_ptr": np.array([0, 2, 6]) if given else None, "more_id": more if given else None}
    return options | lists | {"features": features(rng, size)}


def features(rng: random.Random, size: int) -> Any:
    """Return features that may lie, of any kind."""
    if rng.random() < 0.5:
        kind = rng.choice([np.float32, np.float16, np.int8])
        scale = np.ones(4, np.float32) if kind is np.int8 else None
        return _core.Features.dense(numbers(rng, size, 4, kind=kind), scale)
    indptr, columns, data = sparse_rows(rng, size)
    if rng.random() < 0.3 and columns.size:
        columns[rng.randrange(columns.size)] = rng.choice([-1, 2**31 - 1, 7])
    return _core.Features.sparse(indptr, columns, data, rng.choice([0, 4, 4, 2**21, BIG]))


def sparse_rows(rng: random.Random, size: int) -> tuple[Any, Any, Any]:
    indptr = np.concatenate(([0], np.cumsum([rng.randrange(3) for _ in range(size)]))).astype(np.int64)
    count = int(indptr[-1])
    return indptr, np.array([rng.randrange(4) for _ in range(count)], np.int32), numbers(rng, count)


def katz_options(_: random.Random, __: int) -> dict[str, Any]:
    return {"topk": 4, "attenuation": 0.05, "max_weight": 2.0, "tolerance": 1e-9, "precision": 0.01}


def heat_options(rng: random.Random, _: int) -> dict[str, Any]:
    return {"topk": 4, "time": 3.0, "tolerance": rng.choice([0.0, 1e-9]), "precision": 0.15}


def walk_sums(rng: random.Random) -> Any:
    return rng.choice([None, np.array([0.0]), np.array([0.0, 50.0]), np.array([float("nan")])])


def rwr_options(rng: random.Random, _: int) -> dict[str, Any]:
    return {"topk": 4, "teleport": 0.3, "num_walks": rng.choice([1, 50]), "sums": walk_sums(rng)}


def simrank_options(rng: random.Random, size: int) -> dict[str, Any]:
    options = {"topk": 4, "decay": 0.6, "num_walks": 9, "walk_length": 3, "num_candidates": 8}
    return options | {"sums": walk_sums(rng), "reverse": rng.choice([None, view(rng, size)])}


def fire_options(rng: random.Random, size: int) -> dict[str, Any]:
    return {"forward": 0.6, "backward": 0.5, "max_nodes": 9, "reverse": rng.choice([None, view(rng, size)])}


def make_induce(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    size, count = nodes(rng), rng.choice([0, 1, 3])
    offers = [rng.sample(range(size), min(size, 4)) for _ in range(count)]
    node_id = np.array([node for offer in offers for node in offer], np.int64)
    ptr = np.concatenate(([0], np.cumsum([len(offer) for offer in offers]))).astype(np.int64)
    options = {"ptr": ptr, "node_id": node_id, "score": np.ones(len(node_id), np.float32), "max_nodes": BIG, "topk": 9}
    return _core.induce, [view(rng, size), ids(rng, size, count, 1)], options | common(rng)


def of_graph(name: str, options: Callable[[random.Random, int], dict[str, Any]]) -> Make:
    """Return a generator of calls to a function of a graph and options."""

    def make(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
        size = nodes(rng)
        return getattr(_core, name), [view(rng, size)], options(rng, size)

    return make


def closure_options(rng: random.Random, size: int) -> dict[str, Any]:
    fanouts = rng.choice([None, np.array([2, -1]), np.array([0, 10**6])])
    targets = np.arange(rng.randrange(size + 1))
    return {"targets": targets, "num_hops": 2, "fanouts": fanouts, "positions": rng.random() < 0.5, "seed": 3}


def make_combine(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    count = rng.choice([1, 2, 3])
    lists = [ids(rng, 9, rng.choice([0, 4])) for _ in range(count)]
    ptr = [np.array([0, len(each) // 2, len(each)]) for each in lists]
    score = [np.ones(len(each)) for each in lists]
    return _core.combine_lists, [ptr, lists, score], {"num_threads": threads(rng)}


def make_collate(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    ptr, hop = np.array([0, 2, 3]), np.array([0, 1, 0], np.int32)
    return _core.collate, [ptr, hop, np.array([0, 1, 2, 2]), np.array([1, 0], np.int32), rng.random() < 0.5], {}


def make_drnl(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    indptr, indices = good_lists(rng, 6, True)
    return _core.drnl, [indptr, indices, np.array([[0, 1], [2, 3]]), 25, 9], {}


def ask(rng: random.Random) -> list[Any]:
    return rng.choice([[], [None], [True], [False]])


def make_gather_float(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    kind = rng.choice([np.float32, np.float16, np.int8])
    scale = np.ones(3, np.float32) if kind is np.int8 else None
    return _core.gather_float, [numbers(rng, 5, 3, kind=kind), ids(rng, 5, 4), scale, *ask(rng)], {}


def make_gather_raw(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.gather_raw, [np.ones((5, rng.choice([1, 4, 8])), np.uint8), ids(rng, 5, 4), *ask(rng)], {}


def make_gather_ragged(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.gather_ragged, [np.ones(20, np.uint8), ids(rng, 9, 4), ids(rng, 9, 4), *ask(rng)], {}


def make_gather_csr(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.gather_csr, [*sparse_rows(rng, 5), rng.choice([4, 4, BIG]), ids(rng, 5, 4), *ask(rng)], {}


def edges_of(rng: random.Random) -> tuple[Any, int, int]:
    """Return the edges of a batch, the number of nodes and of edges."""
    size = rng.choice([0, 1, 4, 40])
    indptr, indices = good_lists(rng, size, True)
    return _core.Edges(indptr, indices), size, len(indices)


def kinds(rng: random.Random) -> tuple[Any, Any]:
    """Return the type of values, and the one that their sums have."""
    return rng.choice([(np.float32, np.float32), (np.float64, np.float64), (np.uint16, np.float32)])


def make_sum_edges(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    (edges, size, count), (value, total), width = edges_of(rng), kinds(rng), rng.choice([0, 1, 17])
    weights = [rng.choice([None, np.ones(count, total)]), rng.choice([None, np.ones(size, total)])]
    rows = [numbers(rng, size, width).astype(value) for _ in range(2)]
    return _core.sum_edges, [edges, *rows, *weights, rng.random() < 0.5, threads(rng)], {}


def make_dot_edges(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    (edges, size, count), (value, total), width = edges_of(rng), kinds(rng), rng.choice([0, 1, 17])
    rows = [numbers(rng, size, width).astype(value) for _ in range(2)]
    return _core.dot_edges, [edges, *rows, np.ones(count, total), threads(rng)], {}


def attention(rng: random.Random) -> tuple[list[Any], Any, Any, tuple[int, int, int, int, int]]:
    (edges, size, count), (value, total) = edges_of(rng), kinds(rng)
    heads, dim = rng.choice([1, 2, 5]), rng.choice([1, 9])
    scores = [numbers(rng, size, heads, kind=total) for _ in range(2)]
    own = rng.choice([None, np.ones(size, total)])
    kept = count + (0 if own is None else size)
    weights = [rng.choice([None, np.ones(count, total)]), own]
    first = [edges, numbers(rng, size, heads, dim).astype(value), *scores, *weights, 0.2, np.ones((kept, heads), total)]
    return first, value, total, (size, count, heads, dim, kept)


def make_attend(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    first, value, _, (size, _, heads, dim, _) = attention(rng)
    return _core.attend_edges, [*first, np.zeros((size, heads, dim), value), threads(rng)], {}


def make_attend_backward(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    first, value, total, (size, count, heads, dim, _) = attention(rng)
    made = [np.zeros((size, heads, dim), value) for _ in range(2)] + [np.zeros((size, heads), total) for _ in range(2)]
    made += [rng.choice([None, np.zeros(count, total)]), rng.choice([None, np.zeros(size, total)])]
    return _core.attend_edges_backward, [*first, *made, threads(rng)], {}


def make_norm(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    (value, total), heads = kinds(rng), rng.choice([1, 2])
    rows, row, part = np.ones((5, 8), total), np.ones(8, total), np.ones((5, heads), total)
    maybe = [rng.choice([None, row]), rng.choice([None, rows])]
    name = rng.choice(["none", "relu", "elu"])
    x = numbers(rng, 5, 8).astype(value)
    return _core.norm_rows, [x, maybe[0], row, row, maybe[1], heads, name, 1e-5, part, part, rows, threads(rng)], {}


def make_norm_backward(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    (value, total), heads = kinds(rng), rng.choice([1, 2])
    rows, row, part = np.ones((5, 8), total), np.ones(8, total), np.ones((5, heads), total)
    x, bias = numbers(rng, 5, 8).astype(value), rng.choice([None, row])
    made = [rows, x.copy(), rng.choice([None, row.copy()]), row.copy(), row.copy()]
    name = rng.choice(["none", "relu", "elu"])
    return _core.norm_rows_backward, [x, bias, row, heads, name, part, part, *made, threads(rng)], {}


def make_drop(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    value, size = kinds(rng)[0], rng.choice([0, 5, 70_000])
    return _core.drop_numbers, [np.ones(size, value), np.ones(size, value), 0.5, 3, threads(rng)], {}


def make_draw_kept(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    edges, _, count = edges_of(rng)
    return _core.draw_kept_edges, [edges, 0.5, 3, np.ones(count, np.float32)], {}


def make_edges(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.Edges, list(good_lists(rng, rng.choice([0, 1, 9]), True)), {}


def of_edges(use: Callable[[Any], object]) -> Make:
    """Return a generator of what edges are asked."""
    return lambda rng: (use, [edges_of(rng)[0]], {})


def make_view(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    indptr, indices = good_lists(rng, nodes(rng), rng.random() < 0.5)
    return _core.GraphView, [indptr, indices, np.ones(len(indices), np.float32), rng.random() < 0.5], {}


def saint_options(rng: random.Random) -> dict[str, Any]:
    kind = rng.choice(["node", "edge", "rw", "mrw"])
    return {"kind": kind, "budget": rng.choice([1, 9]), "walk_length": rng.choice([0, 3]), "frontier": 1}


def make_saint(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    size = nodes(rng)
    return _core.SaintSampler, [view(rng, size), ids(rng, size, 3)], saint_options(rng)


def of_saint(name: str) -> Make:
    """Return a generator of calls to a sampler, which may be of lying arrays and of many draws."""

    def make(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
        size = rng.choice([2, 9, 30])
        indptr, indices = good_lists(rng, size, rng.random() < 0.5)
        indptr[1:], indices = np.maximum(indptr[1:], 1), indices if len(indices) else np.zeros(1, indices.dtype)
        graph = _core.GraphView(indptr, indices, None, True)
        options = saint_options(rng) | ({"budget": BIG} if rng.random() < 0.02 else {})
        sampler = _core.SaintSampler(graph, ids(rng, size, 3), **options)
        if rng.random() < 0.3:
            indices[rng.randrange(len(indices))] = rng.choice([-1, size, 2**31 - 1])
        if rng.random() < 0.3:
            indptr[rng.randrange(len(indptr))] = rng.choice([-1, 2**62, 0, 10**6])
        last = [np.zeros(size, np.int32), np.zeros(len(indices), np.int32), threads(rng)]
        given = [3, 1] if name != "count" else [3, 1, rng.choice([0, 5]), *last]
        return getattr(sampler, name), given, {}

    return make


def model_options(rng: random.Random) -> dict[str, Any]:
    size = rng.choice([1, 50, 2**20])
    return {"num_nodes": size, "num_classes": 1, "num_communities": 1, "inside": 0.5, "seed": 3}


def make_model(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.GraphModel, [rng.choice(["dcsbm", "rmat"])], model_options(rng)


def of_model(name: str, *more: int) -> Make:
    """Return a generator of calls to a model of a graph."""

    def make(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
        size = rng.choice([1, 50, 5000])
        model = _core.GraphModel(rng.choice(["dcsbm", "rmat"]), **model_options(rng) | {"num_nodes": size})
        return getattr(model, name), [0, rng.choice([0, 1, size]), *more, threads(rng)], {}

    return make


def make_dense(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    kind = rng.choice([np.float32, np.float16, np.int8])
    return _core.Features.dense, [numbers(rng, 5, 3, kind=kind), rng.choice([None, np.ones(3, np.float32)])], {}


def make_sparse(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
    return _core.Features.sparse, [*sparse_rows(rng, 5), 4], {}


NAME_CALLS = ("sort_names", "find_names", "prefix_range", "name_order_fault", "nearest_names")


def of_names(name: str) -> Make:
    """Return a generator of calls to a function of names, whose offsets and order may lie."""

    def make(rng: random.Random) -> tuple[Callable[..., object], list[Any], dict[str, Any]]:
        size = nodes(rng)
        ptr = np.concatenate(([0], np.cumsum([rng.randrange(4) for _ in range(size)]))).astype(np.int64)
        text = np.array([rng.choice(b"abAB.\xc3") for _ in range(int(ptr[-1]))], np.uint8)
        order = np.array(rng.sample(range(size), size), rng.choice([np.int32, np.int64]))
        more: dict[str, list[Any]] = {
            "sort_names": [],
            "find_names": [order, ptr, text],
            "prefix_range": [order, text[:2]],
            "name_order_fault": [order],
            "nearest_names": [text[:3], rng.choice([1, 3]), rng.choice([0, 1, 4])],
        }
        return getattr(_core, name), [ptr, text, *more[name]], {}

    return make


GENERATORS: dict[str, Make] = {
    "GraphView": make_view,
    "extract_node": extraction("extract_node", lambda _, __: {}),
    "extract_khop": extraction("extract_khop", khop_options),
    "extract_ppr": extraction("extract_ppr", ppr_options),
    "extract_similar": extraction("extract_similar", similar_options),
    "extract_katz": extraction("extract_katz", katz_options),
    "extract_heat": extraction("extract_heat", heat_options),
    "extract_rwr": extraction("extract_rwr", rwr_options),
    "extract_simrank": extraction("extract_simrank", simrank_options),
    "extract_fire": extraction("extract_fire", fire_options),
    "induce": make_induce,
    "Features.dense": make_dense,
    "Features.sparse": make_sparse,
    "reverse_lists": of_graph("reverse_lists", lambda _, __: {}),
    "weight_sums": of_graph("weight_sums", lambda _, __: {}),
    "spectral_bound": of_graph("spectral_bound", lambda rng, _: {"num_steps": 5, "num_threads": threads(rng)}),
    "closure": of_graph("closure", closure_options),
    "hop_counts": of_graph(
        "hop_counts", lambda rng, size: {"targets": ids(rng, size, 3), "num_hops": 2, "num_threads": threads(rng)}
    ),
    "induce_nodes": of_graph("induce_nodes", lambda rng, size: {"node_id": ids(rng, size, 3)}),
    "combine_lists": make_combine,
    "collate": make_collate,
    "drnl": make_drnl,
    **{name: of_names(name) for name in NAME_CALLS},
    "cut_file": lambda _: (_core.cut_file, [], {}),
    "survive_cut_maps": lambda _: (_core.survive_cut_maps, [OSError, 1], {}),
    "gather_float": make_gather_float,
    "gather_raw": make_gather_raw,
    "gather_ragged": make_gather_ragged,
    "gather_csr": make_gather_csr,
    "Edges": make_edges,
    "Edges.senders": of_edges(_core.Edges.senders),
    "Edges.symmetric": of_edges(_core.Edges.symmetric.fget),  # type: ignore[attr-defined]
    "sum_edges": make_sum_edges,
    "dot_edges": make_dot_edges,
    "attend_edges": make_attend,
    "attend_edges_backward": make_attend_backward,
    "norm_rows": make_norm,
    "norm_rows_backward": make_norm_backward,
    "drop_numbers": make_drop,
    "draw_kept_edges": make_draw_kept,
    "SaintSampler": make_saint,
    "SaintSampler.nodes": of_saint("nodes"),
    "SaintSampler.subgraph": of_saint("subgraph"),
    "SaintSampler.count": of_saint("count"),
    "GraphModel": make_model,
    "GraphModel.edges": of_model("edges"),
    "GraphModel.labels": of_model("labels"),
    "GraphModel.features": of_model("features", 3),
    "GraphModel.splits": of_model("splits", 1, 2, 3),
}


def call(seed: int, number: int) -> str:
    """Make the call of this number; return how it ended. Anything but a return or a named error is raised.

    So is Patience, by a call that took long and answered the signal.
    """
    rng = random.Random(f"{seed} {number}")
    name = rng.choice(sorted(GENERATORS))
    try:
        function, arguments, options = GENERATORS[name](rng)
    except NAMED as error:
        return f"{name}: {type(error).__name__}"  # Making the graph of the call was one already.
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        place = rng.randrange(len(arguments) + len(options)) if arguments or options else 0
        if place < len(arguments):
            arguments[place] = spoil(rng, arguments[place])
        elif options:
            key = sorted(options)[place - len(arguments)]
            options[key] = spoil(rng, options[key])
    try:
        signal.setitimer(signal.ITIMER_REAL, PATIENCE, PATIENCE)
        function(*arguments, **options)
    except NAMED as error:
        return f"{name}: {type(error).__name__}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return f"{name}: returned"


def _lose_patience(*_: object) -> None:
    raise Patience


def work(seed: int, end: float, numbers_of_calls: range, tell: Callable[[int], None]) -> int:
    """Make calls one after the other until the end of the time; return an exit code."""
    signal.signal(signal.SIGALRM, _lose_patience)
    outcomes: Counter[str] = Counter()
    slowest = 0.0
    for number in numbers_of_calls:
        tell(number)
        begin, cpu = time.monotonic(), time.process_time()
        try:
            outcomes[call(seed, number)] += 1
        except Patience:
            outcomes["any: answered a signal"] += 1
        except BaseException:
            print(f"call {number} of seed {seed}:", file=sys.stderr)
            traceback.print_exc()
            return FAULT
        # The CPU time of all threads is less than the time on the clock only if others use the machine.
        seconds = min(time.monotonic() - begin, time.process_time() - cpu)
        slowest = max(slowest, seconds)
        if seconds > LIMIT:
            print(f"call {number} of seed {seed}: took {seconds:.1f} seconds", file=sys.stderr)
            return FAULT
        if time.monotonic() > end:
            break
    missing = set() if outcomes.total() < 50 * len(GENERATORS) else _never_returned(outcomes)
    if missing:
        print(f"calls of seed {seed}: none returned of {', '.join(sorted(missing))}", file=sys.stderr)
        return FAULT
    ends = Counter(outcome.split(": ")[1] for outcome in outcomes.elements())
    print(f"{outcomes.total():,} calls of seed {seed}, {len(GENERATORS)} entries: ", end="")
    print(", ".join(f"{end} {count:,}" for end, count in ends.most_common()), f"; the slowest took {slowest:.2f} s")
    return 0


def _never_returned(outcomes: Counter[str]) -> set[str]:
    """Return the entries of which every call was refused: hostile arguments are told from good ones by some of both."""
    return {name for name in GENERATORS if not outcomes[f"{name}: returned"]}


def main() -> None:
    """Check that there is a generator for every entry, then call."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    options = parser.parse_args()
    unknown = entries() ^ set(GENERATORS)
    if unknown:
        sys.exit(f"GENERATORS must be those of the core's entries, these are not in both: {', '.join(sorted(unknown))}")
    numbers_of_calls = range(options.first, options.first + options.calls)
    trial = partial(work, options.seed, time.monotonic() + options.seconds)
    sys.exit(watch(f"seed {options.seed}, call", numbers_of_calls, trial))


if __name__ == "__main__":
    main()
