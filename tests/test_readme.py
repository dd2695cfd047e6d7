"""Every example of the README and the docs runs as it stands, in order, in an empty folder.

The built-in graph has a tenth of its targets here; `make test-slow` runs the same with all of them.
"""

import re
import runpy
import shlex
from pathlib import Path

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
    """Go to an empty folder."""
    monkeypatch.chdir(tmp_path)
    before = dict(KINDS)
    yield tmp_path
    # An example may add a kind of extractor.
    KINDS.clear()
    KINDS.update(before)


@EVERY_PAGE
def test_examples_run(page, folder, small_cache, monkeypatch):
    monkeypatch.setenv("SHADOW_CACHE", str(small_cache))
    run_examples(page)


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if "debian" in page.read_text()], ids=lambda page: page.name)
def test_examples_run_on_the_whole_built_in_graph(page, folder):
    run_examples(page)


def run_examples(page: Path) -> None:
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
    assert "docs/explorer.png" in first
    assert [words for _, code in BLOCK.findall(first) for words in commands(code)] == [
        ["make", "demo"],
        ["make", "test"],
    ]
    assert (ROOT / "docs" / "explorer.png").stat().st_size < 300_000


def test_readme_fits_a_screen_and_a_half_and_leads_to_every_kind_of_page():
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= 100
    kinds = re.findall(r"^:caption: (.*)$", (ROOT / "docs" / "index.md").read_text(), re.MULTILINE)
    assert kinds == ["Tutorials", "How to", "Reference", "Explanation", "Results"]
    for kind in kinds:
        assert f"**{kind.replace(' ', '-')}**" in text, kind
    # The index lists every page: tests/test_project_files.py.
    assert "(docs/index.md)" in text


def test_readme_has_twelve_lines_of_python():
    (code,) = [code for language, code in blocks(ROOT / "README.md") if language == "python"]
    assert len([line for line in code.splitlines() if line]) <= 12


def test_every_extractor_has_a_page_and_the_overview_links_it():
    text = (ROOT / "docs" / "extractors.md").read_text()
    for page in EXTRACTOR_PAGES:
        assert f"(extractors/{page.name})" in text, page.name
    same_page = {"stochastic-ppr": "ppr"}
    for kind in KINDS:
        assert f"[`{kind}`](extractors/{same_page.get(kind, kind)}.md" in text, kind
        assert ROOT / "docs" / "extractors" / f"{same_page.get(kind, kind)}.md" in EXTRACTOR_PAGES, kind
