"""Settings that every test shares."""

import gc
import importlib.util
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Machines are noisy: how long an example takes says nothing about whether it is right.
settings.register_profile("shared", deadline=None, max_examples=50)
settings.register_profile("long", deadline=None, max_examples=2000)
settings.load_profile("shared")

# A collection of garbage would look at every test again and again, while they are made and after each of them.
gc.disable()

# In the background of a script, Ctrl-C is ignored by everything that is started: the tests that send it need it heard.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Tests that run side by side share the cores: threads of torch that spin for each other would slow all of them.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ["OMP_NUM_THREADS"] = "1"

# `make sanitize` puts a core with sanitizers in the place of the installed one, before anything imports it.
if core := os.environ.get("SHADOW_TEST_CORE"):
    spec = importlib.util.spec_from_file_location("shadow_gnn._core", core)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules["shadow_gnn._core"] = module
    import shadow_gnn

    shadow_gnn._core = module  # type: ignore[attr-defined]


def pytest_collection_finish() -> None:
    """Keep the tests themselves out of collections of garbage."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session")
def small_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a cache folder for SHADOW_CACHE, with a tenth of the targets of the built-in graph."""
    from tests.small_builtin import fill_cache

    folder = tmp_path_factory.mktemp("cache")
    fill_cache(folder)
    return folder
