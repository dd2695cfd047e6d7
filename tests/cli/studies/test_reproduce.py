"""`shadow reproduce`: its output and files, resuming after Ctrl-C, and every fault as one line."""

import re
import signal
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from tests.cli import called
from tests.communities import communities, one_thread  # noqa: F401

from shadow_gnn.cli.shared.job_bars import JobBars
from shadow_gnn.cli.shared.screen import Screen
from shadow_gnn.graph.store import save_graph
from shadow_gnn.studies.paper.engine import Tally
from shadow_gnn.studies.paper.experiment import Job
from shadow_gnn.studies.paper.registry import experiments


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_graph(communities(), "data/flickr")
    return tmp_path


run = partial(called.run, "reproduce")
fault = partial(called.fault, "reproduce")


def test_list_names_every_experiment():
    result = run("--list")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(experiments())
    assert lines[0].startswith("table1")
    assert "  Table 1 " in lines[0]


def test_table_is_printed_written_and_reported_again(folder):
    arguments = ("pooling", "--data", "data", "--fast")
    result = run(*arguments, "--only", "flickr-sage-5-ppr-m*")
    assert result.exit_code == 0, result.exception
    assert "| data | readout | runs | test accuracy, ours | paper | ours - paper |" in result.stdout
    assert "note: Made of 2 of 4 jobs; the others are not done." in result.stdout
    assert result.stdout.splitlines()[-1] == (
        "2 of 4 jobs; reproduced/pooling/pooling.md, reproduced/pooling/pooling.csv, reproduced/pooling/pooling.png"
    )
    assert "2/2  flickr-sage-5-ppr-max, seed 0  " in result.stderr
    again = run(*arguments, "--report")
    assert again.exit_code == 0, again.exception
    assert again.stdout == result.stdout
    assert sorted(path.name for path in (folder / "reproduced/pooling/jobs").iterdir()) == [
        "flickr-sage-5-ppr-max-seed-0.json",
        "flickr-sage-5-ppr-mean-seed-0.json",
    ]


def test_job_that_cannot_be_done_is_named_and_ends_with_a_fault(folder):
    unlabeled = replace(communities(), y=np.full(120, -1))
    save_graph(unlabeled, "unlabeled/flickr")
    save_graph(communities(), "unlabeled/ogbn-arxiv")
    result = run("pooling", "--data", "unlabeled", "--fast", "--only", "*-sage-5-ppr-seed-0")
    assert result.exit_code != 0
    assert str(result.exception).startswith("reproduce: 1 jobs failed, see the notes; task: split 'train'")
    assert "not done: flickr-sage-5-ppr, seed 0: task: split 'train' must have nodes with known labels" in result.stderr
    page = (folder / "reproduced/pooling/pooling.md").read_text()
    assert "- Not done: flickr-sage-5-ppr-seed-0: task: split 'train' must have nodes" in page
    assert re.search(r"\| ogbn-arxiv \| center \| 1 \| [01]\.\d{4} \|", page)


def test_faults_are_one_line(folder):
    assert fault("poolin").startswith("reproduce: NAME must be one of table1, ")
    assert "shadow data get flickr" in fault("pooling", "--data", "nowhere")
    assert "without --report first" in fault("pooling", "--data", "data", "--report")
    assert "they are flickr-sage-5-ppr-seed-0" in fault("pooling", "--data", "data", "--only", "x*")


def test_interrupt_says_how_to_go_on(folder):
    with called.start("reproduce", "pooling", "--data", "data", "--fast", "--repeat", 50) as process:
        assert process.stderr is not None
        # A busy machine prints progress before the first job has ended.
        first = next(line for line in process.stderr if line.startswith("1/"))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert first.startswith("1/200  flickr-sage-5-ppr, seed 0  "), errors
    assert process.returncode == 130
    assert "stopped; finished jobs are saved, the same command resumes" in errors
    kept = list((folder / "reproduced/pooling/jobs").iterdir())
    assert kept
    result = run("pooling", "--data", "data", "--fast", "--only", "flickr-sage-5-ppr-seed-0")
    assert result.exit_code == 0, result.exception
    assert "1/1" not in result.stderr  # It was done.


def test_bars_show_jobs_and_time_left(capsys):
    bars = JobBars(Screen(to_stderr=True, has_bars=False))
    job = Job("a", "job a", {}, lambda progress: {})
    bars.on_job(job, Tally(0, 3, None))
    bars.on_progress("epoch 1", 1, 2)
    bars.on_end(job, 1.5, Tally(1, 3, 3700.0))
    bars.on_end(job, 1.5, Tally(2, 3, 65.0))
    bars.on_fault(job, ValueError("too\nlarge"), Tally(2, 3, None))
    assert capsys.readouterr().err.splitlines() == [
        "1/3  job a  1.5 s; about 1 h 1 min left",
        "2/3  job a  1.5 s; about 1 min 5 s left",
        "not done: job a: too large",
    ]
    screen = Screen(to_stderr=True, has_bars=True)
    shown = JobBars(screen)
    shown.on_job(job, Tally(0, 3, 12.0))
    shown.on_progress("epoch 1", 1, 2)
    shown.on_end(job, 1.5, Tally(1, 3, 12.0))
    screen.stop()
    text = capsys.readouterr().err
    assert "1/3  job a  1.5 s; about 12 s left" in text
