"""The start of every example in the reference: a ring of 40 nodes in two halves, a trained model, a batch."""

import numpy as np
import torch

import shadow_gnn as sg
from shadow_gnn import extract, nn

# Each node is linked to the next two. Half of the nodes are of class 1, and the features hint at it.
node = np.arange(40)
ring = sg.from_edges(np.tile(node, 2), np.concatenate([(node + 1) % 40, (node + 2) % 40]))
graph = sg.Graph(
    ring.indptr,
    ring.indices,
    x=sg.DenseFeatures(np.stack([node >= 20, node / 40], axis=1).astype(np.float32)),
    y=(node >= 20).astype(np.int64),
    splits={"train": node[::2], "valid": node[1::4], "test": node[3::4]},
)
sg.save_graph(graph, "ring")

recipe = sg.Recipe(
    graph="ring",
    extractor=extract.PprExtractor(topk=6),
    model=sg.ModelRecipe(layer="sage", num_layers=2, hidden_dim=8),
    training=sg.TrainingRecipe(num_epochs=2),
)
run = sg.train_recipe(recipe, "runs/first")
predictor = sg.open_predictor("runs/first", graph)
model = predictor.trained.model

scopes = extract.PprExtractor(topk=6)(graph, [0, 7])
batch = sg.collate(graph, scopes, model=model)

small = ["model.hidden_dim=8", "training.num_epochs=1"]
chosen = sg.choose_hybrid(graph, "ring", small, paced=False)
hybrid = sg.train_hybrid(chosen.members, "runs/hybrid")
