"""The layers once more, on dense matrices: what the fast ones must equal."""

import torch
import torch.nn.functional as F


def dense_adjacency(batch, *, weighted=False) -> torch.Tensor:
    """Return A with A[i, j] the weight of the message from j to i. [N, N]"""
    sender, receiver = batch.edge_index()
    matrix = torch.zeros(batch.num_nodes, batch.num_nodes, dtype=torch.float64)
    matrix[receiver, sender] = batch.edge_weight.double() if weighted else 1
    return matrix


def dense_norm(norm, x, num_heads=1):
    if not hasattr(norm, "scale"):
        return x
    parts = x.view(len(x), num_heads, -1)
    mean = parts.mean(dim=2, keepdim=True)
    variance = ((parts - mean) ** 2).mean(dim=2, keepdim=True)
    return ((parts - mean) / torch.sqrt(variance + 1e-9)).reshape(x.shape) * norm.scale + norm.offset


def activated(layer, x):
    kind = type(layer.activation).__name__
    if kind == "PReLU":
        return torch.where(x > 0, x, layer.activation.weight * x)
    return {"ReLU": lambda: x.clamp(min=0), "ELU": lambda: torch.where(x > 0, x, x.exp() - 1), "Identity": lambda: x}[
        kind
    ]()


def symmetric(a):
    with_self = a + torch.eye(len(a), dtype=a.dtype)
    root = torch.diag(with_self.sum(dim=1) ** -0.5)
    return root @ with_self @ root


def gcn(layer, x, a):
    return dense_norm(layer.norm, activated(layer, symmetric(a) @ x @ layer.linear.weight.T + layer.linear.bias))


def sage(layer, x, a):
    degree = a.sum(dim=1, keepdim=True)
    mean = torch.where(degree > 0, a / degree, 0.0) @ x
    own = activated(layer, layer.self_linear(x))
    neighbors = activated(layer, layer.neighbor_linear(mean))
    return dense_norm(layer.self_norm, own) + dense_norm(layer.neighbor_norm, neighbors)


def attention(score, a):
    """Softmax over the neighbors and the node itself, times the weights. score: [N, N, heads]"""
    with_self = a + torch.eye(len(a), dtype=a.dtype)
    score = F.leaky_relu(score, 0.2).masked_fill(with_self[:, :, None] == 0, -torch.inf)
    return torch.softmax(score, dim=1) * with_self[:, :, None]


def gat(layer, x, a):
    heads, width = layer.self_attention.shape
    own = activated(layer, layer.self_linear(x)).view(-1, heads, width)
    sent = activated(layer, layer.neighbor_linear(x)).view(-1, heads, width)
    to_score, from_score = (own * layer.self_attention).sum(2), (sent * layer.neighbor_attention).sum(2)
    alpha = attention(to_score[:, None] + from_score[None], a)
    got = torch.einsum("ijh,jhd->ihd", alpha, sent).flatten(1)
    normed = dense_norm(layer.self_norm, own.flatten(1), heads), dense_norm(layer.neighbor_norm, got, heads)
    return (normed[0] + normed[1]) / 2


def gatconv(layer, x, a):
    heads, width = layer.self_attention.shape
    sent = (x @ layer.linear.weight.T).view(-1, heads, width)
    to_score, from_score = (sent * layer.self_attention).sum(2), (sent * layer.neighbor_attention).sum(2)
    alpha = attention(to_score[:, None] + from_score[None], a)
    got = torch.einsum("ijh,jhd->ihd", alpha, sent).flatten(1)
    return dense_norm(layer.norm, activated(layer, got + layer.bias))


def gin(layer, x, a):
    inner = layer.inner_linear((1 + layer.eps) * x + a @ x).clamp(min=0)
    return dense_norm(layer.norm, activated(layer, layer.outer_linear(inner)))


def sgc(layer, x, a):
    out = symmetric(a) @ x
    return out if layer.linear is None else out @ layer.linear.weight.T


def mlp(layer, x, a):
    return dense_norm(layer.dense.norm, activated(layer.dense, layer.dense.linear(x)))


def dense_residual(layer, name, x, a):
    """Return the rows of a ResidualLayer around a layer of that name."""
    x = x if layer.entry is None else x @ layer.entry.linear.weight.T + layer.entry.linear.bias
    x = x + 10 * layer.scale * DENSE[name](layer.layer, dense_norm(layer.norm, x), a)
    return x if layer.last_norm is None else dense_norm(layer.last_norm, x)


DENSE = {"gcn": gcn, "sage": sage, "gat": gat, "gatconv": gatconv, "gin": gin, "sgc": sgc, "mlp": mlp}
