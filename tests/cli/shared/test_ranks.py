"""Which of several ranks says what at an early end, with a heartbeat that is made up."""

import signal

import pytest

from shadow_gnn.base.errors import RankError, RecipeError, WriteError
from shadow_gnn.base.heartbeat import Ended
from shadow_gnn.cli.shared import ranks


class Heart:
    """A heartbeat of which everything is known."""

    def __init__(self, rank, *, lost=(), words=None, num_ranks=3, reachable=True):
        self.rank, self.num_ranks, self.reachable = rank, num_ranks, reachable
        self._lost, self._words, self.told = {number: f"process {number}0 on node" for number in lost}, words or {}, []

    def tell(self, word):
        self.told.append(word)

    def words(self):
        return self._words

    def find_ended(self):
        if not self.reachable:
            raise RuntimeError("no store")
        return Ended(self._lost, self._words)


@pytest.fixture(autouse=True)
def _patient(monkeypatch):
    def leave(code):
        raise SystemExit(code)

    monkeypatch.setattr(ranks, "_leave", leave)
    monkeypatch.setattr(ranks, "_AGREE_SECONDS", 0)


def end(error, heart):
    """Return what a rank raises at its end."""
    with pytest.raises(BaseException) as caught:  # noqa: PT011
        ranks._end(error, heart, "try again")
    return caught.value


GONE = RuntimeError("Connection closed by peer")


def test_the_first_rank_that_lives_names_the_dead():
    said = end(GONE, Heart(0, lost=[1]))
    assert isinstance(said, RankError)
    assert str(said) == ("ranks: rank 1 of 3 (process 10 on node) has died, so all others end too; try again")
    assert str(end(GONE, Heart(1, lost=[0]))).startswith("ranks: rank 0 of 3 (process 00 on node) has died")
    assert end(GONE, Heart(2, lost=[0])).code == 2
    assert "rank 0 of 3 (process 00 on node), rank 1 of 3 (process 10 on node)" in str(end(GONE, Heart(2, lost=[0, 1])))


def test_torchruns_signal_after_a_death_does_not_hide_it():
    heart = Heart(0, lost=[2])
    assert "rank 2 of 3" in str(end(KeyboardInterrupt(), heart))
    assert heart.told == ["stopped"]


def test_a_signal_to_all_is_said_by_the_main_rank():
    stop = KeyboardInterrupt()
    assert end(stop, Heart(0, words={1: "stopped", 2: "stopped"})) is stop
    assert end(stop, Heart(1, words={0: "stopped"})).code == 143


def test_a_rank_that_was_stopped_alone_is_named_by_the_others():
    assert "rank 2 of 3 (stopped by a signal) has died" in str(end(GONE, Heart(0, words={2: "stopped"})))


def test_a_fault_is_said_by_the_rank_that_has_it():
    fault, heart = WriteError("disk is full"), Heart(0)
    assert end(fault, heart) is fault
    assert heart.told == ["fault"]
    assert str(end(fault, Heart(2))) == "rank 2: disk is full"
    assert str(end(RecipeError(["one", "two"]), Heart(2))) == "rank 2: one; two"
    assert end(fault, Heart(2, words={1: "fault"})).code == 2
    assert end(GONE, Heart(0, lost=[2], words={1: "fault"})).code == 2


def test_an_error_that_nobody_else_caused_stays_as_it_is():
    heart = Heart(1)
    assert end(GONE, heart) is GONE
    assert heart.told == ["fault"]


def test_an_end_of_torchrun_itself_is_said():
    assert str(end(GONE, Heart(0, reachable=False))) == "ranks: torchrun can no longer be reached; try again"


def test_whatever_a_death_looks_like_it_is_named():
    assert "rank 1 of 3" in str(end(SystemError("returned a result with an exception set"), Heart(0, lost=[1])))
    assert "rank 1 of 3" in str(end(KeyError("size"), Heart(0, lost=[1])))


@pytest.fixture
def sigterm():
    """Let SIGTERM do nothing, and put back what it did before."""
    before = signal.signal(signal.SIGTERM, lambda number, frame: None)
    yield
    signal.signal(signal.SIGTERM, before)


class Hushed:
    """A spokesman that only counts."""

    num_hushed = 0

    def hush(self):
        self.num_hushed += 1


def test_signals_wait_until_the_reason_is_said(sigterm):
    spokesman = Hushed()
    assert ranks._without_signals(GONE, spokesman) is GONE
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    assert spokesman.num_hushed == 1


def test_a_signal_on_the_way_out_takes_the_place_of_the_error(sigterm):
    stop, spokesman = KeyboardInterrupt(), Hushed()

    def late():
        spokesman.num_hushed += 1
        if spokesman.num_hushed == 1:
            raise stop

    spokesman.hush = late
    assert ranks._without_signals(GONE, spokesman) is stop
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN


@pytest.mark.parametrize("lost", [[1], []], ids=["a death", "a signal to all"])
def test_a_main_thread_that_hears_nothing_is_spoken_for(sigterm, monkeypatch, lost):
    said = []
    monkeypatch.setattr(ranks, "_HEARING_SECONDS", 0.05)
    monkeypatch.setattr(ranks, "_say", lambda text, code: said.append((text, code)))
    with ranks._Spokesman(Heart(0, lost=lost, num_ranks=2), "try again") as spokesman:
        signal.raise_signal(signal.SIGTERM)
        spokesman._thread.join(10)
    if lost:
        line = "ranks: rank 1 of 2 (process 10 on node) has died, so all others end too; try again"
        assert said == [(line, 2)]
    else:
        assert said == [("terminated", 143)]


def test_a_main_thread_that_hears_speaks_itself(sigterm, monkeypatch):
    said = []
    monkeypatch.setattr(ranks, "_say", lambda text, code: said.append(text))
    with ranks._Spokesman(Heart(0, lost=[1], num_ranks=2), "try again") as spokesman:
        signal.raise_signal(signal.SIGTERM)
        spokesman.hush()
    assert said == []
    assert not spokesman._thread.is_alive()
    assert signal.set_wakeup_fd(-1) == -1
