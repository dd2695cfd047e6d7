"""Docs, docstrings, help and messages avoid the phrases that CONTRIBUTING.md rules out."""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

WORDS = re.compile(
    r"\b(?:that which|likewise|anew|data[ -]sets?|made-up|go(?:es|ing)? on with|beside|is to be told|had by name)\b"
    r"|(?<!\bno )\bsuch\b(?!\s+as\b)",
    re.IGNORECASE,
)
BRITISH = re.compile(
    r"\b\w*(?:neighbour|colour|behaviour|favour|centre|grey|licence|catalogue|labell|modell|cancell|artefact"
    r"|(?:optim|normal|standard|recogn|initial|summar|general|regular|organ|util|minim|maxim|real|serial|vector|random"
    r"|token|quant|parallel|special|symmetr|synchron|emphas|penal|categor|visual)is(?:e|ed|es|er|ing|ation)\b"
    r"|analys(?:e|ed|ing)\b)\w*",
    re.IGNORECASE,
)
# A statement that begins with a free relative clause: "What a run needs is ...". A question may.
WHAT = re.compile(r"(?:^|(?<=[.!?:]\s))[\s#>*|_-]*(?:\d+\.\s+)?\**What\b[^.!?]*(?P<end>[.!?]|$)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
INLINE = re.compile(r"`[^`]*`")

Text = tuple[int, str]  # First line and text of a paragraph.


def paragraphs(text: str) -> Iterator[Text]:
    """Give every heading, paragraph, list item and table cell of a page, joined to one line."""
    blank = FENCE.sub(lambda match: "\n" * match[0].count("\n"), text)
    first, lines = 1, list[str]()
    for number, line in enumerate([*blank.split("\n"), ""], start=1):
        new = not line.strip() or line.startswith(("#", "|")) or re.match(r"\s*(?:[-*]|\d+\.)\s", line)
        if new and lines:
            yield first, " ".join(lines)
            lines = []
        if line.startswith("|"):
            yield from ((number, cell.strip()) for cell in line.strip("|").split("|"))
        elif line.strip():
            first = first if lines else number
            lines.append(line.strip())


def literals(text: str) -> Iterator[Text]:
    """Give the docstrings, help texts, messages and other strings of a module, paragraph by paragraph.

    A single word is a name, not a text.
    """
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            for line, paragraph in paragraphs(node.value):
                yield node.lineno + line - 1, paragraph


def breaches(found: Iterator[Text]) -> list[str]:
    """Return (line and phrase) of every forbidden phrase; code is not looked at."""
    faults = []
    for line, paragraph in found:
        plain = INLINE.sub("CODE", paragraph)
        faults += [f"line {line}: {match[0]!r}" for words in (WORDS, BRITISH) for match in words.finditer(plain)]
        faults += [f"line {line}: {match[0].strip()[:60]!r}" for match in WHAT.finditer(plain) if match["end"] != "?"]
    return faults


PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
MODULES = sorted((ROOT / "src" / "shadow_gnn").rglob("*.py"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_in_plain_english(path):
    texts = [
        "".join(cell["source"]) for cell in json.loads(path.read_text())["cells"] if cell["cell_type"] == "markdown"
    ]
    assert breaches(text for cell in texts for text in paragraphs(cell)) == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_are_in_plain_english(path):
    text = path.read_text(encoding="utf-8")
    if path.name == "CONTRIBUTING.md":  # The rules quote the words they rule out.
        text = re.sub(r"\"[^\"]*\"", "QUOTE", text)
    assert breaches(paragraphs(text)) == []


def test_strings_of_modules_are_in_plain_english():
    found = {path.relative_to(ROOT).as_posix(): breaches(literals(path.read_text("utf-8"))) for path in MODULES}
    assert {name: faults for name, faults in found.items() if faults} == {}


@pytest.mark.parametrize(
    "text",
    [
        "A table stands beside the page.",
        "Such a run fails.",
        "Likewise for links.",
        "Scopes are drawn anew.",
        "The data set has classes.",
        "A data-set\nof graphs.",
        "A made-up graph.",
        "It goes on with the run.",
        "Neighbours of the target.",
        "A normalised row.",
        "That which is left.",
        "What a run needs is listed here.",
        "# What it does",
        "First. What follows is ours.",
        "| what | the name |\n| --- | --- |\n| What counts | 3 |",
    ],
)
def test_forbidden_phrases_are_found(text):
    assert len(breaches(paragraphs(text))) == 1


@pytest.mark.parametrize(
    "text",
    [
        "Besides, hubs such as libc6 are kept.",
        "Hubs such\nas libc6.",
        "What does a run need?",
        "Say what a run needs.",
        "Run `data set such` beforehand.",
        "```bash\nshadow data set beside\n```",
        "It goes on.",
        "g: no such folder",
    ],
)
def test_ordinary_phrases_pass(text):
    assert breaches(paragraphs(text)) == []


def test_strings_are_found_in_code():
    code = '"""Room.\n\nWhat a run needs.\n"""\n\n\ndef f():\n    raise ValueError(f"such a file {f}; code: `such`")\n'
    assert breaches(literals(code)) == ["line 3: 'What a run needs.'", "line 8: 'such'"]
