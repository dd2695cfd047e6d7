"""Train a 5-layer GraphSAGE on PPR scopes with PyG's own NodeLoader, on a small generated graph."""

import torch
from torch_geometric.data import Data
from torch_geometric.loader import NodeLoader
from torch_geometric.nn import GraphSAGE
from torch_geometric.utils import stochastic_blockmodel_graph

from shadow_gnn import ExtractorSampler
from shadow_gnn.extract import PprExtractor


def main(num_epochs: int = 5) -> float:
    """Return the share of nodes that are put into the right community after training."""
    torch.manual_seed(0)
    sizes, num_layers = [60, 60, 60], 5
    edge_index = stochastic_blockmodel_graph(sizes, torch.full((3, 3), 0.01) + torch.eye(3) * 0.14)
    y = torch.arange(3).repeat_interleave(torch.tensor(sizes))
    data = Data(x=torch.eye(3)[y] + torch.randn(len(y), 3), edge_index=edge_index, y=y)

    # num_layers makes PyG's trimming exact where a scope has fewer hops than the model has layers.
    sampler = ExtractorSampler.from_data(data, PprExtractor(topk=20), num_layers=num_layers)
    loader = NodeLoader(data, sampler, batch_size=32, shuffle=True)
    model = GraphSAGE(3, 16, num_layers, out_channels=3)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(num_epochs):
        num_right = 0
        for batch in loader:
            out = model(
                batch.x,
                batch.edge_index,
                num_sampled_nodes_per_hop=batch.num_sampled_nodes,
                num_sampled_edges_per_hop=batch.num_sampled_edges,
            )[: batch.batch_size]
            loss = torch.nn.functional.cross_entropy(out, batch.y[: batch.batch_size])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            num_right += int((out.argmax(dim=1) == batch.y[: batch.batch_size]).sum())
        print(f"epoch {epoch}: {num_right / len(y):.3f} right")
    return num_right / len(y)


if __name__ == "__main__":
    main()
