"""Ways to weigh the models of the default: each half of the targets is judged with the weights of the other half."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "bench" / "study"))

from default_weights import WAYS, judged

LABELS = np.arange(200) % 3


def sure_of(classes):
    return (0.1 + 0.7 * np.eye(3)[classes]).astype(np.float32)


def test_chosen_weights_leave_out_a_harmful_model_and_equal_ones_do_not():
    right, wrong = sure_of(LABELS), sure_of((LABELS + 1) % 3)
    found = {name: judged([right, wrong, wrong], LABELS, way) for name, way in WAYS.items()}
    assert found == {"equal": 0.0, "free": 100.0, "subset": 100.0}


def test_the_labels_of_a_half_do_not_choose_its_own_weights():
    seen = []

    def way(kind, scores, labels):
        seen.append(np.array(scores[0][:, 0]))
        return [1.0]

    number = np.arange(200, dtype=np.float32)
    scores = np.stack([number, np.zeros(200), np.zeros(200)], axis=1)
    assert judged([scores], np.zeros(200, int), way) == pytest.approx(100)
    for first, second in zip(seen[::2], seen[1::2], strict=True):
        assert sorted([*first, *second]) == number.tolist()
