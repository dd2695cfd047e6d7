"""The study of bench/study: the probe of a budget, and a short study that is killed and resumed."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.base import allocator
from shadow_gnn.graph.store import save_graph

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "bench" / "study"))

from study_graphs import StudyGraph  # noqa: E402
from study_jobs import Cell, Job, recipe_of, search  # noqa: E402
from study_results import Result  # noqa: E402

from shadow_gnn.training.defaults import epochs_within  # noqa: E402


def test_probe_scales_with_the_budget():
    recipe = recipe_of(
        Job(Cell("g", "full", "sage", 3), 0, "budget", 0),
        StudyGraph("g", 1),
        search(Cell("g", "full", "sage", 3), 1)[0],
        3,
    )
    few, many = (epochs_within(recipe, communities(), seconds) for seconds in (1e-6, 5.0))
    assert few == 1
    assert many > 20


def study(command, folder, *more):
    arguments = [str(ROOT / "bench" / "study"), command, "--smoke", "--folder", str(folder / "s")]
    return [*arguments, "--graphs", str(folder), *more]


def run_here(monkeypatch, arguments):
    """Run a command of the study in this process, which has imported everything."""
    monkeypatch.setattr(sys, "argv", arguments)
    monkeypatch.setattr(allocator, "keep_freed_memory", lambda: None)  # For good, it would be.
    runpy.run_path(arguments[0], run_name="__main__")


def test_short_study_resumes_after_kills_and_repeats_nothing(tmp_path, monkeypatch, capsys):
    save_graph(communities(200), tmp_path / "smoke")
    environment = dict(os.environ, OMP_NUM_THREADS="1")
    results = tmp_path / "s" / "results"
    before = {}
    for wanted in (1, 3):
        process = subprocess.Popen(
            [sys.executable, *study("run", tmp_path)], env=environment, stdout=subprocess.DEVNULL
        )
        while process.poll() is None and len(list(results.glob("*.json"))) < wanted:
            time.sleep(0.01)
        time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        now = {path.name: path.read_bytes() for path in results.glob("*.json")}
        assert before.items() <= now.items()
        before = now
    assert len(before) >= 3
    run_here(monkeypatch, study("run", tmp_path))
    now = {path.name: path.read_bytes() for path in results.glob("*.json")}
    assert before.items() <= now.items()
    assert len(capsys.readouterr().out.splitlines()) == len(now) - len(before) == 12 - len(before)
    for content in now.values():
        result = Result(
            **{name: value for name, value in json.loads(content).items() if name not in ("format", "version")}
        )
        assert result.correct("test").mean() == result.test
        assert result.cpu_seconds > 0
        assert str(tmp_path) not in content.decode()
    run_here(monkeypatch, study("page", tmp_path, "--out", str(tmp_path / "page.md")))
    assert "## smoke" in (tmp_path / "page.md").read_text()
