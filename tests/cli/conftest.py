"""What the tests of several commands share."""

import signal
import sys

import pytest

from shadow_gnn.cli import main as module


@pytest.fixture
def shadow(monkeypatch, capsys):
    """Run the command line in this process: (exit code, stdout, stderr)."""
    before = signal.getsignal(signal.SIGTERM)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["shadow", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            module.main()
        out, err = capsys.readouterr()
        return caught.value.code, out, err

    yield run
    signal.signal(signal.SIGTERM, before)
