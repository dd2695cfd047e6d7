"""Predict: outputs in the order of the targets, but for rounding the same in any batch; the model is left as it was."""

import numpy as np
import pytest
import torch
from tests.communities import communities, one_thread, small_recipe, with_labels  # noqa: F401
from tests.rounding import ROUNDING

from shadow_gnn.tasks.metrics import METRICS
from shadow_gnn.tasks.task import split_targets
from shadow_gnn.training.evaluate import evaluate, evaluate_by_degree, outputs
from shadow_gnn.training.run_setup import make_loaders, make_setup

GRAPH = communities()
SETUP = make_setup(small_recipe(), GRAPH)
TARGETS = np.array([7, 3, 100, 3, 55])


def loaders(targets=TARGETS, batch_size=2):
    return make_loaders(GRAPH, SETUP.evaluation_extractors, SETUP.model, targets, batch_size, 0)


def logits(batch_size):
    return torch.cat([output.logits for output in outputs(SETUP.model, loaders(batch_size=batch_size))])


def test_rows_are_in_the_order_of_the_targets():
    found = list(outputs(SETUP.model, loaders(), embedding=True))
    assert torch.cat([output.node_id for output in found]).tolist() == TARGETS.tolist()
    assert torch.cat([output.y for output in found]).tolist() == GRAPH.y[TARGETS].tolist()
    assert [tuple(output.embedding.shape) for output in found] == [(2, 8), (2, 8), (1, 8)]
    SETUP.model.eval()  # The head has dropout.
    with torch.inference_mode():  # Batch by batch: a product over 5 rows need not have the bits of one over 2.
        assert all(torch.equal(SETUP.model.head(output.embedding), output.logits) for output in found)


def test_batches_do_not_matter():
    torch.testing.assert_close(logits(1), logits(5), **ROUNDING)
    torch.testing.assert_close(logits(1)[1], logits(2)[3], **ROUNDING)


def test_dropout_is_off_and_the_mode_comes_back():
    SETUP.model.train()
    assert torch.equal(logits(5), logits(5))
    assert SETUP.model.training
    assert next(iter(outputs(SETUP.model, loaders()))).embedding is None
    SETUP.model.eval()
    logits(5)
    assert not SETUP.model.training


def test_progress_counts_targets():
    seen = []
    list(outputs(SETUP.model, loaders(), on_batch=lambda done, total: seen.append((done, total))))
    assert seen == [(2, 5), (4, 5), (5, 5)]


def test_shuffled_loaders_are_refused():
    with pytest.raises(ValueError, match="loaders must not shuffle"):
        next(outputs(SETUP.model, SETUP.training_loaders()))


@pytest.mark.parametrize("kind", ["classes", "multilabel", "values"])
def test_metrics_are_those_of_the_predictions(kind):
    graph = with_labels(GRAPH, kind)
    setup = make_setup(small_recipe(), graph)
    parts = setup.evaluation_loaders(split_targets(graph, "test"))
    found = evaluate(setup.model, parts, setup.task)
    by_degree = evaluate_by_degree(setup.model, parts, setup.task)
    assert by_degree.metrics == found
    assert list(found) == list(METRICS[kind])
    said = torch.cat([setup.task.predictions(output.logits) for output in outputs(setup.model, parts)]).numpy()
    y = graph.y[graph.splits["test"]]
    if kind == "values":
        assert found["mae"] == pytest.approx(np.abs(said - y).mean(), rel=1e-5)
    else:
        assert found["accuracy"] == pytest.approx((said == y).mean())
    degree = np.diff(graph.indptr)[graph.splits["test"]]
    for bucket in by_degree.by_degree:
        assert bucket.count == ((degree >= bucket.low) & (degree <= bucket.high)).sum()
    assert sum(bucket.count for bucket in by_degree.by_degree) == by_degree.num_targets == 30
