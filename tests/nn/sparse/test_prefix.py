"""with_prefix: the same rows and gradients as a slice."""

import pytest
import torch

from shadow_gnn.nn.sparse.prefix import with_prefix

X = torch.randn(6, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
W = torch.randn(3, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)


@pytest.mark.parametrize("num_rows", [0, 1, 4, 6])
def test_rows_and_gradients_are_those_of_a_slice(num_rows):
    found = []
    for split in (with_prefix, lambda x, rows: (x, x[:rows])):
        x = X.clone().requires_grad_()
        whole, first = split(x, num_rows)
        loss = (whole @ W).pow(2).sum() + (first @ W).pow(3).sum()
        loss.backward()
        found.append((whole.detach(), first.detach(), x.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_one_part_alone_has_its_gradient():
    for part, expected in ((0, [1, 1, 1, 1, 1, 1]), (1, [1, 1, 0, 0, 0, 0])):
        x = X.clone().requires_grad_()
        (with_prefix(x, 2)[part] @ torch.ones(3, 1, dtype=torch.float64)).sum().backward()
        assert x.grad[:, 0].tolist() == expected


def test_no_gradient_no_copy():
    whole, first = with_prefix(X, 2)
    assert whole is X
    assert first.data_ptr() == X.data_ptr()
