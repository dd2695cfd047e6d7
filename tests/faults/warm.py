"""A process that has done what every command does first, so that a fork of it begins at once."""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.faults.trials import run

NAMES = """numpy pyarrow pyarrow.parquet pyarrow.compute pyarrow.csv torch lightning_fabric
    scipy.sparse.csgraph shadow_gnn.training.runs.repeats
    shadow_gnn.graph.importing.detect shadow_gnn.inference.write_predictions shadow_gnn.inference.evaluation
    shadow_gnn.graph.verify shadow_gnn.studies.learned_scopes.phases shadow_gnn.cli.main"""


def import_everything() -> None:
    """Import what most commands need, and use one thread, as others do not survive a fork."""
    # What installed packages tell about themselves is in a file of each of them.
    for name in ("entry_points", "version"):
        setattr(importlib.metadata, name, functools.cache(getattr(importlib.metadata, name)))
    for name in NAMES.split():
        importlib.import_module(name)
    import pyarrow
    import torch

    torch.set_num_threads(1)
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    _build_app_once()


def import_for(argv: Sequence[str], folder: Path) -> None:
    """Run a command in a fork, and import here what it has imported."""
    told = folder.with_name("modules")
    run(argv, folder, functools.partial(tell_modules, told))
    import_told(told)


def import_told(told: Path) -> None:
    """Import the modules of another process, and let what they build for each command be built once."""
    for name in told.read_text().split():
        if name not in sys.modules:
            with suppress(Exception):  # Some modules are no files.
                importlib.import_module(name)
    if "optuna" in sys.modules:
        _use_database_once()
    if "matplotlib" in sys.modules:
        from shadow_gnn.studies import figures

        figures._rendered = lambda figure, kind: b"a picture"  # Written as any other, and drawn in no time.
    gc.freeze()  # A collection in a fork would copy the pages of all objects that are here.


def tell_modules(told: Path) -> None:
    """Let this process write the names of its modules when it ends."""
    leave = os._exit

    def end(code: int) -> None:
        told.write_text("\n".join(sys.modules))
        leave(code)

    os._exit = end  # type: ignore[assignment]


def _build_app_once() -> None:
    """Keep the parsers of all commands."""
    import typer

    from shadow_gnn.cli.main import app

    typer.main.get_command = functools.cache(typer.main.get_command)  # type: ignore[assignment]
    typer.main.get_command(app)


@functools.cache
def _use_database_once() -> None:
    """Let SQLAlchemy build its classes and Alembic read its files."""
    import alembic.util
    import optuna

    load, load_once = alembic.util.load_python_file, functools.cache(alembic.util.load_python_file)
    alembic.util.load_python_file = lambda folder, name: (load if name == "env.py" else load_once)(folder, name)
    optuna.storages.RDBStorage("sqlite://").engine.dispose()
