"""Heartbeat: who lives, who has said goodbye, and who is silent."""

import threading

import pytest
from torch.distributed import TCPStore

from shadow_gnn.base.heartbeat import Heartbeat


@pytest.fixture
def hearts(monkeypatch):
    """Give the hearts of three ranks, all in this process, and the store that torchrun would keep."""
    store = TCPStore("localhost", 0, is_master=True)
    for name, value in (("MASTER_ADDR", "localhost"), ("MASTER_PORT", str(store.port)), ("WORLD_SIZE", "3")):
        monkeypatch.setenv(name, value)
    made = []
    for rank in range(3):
        monkeypatch.setenv("RANK", str(rank))
        made.append(Heartbeat())
    yield made
    for heart in made:
        heart.close()


def test_a_silent_rank_is_found_and_a_living_one_is_not(hearts):
    hearts[1].close()
    ended = hearts[0].find_ended()
    assert list(ended.lost) == [1]
    assert ended.lost[1].startswith("process ")
    assert ended.words == {}


def test_words_are_heard_at_once(hearts):
    hearts[1].tell("fault")
    hearts[2].close()
    hearts[2].tell("stopped")
    ended = hearts[0].find_ended()
    assert ended.words == hearts[0].words() == {1: "fault", 2: "stopped"}
    assert ended.lost == {}


def test_nobody_has_ended_while_all_beat(hearts):
    assert hearts[2].find_ended().lost == {}


def test_a_beat_that_was_on_its_way_is_no_life(hearts):
    hearts[1].close()
    late = threading.Timer(0.5, lambda: hearts[1]._store.set("beat/1", "last"))
    late.start()
    assert list(hearts[0].find_ended().lost) == [1]
    late.join()
