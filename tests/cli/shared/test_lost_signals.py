"""A signal that comes while Python ignores exceptions ends the command all the same."""

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import os, sys, time
import typer
import shadow_gnn.cli.main as main

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), int(sys.argv[1]))
        time.sleep(0.001)  # The signal is raised here, at the latest.

def command(**_):
    Finalized()
    for _ in range(3000):
        time.sleep(0.01)
    print("was not interrupted")

main.app = lambda **_: command()
main.main()
"""


@pytest.mark.parametrize(
    ("number", "code", "line"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_in_a_finalizer_ends_the_command(number, code, line):
    command = [sys.executable, "-c", SCRIPT, str(int(number))]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (found.returncode, found.stdout, found.stderr) == (code, "", f"shadow: {line}\n")


def test_other_ignored_exceptions_are_shown_as_before():
    script = SCRIPT.replace("os.kill(os.getpid(), int(sys.argv[1]))", "raise ValueError('seen')").replace("3000", "1")
    found = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=False)
    assert found.stdout == "was not interrupted\n"
    assert "ValueError: seen" in found.stderr
