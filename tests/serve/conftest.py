"""Trained runs that several files of tests read; none of them changes their folders."""

import pytest
from tests.serve.runs import train


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """Train each kind once, when it is first asked for."""
    folders = {}

    def find(kind):
        if kind not in folders:
            folders[kind] = train(kind, tmp_path_factory.mktemp("run"))
        return folders[kind]

    return find
