"""Whether a prediction fits into the memory there is, and what to try if it does not.

Not for: finding out how much there is (available.py).
"""

from __future__ import annotations

from collections.abc import Sequence

from shadow_gnn.base.memory.needs import Prediction


def check_fits(prediction: Prediction, available: int | None, *, advice: Sequence[str] = ()) -> None:
    """Raise unless a prediction is within the bytes there are; None where those are not known.

    advice: what to try, the most promising first; without it, what helps for the kind of training.
    """
    if available is None or prediction.total <= available:
        return
    largest = max(prediction.parts, key=lambda name: prediction.parts[name])
    tries = ", or ".join(advice or advice_for(prediction))
    raise ValueError(
        f"memory: {prediction.name} needs about {readable(prediction.total)} "
        f"({readable(prediction.parts[largest])} of it {largest}), got {readable(available)}; try {tries}"
    )


def advice_for(prediction: Prediction) -> list[str]:
    """Return what makes a way of training need less."""
    if prediction.name == "full":
        return ['training.method = "shadow"', "a smaller model.hidden_dim", 'training.precision = "bf16"']
    if prediction.name in ("raw", "smoothed", "sgc", "lp") or prediction.name.startswith("sign"):
        return ["fewer powers", "shadow train, whose memory does not grow with the graph"]
    tries = ["a lower training.batch_size"]
    if prediction.parts.get("cached scopes", 0) * 2 > prediction.total:
        tries = ["a lower training.cache_megabytes", 'training.cache = "disk"']
    if prediction.name in ("saint", "neighbor"):
        tries.append('training.method = "shadow"')
    return [*tries, "a smaller model.hidden_dim", 'training.precision = "bf16"']


def readable(size: int) -> str:
    """Write bytes as people do, in powers of 1000."""
    if size < 1000:
        return f"{size} B"
    value = float(size)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.0f} {unit}" if value >= 99.5 else f"{value:.2g} {unit}" if value < 9.95 else f"{value:.0f} {unit}"
