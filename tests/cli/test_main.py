"""The command line as a whole: help pages, completion, exit codes."""

import errno
import io
import os
import re
import subprocess
import sys
from typing import Literal, get_args, get_origin, get_type_hints

import pytest
from tests.cli.called import succeed
from typer.main import get_command

from shadow_gnn.cli.main import app

HEADINGS = ["Options", "Data", "Scopes", "Training", "Prediction", "Studies"]


def headings(page):
    return re.findall(r"^(\w[^:\n]*):$", page, re.MULTILINE)


def in_process(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "shadow_gnn", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_help_groups_every_command_under_a_heading():
    page = succeed("--help")
    assert headings(page) == HEADINGS
    for group in (app, *(inner.typer_instance for inner in app.registered_groups)):
        for command in group.registered_commands:
            assert re.search(rf"^  (data |graph )?{command.name} ", page, re.MULTILINE), command.name
    assert page.index("data import") < page.index("Scopes:") < page.index("  extract ") < page.index("Training:")
    assert "shadow data import edges.csv my-graph" in page


def test_a_warning_about_pyg_itself_is_not_shown():
    code = (
        "import sys, warnings\nimport shadow_gnn.cli.main as command\n"
        "def app(**_):\n"
        "    warnings.warn('`torch.jit.script` is deprecated. Please switch', FutureWarning)\n"
        "    warnings.warn('another', FutureWarning)\n"
        "command.app, sys.argv = app, ['shadow']\ncommand.main()\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "FutureWarning: another" in done.stderr
    assert "torch.jit.script" not in done.stderr


def test_import_help_groups_its_options():
    page = succeed("data", "import", "--help")
    assert headings(page)[:8] == [
        "Arguments",
        "Edges",
        "Edge lists (text and Parquet)",
        "Node table",
        "Node features and labels in files of their own",
        "Splits",
        "Memory",
        "Options",
    ]
    assert page.index("Splits:") < page.index("--seed <int") < page.index("Memory:") < page.index("--memory <str>")
    assert "shadow data import edges.csv my-graph" in page


def test_defaults_in_words_have_no_parentheses():
    page = " ".join(succeed("learn-scope", "--help").split())
    assert "[default: runs/<recipe>-learned]" in page
    assert "[default: 4 times topk; x>=1]" in page
    assert "[default: saliency]" in page


@pytest.mark.parametrize("words", [(), ("data",), ("data", "import"), ("train",), ("cost",)])
def test_h_is_help(words):
    assert succeed(*words, "-h") == succeed(*words, "--help")


@pytest.mark.parametrize("words", [(), ("data",)])
def test_a_group_without_a_command_shows_its_page(shadow, words):
    code, out, err = shadow(*words)
    assert (code, out) == (2, "")
    assert err == shadow(*words, "--help")[1]


def test_help_is_plain_text_and_loads_nothing_heavy():
    heavy = {"numpy", "pyarrow", "scipy", "matplotlib", "torch", "pydantic", "rich"}
    code = (
        "import sys\nsys.argv = ['shadow', '-h']\nfrom shadow_gnn.cli.main import main\n"
        f"try:\n    main()\nfinally:\n    print({heavy} & set(sys.modules), file=sys.stderr)\n"
    )
    environment = {**os.environ, "FORCE_COLOR": "1"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stderr == "set()\n"
    assert "\x1b" not in done.stdout


def test_version():
    assert succeed("--version").startswith("shadow ")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("shadow compare", ["compare-extractors"]),
        ("shadow data im", ["import"]),
        ("shadow data import --feature-d", ["--feature-dtype"]),
        ("shadow data import --ids i", ["integer"]),
    ],
)
def test_completion_of_commands_options_and_values(line, found):
    words = line.split()
    done = in_process(_SHADOW_COMPLETE="complete_bash", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1))
    assert done.stdout.split() == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_command(shell):
    done = in_process(_SHADOW_COMPLETE=f"source_{shell}")
    assert "_SHADOW_COMPLETE=complete_" in done.stdout


def commands(group, words=()):
    """Give the words and the object of every command below a group."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


COMMANDS = dict(commands(get_command(app)))


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_every_command_has_json_as_a_flag_and_examples(words):
    (option,) = [option for option in COMMANDS[words].params if "--json" in option.opts]
    assert option.is_flag
    page = succeed(*words, "--help")
    assert re.search(rf"^    shadow {' '.join(words)}", page.partition("Examples:")[2], re.MULTILINE)


def test_the_walk_finds_commands_of_groups():
    assert {("train",), ("data", "import")} <= set(COMMANDS)


MEANINGS = {
    "--targets": {"str"},
    "--num-targets": {"int"},
    "--repeat": {"int"},
    "--plot": {"Path"},
    "--feature-dtype": {"choice"},
    "--split": {"str"},
    "--overwrite": {"flag"},
}
"""The kind of value of each option that several commands have."""


def kind_of(command, option):
    """Return the kind of value of an option, from the annotation of its parameter."""
    hint = get_type_hints(command.callback)[option.name]
    inner = [part for part in get_args(hint) if part is not type(None)]
    if get_origin(hint) is Literal:
        return "choice"
    return {bool: "flag"}.get(hint, (inner[0] if inner else hint).__name__)


@pytest.mark.parametrize("name", MEANINGS)
def test_an_option_takes_the_same_kind_of_value_everywhere(name):
    kinds = [
        kind_of(command, option) for command in COMMANDS.values() for option in command.params if name in option.opts
    ]
    assert len(kinds) >= 2
    assert set(kinds) == MEANINGS[name]


@pytest.mark.parametrize("name", ["--png", "--seeds", "--dtype", "--targets-sample"])
def test_no_command_has_a_second_name_for_an_option(name):
    owners = {words for words, command in COMMANDS.items() for option in command.params if name in option.opts}
    # explain draws the same picture in several formats at once; the seeds of extract are nodes with weights.
    assert owners <= {("explain",), ("extract",)}


def test_help_names_the_exit_codes():
    page = " ".join(succeed("--help").split())
    assert "Exit codes: 0 success, 2 a fault, in one line, 130 Ctrl-C, 143 SIGTERM, 1 any other end." in page


def test_a_fault_whose_line_cannot_be_written_keeps_its_exit_code(shadow, monkeypatch):
    """The errors may go to a file on the disk that is full."""

    class Full(io.StringIO):
        def write(self, text):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(sys, "stderr", Full())
    assert shadow("data", "info", "none")[0] == 2
