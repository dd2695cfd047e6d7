"""The sparse primitives against dense matrices, against their plain twins, and against numerical gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.autograd import gradcheck

from shadow_gnn.nn.sparse.adjacency import Adjacency, degree_left, degrees, drop_edges, normalized, scaled
from shadow_gnn.nn.sparse.ops import aggregate, attend, dropout, norm_rows
from shadow_gnn.nn.sparse.plain import RowNorm, aggregate_plain, attend_plain, norm_rows_plain

WIDTHS = [1, 3, 64, 257]


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)


@dataclass(frozen=True)
class Case:
    """A graph as a dense matrix of edges, [N, N] bool: matrix[i, j] is a message from j to i."""

    matrix: Tensor

    @property
    def adjacency(self) -> Adjacency:
        counts = self.matrix.sum(dim=1)
        return Adjacency(torch.cat((counts.new_zeros(1), counts.cumsum(0))), self.matrix.nonzero()[:, 1])

    def dense(self, adjacency: Adjacency) -> Tensor:
        """Return the factors as a matrix. [N, N] float64"""
        weight = torch.ones(adjacency.num_edges) if adjacency.weight is None else adjacency.weight
        matrix = torch.zeros(self.matrix.shape, dtype=torch.float64)
        matrix[self.matrix] = weight.double()
        return matrix if adjacency.self_weight is None else matrix + adjacency.self_weight.double().diag()


def drawn() -> Case:
    """Return 0 - 1 - 2 - 3 with 1 - 3, and 4 alone."""
    matrix = torch.zeros(5, 5, dtype=torch.bool)
    for a, b in ((0, 1), (1, 2), (2, 3), (1, 3)):
        matrix[a, b] = matrix[b, a] = True
    return Case(matrix)


def random_case(num_nodes: int, share: float, *, symmetric: bool, seed: int = 0) -> Case:
    matrix = torch.rand(num_nodes, num_nodes, generator=torch.Generator().manual_seed(seed)) < share
    matrix = matrix.triu(1) | matrix.triu(1).T if symmetric else matrix & ~torch.eye(num_nodes, dtype=torch.bool)
    matrix[num_nodes // 2] = matrix[:, num_nodes // 2] = False  # An isolated node in the middle.
    return Case(matrix)


def weighted(adjacency: Adjacency, *, self_edges: bool = True) -> Adjacency:
    """Return the edges with random weights of both signs, one of them 0."""
    weight = torch.randn(adjacency.num_edges, dtype=torch.float64)
    weight[:1] = 0
    return adjacency.with_weight(
        weight, torch.rand(adjacency.num_nodes, dtype=torch.float64) + 0.5 if self_edges else None
    )


def hop_case() -> tuple[Case, int, int]:
    """Return a directed graph where the first 2 rows have senders among the first 5 alone."""
    case = random_case(9, 0.4, symmetric=False, seed=3)
    case.matrix[:2, 5:] = False
    return case, 2, 5


def dense_attention(
    matrix: Tensor, value: Tensor, from_score: Tensor, to_score: Tensor, *, slope: float = 0.2
) -> Tensor:
    """Attend by dense matrices, where an entry of 0 is no edge. [N, heads, D]"""
    score = F.leaky_relu(to_score[:, None] + from_score[None], slope)  # [N, N, heads]
    score = score.masked_fill((matrix == 0)[:, :, None], -torch.inf)
    part = torch.softmax(score, dim=1).nan_to_num(0)  # A row without edges is 0 / 0.
    return torch.einsum("ijh,ij,jhd->ihd", part, matrix, value)


CASES = {
    "drawn": drawn(),
    "directed": random_case(12, 0.3, symmetric=False),
    "undirected": random_case(12, 0.3, symmetric=True),
    "dense": random_case(40, 0.9, symmetric=True),
    "no edges": Case(torch.zeros(4, 4, dtype=torch.bool)),
    "one node": Case(torch.zeros(1, 1, dtype=torch.bool)),
    "no nodes": Case(torch.zeros(0, 0, dtype=torch.bool)),
}
EVERY_CASE = pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
SMALL = {name: case for name, case in CASES.items() if len(case.matrix) <= 12}
EVERY_SMALL_CASE = pytest.mark.parametrize("case", SMALL.values(), ids=SMALL.keys())


# aggregate


def test_aggregate_sums_the_senders_of_a_drawn_graph() -> None:
    x = torch.tensor([[1.0], [10.0], [100.0], [1000.0], [7.0]])
    assert aggregate(drawn().adjacency, x).tolist() == [[10], [1101], [1010], [110], [0]]


def test_aggregate_weighs_edges_and_self_edges() -> None:
    adjacency = drawn().adjacency.with_weight(torch.arange(8.0), torch.tensor([1.0, 0, 0, 0, 2]))
    x = torch.tensor([[1.0], [10.0], [100.0], [1000.0], [7.0]])
    assert aggregate(adjacency, x).tolist() == [[1], [3201], [5040], [760], [14]]


@EVERY_CASE
@pytest.mark.parametrize("width", WIDTHS)
def test_aggregate_equals_the_dense_product(case: Case, width: int) -> None:
    x = torch.randn(len(case.matrix), width, dtype=torch.float64)
    for adjacency in (case.adjacency, weighted(case.adjacency, self_edges=False), weighted(case.adjacency)):
        torch.testing.assert_close(aggregate(adjacency, x), case.dense(adjacency) @ x, rtol=1e-10, atol=1e-10)


@EVERY_SMALL_CASE
def test_gradients_of_aggregate_equal_numerical_ones(case: Case) -> None:
    adjacency = weighted(case.adjacency)
    inputs = (torch.randn(len(case.matrix), 3, dtype=torch.float64), adjacency.weight, adjacency.self_weight)
    assert gradcheck(
        lambda x, weight, self_weight: aggregate(adjacency.with_weight(weight, self_weight), x),
        [tensor.detach().requires_grad_() for tensor in inputs],
    )


def test_aggregate_of_a_prefix_equals_the_first_rows() -> None:
    case, rows, senders = hop_case()
    x = torch.randn(9, 70, dtype=torch.float64)
    adjacency = weighted(case.adjacency)
    torch.testing.assert_close(
        aggregate(adjacency, x[:senders], num_rows=rows), aggregate(adjacency, x)[:rows], rtol=0, atol=0
    )


def test_gradients_of_a_prefix_equal_numerical_ones() -> None:
    case, rows, senders = hop_case()
    adjacency = weighted(case.adjacency)
    inputs = (torch.randn(senders, 2, dtype=torch.float64), adjacency.weight, adjacency.self_weight)
    assert gradcheck(
        lambda x, weight, self_weight: aggregate(adjacency.with_weight(weight, self_weight), x, num_rows=rows),
        [tensor.detach().requires_grad_() for tensor in inputs],
    )


def test_no_rows_at_all_give_none_and_gradients_of_zero() -> None:
    x = torch.randn(5, 4, requires_grad=True)
    out = aggregate(drawn().adjacency, x, num_rows=0)
    assert out.shape == (0, 4)
    out.sum().backward()
    assert x.grad.tolist() == torch.zeros(5, 4).tolist()


@pytest.mark.parametrize("width", WIDTHS)
def test_float32_and_bfloat16_are_close_to_float64(width: int) -> None:
    case = CASES["dense"]
    adjacency = weighted(case.adjacency)
    wide = torch.randn(40, width, dtype=torch.float64)
    gradient = torch.randn(40, width, dtype=torch.float64)
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 1e-2)):
        x, out_gradient = wide.to(dtype).requires_grad_(), gradient.to(dtype)
        exact = x.detach().double().requires_grad_()
        weight = adjacency.weight.float().requires_grad_()
        given = adjacency.with_weight(weight, adjacency.self_weight.float())
        out = aggregate(given, x)
        expected = aggregate_plain(given.with_weight(weight.double(), given.self_weight.double()), exact)
        scale = float(expected.detach().abs().max())
        assert out.dtype == dtype
        torch.testing.assert_close(out.double(), expected, rtol=0, atol=tolerance * scale)
        got = torch.autograd.grad(out, (x, weight), out_gradient)
        wanted = torch.autograd.grad(expected, (exact, weight), out_gradient.double())
        for one, other in zip(got, wanted, strict=True):
            scale = float(other.abs().max())
            torch.testing.assert_close(one.double(), other.double(), rtol=0, atol=tolerance * scale)


def test_bfloat16_sums_are_rounded_once_to_the_nearest() -> None:
    counts = torch.tensor([0, 300, 300])
    adjacency = Adjacency(counts, torch.ones(300, dtype=torch.int64))
    x = torch.tensor([[0.0] * 40, [1.0] * 40], dtype=torch.bfloat16)
    # One at a time, bfloat16 would get stuck at 256.
    assert aggregate(adjacency, x)[0].tolist() == [300.0] * 40
    ties = Adjacency(torch.tensor([0, 2, 2, 2]), torch.tensor([1, 2]))
    rows = torch.tensor([[0.0] * 33, [256.0] * 33, [1.0] * 33], dtype=torch.bfloat16)
    assert aggregate(ties, rows)[0].tolist() == [256.0] * 33
    rows[2] = 3.0
    assert aggregate(ties, rows)[0].tolist() == [260.0] * 33


def test_values_that_are_not_finite_come_out_as_they_would_in_torch() -> None:
    adjacency = Adjacency(torch.tensor([0, 1, 2, 2]), torch.tensor([2, 2]))
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        for value in (torch.inf, -torch.inf, torch.nan):
            x = torch.zeros(3, 50, dtype=dtype)
            x[2] = value
            torch.testing.assert_close(aggregate(adjacency, x), aggregate_plain(adjacency, x), equal_nan=True)


# attend


@EVERY_CASE
@pytest.mark.parametrize(("heads", "dim"), [(1, 1), (2, 3), (4, 64), (5, 17), (8, 9), (9, 2)])
def test_attend_equals_dense_attention(case: Case, heads: int, dim: int) -> None:
    num_nodes = len(case.matrix)
    value = torch.randn(num_nodes, heads, dim, dtype=torch.float64)
    scores = torch.randn(2, num_nodes, heads, dtype=torch.float64) * 3
    ones = torch.ones(num_nodes, dtype=torch.float64)
    for adjacency in (case.adjacency, case.adjacency.with_weight(None, ones), weighted(case.adjacency)):
        expected = dense_attention(case.dense(adjacency), value, *scores)
        torch.testing.assert_close(attend(adjacency, value, *scores), expected, rtol=1e-10, atol=1e-10)
        torch.testing.assert_close(attend_plain(adjacency, value, *scores), expected, rtol=1e-10, atol=1e-10)


@EVERY_SMALL_CASE
@pytest.mark.parametrize("heads", [1, 4, 6])
def test_gradients_of_attend_equal_numerical_ones(case: Case, heads: int) -> None:
    num_nodes = len(case.matrix)
    adjacency = weighted(case.adjacency)
    value = torch.randn(num_nodes, heads, 2, dtype=torch.float64)
    scores = torch.randn(2, num_nodes, heads, dtype=torch.float64)
    present = (adjacency.weight != 0).double()  # An edge of weight 0 is not there, so its weight has no derivative.

    def run(value: Tensor, from_score: Tensor, to_score: Tensor, weight: Tensor, self_weight: Tensor) -> Tensor:
        return attend(adjacency.with_weight(weight * present, self_weight), value, from_score, to_score)

    inputs = (value, scores[0], scores[1], adjacency.weight, adjacency.self_weight)
    assert gradcheck(run, [tensor.detach().clone().requires_grad_() for tensor in inputs])


def test_attend_of_a_prefix_equals_the_first_rows_and_its_gradients_numerical_ones() -> None:
    case, rows, senders = hop_case()
    adjacency = weighted(case.adjacency)
    value = torch.randn(9, 4, 20, dtype=torch.float64)
    scores = torch.randn(2, 9, 4, dtype=torch.float64)
    part = attend(adjacency, value[:senders], scores[0][:senders], scores[1][:rows], num_rows=rows)
    torch.testing.assert_close(part, attend(adjacency, value, *scores)[:rows], rtol=0, atol=0)
    inputs = (value[:senders, :, :1], scores[0][:senders], scores[1][:senders])
    assert gradcheck(
        lambda *tensors: attend(adjacency, *tensors, num_rows=rows),
        [tensor.detach().clone().requires_grad_() for tensor in inputs],
    )


def test_attention_of_a_row_is_not_disturbed_by_large_scores_or_dropped_edges() -> None:
    adjacency = Adjacency(torch.tensor([0, 3, 3, 3, 3]), torch.tensor([1, 2, 3]), torch.tensor([1.0, 1.0, 0.0]))
    value = torch.tensor([0.0, 1.0, 3.0, 100.0])[:, None, None].expand(4, 4, 1)
    score = torch.tensor([0.0, 500.0, 500.0, 9000.0])[:, None].expand(4, 4)
    out = attend(adjacency, value, score, torch.zeros(4, 4))
    assert out[:, :, 0].tolist() == [[2.0] * 4, [0.0] * 4, [0.0] * 4, [0.0] * 4]


@pytest.mark.parametrize("slope", [0.0, 0.2, 1.0, -0.5])
def test_attend_takes_any_slope(slope: float) -> None:
    case = CASES["directed"]
    value = torch.randn(12, 5, 3, dtype=torch.float64)
    scores = torch.randn(2, 12, 5, dtype=torch.float64)
    expected = dense_attention(case.matrix.double(), value, *scores, slope=slope)
    torch.testing.assert_close(attend(case.adjacency, value, *scores, slope=slope), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 2e-6), (torch.bfloat16, 1e-2)])
def test_attend_in_lower_precision_is_close_to_float64(dtype: torch.dtype, tolerance: float) -> None:
    case = CASES["dense"]
    adjacency = drop_edges(case.adjacency, 0.2).with_weight(None, torch.ones(40))
    value = torch.randn(40, 4, 48).to(dtype)
    scores = torch.randn(2, 40, 4) * 4
    gradient = torch.randn(40, 4, 48).to(dtype)
    inputs = [tensor.detach().clone().requires_grad_() for tensor in (value, *scores)]
    exact = [tensor.detach().double().requires_grad_() for tensor in inputs]
    out, expected = attend(adjacency, *inputs), attend_plain(adjacency, *exact)
    assert out.dtype == dtype
    torch.testing.assert_close(out.double(), expected, rtol=0, atol=tolerance * float(expected.detach().abs().max()))
    got = torch.autograd.grad(out, inputs, gradient)
    wanted = torch.autograd.grad(expected, exact, gradient.double())
    for one, other in zip(got, wanted, strict=True):
        atol = 5 * tolerance * float(other.abs().max())
        torch.testing.assert_close(one.double(), other, rtol=0, atol=atol)


def test_scores_of_a_bfloat16_value_may_be_bfloat16_or_float32() -> None:
    adjacency = drawn().adjacency
    value = torch.randn(5, 2, 4).bfloat16()
    scores = torch.randn(2, 5, 2).bfloat16()
    torch.testing.assert_close(
        attend(adjacency, value, *scores), attend(adjacency, value, *scores.float()), rtol=0, atol=0
    )


# threads, layouts, transforms


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_results_are_the_same_bytes_for_any_number_of_threads(dtype: torch.dtype) -> None:
    case = random_case(600, 0.05, symmetric=False)
    adjacency = drop_edges(case.adjacency, 0.1)
    adjacency = adjacency.with_weight(adjacency.weight * torch.rand(adjacency.num_edges), torch.rand(600))
    x, scores = torch.randn(600, 68).to(dtype), torch.randn(2, 600, 4)
    before, seen = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 7):
            torch.set_num_threads(threads)
            torch.manual_seed(1)
            inputs = [tensor.detach().clone().requires_grad_() for tensor in (x, *scores, adjacency.weight)]
            given = adjacency.with_weight(inputs[3], adjacency.self_weight)
            outs = [
                aggregate(given, inputs[0]),
                attend(given, inputs[0].view(600, 4, 17), *inputs[1:3]),
                dropout(inputs[0], 0.3, training=True),
            ]
            gradients = [torch.autograd.grad(out.double().sum(), inputs, allow_unused=True) for out in outs]
            tensors = [*outs, *(one for each in gradients for one in each if one is not None)]
            seen.append([tensor.detach().view(torch.uint8).numpy().tobytes() for tensor in tensors])
    finally:
        torch.set_num_threads(before)
    assert seen[0] == seen[1] == seen[2]


def test_rows_that_do_not_lie_together_are_read_right() -> None:
    adjacency = weighted(drawn().adjacency)
    x = torch.randn(3, 5, dtype=torch.float64).T.requires_grad_()
    assert gradcheck(lambda x: aggregate(adjacency, x), [x])
    value = torch.randn(4, 5, 2, dtype=torch.float64).transpose(0, 1).requires_grad_()
    scores = torch.randn(4, 5, 2, dtype=torch.float64).permute(1, 0, 2)
    assert gradcheck(
        lambda value, one, other: attend(adjacency, value, one, other),
        [value, scores[:, :, 0].detach().requires_grad_(), scores[:, :, 1].detach().requires_grad_()],
    )
    whole = torch.randn(5, 8)
    torch.testing.assert_close(aggregate(adjacency, whole[:, ::2]), aggregate(adjacency, whole)[:, ::2])
    strided = Adjacency(adjacency.indptr.repeat_interleave(2)[::2], adjacency.indices.repeat_interleave(2)[::2])
    torch.testing.assert_close(aggregate(strided, whole), aggregate(drawn().adjacency, whole))


def test_gradients_that_were_broadcast_are_read_right() -> None:
    x = torch.randn(5, 4, requires_grad=True)
    aggregate(drawn().adjacency, x).sum().backward()
    assert x.grad[:, 0].tolist() == [1, 3, 2, 2, 0]


def test_under_a_transform_of_torch_the_plain_road_is_taken() -> None:
    adjacency = drawn().adjacency
    x = torch.randn(3, 5, 4)
    mapped = torch.func.vmap(lambda one: aggregate(adjacency, one))(x)
    torch.testing.assert_close(mapped, torch.stack([aggregate(adjacency, one) for one in x]))
    gradient = torch.func.grad(lambda one: aggregate(adjacency, one).square().sum())(x[0])
    leaf = x[0].clone().requires_grad_()
    aggregate(adjacency, leaf).square().sum().backward()
    torch.testing.assert_close(gradient, leaf.grad)


def test_float16_takes_the_plain_road() -> None:
    x = torch.randn(5, 4).half()
    out = aggregate(drawn().adjacency, x)
    assert out.dtype == torch.float16
    torch.testing.assert_close(out.float(), aggregate(drawn().adjacency, x.float()), rtol=1e-3, atol=1e-3)


def test_another_device_takes_the_plain_road() -> None:
    case = drawn()
    adjacency = Adjacency(case.adjacency.indptr.to("meta"), case.adjacency.indices.to("meta"))
    assert aggregate(adjacency, torch.empty(5, 4, device="meta")).shape == (5, 4)


def test_autocast_keeps_the_dtype_of_the_values() -> None:
    with torch.autocast("cpu", torch.bfloat16):
        out = aggregate(weighted(drawn().adjacency), torch.ones(5, 4, dtype=torch.bfloat16))
    assert out.dtype == torch.bfloat16


# degrees and normalization


def test_degrees_count_edges_or_sum_their_weights() -> None:
    adjacency = drawn().adjacency
    assert degrees(adjacency).tolist() == [1, 3, 2, 2, 0]
    assert degrees(adjacency.with_weight(torch.arange(8.0), torch.ones(5))).tolist() == [0, 6, 9, 13, 0]


@EVERY_CASE
def test_mean_divides_by_the_degree(case: Case) -> None:
    adjacency = normalized(case.adjacency.with_weight(None, torch.ones(len(case.matrix))), "mean")
    matrix = case.matrix.double()
    expected = matrix / matrix.sum(dim=1, keepdim=True).clamp(min=1)
    assert adjacency.self_weight is None
    torch.testing.assert_close(case.dense(adjacency), expected, rtol=1e-6, atol=1e-6)


def test_mean_of_weights_and_of_dropped_rows() -> None:
    weight = torch.tensor([0.0, 1, 3, 0, 2, 2, 5, 5])
    adjacency = normalized(drawn().adjacency.with_weight(weight), "mean")
    assert adjacency.weight.tolist() == [0, 0.25, 0.75, 0, 0.5, 0.5, 0.5, 0.5]


@EVERY_CASE
def test_symmetric_is_that_of_gcn(case: Case) -> None:
    adjacency = normalized(weighted(case.adjacency, self_edges=False).with_weight(None), "symmetric")
    matrix = case.matrix.double() + torch.eye(len(case.matrix))
    root = matrix.sum(dim=1).rsqrt()
    torch.testing.assert_close(case.dense(adjacency), root[:, None] * matrix * root, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", ["mean", "symmetric", "sum"])
def test_gradients_pass_the_normalization(kind: str) -> None:
    adjacency = drawn().adjacency
    x = torch.randn(5, 2, dtype=torch.float64)
    weight = (torch.rand(8, dtype=torch.float64) + 0.5).requires_grad_()
    assert gradcheck(lambda weight: aggregate(normalized(adjacency.with_weight(weight), kind), x), [weight])
    zero = torch.zeros(8, dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(aggregate(normalized(adjacency.with_weight(zero), kind), x).sum(), zero)
    assert gradient.isfinite().all()


def test_sum_leaves_the_edges_as_they_are() -> None:
    adjacency = drawn().adjacency
    assert normalized(adjacency, "sum") is adjacency


# drop_edges


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("compiled", [True, False])
def test_drop_edges_drops_the_share_and_pairs_together(
    symmetric: bool, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr("shadow_gnn.nn.sparse.adjacency.compiled_core_runs", lambda tensor: False)
    case = random_case(60, 0.2, symmetric=symmetric)
    before = torch.randn(case.adjacency.num_edges, dtype=torch.float64)
    adjacency = case.adjacency.with_weight(before, torch.ones(60))
    kept = drop_edges(adjacency, 0.3)
    gone = case.dense(kept.with_weight(kept.weight)) == 0
    assert kept.self_weight is adjacency.self_weight
    assert (kept.weight[kept.weight != 0] == before[kept.weight != 0]).all()
    num_edges = adjacency.num_edges // 2 if symmetric else adjacency.num_edges
    num_dropped = int((gone & case.matrix).sum()) // (2 if symmetric else 1)
    assert num_dropped == round(0.3 * num_edges)
    assert torch.equal(gone, gone.T) == symmetric


@pytest.mark.parametrize("compiled", [True, False])
def test_drop_edges_never_drops_an_edge_of_a_node_to_itself(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not compiled:
        monkeypatch.setattr("shadow_gnn.nn.sparse.adjacency.compiled_core_runs", lambda tensor: False)
    case = Case(torch.ones(6, 6, dtype=torch.bool))
    for _ in range(20):
        assert case.dense(drop_edges(case.adjacency, 0.9)).diag().tolist() == [1.0] * 6


def test_every_edge_is_dropped_equally_often() -> None:
    adjacency = drawn().adjacency
    total = sum(drop_edges(adjacency, 0.5).weight for _ in range(2000))
    assert ((total > 900) & (total < 1100)).all()  # Half of 2000, five deviations.


def test_drop_edges_draws_from_the_default_generator() -> None:
    adjacency = CASES["dense"].adjacency
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append(drop_edges(adjacency, 0.5).weight.tolist())
    assert draws[0] == draws[1] != draws[2]


def test_drop_edges_of_nothing_is_the_adjacency_itself() -> None:
    adjacency = drawn().adjacency
    assert drop_edges(adjacency, 0.0) is adjacency
    assert drop_edges(CASES["no edges"].adjacency, 0.5).num_edges == 0
    assert drop_edges(CASES["no nodes"].adjacency, 0.5).num_edges == 0


# Degrees and factors that are given


def test_given_degrees_take_the_place_of_row_sums() -> None:
    # 0 hears 1 and 2; in the larger graph it hears four, 1 hears three and 2 none.
    adjacency = Adjacency(torch.tensor([0, 2, 2, 2]), torch.tensor([1, 2]))
    degree = torch.tensor([4.0, 3.0, 0.0])
    assert normalized(adjacency, "mean", degree).weight.tolist() == [0.25, 0.25]
    symmetric = normalized(adjacency, "symmetric", degree)
    assert symmetric.weight.tolist() == pytest.approx([(5 * 4) ** -0.5, 5**-0.5])
    assert symmetric.self_weight.tolist() == pytest.approx([1 / 5, 1 / 4, 1])
    assert normalized(adjacency, "sum", degree) is adjacency
    weighted = normalized(adjacency.with_weight(torch.tensor([2.0, 1.0], dtype=torch.float64)), "mean", degree)
    assert weighted.weight.tolist() == [0.5, 0.25]
    assert weighted.weight.dtype == torch.float64
    with pytest.raises(ValueError, match=r"normalized: degree must be 3 floats, got torch.float32 of shape \(2,\)"):
        normalized(adjacency, "mean", degree[:2])


def test_scaled_multiplies_edges_and_leaves_self_edges() -> None:
    adjacency = Adjacency(torch.tensor([0, 2, 2]), torch.tensor([0, 1]))
    factor = torch.tensor([2.0, 3.0])
    assert scaled(adjacency, factor).weight.tolist() == [2, 3]
    whole = scaled(adjacency.with_weight(torch.tensor([0.5, 1.0]), torch.tensor([7.0, 8.0])), factor)
    assert (whole.weight.tolist(), whole.self_weight.tolist()) == ([1, 3], [7, 8])
    with pytest.raises(ValueError, match="scaled: factor must be 2 floats"):
        scaled(adjacency, factor[:1])


def test_degrees_shrink_by_the_share_of_weight_that_was_dropped() -> None:
    before = Adjacency(torch.tensor([0, 3, 4, 4]), torch.tensor([0, 1, 2, 0]), torch.tensor([1.0, 2.0, 1.0, 5.0]))
    after = before.with_weight(torch.tensor([1.0, 0.0, 1.0, 0.0]))
    assert degree_left(torch.tensor([8.0, 6.0, 9.0]), before, after).tolist() == [4, 0, 9]


# dropout


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_dropout_drops_the_share_and_keeps_the_mean(dtype: torch.dtype, share: float) -> None:
    x = torch.ones(1000, 1000, dtype=dtype)
    out = dropout(x, share, training=True)
    kept = out != 0
    deviation = (share * (1 - share) / x.numel()) ** 0.5
    assert abs(float((~kept).double().mean()) - share) < 5 * deviation
    assert set(out[kept].double().unique().tolist()) == {float(torch.tensor(1 / (1 - share), dtype=dtype))}
    for axis in (0, 1):  # No row or column is favored.
        parts = (~kept).double().mean(dim=axis)
        assert float((parts - share).abs().max()) < 6 * (share * (1 - share) / 1000) ** 0.5


def test_elements_of_dropout_are_independent() -> None:
    x = torch.ones(2**20)
    kept = (dropout(x, 0.5, training=True) != 0).double() - 0.5
    again = (dropout(x, 0.5, training=True) != 0).double() - 0.5
    for shift in (1, 2, 7, 16, 64, 256, 2**15, 2**15 + 1):
        assert abs(float((kept * kept.roll(shift)).mean())) < 0.25 * 5 / 1024
    assert abs(float((kept * again).mean())) < 0.25 * 5 / 1024


def test_the_gradient_of_dropout_is_dropped_where_the_value_was() -> None:
    x = torch.randn(300, 257, requires_grad=True)
    out = dropout(x, 0.4, training=True)
    (gradient,) = torch.autograd.grad(out, x, torch.ones_like(out))
    torch.testing.assert_close(gradient * x, out)
    assert set(gradient.unique().tolist()) == {0.0, float(torch.tensor(1 / 0.6))}


def test_dropout_is_the_same_for_the_same_seed_only() -> None:
    x = torch.ones(1000)
    draws = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        draws.append((dropout(x, 0.5, training=True), dropout(x, 0.5, training=True)))
    assert torch.equal(draws[0][0], draws[1][0])
    assert torch.equal(draws[0][1], draws[1][1])
    assert not torch.equal(draws[0][0], draws[2][0])
    assert not torch.equal(draws[0][0], draws[0][1])


def test_dropout_off_returns_the_input_and_draws_nothing() -> None:
    x = torch.ones(5)
    state = torch.get_rng_state()
    assert dropout(x, 0.5, training=False) is x
    assert dropout(x, 0.0, training=True) is x
    assert torch.equal(state, torch.get_rng_state())


def test_dropout_of_odd_shapes() -> None:
    assert dropout(torch.ones(0, 4), 0.5, training=True).shape == (0, 4)
    assert dropout(torch.tensor(1.0), 0.5, training=True).shape == ()
    x = torch.arange(1.0, 13).reshape(3, 4).T
    out = dropout(x, 0.5, training=True)
    assert ((out == 0) | (out == 2 * x)).all()


# norm_rows


def row_norm(width: int, **options: object) -> RowNorm:
    return RowNorm(torch.rand(width, dtype=torch.float64) + 0.5, torch.randn(width, dtype=torch.float64), **options)


def dense_norm(x: Tensor, norm: RowNorm, bias: Tensor, plus: Tensor) -> Tensor:
    shifted = x + bias
    active = {
        "none": shifted,
        "relu": shifted.clamp(min=0),
        "elu": torch.where(shifted > 0, shifted, shifted.exp() - 1),
    }
    parts = active[norm.activation].view(len(x), norm.num_heads, x.shape[1] // norm.num_heads)
    mean = parts.mean(dim=2, keepdim=True)
    variance = ((parts - mean) ** 2).mean(dim=2, keepdim=True)
    normed = ((parts - mean) / torch.sqrt(variance + norm.epsilon)).reshape(x.shape)
    return plus + normed * norm.scale + norm.offset


def test_norm_rows_of_a_row_by_hand() -> None:
    norm = RowNorm(torch.tensor([1.0, 1, 1, 10]), torch.tensor([0.0, 0, 5, 0]), activation="relu")
    out = norm_rows(torch.tensor([[1.0, -8.0, 2.0, 3.0]]), norm, bias=torch.tensor([0.0, 1.0, -2.0, -3.0]))
    # Active: [1, 0, 0, 0] with mean 1/4 and deviation sqrt(3)/4.
    torch.testing.assert_close(out, torch.tensor([[3, -1, -1 + 5 * 3**0.5, -10]]) / 3**0.5)


@pytest.mark.parametrize("activation", ["none", "relu", "elu"])
@pytest.mark.parametrize(("num_rows", "heads", "dim"), [(0, 1, 3), (1, 1, 5), (3, 2, 8), (50, 4, 16), (7, 3, 33)])
def test_norm_rows_equals_the_formula(activation: str, num_rows: int, heads: int, dim: int) -> None:
    norm = row_norm(heads * dim, num_heads=heads, activation=activation)
    x, plus = torch.randn(2, num_rows, heads * dim, dtype=torch.float64)
    bias = torch.randn(heads * dim, dtype=torch.float64)
    expected = dense_norm(x, norm, bias, plus)
    torch.testing.assert_close(norm_rows(x, norm, bias=bias, plus=plus), expected, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(norm_rows_plain(x, norm, bias=bias, plus=plus), expected, rtol=1e-10, atol=1e-10)
    bare = dense_norm(x, norm, torch.zeros_like(bias), torch.zeros_like(plus))
    torch.testing.assert_close(norm_rows(x, norm), bare, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("activation", ["none", "relu", "elu"])
@pytest.mark.parametrize("heads", [1, 2])
def test_gradients_of_norm_rows_equal_numerical_ones(activation: str, heads: int) -> None:
    norm = row_norm(10, num_heads=heads, activation=activation)
    x, plus = torch.randn(2, 4, 10, dtype=torch.float64)
    inputs = [x, torch.randn(10, dtype=torch.float64), plus, norm.scale, norm.offset]

    def run(x: Tensor, bias: Tensor, plus: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
        return norm_rows(x, RowNorm(scale, offset, heads, activation), bias=bias, plus=plus)  # type: ignore[arg-type]

    assert gradcheck(run, [tensor.detach().clone().requires_grad_() for tensor in inputs])


@pytest.mark.parametrize("activation", ["none", "relu", "elu"])
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_norm_rows_in_lower_precision_is_close_to_float64(
    activation: str, dtype: torch.dtype, tolerance: float
) -> None:
    x, gradient = torch.randn(300, 64).to(dtype), torch.randn(300, 64)
    leaves = [tensor.requires_grad_() for tensor in (x, torch.randn(64), torch.rand(64) + 0.5, torch.randn(64))]
    exact = [tensor.detach().double().requires_grad_() for tensor in leaves]
    outs = [
        run(tensors[0], RowNorm(*tensors[2:], 4, activation), bias=tensors[1])  # type: ignore[arg-type]
        for run, tensors in ((norm_rows, leaves), (norm_rows_plain, exact))
    ]
    assert outs[0].dtype == torch.float32
    torch.testing.assert_close(outs[0].double(), outs[1], rtol=1e-5, atol=1e-5)
    got = torch.autograd.grad(outs[0], leaves, gradient)
    wanted = torch.autograd.grad(outs[1], exact, gradient.double())
    for one, other in zip(got, wanted, strict=True):
        torch.testing.assert_close(one.double(), other, rtol=0, atol=tolerance * float(other.abs().max()))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_norm_rows_is_the_same_bytes_for_any_number_of_threads(dtype: torch.dtype) -> None:
    x, gradient = torch.randn(1000, 96).to(dtype), torch.randn(1000, 96)
    before, seen = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 7):
            torch.set_num_threads(threads)
            leaves = [x.clone().requires_grad_(), torch.ones(96, requires_grad=True), torch.zeros(96).requires_grad_()]
            out = norm_rows(leaves[0], RowNorm(leaves[1], leaves[2], activation="elu"), bias=torch.ones(96))
            tensors = [out, *torch.autograd.grad(out, leaves, gradient.to(out.dtype))]
            seen.append([tensor.detach().view(torch.uint8).numpy().tobytes() for tensor in tensors])
    finally:
        torch.set_num_threads(before)
    assert seen[0] == seen[1] == seen[2]


def test_a_row_of_equal_elements_comes_out_finite() -> None:
    x = torch.full((3, 20), 7.0, requires_grad=True)
    norm = RowNorm(torch.ones(20), torch.zeros(20), activation="relu")
    out = norm_rows(x, norm)
    assert out.tolist() == torch.zeros(3, 20).tolist()
    assert torch.autograd.grad(out.square().sum(), x)[0].isfinite().all()


def test_norm_rows_refuses_what_does_not_fit() -> None:
    x, norm = torch.ones(3, 6), RowNorm(torch.ones(6), torch.zeros(6), num_heads=4)
    with pytest.raises(ValueError, match=r"norm_rows: x must be \[N, dim\] with dim a multiple of 4"):
        norm_rows(x, norm)
    with pytest.raises(ValueError, match=r"norm_rows: scale must be \[6\], got shape \(5,\)"):
        norm_rows(x, RowNorm(torch.ones(5), torch.zeros(6)))
    with pytest.raises(ValueError, match=r"norm_rows: bias must be \[6\]"):
        norm_rows(x, RowNorm(torch.ones(6), torch.zeros(6)), bias=torch.ones(3))
    with pytest.raises(ValueError, match=r"norm_rows: plus must be of shape \(3, 6\)"):
        norm_rows(x, RowNorm(torch.ones(6), torch.zeros(6)), plus=torch.ones(1, 6))


# what is refused


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 1, 2], [0, 5], "Adjacency: indices must be from 0 to 1, got 5"),
        ([0, 1, 2], [0, -1], "Adjacency: indices must be from 0 to 1, got -1"),
        ([0, 2, 1], [0, 1], "Adjacency: indptr must ascend from 0 to 2, got 1 at 2"),
        ([0, 1, 9], [0, 1], "Adjacency: indptr must ascend from 0 to 2, got 9 at 2"),
        ([0, 1, 1], [0, 1], "Adjacency: indptr must end at 2, got 1"),
        ([1, 1, 2], [0, 1], "Adjacency: indptr must ascend from 0 to 2, got 1 at 0"),
    ],
)
def test_edges_that_are_none_are_named(indptr: list[int], indices: list[int], message: str) -> None:
    adjacency = Adjacency(torch.tensor(indptr), torch.tensor(indices))
    with pytest.raises(ValueError, match=message):
        aggregate(adjacency, torch.ones(2, 3))
    with pytest.raises(ValueError, match=message):
        drop_edges(adjacency, 0.5)


def test_shapes_and_dtypes_are_checked() -> None:
    ids, ok = torch.tensor([0, 1, 2]), drawn().adjacency
    with pytest.raises(ValueError, match="Adjacency: indptr must be int64 of one dimension, got"):
        Adjacency(ids.int(), ids[:2])
    with pytest.raises(ValueError, match="Adjacency: indices must be int64 of one dimension"):
        Adjacency(ids, ids[None])
    with pytest.raises(ValueError, match="Adjacency: indptr must have length N"):
        Adjacency(ids[:0], ids)
    with pytest.raises(ValueError, match=r"Adjacency: weight must be 8 floats, got torch\.float32 of shape \(7,\)"):
        ok.with_weight(torch.ones(7))
    with pytest.raises(ValueError, match="Adjacency: self_weight must be 5 floats, got"):
        ok.with_weight(None, torch.ones(5, dtype=torch.int64))
    with pytest.raises(ValueError, match="normalized: kind must be 'mean', 'symmetric' or 'sum', got 'max'"):
        normalized(ok, "max")  # type: ignore[arg-type]
    for share in (-0.1, 1.0, float("nan")):
        with pytest.raises(ValueError, match="drop_edges: share must be from 0 to below 1"):
            drop_edges(ok, share)
        with pytest.raises(ValueError, match="dropout: share must be from 0 to below 1"):
            dropout(torch.ones(3), share, training=True)


def test_rows_that_do_not_fit_are_refused() -> None:
    adjacency = drawn().adjacency
    x, scores = torch.ones(5, 3), torch.ones(5, 2)
    for wrong in (torch.ones(4, 3), torch.ones(6, 3), torch.ones(5), torch.ones(5, 3, 1), torch.tensor(1.0)):
        with pytest.raises(ValueError, match="aggregate: x must have"):
            aggregate(adjacency, wrong)
    for num_rows in (-1, 6):
        with pytest.raises(ValueError, match="aggregate: num_rows must be from 0 to 5"):
            aggregate(adjacency, x, num_rows=num_rows)
    with pytest.raises(ValueError, match="attend: value must have 3 dimensions"):
        attend(adjacency, x, scores, scores)
    with pytest.raises(ValueError, match="attend: from_score must be of shape \\(5, 3\\) as value, got \\(5, 2\\)"):
        attend(adjacency, torch.ones(5, 3, 2), scores, torch.ones(5, 3))
    with pytest.raises(ValueError, match="aggregate: x must be on cpu, got meta"):
        aggregate(adjacency, torch.empty(5, 3, device="meta"))


def test_a_prefix_without_its_senders_is_refused() -> None:
    adjacency = drawn().adjacency
    message = "must hold every sender of the rows that come out, got 2 rows and the sender"
    with pytest.raises(ValueError, match=f"aggregate: x {message}"):
        aggregate(adjacency, torch.ones(2, 3), num_rows=2)
    with pytest.raises(ValueError, match=f"attend: value {message}"):
        attend(adjacency, torch.ones(2, 2, 3), torch.ones(2, 2), torch.ones(2, 2), num_rows=2)


def test_integers_are_refused_by_torch_itself() -> None:
    with pytest.raises(RuntimeError):
        attend(drawn().adjacency, torch.ones(5, 2, 3).long(), torch.ones(5, 2), torch.ones(5, 2))


# properties


@st.composite
def cases(draw: st.DrawFn) -> Case:
    num_nodes = draw(st.integers(0, 8))
    edges = draw(st.sets(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30))
    matrix = torch.zeros(num_nodes, num_nodes, dtype=torch.bool)
    for receiver, sender in edges:
        if receiver < num_nodes and sender < num_nodes:
            matrix[receiver, sender] = True
    return Case(matrix)


@settings(max_examples=150)
@given(case=cases(), width=st.integers(0, 70), num_rows=st.integers(0, 8), seed=st.integers(0, 99), loops=st.booleans())
def test_compiled_and_plain_agree_on_any_graph(case: Case, width: int, num_rows: int, seed: int, loops: bool) -> None:
    torch.manual_seed(seed)
    num_nodes = len(case.matrix)
    num_rows = min(num_rows, num_nodes)
    adjacency = weighted(case.adjacency, self_edges=loops)
    x = torch.randn(num_nodes, width, dtype=torch.float64, requires_grad=True)
    value = torch.randn(num_nodes, 5, width, dtype=torch.float64, requires_grad=True)
    scores = torch.randn(2, num_nodes, 5, dtype=torch.float64).requires_grad_()
    pairs = (
        [run(adjacency, x, num_rows=num_rows) for run in (aggregate, aggregate_plain)],
        [run(adjacency, value, *scores, num_rows=num_rows) for run in (attend, attend_plain)],
    )
    for compiled, plain in pairs:
        torch.testing.assert_close(compiled, plain, rtol=1e-10, atol=1e-10)
        gradient = torch.randn_like(plain)
        inputs = (x,) if plain.dim() == 2 else (value, scores)
        got = torch.autograd.grad(compiled, inputs, gradient)
        wanted = torch.autograd.grad(plain, inputs, gradient)
        for one, other in zip(got, wanted, strict=True):
            torch.testing.assert_close(one, other, rtol=1e-10, atol=1e-10)


@given(case=cases(), share=st.floats(0, 0.99), seed=st.integers(0, 99))
def test_dropped_edges_are_an_exact_number_and_paired(case: Case, share: float, seed: int) -> None:
    torch.manual_seed(seed)
    kept = case.dense(drop_edges(case.adjacency, share))
    able = case.matrix & ~torch.eye(len(case.matrix), dtype=torch.bool)
    symmetric = torch.equal(case.matrix, case.matrix.T)
    per_draw = 2 if symmetric else 1
    wanted = np.floor(share * (int(able.sum()) // per_draw) + 0.5)  # The core rounds halves away from 0.
    assert int((able & (kept == 0)).sum()) == per_draw * wanted
    if symmetric:
        assert torch.equal(kept, kept.T)
