"""Every example of the README and the docs runs as it stands, in order, in an empty folder."""

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest

from shadow_gnn.cli.main import app
from shadow_gnn.extract import KINDS

ROOT = Path(__file__).parents[1]

# Written by `make bench`, so not there before its first run.
GENERATED = {ROOT / "docs" / "benchmarks.md"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(set((ROOT / "docs").glob("*.md")) - GENERATED)]
EXTRACTOR_PAGES = sorted((ROOT / "docs" / "extractors").glob("*.md"))
EVERY_PAGE = pytest.mark.parametrize("page", [*PAGES, *EXTRACTOR_PAGES], ids=lambda page: page.name)

BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#]+)(?:#[^)]*)?\)")


def blocks(page: Path) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer(page.read_text())]


def commands(code: str) -> list[list[str]]:
    """Return the lines of a shell block as words; a comment is none."""
    joined = code.replace("\\\n", " ")
    return [words for line in joined.splitlines() if (words := shlex.split(line, comments=True))]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Go to an empty folder with the files that the README's commands name."""
    monkeypatch.chdir(tmp_path)
    before = dict(KINDS)
    yield tmp_path
    # An example may add a kind of extractor.
    KINDS.clear()
    KINDS.update(before)


def write_readme_files(folder: Path) -> None:
    ring = np.arange(30)
    lines = ["src,dst", *(f"{node},{(node + 1) % 30}" for node in ring)]
    (folder / "edges.csv").write_text("\n".join(lines) + "\n")
    (folder / "y.csv").write_text("\n".join(["node,label", *(f"{node},{node % 2}" for node in ring)]) + "\n")
    np.save(folder / "x.npy", np.ones((30, 2), np.float32))
    (folder / "recipe.toml").write_text("[model]\nhidden_dim = 8\n[training]\nnum_epochs = 2\n")


@EVERY_PAGE
def test_examples_run(page, folder, capsys):
    if page.name == "README.md":
        write_readme_files(folder)
    names: dict[str, object] = {"__name__": "example"}
    for language, code in blocks(page):
        if language == "python":
            exec(compile(code, f"{page.name} (example)", "exec"), names)
        elif language == "bash":
            for words in commands(code):
                if words[0] == "shadow":
                    assert not app(args=words[1:], prog_name="shadow", standalone_mode=False)
                elif words[0] == "python":
                    with pytest.raises(SystemExit) as ended:
                        runpy.run_path(str(ROOT / words[1]), run_name="__main__")
                    assert not ended.value.code


@EVERY_PAGE
def test_every_other_command_is_one_of_ours(page):
    targets = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for language, code in blocks(page):
        for words in commands(code) if language == "bash" else []:
            assert words[0] in ("shadow", "make", "pip", "python"), words
            if words[0] == "python":
                assert words[1:] == [f"examples/{Path(words[1]).name}"], words
                assert (ROOT / words[1]).exists(), words
            if words[0] == "make":
                assert set(words[1:]) <= targets, words


@EVERY_PAGE
def test_every_block_says_its_language(page):
    assert {language for language, _ in blocks(page)} <= {"python", "bash", "text", "json"}


@EVERY_PAGE
def test_links_lead_somewhere(page):
    for link in LINK.findall(page.read_text()):
        if not link.startswith("https://"):
            path = (page.parent / link).resolve()
            assert path.exists() or path in GENERATED, link


def test_readme_begins_with_a_small_picture_and_the_two_commands():
    first = (ROOT / "README.md").read_text().split("\n## ")[0]
    assert "docs/scope.png" in first
    assert [words for _, code in BLOCK.findall(first) for words in commands(code)] == [
        ["make", "demo"],
        ["make", "test"],
    ]
    assert (ROOT / "docs" / "scope.png").stat().st_size < 150_000


def test_readme_links_every_page():
    text = (ROOT / "README.md").read_text()
    for page in [*PAGES[1:], *GENERATED]:
        assert f"({page.relative_to(ROOT)})" in text, page.name


def test_every_extractor_has_a_page_and_the_overview_links_it():
    text = (ROOT / "docs" / "extractors.md").read_text()
    for page in EXTRACTOR_PAGES:
        assert f"(extractors/{page.name})" in text, page.name
    same_page = {"stochastic-ppr": "ppr"}
    for kind in KINDS:
        assert f"[`{kind}`](extractors/{same_page.get(kind, kind)}.md" in text, kind
        assert ROOT / "docs" / "extractors" / f"{same_page.get(kind, kind)}.md" in EXTRACTOR_PAGES, kind
