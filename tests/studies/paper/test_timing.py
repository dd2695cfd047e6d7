"""Clocks add up blocks and divide by targets."""

import pytest

from shadow_gnn.studies.paper import timing
from shadow_gnn.studies.paper.timing import Clock, machine


def test_blocks_add_up(monkeypatch):
    wall, cpu = iter([1.0, 3.0, 10.0, 11.0]), iter([0.0, 1.0, 1.0, 1.5])
    monkeypatch.setattr(timing.time, "perf_counter", lambda: next(wall))
    monkeypatch.setattr(timing.time, "process_time", lambda: next(cpu))
    clock = Clock()
    for count in (2, 4):
        with clock.running(count):
            pass
    assert clock.per_target() == {"wall": 500.0, "cpu": 250.0}


def test_nothing_timed_is_a_fault():
    with pytest.raises(ValueError, match="count must be at least 1"):
        Clock().per_target()


def test_machine_says_how_many_threads():
    assert "torch with" in machine()
