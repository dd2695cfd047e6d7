"""Headers of the core include what they use and no more, so that a change rebuilds little."""

import re
from pathlib import Path

import pytest

CORE = Path(__file__).parents[2] / "core"
EXTRACTORS = {"engine.h", "fire.h", "heat.h", "katz.h", "khop.h", "ppr.h", "similar.h", "simrank.h", "walks.h"}


def included(name: str) -> set[str]:
    """Return the headers of the core that a file includes, directly or through others."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        text = (CORE / waiting.pop()).read_text()
        new = set(re.findall(r'^#include "([^"]+)"', text, re.MULTILINE)) - found
        found |= new
        waiting.extend(new)
    return found


def test_the_engine_includes_every_extractor():
    assert included("engine.h") > EXTRACTORS - {"engine.h"}


@pytest.mark.parametrize("name", ["closure.h", "saint.h", "hops.h", "scope.h", "met.h", "bind_batches.cpp"])
def test_what_is_no_extractor_includes_none(name):
    assert not included(name) & EXTRACTORS


@pytest.mark.parametrize("path", sorted(CORE.glob("*.h")), ids=lambda path: path.name)
def test_no_header_includes_itself(path):
    assert path.name not in included(path.name)
