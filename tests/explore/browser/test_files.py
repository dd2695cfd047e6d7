"""Files of the page: exports that open elsewhere, small assets, nothing that runs from names."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from importlib.metadata import files
from pathlib import Path

import pytest

from shadow_gnn.explore.pages import FOLDER

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def download(visit, tmp_path):
    def run(kind: str) -> Path:
        visit.page.locator("#export summary").click()
        with visit.page.expect_download() as waiting:
            visit.page.locator(f"[data-file={kind}]").click()
        path = tmp_path / waiting.value.suggested_filename
        waiting.value.save_as(path)
        return path

    return run


def test_pictures_have_every_node(visit, download):
    visit.open(node="node 20", run="first").drawn("node 20")
    png = download("png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = int.from_bytes(png[16:20]), int.from_bytes(png[20:24])
    assert min(width, height) > 500
    path = download("svg")
    assert path.name == "node-20.svg"
    drawing = ElementTree.parse(path).getroot()
    titles = [title.text for title in drawing.iterfind(f".//{SVG}circle/{SVG}title")]
    titles += [title.text for title in drawing.iterfind(f".//{SVG}polygon/{SVG}title")]
    assert set(visit.names) <= set(titles)
    edges = visit.page.evaluate("explorer.sides[0].scope.edges.length")
    assert len(list(drawing.iterfind(f"{SVG}line"))) == edges
    texts = [text.text for text in drawing.iterfind(f"{SVG}text")]
    assert "Scope of node 20" in texts
    assert "node 20" in texts


def test_two_sides_give_two_pictures(visit):
    visit.open(node="node 20", run="first", sides="2", run2="second").drawn("node 20")
    names = []
    visit.page.on("download", lambda download: names.append(download.suggested_filename))
    visit.page.locator("#export summary").click()
    visit.page.locator("[data-file=svg]").click()
    visit.until(lambda: len(names) == 2)
    assert names == ["node-20-first-ppr-12.svg", "node-20-second-ppr-20.svg"]


def test_the_address_can_be_copied(visit):
    visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.locator("#export summary").click()
    visit.page.locator("#copy-address").click()
    visit.until(lambda: visit.page.evaluate("navigator.clipboard.readText()") == visit.page.url)


def test_json_recipe_and_python_are_those_of_the_answer(visit, served, download, tmp_path):
    visit.open(node="node 20", kind="ppr", options='{"topk":5}').drawn("node 20")
    answer = json.loads(download("json").read_text())
    assert [node["name"] for node in answer["nodes"]] == visit.names
    recipe = tomllib.loads(download("recipe").read_text())
    assert (recipe["extractor"]["kind"], recipe["extractor"]["topk"]) == ("ppr", 5)
    code = download("python")
    done = subprocess.run([sys.executable, code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_hostile_names_are_shown_as_text(visit, served):
    for number in (0, 1, 3, 4, 6):
        name = served.graph.node_name[number]
        visit.open(node=name, run="first").drawn(name)
        assert visit.names[0] == name
    assert visit.page.locator("#graph-name").inner_text() == "<i>graph</i>"
    for tab in ("Why", "What if", "Table"):
        visit.page.get_by_role("tab", name=tab).click()
    visit.page.mouse.move(*visit.spot(visit.names[1]))
    visit.page.mouse.click(*visit.spot(visit.names[1]), button="right")
    visit.page.locator(".node-menu").wait_for()
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("<img")
    visit.page.locator(".offers [role=option]").first.wait_for()
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Escape")
    visit.open(view="split", run="first", split="test")
    visit.page.locator(".confusion").wait_for()


def test_a_hostile_name_stays_text_in_a_picture(visit, served, download):
    name = served.graph.node_name[0]
    visit.open(node=name, run="first").drawn(name)
    drawing = ElementTree.parse(download("svg")).getroot()
    assert f"Scope of {name}" in [text.text for text in drawing.iterfind(f"{SVG}text")]
    assert {element.tag for element in drawing.iter()} <= {
        SVG + tag for tag in ("svg", "title", "rect", "circle", "line", "polygon", "text")
    }


def test_assets_are_small_and_name_no_other_host():
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in FOLDER.iterdir()}
    assert sum(sizes.values()) <= 300 * 1024
    # In an installed wheel it is among the licenses of the metadata.
    assert any(path.name == "cytoscape.LICENSE.txt" for path in files("shadow-gnn") or ())
    for path in FOLDER.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        if not path.name.startswith("cytoscape"):
            assert "http:" not in text, path.name
            assert "https:" not in text, path.name
            assert not any(word in text for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(")), (
                path.name
            )


def test_every_module_is_loaded_at_once():
    page = (FOLDER / "index.html").read_text()
    assert re.findall(r'rel="modulepreload" href="/explore/([^"]+)"', page) == sorted(
        path.name for path in FOLDER.glob("*.js")
    )


def test_a_token_is_sent_and_leaves_the_address(visit):
    seen = []
    visit.page.on("request", lambda request: seen.append(request.headers.get("authorization")))
    visit.open("node=node+20&run=first&token=secret").drawn("node 20")
    assert "secret" not in visit.page.url
    assert "Bearer secret" in seen
