"""run_app: settings of the process that answers, and its end."""

from __future__ import annotations

import gc
import sys
import threading

import pytest
from fastapi import FastAPI

from shadow_gnn.serve.server import listen, run_app


@pytest.fixture
def settings_of_the_process():
    before, num_frozen = sys.getswitchinterval(), gc.get_freeze_count()
    gc.unfreeze()  # The tests themselves are frozen.
    yield
    sys.setswitchinterval(before)
    gc.unfreeze()
    if num_frozen:
        gc.freeze()


@pytest.mark.usefixtures("settings_of_the_process")
def test_threads_take_short_turns_and_garbage_of_the_start_is_left_out():
    ending, seen = threading.Event(), []

    def started() -> None:
        seen.append((sys.getswitchinterval(), gc.get_freeze_count() > 1000))
        ending.set()

    with listen("127.0.0.1", 0) as opened:
        run_app(FastAPI(), opened, started, ending=ending)
    assert seen == [(0.0005, True)]
