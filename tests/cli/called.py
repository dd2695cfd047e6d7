"""Commands called in this process or in their own, with their output."""

import json
import os
import subprocess
import sys

from typer.testing import CliRunner

from shadow_gnn.cli.main import app


def run(*arguments):
    """Run a command and return its result, success or not."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    """Run a command that must succeed, and return its output."""
    result = run(*arguments)
    assert result.exit_code == 0, result.exception
    return result.stdout


def numbers(*arguments):
    """Run a command that must succeed, and return its output with `--json`, parsed."""
    return json.loads(succeed(*arguments, "--json"))


def fault(*arguments):
    """Run a command that must fail, and return its error message, which is one line."""
    result = run(*arguments)
    assert result.exit_code != 0
    assert "\n" not in str(result.exception)
    return str(result.exception)


def start(*arguments, **options):
    """Start a command in a process of its own, with one thread."""
    command = [sys.executable, "-m", "shadow_gnn", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, env=dict(os.environ, OMP_NUM_THREADS="1"), **pipes, **options)
