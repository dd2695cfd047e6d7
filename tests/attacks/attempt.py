"""One attack in a process of its own: its outcome, its CPU time and the memory that it took.

    python -m tests.attacks.attempt FOLDER GROUP...

tries every attack of some groups, each in a fork of one process that has imported everything, and prints them as JSON.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.faults.warm import import_everything

GROUPS = (
    "graph_folders",
    "sources",
    "tables",
    "commands",
    "run_folders",
    "default_runs",
    "core_calls",
    "updates",
    "requests",
)

_MORE = """pyarrow.feather pyarrow.json torch_geometric.nn fastapi.testclient shadow_gnn.cli.data.tables
    shadow_gnn.graph.importing.tables.append shadow_gnn.graph.importing.from_tables shadow_gnn.inference.hybrid
    shadow_gnn.graph.changes.compact shadow_gnn.serve.app shadow_gnn.serve.service shadow_gnn.studies.explain"""


@dataclass(frozen=True)
class Attack:
    """A hostile input and the line that it must give."""

    build: Callable[[Path], Callable[[], object]]
    """Makes the input in an empty folder; returns the action that must be refused."""
    line: str
    """Part of the line of the refusal."""


@dataclass(frozen=True)
class Outcome:
    """End of an attack."""

    text: str
    """Line of the refusal; otherwise what happened instead."""
    refused: bool
    """True for a named error of one line, without a traceback."""
    cpu_seconds: float
    """Of the action alone."""
    megabytes: float
    """Memory that the action took at its peak."""

    def fault(self, attack: Attack) -> str | None:
        """Return a description of what is wrong with this end, with room for slow machines; None if nothing is."""
        if not self.refused or attack.line not in self.text:
            return f"must give {attack.line!r}, gave {self.text!r}"
        if self.cpu_seconds > 5 or self.megabytes > 200:
            return f"must be cheap to refuse, took {self.cpu_seconds:.1f} s and {self.megabytes:.0f} MB"
        return None


def shadow(*arguments: object) -> Callable[[], object]:
    """Return an action that runs the command line; what it would show as a traceback is no refusal."""

    def action() -> object:
        from shadow_gnn.base.errors import ShadowError
        from shadow_gnn.cli.main import app
        from shadow_gnn.cli.shared.shortage import shortage_line

        words = [str(argument) for argument in arguments]
        try:
            return app(args=words, prog_name="shadow", standalone_mode=False)
        except Exception as error:
            in_one_line = isinstance(error, (ShadowError, ValueError, OSError)) or hasattr(error, "format_message")
            if not in_one_line and shortage_line(error, words) is None:
                raise AssertionError(f"traceback of {type(error).__name__}: {error}") from error
            raise

    return action


def attacks_of(group: str) -> dict[str, Attack]:
    """Return the attacks of a group by name."""
    found: dict[str, Attack] = importlib.import_module(f"tests.attacks.{group}").ATTACKS
    return found


def attempt(attack: Attack, folder: Path) -> Outcome:
    """Build an attack and let a fork try it."""
    folder.mkdir()
    action = attack.build(folder)
    precious = set(folder.rglob("precious"))
    with tempfile.TemporaryFile() as told:
        pid = os.fork()
        if pid == 0:
            signal.alarm(60)
            os.chdir(folder)
            os.write(told.fileno(), json.dumps(_tried(action)).encode())
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        told.seek(0)
        said = told.read()
    if code or not said:
        return Outcome(f"the process died with {code}", False, 0, 0)
    if any(folder.rglob("pwned")) or set(folder.rglob("precious")) != precious:
        return Outcome("ran code of the input, or removed other people's files", False, 0, 0)
    return Outcome(*json.loads(said))


def _tried(action: Callable[[], object]) -> tuple[str, bool, float, float]:
    from shadow_gnn import _core
    from shadow_gnn.base.errors import ShadowError

    # The command line shows these as one line; the core raises the others, and the package translates them.
    named = (ShadowError, ValueError, OSError, TypeError, OverflowError, MemoryError, _core.CorruptGraph)
    Path("/proc/self/clear_refs").write_text("5")  # Forgets the peak so far.
    before = _peak()
    try:
        text, refused = f"accepted: {action()!r:.80}", False
    except BaseException as error:
        text = str(error.format_message() if hasattr(error, "format_message") else error)
        known = isinstance(error, named) or hasattr(error, "format_message")
        refused = known and "\n" not in text and len(text) < 1000
        text = text if refused else f"{type(error).__name__}: {text}"
    used = resource.getrusage(resource.RUSAGE_SELF)
    return text, refused, used.ru_utime + used.ru_stime, _peak() - before


def _peak() -> float:
    found = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())
    assert found is not None
    return int(found[1]) / 1024


def main() -> None:
    """Try every attack of some groups."""
    folder, groups = Path(sys.argv[1]), sys.argv[2:]
    import_everything()
    for name in _MORE.split():  # What forks would import again and again.
        importlib.import_module(name)
    gc.freeze()
    ends = {
        group: {name: vars(attempt(attack, folder / name)) for name, attack in attacks_of(group).items()}
        for group in groups
    }
    print(json.dumps(ends))


if __name__ == "__main__":
    main()
