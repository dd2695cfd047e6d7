"""Work that waits: taken together, in order, up to a size; full queues; ends that finish what waits."""

import threading

import pytest

from shadow_gnn.serve.waiting import Draining, QueueFull, WaitingWork


class Recorder:
    """Handles batches only while it is let go, and keeps them."""

    def __init__(self, **options):
        self.batches, self.begun, self.go = [], threading.Event(), threading.Event()
        self.work = WaitingWork("test", self.handle, **{"most_waiting": 10, "most_size": 4, **options})

    def handle(self, jobs):
        self.begun.set()
        self.go.wait()
        self.batches.append([job.work for job in jobs])
        for job in jobs:
            if job.work == "bad":
                raise ValueError("bad work")
            job.future.set_result(job.work)


def test_all_that_waits_is_taken_together_up_to_a_size():
    recorder = Recorder()
    first = recorder.work.submit("a")
    recorder.begun.wait()
    futures = [recorder.work.submit(name, size) for name, size in (("b", 1), ("c", 3), ("d", 1), ("e", 9))]
    recorder.go.set()
    assert [future.result() for future in (first, *futures)] == ["a", "b", "c", "d", "e"]
    assert recorder.batches == [["a"], ["b", "c"], ["d"], ["e"]]
    recorder.work.drain()


def test_it_is_busy_while_it_handles_work():
    recorder = Recorder()
    assert not recorder.work.busy
    recorder.work.submit("bad")
    recorder.begun.wait()
    assert recorder.work.busy
    recorder.go.set()
    recorder.work.drain()
    assert not recorder.work.busy


def test_a_full_queue_refuses_and_cancelled_work_is_left_out():
    recorder = Recorder(most_waiting=2)
    recorder.work.submit("a")
    recorder.begun.wait()
    waiting = [recorder.work.submit(name) for name in "bc"]
    with pytest.raises(QueueFull):
        recorder.work.submit("d")
    waiting[0].cancel()
    recorder.go.set()
    recorder.work.drain()
    assert recorder.batches == [["a"], ["c"]]


def test_a_fault_reaches_everyone_in_the_batch_and_the_thread_goes_on():
    recorder = Recorder()
    recorder.work.submit("a")
    recorder.begun.wait()
    futures = [recorder.work.submit(name) for name in ("x", "bad", "y")]
    recorder.go.set()
    assert futures[0].result() == "x"
    for future in futures[1:]:
        with pytest.raises(ValueError, match="bad work"):
            future.result()
    assert recorder.work.submit("later").result() == "later"
    recorder.work.drain()


def test_draining_finishes_what_waits_and_takes_nothing_new():
    recorder = Recorder()
    futures = [recorder.work.submit(name) for name in "abc"]
    recorder.go.set()
    recorder.work.drain()
    assert [future.result() for future in futures] == ["a", "b", "c"]
    with pytest.raises(Draining):
        recorder.work.submit("d")
