"""What fits, and the advice where something does not."""

import pytest

from shadow_gnn.base.memory import Prediction, check_fits, readable


def test_what_fits_passes_and_what_does_not_comes_with_advice():
    prediction = Prediction("full", {"activations": 30 * 10**9, "weights": 10**9})
    check_fits(prediction, 31 * 10**9)
    check_fits(prediction, None)
    with pytest.raises(
        ValueError, match=r"^memory: full needs about 31 GB \(30 GB of it activations\), got 8 GB; try"
    ) as fault:
        check_fits(prediction, 8 * 10**9)
    assert 'training.method = "shadow"' in str(fault.value)
    with pytest.raises(ValueError, match=r"try fewer layers$"):
        check_fits(prediction, 1, advice=["fewer layers"])


@pytest.mark.parametrize(
    ("prediction", "word"),
    [
        (Prediction("shadow", {"activations": 10}), "a lower training.batch_size"),
        (Prediction("shadow", {"cached scopes": 10, "weights": 1}), "a lower training.cache_megabytes"),
        (Prediction("saint", {"activations": 10}), 'training.method = "shadow"'),
        (Prediction("sign(3,3,3)", {"features": 10}), "fewer powers"),
    ],
)
def test_advice_is_for_the_way_of_training(prediction, word):
    with pytest.raises(ValueError, match=r"^memory: ") as fault:
        check_fits(prediction, 1)
    assert word in str(fault.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1500, "1.5 kB"),
        (25_850_000_000, "26 GB"),
        (682 * 10**9, "682 GB"),
        (10**15, "1000 TB"),
    ],
)
def test_bytes_are_written_as_people_do(size, text):
    assert readable(size) == text
