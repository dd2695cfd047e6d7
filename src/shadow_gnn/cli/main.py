"""Main: the `shadow` command, its subcommands, and how faults and signals end it.

Not for: what a subcommand does; each has a file of its own, which imports heavy libraries only when it runs.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import NoReturn

import typer

from shadow_gnn.base.errors import RankError, RecipeError, ShadowError
from shadow_gnn.cli.data import main as data
from shadow_gnn.cli.prediction import correct, ensemble, evaluate, predict, recommend
from shadow_gnn.cli.scopes import compare_extractors, extract, learn_scope
from shadow_gnn.cli.shared.ranks import check_command
from shadow_gnn.cli.shared.shortage import shortage_line
from shadow_gnn.cli.studies import baselines, cost, reproduce, theory
from shadow_gnn.cli.training import memory, resume, runs, train, tune

app = typer.Typer(
    name="shadow",
    help="Deep graph learning on shallow scopes: import a graph, look at it, train a model, predict.",
    epilog="\b\nStart with:\n  shadow data import edges.csv my-graph\n  shadow train recipe.toml --graph my-graph",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

# Every subcommand is added here and nowhere else.
app.add_typer(data.app, name="data")
app.command("extract", cls=extract.ExtractCommand)(extract.extract_command)
app.command("train")(train.train_command)
app.command("learn-scope")(learn_scope.learn_scope_command)
app.command("tune")(tune.tune_command)
app.command("evaluate")(evaluate.evaluate_command)
app.command("predict")(predict.predict_command)
app.command("recommend")(recommend.recommend_command)
app.command("correct")(correct.correct_command)
app.command("ensemble")(ensemble.ensemble_command)
app.command("resume")(resume.resume_command)
app.command("runs")(runs.runs_command)
app.command("compare-extractors")(compare_extractors.compare_command)
app.command("baselines")(baselines.baselines_command)
app.command("memory")(memory.memory_command)
app.command("cost")(cost.cost_command)
app.command("reproduce")(reproduce.reproduce_command)
app.command("theory")(theory.theory_command)


class _Terminated(BaseException):
    """SIGTERM arrived; not an Exception, so that nothing catches it on the way out."""


def _show_version(value: bool) -> None:
    if value:
        from importlib.metadata import PackageNotFoundError, version

        try:
            typer.echo(f"shadow {version('shadow-gnn')}")
        except PackageNotFoundError:
            typer.echo("shadow (not installed)")
        raise typer.Exit


@app.callback()
def _common(
    context: typer.Context,
    debug: bool = typer.Option(False, "--debug", help="Show the Python traceback of a fault."),
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Deep graph learning on shallow scopes: import a graph, look at it, train a model, predict."""
    check_command(context.invoked_subcommand)


def main() -> NoReturn:
    """Run the command line: 0 on success, 2 with one line on a fault, 130 on Ctrl-C, 143 on SIGTERM."""
    debug = "--debug" in sys.argv[1:]
    # --debug is understood anywhere on the line, as people add it at the end.
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    signal.signal(signal.SIGTERM, _raise_terminated)
    try:
        # Typer turns Ctrl-C into the result 130, where click raises Abort.
        code = app(args=arguments, prog_name="shadow", standalone_mode=False)
    except KeyboardInterrupt:
        _end_at_once("interrupted", 130)
    except _Terminated:
        _end_at_once("terminated", 143)
    except BaseException as error:
        _end_with(error, debug, arguments)
    if code == 130:
        _end_at_once("interrupted", 130)
    sys.exit(code if isinstance(code, int) else 0)


def _end_with(error: BaseException, debug: bool, arguments: Sequence[str]) -> NoReturn:
    """Turn a fault into one line and exit code 2; anything unforeseen keeps its traceback."""
    if isinstance(error, SystemExit):
        raise error
    if debug:
        raise error
    if isinstance(error, RankError):
        _end_at_once(str(error), 2)
    if (line := shortage_line(error, arguments)) is not None:
        _end_at_once(line, 2)
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context is not None else ""
        _end(f"{error.format_message()}{hint}", 2)
    if type(error).__name__ == "Abort":
        _end_at_once("interrupted", 130)
    if isinstance(error, RecipeError):
        for fault in error.faults[:-1]:
            print("shadow: " + " ".join(fault.split()), file=sys.stderr)
        _end(error.faults[-1], 2)
    if isinstance(error, (ShadowError, ValueError, OSError)):
        _end(str(error), 2)
    raise error


def _end(text: str, code: int) -> NoReturn:
    print("shadow: " + " ".join(text.split()), file=sys.stderr)
    sys.exit(code)


def _end_at_once(text: str, code: int) -> NoReturn:
    """End without taking the interpreter apart: with torch loaded, that alone takes a second on a busy machine, and
    connections to ranks that are gone may hold it longer.

    Everything that must be closed has been, on the way here.
    """
    with suppress(OSError):  # Whoever read our output may be gone.
        print(f"shadow: {text}", file=sys.stderr, flush=True)
        sys.stdout.flush()
    os._exit(code)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    """Raise once: a second signal must not interrupt what is closed on the way out."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated
