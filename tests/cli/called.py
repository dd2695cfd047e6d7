"""Commands called in this process, with what they say."""

from typer.testing import CliRunner

from shadow_gnn.cli.main import app


def run(*arguments):
    """Run a command and return its result, be it what it may."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def succeed(*arguments):
    """Run a command that must succeed, and return what it prints."""
    result = run(*arguments)
    assert result.exit_code == 0, result.exception
    return result.stdout


def fault(*arguments):
    """Run a command that must fail, and return why."""
    result = run(*arguments)
    assert result.exit_code != 0
    return str(result.exception)
