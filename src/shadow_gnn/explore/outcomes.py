"""Outcomes: predictions and known answers of targets as the page shows them.

Not for: computing them (runs.py).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shadow_gnn.explore.answers import ClassShare, Label, PredictionAnswer, TruthAnswer
from shadow_gnn.explore.places import finite
from shadow_gnn.inference.predictions import Predictions


def prediction_answer(found: Predictions, classes: Sequence[str]) -> PredictionAnswer:
    """Return the prediction of a single target; classes: names of the run's classes or labels."""
    answer = PredictionAnswer(
        kind=found.kind, text="", number=None, labels=None, value=None, probability=None, probabilities=[]
    )
    if found.kind == "values":
        answer["value"] = finite(float(found.predicted[0]))
        answer["text"] = f"{float(found.predicted[0]):.6g}"
        return answer
    assert found.probability is not None
    if found.kind == "links":
        answer["probability"] = finite(float(found.probability[0]))
        answer["number"] = int(found.predicted[0])
        answer["text"] = classes[int(found.predicted[0])]
        return answer
    shares = found.probability[0]
    answer["probabilities"] = [
        ClassShare(number=number, name=classes[number], probability=float(shares[number]))
        for number in np.argsort(-shares, kind="stable").tolist()
    ]
    if found.kind == "multilabel":
        labels: list[int] = np.flatnonzero(found.predicted[0]).tolist()
        answer |= {"labels": labels, "text": ", ".join(classes[number] for number in labels) or "none"}
        return answer
    number = int(found.predicted[0])
    answer |= {"number": number, "text": classes[number], "probability": float(shares[number])}
    return answer


def truth_answer(label: Label, prediction: PredictionAnswer, classes: Sequence[str]) -> TruthAnswer | None:
    """Return the known answer of a target; None if it is not known."""
    if label is None:
        return None
    if isinstance(label, list):
        text = ", ".join(classes[number] for number in label) or "none"
        return TruthAnswer(text=text, number=None, labels=label, value=None, right=None)
    if prediction["kind"] == "values":
        return TruthAnswer(text=f"{label:.6g}", number=None, labels=None, value=float(label), right=None)
    number = int(label)
    text = classes[number] if number < len(classes) else str(number)
    return TruthAnswer(text=text, number=number, labels=None, value=None, right=number == prediction["number"])
