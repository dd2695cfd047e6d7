"""Main: the `shadow` command, its subcommands, faults and signals.

Not for: the work of a subcommand; each has its own file, which imports heavy libraries only when it runs.
"""

from __future__ import annotations

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Annotated, NoReturn

import typer

from shadow_gnn.base.errors import RankError, RecipeError, ShadowError
from shadow_gnn.cli.data import append, compact, diffuse, generate, get, importing, info
from shadow_gnn.cli.prediction import correct, ensemble, evaluate, explain, explore, export, predict, recommend, serve
from shadow_gnn.cli.scopes import compare_extractors, draw, extract, learn_scope, scope_curve
from shadow_gnn.cli.shared.help_pages import Command, add_command, new_app
from shadow_gnn.cli.shared.lost_signals import raise_lost_again
from shadow_gnn.cli.shared.ranks import check_command
from shadow_gnn.cli.shared.shortage import shortage_line
from shadow_gnn.cli.shared.voice import LogForm, Voice, set_voice
from shadow_gnn.cli.studies import advise, baselines, cost, reproduce, theory
from shadow_gnn.cli.training import init, memory, resume, runs, share, train, tune

app = new_app(
    "Deep graph learning on shallow scopes: import a graph, inspect it, train a model, predict.",
    epilog="\b\nExamples:\n  shadow data import edges.csv my-graph --labels labels.csv --split 60/20/20\n"
    "  shadow train recipe.toml --graph my-graph\n  shadow predict runs/recipe-1 --out predictions.csv\n"
    "  shadow train --help\n\n\b\n"
    "Exit codes: 0 success, 2 a fault, in one line, 130 Ctrl-C, 143 SIGTERM, 1 any other end.",
    completion=True,
)
data = new_app("Import, download, generate and inspect graph folders.")

# Every subcommand is added here and nowhere else, in the order of the help page.
add_command(data, "import", importing.import_command)
add_command(data, "append", append.append_command)
add_command(data, "info", info.info_command)
add_command(data, "get", get.get_command)
add_command(data, "list", get.list_command)
add_command(data, "generate", generate.generate_command)
add_command(data, "diffuse", diffuse.diffuse_command)
app.add_typer(data, name="data", rich_help_panel="Data")
graph = new_app("Maintain graph folders that are served.")
add_command(graph, "compact", compact.compact_command)
app.add_typer(graph, name="graph", rich_help_panel="Data")
_COMMANDS = {
    "Scopes": {
        "extract": extract.extract_command,
        "draw": draw.draw_command,
        "compare-extractors": compare_extractors.compare_command,
        "learn-scope": learn_scope.learn_scope_command,
        "scope-curve": scope_curve.scope_curve_command,
    },
    "Training": {
        "init": init.init_command,
        "train": train.train_command,
        "resume": resume.resume_command,
        "runs": runs.runs_command,
        "tune": tune.tune_command,
        "memory": memory.memory_command,
        "share": share.share_command,
    },
    "Prediction": {
        "evaluate": evaluate.evaluate_command,
        "predict": predict.predict_command,
        "explain": explain.explain_command,
        "explore": explore.explore_command,
        "recommend": recommend.recommend_command,
        "serve": serve.serve_command,
        "correct": correct.correct_command,
        "ensemble": ensemble.ensemble_command,
        "export": export.export_command,
    },
    "Studies": {
        "advise": advise.advise_command,
        "baselines": baselines.baselines_command,
        "cost": cost.cost_command,
        "theory": theory.theory_command,
        "reproduce": reproduce.reproduce_command,
    },
}
for _heading, _commands in _COMMANDS.items():
    for _name, _command in _commands.items():
        add_command(app, _name, _command, _heading, extract.ExtractCommand if _name == "extract" else Command)


class _Terminated(BaseException):
    """SIGTERM arrived; not an Exception, so nothing catches it on the way out."""


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
    quiet: bool = typer.Option(False, "--quiet", help="Print only results, warnings and faults."),
    log: Annotated[
        LogForm, typer.Option("--log", help="Form of progress: lines of text, or one JSON object a line.")
    ] = "text",
    debug: bool = typer.Option(False, "--debug", help="Show the Python traceback of a fault."),
    no_check: bool = typer.Option(False, "--no-check", help="Do not compare graph folders with their checksums."),
    version: bool = typer.Option(
        False, "--version", callback=_show_version, is_eager=True, help="Show the version and exit."
    ),
) -> None:
    """Deep graph learning on shallow scopes: import a graph, inspect it, train a model, predict."""
    set_voice(Voice(quiet, log))
    check_command(context.invoked_subcommand)


def main() -> NoReturn:
    """Run the command line: 0 on success, 2 with one line on a fault, 130 on Ctrl-C, 143 on SIGTERM."""
    debug = "--debug" in sys.argv[1:]
    # They may stand anywhere on the line, since people add them at the end.
    arguments = [argument for argument in sys.argv[1:] if argument not in ("--debug", "--no-check")]
    if "--no-check" in sys.argv[1:]:
        os.environ["SHADOW_CHECK"] = "off"  # Also for the processes of this command.
    # PyG calls it when it is imported, and torch 2.15 warns every user.
    warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated")
    signal.signal(signal.SIGTERM, _raise_terminated)
    raise_lost_again({KeyboardInterrupt: signal.SIGINT, _Terminated: signal.SIGTERM})
    try:
        # Typer turns Ctrl-C into the result 130; click raises Abort.
        code = app(args=arguments, prog_name="shadow", standalone_mode=False)
        _confirm_folders()
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
    """Turn a fault into one line and exit code 2; an unexpected one keeps its traceback.

    A group without a command shows its help page, with the same exit code.
    """
    if debug or isinstance(error, SystemExit):
        raise error
    if isinstance(error, RankError):
        _end_at_once(str(error), 2)
    if (line := shortage_line(error, arguments)) is not None:
        _end_at_once(line, 2)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(str(error.format_message()), file=sys.stderr)  # type: ignore[attr-defined]
        sys.exit(2)
    if hasattr(error, "format_message"):
        context = getattr(error, "ctx", None)
        hint = f"; see {context.command_path} --help" if context is not None else ""
        _end(f"{error.format_message().rstrip('.?')}{hint}", 2)
    if type(error).__name__ == "Abort":
        _end_at_once("interrupted", 130)
    if isinstance(error, RecipeError):
        for fault in error.faults[:-1]:
            print("shadow: " + " ".join(fault.split()), file=sys.stderr)
        _end(error.faults[-1], 2)
    if isinstance(error, OSError) and error.filename is not None and error.strerror is not None:
        _end(f"{os.fsdecode(error.filename)}: {error.strerror[:1].lower()}{error.strerror[1:]}", 2)
    if isinstance(error, (ShadowError, ValueError, OSError)):
        _end(str(error), 2)
    raise error


def _end(text: str, code: int) -> NoReturn:
    with suppress(OSError):  # Where the disk is full, the file of our errors may be on it.
        print("shadow: " + " ".join(text.split()), file=sys.stderr, flush=True)
    sys.exit(code)


def _confirm_folders() -> None:
    """Wait for the checks of the folders that the command opened; a command that opened none loads nothing."""
    checks = sys.modules.get("shadow_gnn.graph.block_check")
    if checks is not None:
        checks.confirm_all()


def _end_at_once(text: str, code: int) -> NoReturn:
    """End without the interpreter's shutdown, which takes a second with torch and longer with dead ranks.

    Everything that must be closed is already closed.
    """
    with suppress(OSError):  # The reader of our output may be gone.
        print(f"shadow: {text}", file=sys.stderr, flush=True)
        sys.stdout.flush()
    os._exit(code)


def _raise_terminated(number: int, frame: FrameType | None) -> None:
    """Raise once: a second signal must not interrupt the cleanup."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise _Terminated
