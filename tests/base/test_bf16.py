"""bf16: a processor whose products crash is found out in another process, and named in one line."""

import os

import pytest

from shadow_gnn.base import bf16
from shadow_gnn.recipe import TrainingRecipe
from shadow_gnn.training.loop import make_fabric


@pytest.fixture
def broken(monkeypatch):
    """A machine that announces AMX and dies of it."""
    monkeypatch.delenv(bf16.SETTING, raising=False)
    monkeypatch.setattr(bf16, "_announces_amx", lambda: True)
    monkeypatch.setattr(bf16, "_PROBE", "import os, signal; os.kill(os.getpid(), signal.SIGILL)")
    bf16._probe.cache_clear()
    yield
    bf16._probe.cache_clear()


def test_a_crash_elsewhere_is_one_line_here(broken):
    with pytest.raises(ValueError, match=r"precision must be float32 here.*ONEDNN_MAX_CPU_ISA=AVX512_CORE_BF16"):
        make_fabric(TrainingRecipe(precision="bf16", accelerator="cpu"))
    make_fabric(TrainingRecipe(precision="float32", accelerator="cpu"))


def test_a_program_can_leave_the_broken_kernels_alone(broken, monkeypatch):
    monkeypatch.setenv(bf16.SETTING, "x")  # So that what is set below is undone at the end.
    monkeypatch.delenv(bf16.SETTING)
    bf16.use_working_kernels()
    bf16.check_bf16()
    assert os.environ[bf16.SETTING] == bf16.SAFE


def test_nothing_is_asked_or_changed_where_it_works(monkeypatch):
    monkeypatch.delenv(bf16.SETTING, raising=False)
    monkeypatch.setattr(bf16, "_announces_amx", lambda: False)
    monkeypatch.setattr(bf16, "_probe", lambda: pytest.fail("must not be asked"))
    bf16.use_working_kernels()
    bf16.check_bf16()
    assert bf16.SETTING not in os.environ
