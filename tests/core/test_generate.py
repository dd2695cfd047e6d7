"""Made-up graphs in the core: parts that Python does not see, and arguments that no caller should give."""

import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shadow_gnn import _core

HERE = Path(__file__).parent
COMPILER = os.environ.get("CXX") or shutil.which("c++")
MODEL = {"num_nodes": 50, "num_classes": 3, "num_communities": 5, "inside": 0.5, "seed": 1}
numbers = st.integers(-(2**63), 2**63 - 1) | st.integers(-3, 60)


@pytest.mark.skipif(COMPILER is None, reason="no C++ compiler")
def test_shuffle_and_alias_table(tmp_path: Path) -> None:
    program = tmp_path / "check"
    core = HERE.parents[1] / "core"
    environment = {key: value for key, value in os.environ.items() if key != "LD_PRELOAD"}
    command = [str(COMPILER), "-std=c++17", "-O2", f"-I{core}", str(HERE / "generate_check.cpp"), "-o", str(program)]
    subprocess.run(command, check=True, env=environment)
    done = subprocess.run([program], check=True, capture_output=True, text=True, env=environment)
    assert done.stdout == "good\n"


@given(
    kind=st.sampled_from(["dcsbm", "rmat"]),
    num_nodes=numbers,
    num_classes=numbers,
    num_communities=numbers,
    inside=st.floats(),
    seed=st.integers(0, 2**64 - 1),
)
def test_hostile_models_end_in_a_named_error_or_draw(kind, num_nodes, num_classes, num_communities, inside, seed):
    try:
        model = _core.GraphModel(
            kind,
            num_nodes=num_nodes,
            num_classes=num_classes,
            num_communities=num_communities,
            inside=inside,
            seed=seed,
        )
    except ValueError as error:
        assert "must" in str(error)
        return
    for ids in model.edges(0, 20, 1):
        assert ((ids >= 0) & (ids < num_nodes)).all()
    labels = model.labels(0, min(20, num_nodes), 1)
    assert ((labels >= 0) & (labels < num_classes)).all()


@given(first=numbers, count=numbers, num_columns=numbers, num_threads=st.integers(-3, 3) | st.just(2**20))
def test_hostile_ranges_are_named_errors(first, count, num_columns, num_threads):
    model = _core.GraphModel("dcsbm", **MODEL)
    inside = 0 <= first <= 50 and 0 <= count <= 50 - first and 1 <= num_threads <= 1024
    for call in (
        lambda: model.labels(first, count, num_threads),
        lambda: model.splits(first, count, 1, 2, 3, num_threads),
        lambda: model.features(first, count, num_columns, num_threads),
    ):
        try:
            found = call()
        except ValueError as error:
            assert "must" in str(error)
        else:
            assert inside
            assert len(found) == count


@pytest.mark.parametrize(("first", "count"), [(-1, 3), (0, -1), (2**41, 1), (0, 2**41)])
def test_edges_out_of_range_are_named_errors(first, count):
    with pytest.raises(ValueError, match="first and count must be from 0 to 2"):
        _core.GraphModel("rmat", **MODEL).edges(first, count, 1)


def test_unknown_models_are_named():
    with pytest.raises(ValueError, match="kind must be dcsbm or rmat"):
        _core.GraphModel("er", **MODEL)


@pytest.mark.parametrize("kind", ["dcsbm", "rmat"])
def test_any_stretch_is_the_same_as_in_the_whole(kind):
    model = _core.GraphModel(kind, **{**MODEL, "num_nodes": 30_000, "num_communities": 40})
    whole = np.stack(model.edges(0, 20_000, 1))
    np.testing.assert_array_equal(np.stack(model.edges(0, 20_000, 3)), whole)
    np.testing.assert_array_equal(np.stack(model.edges(7_777, 5_000, 2)), whole[:, 7_777:12_777])
    labels, x = model.labels(0, 30_000, 1), model.features(0, 30_000, 5, 1)
    np.testing.assert_array_equal(model.labels(123, 9_000, 2), labels[123:9_123])
    np.testing.assert_array_equal(model.features(123, 9_000, 5, 2), x[123:9_123])
    codes = model.splits(0, 30_000, 1 << 30, 1 << 31, 3 << 30, 1)
    np.testing.assert_array_equal(model.splits(123, 9_000, 1 << 30, 1 << 31, 3 << 30, 2), codes[123:9_123])
    np.testing.assert_allclose(np.bincount(codes) / 30_000, 0.25, atol=0.01)
