"""Comparison text: what docs/comparison.md says around its tables.

Not for: figures, which comparison.py fills in.
"""

HEAD = """# Normal GNNs beside shaDow

Written by `python bench/comparison.py` (two processes share the runs: `--part 1/2`, `--part 2/2`; stopped, they go on
where they were). Test accuracy in percent, mean and sample deviation of {seeds} seeds, {runs} runs, {hours} hours of
one core in all.

What is compared, on six graphs with five models of 3 and 5 layers:

- **full**: a normal GNN on the whole graph at once; **saint**: the same on subgraphs of GraphSAINT (random walks, with
  its normalisation), evaluated exactly on the whole graph.
- **ppr**, **2-hop**: shaDow with the target's own vector as readout, on the 50 nodes of highest personalised PageRank,
  or on 2 hops with a fanout of 7 (at most 57 nodes). **readout**: PPR scopes with the best of {readouts}.

Both sides have the same search: the learning rates 0.01 and 0.003, on cora and pubmed with dropout 0.2 and 0.5 each
(elsewhere 0.2), tried with the first seed and chosen on validation; then five seeds of what was chosen. The readout
column takes over what was chosen for ppr and tries the readouts instead. All have DropEdge 0.1, a cosine schedule and
the best epoch on validation. JK is GCN with the outputs of all layers concatenated.

Sizes are small so that the whole table is made in hours on one machine, so accuracies are below those of
[docs/learning.md](learning.md): narrow layers, small scopes, few training targets (table at the end). Features of more
than 128 columns are replaced by their projections on the first 128 singular vectors, for both sides. The features of
ogbn-arxiv are substitutes (guesses of categories from each paper's text), so its accuracies must not be set beside
published ones. amazon-computers and coauthor-cs draw their targets anew for every seed; the others have one draw from
their official split.

![Accuracy of both sides](comparison.png)
"""

EXPLANATIONS = """## Where it does not hold, and why

So far as the graphs that are done tell:

- **Most pairs are alike.** cora, pubmed and amazon-computers are homophilous graphs with few labels here: there is
  little that a scope could leave out, and seeds differ by about a point. The normal side's best is often GraphSAINT,
  which shows each node in many subgraphs (cora, GCN of 5 layers: 79.9, against 77.3 in full batches and 78.7 with
  scopes).
- **GIN with scopes** is behind on cora and, with 5 layers, on pubmed, with deviations of up to 13 points there.
  GIN adds up neighbours without a mean, and steps on 24 or 48 targets with a rate of 0.01 are
  larger for it than steps on the whole graph. That this is the cause was not tested; on amazon-computers, with four
  to ten times the labels, it is alike.
- **5 layers of shaDow are not better than 3** here, about a point worse on average.
  Scopes of 200 nodes instead of 50 do not change that (table below). There may be nothing beyond the near neighbours to
  find with so few labels; not tested.
- **Normal models hardly fall from 3 to 5 layers** on these graphs. With normalised layers and DropEdge, 5 layers do
  not oversmooth yet; the [powers up to 40 of SGC](reproduction.md) show where that begins, and that scopes prevent it.
"""
