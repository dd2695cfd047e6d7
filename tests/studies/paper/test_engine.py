"""Jobs are done once, kept, redone when their settings change, and resumed after any end."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from tests.communities import communities

from shadow_gnn.base.errors import RunError, SourceError, WriteError
from shadow_gnn.graph.store import save_graph
from shadow_gnn.studies.paper.engine import Silent, Tally, read_kept, reproduce, seconds_left
from shadow_gnn.studies.paper.experiment import Finding, Job, ReproduceOptions, Spread, Table

ROOT = Path(__file__).parents[3]


@dataclass
class Squares:
    """An experiment that squares numbers and notes every call."""

    numbers: tuple[int, ...] = (1, 2, 3)
    factor: int = 1
    broken: dict[int, Exception] = field(default_factory=dict)
    data: tuple[str, ...] = ()
    done: list[int] = field(default_factory=list)
    name: str = "squares"
    paper: str = "Table 0"
    summary: str = "squares"

    def jobs(self, options):
        return [
            Job(f"n-{n}", f"square of {n}", self._settings(n), lambda progress, n=n: self._run(n)) for n in self.numbers
        ]

    def _settings(self, number):
        return {"number": number, "factor": self.factor, "tuple": (1, 2)}

    def _run(self, number):
        if number in self.broken:
            raise self.broken[number]
        self.done.append(number)
        return {"square": self.factor * number**2}

    def finding(self, results, options):
        rows = tuple((n, results[f"n-{n}"]["square"] if f"n-{n}" in results else None) for n in self.numbers)
        return Finding("Squares", "What squares are.", (Table("squares", "Squares.", ("n", "ours"), rows),))


class Noting(Silent):
    def __init__(self):
        self.tallies = []

    def on_end(self, job, seconds, tally):
        self.tallies.append((job.key, tally.num_done, tally.num_jobs))


def test_every_job_is_done_once_and_the_page_is_written(tmp_path):
    squares, options = Squares(), ReproduceOptions(out=tmp_path / "out")
    outcome = reproduce(squares, options)
    assert (outcome.num_done, outcome.num_jobs, outcome.faults) == (3, 3, {})
    assert [file.name for file in outcome.files] == ["squares.md", "squares.csv"]
    expected = """\
        # Squares

        What squares are.

        Squares. ([CSV](squares.csv))

        | n | ours |
        | ---: | ---: |
        | 1 | 1 |
        | 2 | 4 |
        | 3 | 9 |
        """
    assert (tmp_path / "out" / "squares.md").read_text() == textwrap.dedent(expected)
    assert (tmp_path / "out" / "squares.csv").read_text() == "n,ours\n1,1\n2,4\n3,9\n"
    reproduce(squares, options)
    assert squares.done == [1, 2, 3]


def test_kept_result_holds_settings_and_time(tmp_path):
    reproduce(Squares(), ReproduceOptions(out=tmp_path))
    content = json.loads((tmp_path / "jobs" / "n-2.json").read_text())
    assert content.pop("seconds") >= 0
    assert content.pop("checksum")
    assert content == {
        "version": 1,
        "key": "n-2",
        "title": "square of 2",
        "settings": {"number": 2, "factor": 1, "tuple": [1, 2]},
        "result": {"square": 4},
    }


def test_changed_settings_are_redone_and_others_kept(tmp_path):
    reproduce(Squares(), ReproduceOptions(out=tmp_path))
    doubled = Squares(factor=2)
    reproduce(doubled, ReproduceOptions(out=tmp_path), only="n-2")
    assert doubled.done == [2]
    assert sorted(read_kept(Squares().jobs(ReproduceOptions()), tmp_path)) == ["n-1", "n-3"]
    assert read_kept(doubled.jobs(ReproduceOptions()), tmp_path)["n-2"].result == {"square": 8}


def test_only_counts_what_was_done_before(tmp_path):
    squares = Squares()
    first = reproduce(squares, ReproduceOptions(out=tmp_path), only="n-[13]")
    assert squares.done == [1, 3]
    assert first.finding.tables[0].rows == ((1, 1), (2, None), (3, 9))
    assert first.finding.notes == ("Made of 2 of 3 jobs; the others are not done.",)
    assert "| 2 | - |" in (tmp_path / "squares.md").read_text()
    assert reproduce(squares, ReproduceOptions(out=tmp_path), only="n-2").num_done == 3
    assert squares.done == [1, 3, 2]
    with pytest.raises(ValueError, match=r"--only must match jobs of squares, got 'x'; they are n-1, n-2, n-3"):
        reproduce(squares, ReproduceOptions(out=tmp_path), only="x")


def test_report_does_nothing_but_write(tmp_path):
    squares, options = Squares(), ReproduceOptions(out=tmp_path)
    with pytest.raises(RunError, match="run shadow reproduce squares without --report first"):
        reproduce(squares, options, report=True)
    reproduce(squares, options, only="n-1")
    (tmp_path / "squares.md").unlink()
    assert reproduce(squares, options, report=True).num_done == 1
    assert squares.done == [1]
    assert (tmp_path / "squares.md").exists()
    with pytest.raises(RunError, match="the stored results have other settings"):
        reproduce(Squares(factor=3), options, report=True)


def test_interrupt_keeps_what_is_done_and_the_next_call_goes_on(tmp_path):
    options = ReproduceOptions(out=tmp_path)
    with pytest.raises(KeyboardInterrupt):
        reproduce(Squares(broken={2: KeyboardInterrupt()}), options)
    assert [file.name for file in (tmp_path / "jobs").iterdir()] == ["n-1.json"]
    again = Squares()
    reproduce(again, options)
    assert again.done == [2, 3]


def test_fault_of_a_job_does_not_stop_the_others(tmp_path):
    squares = Squares(broken={1: ValueError("memory: too much"), 2: RunError("no\nway")})
    outcome = reproduce(squares, ReproduceOptions(out=tmp_path))
    assert squares.done == [3]
    assert list(outcome.faults) == ["n-1", "n-2"]
    assert outcome.finding.notes[1:] == ("Not done: n-1: memory: too much", "Not done: n-2: no way")


def test_fault_of_every_job_is_raised(tmp_path):
    with pytest.raises(RunError, match="no way"):
        reproduce(Squares(numbers=(1,), broken={1: RunError("no way")}), ReproduceOptions(out=tmp_path))


def test_full_disk_and_unforeseen_faults_stop_at_once(tmp_path):
    for error in (WriteError("full"), ZeroDivisionError("bug")):
        squares = Squares(broken={1: error})
        with pytest.raises(type(error)):
            reproduce(squares, ReproduceOptions(out=tmp_path))
        assert squares.done == []


def test_damaged_result_is_named(tmp_path):
    reproduce(Squares(), ReproduceOptions(out=tmp_path))
    path = tmp_path / "jobs" / "n-2.json"
    whole = path.read_text()
    for text in ("{", "[]", '{"version": 1}', whole.replace('"square": 4', '"square": 5'), whole[:-9]):
        path.write_text(text)
        with pytest.raises(RunError, match=r"n-2\.json: .*; remove it to repeat the job"):
            reproduce(Squares(), ReproduceOptions(out=tmp_path))


def test_keys_are_checked(tmp_path):
    for keys, text in ((["a b"], "a-z, 0-9"), (["../x"], "a-z, 0-9"), (["a", "a"], "must differ")):
        squares = Squares()
        squares.jobs = lambda options, keys=keys: [Job(key, key, {}, lambda progress: {}) for key in keys]
        with pytest.raises(ValueError, match=text):
            reproduce(squares, ReproduceOptions(out=tmp_path))


def test_two_processes_do_not_work_in_one_folder(tmp_path):
    inner = []

    def run(progress):
        with pytest.raises(RunError, match="another process"):
            reproduce(Squares(), ReproduceOptions(out=tmp_path))
        inner.append(reproduce(Squares(), ReproduceOptions(out=tmp_path), report=True, only="n-1").num_done)
        return {"square": 4}

    squares = Squares()
    jobs = squares.jobs(ReproduceOptions())
    squares.jobs = lambda options: [jobs[0], replace(jobs[1], run=run), jobs[2]]
    reproduce(squares, ReproduceOptions(out=tmp_path))
    assert inner == [1]


def test_time_left_is_the_mean_times_what_is_left(tmp_path):
    assert seconds_left([], 3) is None
    assert seconds_left([1.0, 3.0], 3) == 6.0
    reproduce(Squares(), ReproduceOptions(out=tmp_path), only="n-1")
    noting = Noting()
    reproduce(Squares(), ReproduceOptions(out=tmp_path), watcher=noting)
    assert noting.tallies == [("n-2", 2, 3), ("n-3", 3, 3)]
    assert Tally(3, 3, 0.0).seconds_left == 0


def test_finding_says_with_which_data_it_was_made(tmp_path):
    save_graph(communities(), tmp_path / "data" / "flickr")
    squares = Squares(data=("flickr", "reddit"))
    outcome = reproduce(squares, ReproduceOptions(data=tmp_path / "data", fast=True, out=tmp_path / "out"))
    text = (tmp_path / "out" / "squares.md").read_text()
    assert text.startswith(f"# Squares\n\n{outcome.finding.text}\n\nSquares.")
    assert f"fingerprint `{communities().fingerprint}`" in text
    assert "  - NOT the paper's data, accuracies are not comparable: nodes must be 89,250, got 120; edges must" in text
    assert "; feature columns must be 500, got 3; classes must be 7, got 3; train nodes must be 44,625, got 60" in text
    assert "- not available: reddit; `shadow data get NAME`" in text
    assert "Made with `--fast`" in text
    with pytest.raises(SourceError, match="shadow data get flickr"):
        reproduce(squares, ReproduceOptions(data=tmp_path / "out", out=tmp_path / "out"))


SLOW = """
import sys, time
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.studies.paper.test_engine import Squares
from shadow_gnn.studies.paper.engine import reproduce
from shadow_gnn.studies.paper.experiment import ReproduceOptions

class Slow(Squares):
    def _run(self, number):
        if number == 3:
            print("third", flush=True)
            time.sleep(60)
        return super()._run(number)

reproduce(Slow(), ReproduceOptions(out=Path(sys.argv[1])))
"""


def test_kill_in_a_job_loses_that_job_alone(tmp_path):
    command = [sys.executable, "-c", SLOW.format(root=str(ROOT)), str(tmp_path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=dict(os.environ, OMP_NUM_THREADS="1"))
    assert process.stdout is not None
    assert process.stdout.readline() == "third\n"
    process.send_signal(signal.SIGKILL)
    process.wait(30)
    process.stdout.close()
    begin = time.monotonic()
    again = Squares()
    assert reproduce(again, ReproduceOptions(out=tmp_path)).num_done == 3
    assert again.done == [3]
    assert time.monotonic() - begin < 30


def test_spread_has_two_columns_in_csv_and_one_in_markdown(tmp_path):
    squares = Squares()
    rows = (("a|b", Spread(0.5234, 0.0009)), ("c", Spread(0.25)), ("d", "OOM"))
    table = Table("t", "A table.", ("name", "ours"), rows)
    squares.finding = lambda results, options: Finding("T", "", (table,), draw=lambda path: path.write_bytes(b"png"))
    outcome = reproduce(squares, ReproduceOptions(out=tmp_path))
    assert [file.name for file in outcome.files] == ["squares.md", "t.csv", "squares.png"]
    assert (tmp_path / "t.csv").read_text() == "name,ours,ours deviation\na|b,0.5234,0.0009\nc,0.25,\nd,OOM,\n"
    text = (tmp_path / "squares.md").read_text()
    assert "![T](squares.png)" in text
    assert "| a\\|b | 0.5234 ± 0.0009 |\n| c | 0.2500 |\n| d | OOM |" in text
