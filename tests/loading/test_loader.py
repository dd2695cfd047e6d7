"""Loader and Prefetch: the same batches for any depth, errors as they are, and no thread left behind."""

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import weakref
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import torch
from tests.extract.doubles import ExtractorDouble

from shadow_gnn.base.prefetch import Prefetch
from shadow_gnn.extract import KhopExtractor, PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.graph.record import DenseFeatures
from shadow_gnn.graph.store import open_graph, save_graph
from shadow_gnn.loading.batch import BatchLayout
from shadow_gnn.loading.epochs import RankedSource, RankPart, derive_seed, permutation
from shadow_gnn.loading.loader import Loader
from shadow_gnn.loading.side_by_side import aligned

RING = from_edges(np.arange(20), (np.arange(20) + 1) % 20, 20, edge_attr=np.arange(20.0))
RANDOM = KhopExtractor(3, 1)


def prefetch_threads():
    return [thread for thread in threading.enumerate() if thread.name == "shadow-prefetch"]


@pytest.fixture(autouse=True)
def _no_thread_is_left():
    gc.freeze()  # What was there before is not looked at.
    yield
    gc.collect()
    assert prefetch_threads() == []


class Recorder(ExtractorDouble):
    """An extractor that notes its calls and fails at one of them."""

    key = "recorder"

    def __init__(self, fail_at=None, slow=0.0):
        self.calls, self.seeds, self.fail_at, self.slow = 0, [], fail_at, slow

    def __call__(self, graph, targets, *, seed=0):
        self.calls += 1
        self.seeds.append(seed)
        time.sleep(self.slow)
        if self.calls == self.fail_at:
            raise ZeroDivisionError("made up")
        return PprExtractor(3, num_threads=1)(graph, targets)


def contents(batches):
    return [
        (batch.targets.tolist(), batch.target_row.tolist(), batch.node_id.tolist(), batch.indices.tolist())
        for batch in batches
    ]


def wait_until(condition):
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.001)


def test_batches_cover_the_targets_in_order():
    loader = Loader(RING, PprExtractor(3), [5, 6, 7, 8, 9], batch_size=2)
    assert len(loader) == 3
    assert [batch.targets.flatten().tolist() for batch in loader] == [[5, 6], [7, 8], [9]]
    assert [batch.target_row.tolist() for batch in loader] == [[0, 1], [2, 3], [4]]


def test_drop_last_leaves_out_the_short_batch():
    loader = Loader(RING, PprExtractor(3), [5, 6, 7, 8, 9], batch_size=2, drop_last=True)
    assert len(loader) == len(list(loader)) == 2


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize("targets", [[], np.zeros((0, 2), np.int64)])
def test_no_targets_make_no_batches(targets, prefetch):
    loader = Loader(RING, PprExtractor(3), targets, prefetch=prefetch)
    assert len(loader) == len(list(loader)) == 0


def test_batches_are_the_same_for_any_depth():
    options = {"batch_size": 3, "shuffle": True, "seed": 4}
    expected = contents(Loader(RING, RANDOM, np.arange(20), prefetch=0, **options).epoch(2))
    for prefetch in (1, 2, 30):
        loader = Loader(RING, RANDOM, np.arange(20), prefetch=prefetch, **options)
        assert contents(loader.epoch(2)) == expected


def test_epochs_differ_and_repeat_by_number():
    loader = Loader(RING, RANDOM, np.arange(20), batch_size=20, shuffle=True)
    first, second = contents(loader), contents(loader)
    assert first != second
    assert contents(loader.epoch(0)) == first
    assert contents(loader.epoch(1)) == second
    assert sorted(first[0][1]) == list(range(20))
    assert contents(Loader(RING, RANDOM, np.arange(20), batch_size=20, shuffle=True, seed=1).epoch(0)) != first


def test_target_row_finds_the_target_after_shuffling():
    targets = np.arange(40).reshape(20, 2) % 20
    for batch in Loader(RING, PprExtractor(4), targets, batch_size=7, shuffle=True):
        assert batch.targets.tolist() == targets[batch.target_row].tolist()
        assert batch.node_id[batch.target_node].tolist() == batch.targets.tolist()


def test_fixed_seed_draws_the_same_scopes_in_every_epoch():
    fixed = Loader(RING, RANDOM, np.arange(20), fixed_seed=True)
    assert contents(fixed.epoch(0)) == contents(fixed.epoch(7))
    drawn = Loader(RING, RANDOM, np.arange(20))
    assert contents(drawn.epoch(0)) != contents(drawn.epoch(7))


def test_extractor_seed_is_one_per_epoch():
    extractor = Recorder()
    loader = Loader(RING, extractor, np.arange(4), batch_size=2, seed=5)
    list(loader.epoch(0)), list(loader.epoch(1))
    assert extractor.seeds[0] == extractor.seeds[1] == derive_seed("scopes", 5, 0)
    assert extractor.seeds[2] == extractor.seeds[3] == derive_seed("scopes", 5, 1)


def test_shuffle_is_the_same_on_every_platform():
    assert derive_seed("shuffle", 0, 0) == 595521556814113667
    assert permutation(10, 0).tolist() == [0, 2, 9, 1, 8, 5, 4, 3, 6, 7]
    assert sorted(permutation(1000, 3).tolist()) == list(range(1000))
    assert permutation(0, 3).tolist() == []


def test_seeds_depend_on_purpose_seed_and_epoch():
    seeds = {derive_seed(*key) for key in [("a", 1, 2), ("b", 1, 2), ("a", 2, 2), ("a", 1, 3), ("a", 1, None)]}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**63 for seed in seeds)


def test_options_reach_the_batch():
    loader = Loader(
        RING, PprExtractor(3, edge_pos=True), [0], order="subgraph", edge_arrays=("id", "attr"), features=False
    )
    (batch,) = loader
    assert batch.order == "subgraph"
    assert batch.edge_id.tolist() == batch.edge_attr.flatten().tolist()


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([True, False], "Loader: targets must be integers, got bool"),
        ([0.0, 1.0], "Loader: targets must be integers, got float64"),
        ([0, 20], "Loader: targets must be node ids from 0 to 19, got 20"),
        ([[0, -1]], "Loader: targets must be node ids from 0 to 19, got -1"),
        ([[[0]]], r"Loader: targets must be \[B\] or \[B, T\], got shape \[1, 1, 1\]"),
    ],
)
def test_wrong_targets_are_named_at_construction(targets, message):
    with pytest.raises(ValueError, match=message):
        Loader(RING, PprExtractor(3), targets)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"batch_size": 0}, ValueError, "Loader: batch_size must be at least 1, got 0"),
        ({"prefetch": -1}, ValueError, "Loader: prefetch must be at least 0, got -1"),
        ({"seed": 1.5}, TypeError, "Loader: seed must be an integer, got 1.5"),
        ({"order": "x"}, ValueError, "Loader: order must be 'hop' or 'subgraph', got 'x'"),
        ({"edge_arrays": ["weight"]}, ValueError, "Loader: edge_arrays must be arrays of the graph, got 'weight'"),
        ({"edge_arrays": ["id"]}, ValueError, "Loader: extractor must report edge positions for edge arrays"),
    ],
)
def test_wrong_options_are_named(options, error, message):
    with pytest.raises(error, match=message):
        Loader(RING, PprExtractor(3), [0], **options)


def test_targets_are_the_loaders_own():
    targets = np.arange(3)
    loader = Loader(RING, PprExtractor(3), targets)
    targets[:] = 9
    assert next(iter(loader)).targets.flatten().tolist() == [0, 1, 2]
    tensor = Loader(RING, PprExtractor(3), torch.tensor([4]))
    assert next(iter(tensor)).targets.tolist() == [[4]]


def test_batches_are_made_ahead_but_no_more_than_asked():
    extractor = Recorder()
    batches = iter(Loader(RING, extractor, np.arange(20), batch_size=1, prefetch=2))
    wait_until(lambda: extractor.calls == 2)
    next(batches)
    wait_until(lambda: extractor.calls == 3)
    time.sleep(0.05)
    assert extractor.calls == 3


@pytest.mark.parametrize("prefetch", [0, 1, 4])
def test_an_error_reaches_the_consumer_after_the_batches_before_it(prefetch):
    loader = Loader(RING, Recorder(fail_at=3), np.arange(20), batch_size=2, prefetch=prefetch)
    batches = iter(loader)
    next(batches), next(batches)
    with pytest.raises(ZeroDivisionError, match="made up"):
        next(batches)
    assert list(batches) == []
    assert len(list(loader)) == 10


def test_leaving_the_loop_ends_the_thread():
    extractor = Recorder()
    loader = Loader(RING, extractor, np.arange(20), batch_size=1)
    for _ in loader:
        break
    gc.collect()
    assert prefetch_threads() == []
    assert extractor.calls <= 4
    assert len(list(loader)) == 20


def test_close_ends_the_thread_and_the_iteration():
    items = Prefetch(iter(range(9)), 2)
    with items:
        assert next(items) == 0
    assert prefetch_threads() == []
    assert list(items) == []


@pytest.mark.parametrize("fails", [False, True], ids=["to the end", "to an error"])
def test_what_makes_batches_is_free_as_soon_as_they_end(fails):
    class Maker:
        """Whatever is held while batches are made, such as the map of a file."""

    def items(maker):
        yield from range(3)
        if fails:
            raise ValueError(maker)

    def consume():
        maker = Maker()
        with suppress(ValueError):
            for _ in Prefetch(items(maker), 2):
                pass
        return weakref.ref(maker)

    gc.disable()  # Nothing may wait for the collector of cycles.
    try:
        assert consume()() is None
    finally:
        gc.enable()


def test_two_epochs_may_run_side_by_side():
    loader = Loader(RING, RANDOM, np.arange(20), batch_size=3, shuffle=True)
    expected = contents(loader.epoch(0)), contents(loader.epoch(1))
    pairs = list(zip(loader.epoch(0), loader.epoch(1), strict=True))
    assert (contents(pair[0] for pair in pairs), contents(pair[1] for pair in pairs)) == expected


def test_loader_pickles_with_its_graph_as_a_path(tmp_path):
    save_graph(RING, tmp_path / "ring")
    loader = Loader(open_graph(tmp_path / "ring"), RANDOM, np.arange(20), batch_size=6, shuffle=True)
    stored = pickle.dumps(loader)
    assert contents(pickle.loads(stored)) == contents(loader)


SCRIPT = """
import numpy as np, sys, time
from shadow_gnn.extract import PprExtractor
from shadow_gnn.graph.importing.in_memory import from_edges
from shadow_gnn.loading.loader import Loader
graph = from_edges(np.arange(20), (np.arange(20) + 1) % 20, 20)
class Slow(PprExtractor):
    def choose(self, graph, targets, seed):
        time.sleep(SECONDS)
        return super().choose(graph, targets, seed)
batches = iter(Loader(graph, Slow(), np.arange(20), batch_size=1))
next(batches)
print("ready", flush=True)
"""


def test_a_process_ends_with_batches_left():
    script = SCRIPT.replace("SECONDS", "0.01")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ready\n", "")


@pytest.mark.skipif(os.name != "posix", reason="sends a signal")
def test_ctrl_c_reaches_a_waiting_consumer():
    script = SCRIPT.replace("SECONDS", "0.3") + "for _ in batches: pass\n"
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(signal.SIGINT)
        _, error = process.communicate(timeout=60)
    assert error.rstrip().endswith(b"KeyboardInterrupt")
    assert process.returncode == -signal.SIGINT


@pytest.mark.parametrize("num_ranks", [1, 2, 3, 5])
def test_shares_of_every_batch_follow_one_another(num_ranks):
    loader = Loader(RING, RANDOM, np.arange(20), batch_size=6, shuffle=True, seed=4)
    whole = list(loader.epoch(3))
    shares = [list(loader.rank_epoch(3, RankPart(rank, num_ranks))) for rank in range(num_ranks)]
    assert all(len(share) == len(whole) == 4 for share in shares)
    for number, batch in enumerate(whole):
        parts = [share[number] for share in shares if not share[number].filler]
        assert torch.cat([part.targets for part in parts]).tolist() == batch.targets.tolist()
        assert torch.cat([part.target_row for part in parts]).tolist() == batch.target_row.tolist()
        sizes = [len(part) for part in parts]
        assert max(sizes) - min(sizes) <= 1
        # A scope is the same whoever extracts it.
        scopes = {
            int(part.targets[row]): part.node_id[part.subgraph == row].tolist()
            for part in parts
            for row in range(len(part))
        }
        assert scopes == {
            int(batch.targets[row]): batch.node_id[batch.subgraph == row].tolist() for row in range(len(batch))
        }


def test_a_share_without_targets_is_filled_with_one_that_does_not_count():
    loader = Loader(RING, RANDOM, np.arange(20), batch_size=6)
    first, last = (list(loader.rank_epoch(0, RankPart(rank, 3)))[-1] for rank in (0, 2))
    assert (first.targets.tolist(), first.filler) == ([[18]], False)
    assert (last.targets.tolist(), last.filler) == ([[18]], True)


def test_whole_batches_are_dealt_in_turn_and_no_others_are_made():
    calls = Recorder()
    loader = Loader(RING, calls, np.arange(20), batch_size=6, prefetch=0)
    whole = contents(loader.epoch(0))
    calls.calls = 0
    assert contents(loader.rank_epoch(0, RankPart(1, 3, "deal"))) == whole[1:2]
    assert calls.calls == 1
    assert contents(loader.rank_epoch(0, RankPart(0, 3, "deal"))) == [whole[0], whole[3]]


def test_a_source_that_cannot_be_shared_is_named():
    class Lonely:
        def __len__(self):
            return 1

        def epoch(self, number):
            return iter(())

    assert not isinstance(Lonely(), RankedSource)
    with (
        pytest.raises(ValueError, match="loaders must be divisible among 2 processes, got Lonely"),
        aligned([Lonely()], 0, torch.device("cpu"), RankPart(0, 2)),
    ):
        pass


def test_inputs_fill_in_x_in_the_thread_that_makes_batches():
    seen = []

    def inputs(batch):
        seen.append((batch.x, threading.current_thread().name))
        return replace(batch, x=batch.node_id[:, None].float())

    graph = replace(RING, x=DenseFeatures(np.zeros((20, 3), np.float32)))
    batches = list(Loader(graph, PprExtractor(4), np.arange(5), batch_size=2, inputs=inputs).epoch(0))
    assert seen == [(None, "shadow-prefetch")] * 3
    assert all(torch.equal(batch.x[:, 0].long(), batch.node_id) for batch in batches)


class Reader:
    """Stands in for a model with branches that read these layouts."""

    def __init__(self, *layouts):
        self.layouts = layouts


def test_a_model_decides_order_and_edge_arrays():
    extractor = PprExtractor(3, edge_pos=True)
    reader = Reader(BatchLayout("subgraph", ("attr",)))
    (batch,) = Loader(RING, extractor, [0, 3], model=reader)
    (expected,) = Loader(RING, extractor, [0, 3], order="subgraph", edge_arrays=("attr",))
    assert contents([batch]) == contents([expected])
    assert Loader(RING, extractor, [0], model=reader, order="hop", edge_arrays=["attr", "id"]).layout == BatchLayout(
        "hop", ("attr", "id")
    )


def test_a_model_with_several_branches_is_given_branch_by_branch():
    ensemble = Reader(BatchLayout("hop"), BatchLayout("subgraph"))
    with pytest.raises(ValueError, match=r"Loader: model must have one branch, got 2; make one for each branch, with"):
        Loader(RING, PprExtractor(3), [0], model=ensemble)
