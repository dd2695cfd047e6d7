"""Records that hold arrays show a short line in a terminal or a notebook."""

from __future__ import annotations

import numpy as np

from shadow_gnn import Loader, NodeClassifier, SparseFeatures
from shadow_gnn.extract import PprExtractor
from tests.communities import communities, one_thread  # noqa: F401


def test_reprs_are_short() -> None:
    graph = communities()
    model = NodeClassifier(num_layers=2, hidden_dim=8, num_epochs=1).fit(graph, progress=False)
    predictor, found = model.predictor(graph), model.evaluate(graph, report=True)
    loader = Loader(graph, PprExtractor(topk=5), range(10), batch_size=4)
    sparse = SparseFeatures(np.array([0, 1]), np.array([2], np.int32), np.array([1.0], np.float32), 5)
    assert repr(graph.x) == "DenseFeatures(120 x 3, float32)"
    assert repr(sparse) == "SparseFeatures(1 x 5, 1 stored values)"
    assert repr(loader).startswith("Loader(10 targets, 3 batches, PprExtractor)")
    assert repr(predictor.trained).startswith("TrainedModel(classes, 3 inputs, 3 outputs, ")
    assert found.report is not None
    assert repr(found.report.calibration).startswith("Calibration(error: 0.")
    shown = (graph, graph.x, sparse, loader, next(iter(loader)), model, predictor, predictor.trained, found)
    for record in (*shown, found.report, found.report.calibration, model.run_, model.predictions(graph, [1])):
        assert len(repr(record)) < 260, type(record)
        assert "\n" not in repr(record)
