# Types of the compiled core (core/bind_*.cpp).
from typing import Any

import numpy as np
from numpy.typing import NDArray

Int64 = NDArray[np.int64]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Float32 = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Scopes = tuple[Int64, Int64, Int32, Float32, Int64, Int32, Int64, Int64, Int64]

class CorruptGraph(RuntimeError): ...
class FileChanged(RuntimeError): ...
class Stopped(RuntimeError): ...

def survive_cut_maps(exception: type[BaseException], main_thread: int) -> None: ...
def cut_file() -> bytes: ...

class GraphView:
    def __init__(self, indptr: Int64, indices: NDArray[Any], weight: Float32 | None, symmetric: bool) -> None: ...

class Changes:
    @staticmethod
    def of(graph: GraphView) -> Changes: ...
    def above(self) -> Changes: ...
    def view(self) -> GraphView: ...
    def add_nodes(self, count: int) -> None: ...
    def apply(self, receiver: Int64, sender: Int64, weight: Float32, position: Int64) -> None: ...
    @property
    def num_nodes(self) -> int: ...
    @property
    def num_edges(self) -> int: ...
    @property
    def num_rows(self) -> int: ...

def lists_of(graph: GraphView, first: int, stop: int) -> tuple[Int64, NDArray[Any], Float32, Int64]: ...
def extract_node(
    graph: GraphView, targets: Int64, *, positions: bool, seed: int, num_threads: int, hide: int = 0
) -> Scopes: ...
def extract_khop(
    graph: GraphView,
    targets: Int64,
    *,
    num_hops: int,
    fanout: int,
    replace: bool,
    max_nodes: int,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_ppr(
    graph: GraphView,
    targets: Int64,
    *,
    topk: int,
    teleport: float,
    tolerance: float,
    precision: float,
    threshold: float,
    relative_threshold: bool,
    stochastic: bool,
    max_nodes: int,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
    bare: bool = False,
) -> Scopes: ...
def extract_shared_ppr(
    graph: GraphView,
    targets: Int64,
    shares: Float64,
    *,
    topk: int,
    teleport: float,
    tolerance: float,
    precision: float,
    threshold: float,
    relative_threshold: bool,
    max_nodes: int,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...

class Features:
    @staticmethod
    def dense(matrix: NDArray[Any], scale: Float32 | None = None) -> Features: ...
    @staticmethod
    def sparse(indptr: Int64, indices: Int32, data: Float32, width: int) -> Features: ...

def extract_similar(
    graph: GraphView,
    targets: Int64,
    *,
    features: Features,
    topk: int,
    candidates: int,
    teleport: float,
    precision: float,
    more_ptr: Int64 | None,
    more_id: Int64 | None,
    max_nodes: int,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_katz(
    graph: GraphView,
    targets: Int64,
    *,
    topk: int,
    attenuation: float,
    max_weight: float,
    tolerance: float,
    precision: float,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_heat(
    graph: GraphView,
    targets: Int64,
    *,
    topk: int,
    time: float,
    tolerance: float,
    precision: float,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_rwr(
    graph: GraphView,
    targets: Int64,
    *,
    topk: int,
    teleport: float,
    num_walks: int,
    sums: Float64 | None,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_simrank(
    graph: GraphView,
    targets: Int64,
    *,
    topk: int,
    decay: float,
    num_walks: int,
    walk_length: int,
    num_candidates: int,
    sums: Float64 | None,
    reverse: GraphView | None,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def extract_fire(
    graph: GraphView,
    targets: Int64,
    *,
    forward: float,
    backward: float,
    max_nodes: int,
    reverse: GraphView | None,
    positions: bool,
    seed: int,
    num_threads: int,
    hide: int = 0,
) -> Scopes: ...
def reverse_lists(graph: GraphView) -> tuple[Int64, NDArray[Any]]: ...
def weight_sums(graph: GraphView) -> Float64: ...
def combine_lists(
    ptr: list[Int64], node_id: list[Int64], score: list[Float64], *, num_threads: int
) -> tuple[Int64, Int64, Float32]: ...
def spectral_bound(graph: GraphView, *, num_steps: int, num_threads: int) -> tuple[float, float]: ...
def drnl(indptr: Int64, indices: Int64, ends: Int64, max_label: int, max_distance: int) -> Int64: ...
def induce(
    graph: GraphView,
    targets: Int64,
    *,
    ptr: Int64,
    node_id: Int64,
    score: Float32,
    max_nodes: int,
    positions: bool,
    seed: int,
    num_threads: int,
    topk: int = 2147483647,
    hide: int = 0,
) -> Scopes: ...
def collate(
    ptr: Int64, hop: Int32, indptr: Int64, indices: Int32, by_hop: bool
) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64, Int64]: ...
def closure(
    graph: GraphView, targets: Int64, *, num_hops: int, fanouts: Int64 | None, positions: bool, seed: int
) -> tuple[Int64, Int64, Int64, Int64, Int64, Float32, Float32]: ...
def hop_counts(graph: GraphView, targets: Int64, *, num_hops: int, num_threads: int) -> tuple[Int64, Int64]: ...
def gather_float(matrix: NDArray[Any], rows: Int64, scale: Float32 | None, ask: bool | None = None) -> Float32: ...
def gather_raw(matrix: Bytes, rows: Int64, ask: bool | None = None) -> Bytes: ...
def gather_ragged(bytes: Bytes, start: Int64, length: Int64, ask: bool | None = None) -> Bytes: ...
def gather_csr(
    indptr: Int64, indices: Int32, data: Float32, width: int, rows: Int64, ask: bool | None = None
) -> Float32: ...

Numbers = NDArray[Any]
"""float32, float64, or the bits of bfloat16 as uint16; weights and scores of bfloat16 values are float32."""

class Edges:
    def __init__(self, indptr: Int64, indices: Int64) -> None: ...
    def senders(self) -> tuple[Int64, Int64, Int64]: ...
    @property
    def symmetric(self) -> bool: ...

def sum_edges(
    edges: Edges,
    x: Numbers,
    out: Numbers,
    weight: Numbers | None,
    self_weight: Numbers | None,
    by_sender: bool,
    num_threads: int,
) -> None: ...
def dot_edges(edges: Edges, left: Numbers, right: Numbers, out: Numbers, num_threads: int) -> None: ...
def attend_edges(
    edges: Edges,
    value: Numbers,
    from_score: Numbers,
    to_score: Numbers,
    weight: Numbers | None,
    self_weight: Numbers | None,
    slope: float,
    part: Numbers,
    out: Numbers,
    num_threads: int,
) -> None: ...
def attend_edges_backward(
    edges: Edges,
    value: Numbers,
    from_score: Numbers,
    to_score: Numbers,
    weight: Numbers | None,
    self_weight: Numbers | None,
    slope: float,
    part: Numbers,
    out_gradient: Numbers,
    value_gradient: Numbers,
    from_gradient: Numbers,
    to_gradient: Numbers,
    weight_gradient: Numbers | None,
    self_gradient: Numbers | None,
    num_threads: int,
) -> None: ...
def norm_rows(
    x: Numbers,
    bias: Numbers | None,
    scale: Numbers,
    offset: Numbers,
    plus: Numbers | None,
    heads: int,
    activation: str,
    epsilon: float,
    mean: Numbers,
    inverse: Numbers,
    out: Numbers,
    num_threads: int,
) -> None: ...
def norm_rows_backward(
    x: Numbers,
    bias: Numbers | None,
    scale: Numbers,
    heads: int,
    activation: str,
    mean: Numbers,
    inverse: Numbers,
    out_gradient: Numbers,
    x_gradient: Numbers,
    bias_gradient: Numbers | None,
    scale_gradient: Numbers,
    offset_gradient: Numbers,
    num_threads: int,
) -> None: ...
def drop_numbers(x: Numbers, out: Numbers, share: float, seed: int, num_threads: int) -> None: ...
def draw_kept_edges(edges: Edges, share: float, seed: int, keep: Float32) -> None: ...

class SaintSampler:
    def __init__(
        self, graph: GraphView, targets: Int64, *, kind: str, budget: int, walk_length: int, frontier: int
    ) -> None: ...
    def nodes(self, seed: int, number: int) -> Int64: ...
    def subgraph(self, seed: int, number: int) -> tuple[Int64, Int64, Int64, Int64, Int64, Int64] | None: ...
    def count(
        self, seed: int, first: int, num_subgraphs: int, node_count: Int32, edge_count: Int32, num_threads: int
    ) -> tuple[Int64, Int64]: ...

def induce_nodes(graph: GraphView, node_id: Int64) -> tuple[Int64, Int64, Int64, Int64]: ...

class GraphModel:
    def __init__(
        self, kind: str, *, num_nodes: int, num_classes: int, num_communities: int, inside: float, seed: int
    ) -> None: ...
    def edges(self, first: int, count: int, num_threads: int) -> tuple[Int64, Int64]: ...
    def labels(self, first: int, count: int, num_threads: int) -> Int64: ...
    def features(self, first: int, count: int, num_columns: int, num_threads: int) -> Float32: ...
    def splits(
        self, first: int, count: int, train_end: int, valid_end: int, test_end: int, num_threads: int
    ) -> Bytes: ...

def sort_names(ptr: Int64, text: Bytes) -> NDArray[Any]: ...
def find_names(
    ptr: Int64, text: Bytes, order: NDArray[Any], query_ptr: Int64, query_text: Bytes
) -> tuple[Int64, Int64]: ...
def prefix_range(ptr: Int64, text: Bytes, order: NDArray[Any], prefix: Bytes) -> tuple[int, int]: ...
def name_order_fault(ptr: Int64, text: Bytes, order: NDArray[Any]) -> int: ...
def nearest_names(ptr: Int64, text: Bytes, query: Bytes, most: int, limit: int) -> Int64: ...
