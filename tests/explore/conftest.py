"""Explorers of small runs, trained once for all tests of the explorer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.explore.explored import open_explorer, train

from shadow_gnn.explore.explorer import Explorer


@pytest.fixture(scope="session")
def explored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Explorer]]:
    """Open an explorer of each kind once, when it is first asked for."""
    opened: dict[str, Explorer] = {}

    def find(kind: str) -> Explorer:
        if kind not in opened:
            opened[kind] = open_explorer(train(kind, tmp_path_factory.mktemp("run")))
        return opened[kind]

    yield find
    for explorer in opened.values():
        explorer.close()
