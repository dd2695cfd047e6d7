"""The scope on the page: what it shows is what Python computes, and changes with the extractor at once."""

from __future__ import annotations

import numpy as np
import pytest

from shadow_gnn.extract import PprExtractor
from shadow_gnn.studies.analysis.scope_drawing import ring_layout


def test_typing_a_name_and_choosing_it_shows_its_scope(visit):
    page = visit.open(node="node 20").drawn("node 20").page
    page.keyboard.press("/")
    page.keyboard.type("node 11")
    offers = page.locator(".offers [role=option]")
    visit.until(lambda: offers.count() == 11)
    found = offers.all_inner_texts()
    assert [text.split("\n")[0] for text in found] == [f"node 11{end}" for end in ("", *range(10))]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    assert page.locator("#find").get_attribute("aria-activedescendant").endswith("-1")
    page.keyboard.press("Enter")
    visit.drawn("node 110")
    assert visit.names[0] == "node 110"


def test_nodes_and_prediction_are_those_of_python(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    expected = served.ask(node="node 20", run="first", explain=True)
    scope = PprExtractor(topk=12)(served.graph, [20])[0]
    assert sorted(visit.names) == sorted(served.graph.node_name[node] for node in scope.node_id)
    assert visit.shown == expected["prediction"]["text"]
    shares = visit.page.locator("#prediction .bars .number").all_inner_texts()
    assert shares == [f"{100 * one['probability']:.1f}%" for one in expected["prediction"]["probabilities"]]
    verdict = visit.page.locator("#prediction .truth").inner_text()
    assert verdict.startswith("\u2713" if expected["truth"]["right"] else "\u2717")


def test_explanation_is_listed_by_strength(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    expected = served.ask(node="node 20", run="first", explain=True)
    visit.page.get_by_role("tab", name="Why").click()
    shown = visit.page.locator("#why .contributions").first.locator(".name").all_inner_texts()
    order = sorted(expected["nodes"], key=lambda node: -abs(node["contribution"]))[: len(shown)]
    assert [text.startswith(node["name"]) for text, node in zip(shown, order, strict=True)] == [True] * len(order)
    visit.page.get_by_role("button", name="Why").click()
    visit.until(lambda: "color=why" in visit.page.url)


def test_explaining_another_class_asks_for_it(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.locator("#prediction button.bar").nth(1).click()
    visit.until(lambda: "explained=" in visit.page.url)
    visit.drawn()
    number = int(visit.state()["explained"])
    expected = served.ask(node="node 20", run="first", explain=True, **{"class": number})
    assert visit.page.evaluate("explorer.sides[0].answer.explanation.answer") == pytest.approx(
        expected["explanation"]["answer"], rel=1e-4, abs=1e-6
    )


def test_topk_and_kind_change_the_scope_at_once(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_label("topk", exact=True).fill("5")
    visit.until(lambda: len(visit.names) == 5)
    expected = served.ask(node="node 20", run="first", extractor={"kind": "ppr", "options": {"topk": 5}})
    assert visit.drawn().names == [node["name"] for node in expected["nodes"]]
    assert visit.shown == expected["prediction"]["text"]
    visit.page.get_by_label("Extractor").select_option("khop")
    visit.until(lambda: "kind=khop" in visit.page.url and len(visit.drawn().names) != 5)
    expected = served.ask(node="node 20", run="first", extractor={"kind": "khop", "options": {}})
    assert visit.names == [node["name"] for node in expected["nodes"]]
    visit.page.get_by_role("button", name="Back to the run's own").click()
    visit.until(lambda: len(visit.drawn().names) == 12)


def test_two_runs_are_side_by_side_with_what_they_share(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_role("button", name="Compare").click()
    visit.until(lambda: "run2=second" in visit.page.url)
    visit.drawn()
    left, right = (
        {node["name"] for node in served.ask(node="node 20", run=run)["nodes"]} for run in ("first", "second")
    )
    text = visit.page.locator("#shared").inner_text()
    assert text.startswith(f"{len(left & right)} nodes in both")
    assert f"{len(left - right)} only left, {len(right - left)} only right" in text
    marked = visit.page.evaluate(
        "explorer.sides.map(side => side.stage.cy.nodes().filter(node => node.data('border') > 0.02).length)"
    )
    assert marked == [len(left & right)] * 2
    assert visit.page.locator("#prediction .answer").count() == 2


def test_without_a_run_there_are_scopes_alone(visit):
    visit.open(node="node 20", kind="ppr", options='{"topk":7}').drawn("node 20")
    assert len(visit.names) == 7
    assert "Choose a run" in visit.page.locator("#prediction").inner_text()


def test_a_fault_is_one_line_and_the_page_goes_on(visit):
    visit.open(node="no node of this name", run="first")
    visit.page.locator("#fault").wait_for()
    assert "no node of this name" in visit.page.locator("#fault").inner_text()
    assert all("422" in fault for fault in visit.faults)
    visit.faults.clear()
    visit.page.get_by_role("button", name="Random").click()
    visit.drawn()
    assert not visit.page.locator("#fault").is_visible()


def test_places_are_those_of_the_static_pictures(visit, served):
    """Ring by ring, the page and draw_scope put nodes at the same angles and in the same order of radius."""
    scope = PprExtractor(topk=30)(served.graph, [20])[0]
    receiver = np.repeat(np.arange(len(scope.node_id)), np.diff(scope.indptr))
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(receiver.tolist(), scope.indices.tolist(), strict=True)})
    nodes = [{"hop": int(h), "score": float(s)} for h, s in zip(scope.hop, scope.score, strict=True)]
    edges = [{"source": a, "target": b} for a, b in pairs]
    visit.open(node="node 20")
    found = visit.page.evaluate(
        "async ([nodes, edges]) => (await import('/explore/layout.js')).ringLayout(nodes, edges).places"
        ".map(({x, y, ring}) => [x, y, ring])",
        [nodes, edges],
    )
    place, made = ring_layout(scope), np.array(found)
    outside = scope.hop > 0
    assert made[:, 2].astype(int).tolist() == scope.hop.tolist()
    turn = np.angle(np.exp(1j * (np.arctan2(*place.T[::-1]) - np.arctan2(made[:, 1], made[:, 0]))))
    assert np.abs(turn[outside]).max() < 1e-6
    for hop in range(1, int(scope.hop.max()) + 1):
        ring = np.flatnonzero(scope.hop == hop)
        orders = [np.argsort(np.hypot(*part[ring, :2].T), kind="stable").tolist() for part in (place, made)]
        assert orders[0] == orders[1]


@pytest.mark.parametrize("zoom", [1, 3])
def test_names_overlap_neither_each_other_nor_nodes(visit, zoom):
    visit.open(node="node 20", kind="ppr", options='{"topk":60}').drawn("node 20")
    rest = visit.page.evaluate("explorer.sides[0].stage.labels.length")
    visit.page.evaluate("zoom => explorer.sides[0].stage.zoom(zoom)", zoom)
    visit.page.wait_for_timeout(100)
    labels, spots = visit.page.evaluate("[explorer.sides[0].stage.labels, explorer.sides[0].stage.spots()]")
    assert 5 < rest <= 25
    assert len(labels) > 3

    def apart(one, other):
        return abs(one["x"] - other["x"]) * 2 >= one["width"] + other["width"] - 1e-6 or (
            abs(one["y"] - other["y"]) * 2 >= one["height"] + other["height"] - 1e-6
        )

    boxes = [{**spot, "width": 2 * spot["radius"], "height": 2 * spot["radius"]} for spot in spots]
    for number, label in enumerate(labels):
        assert all(apart(label, other) for other in [*labels[:number], *boxes])


def test_numbers_of_time_are_recorded(visit, record_property):
    visit.open(node="node 20").drawn("node 20")
    visit.until(lambda: visit.page.evaluate("performance.getEntriesByName('first page').length > 0"))
    for name in ("draw", "first page"):
        taken = visit.page.evaluate("name => performance.getEntriesByName(name)[0].duration", name)
        record_property(name, taken)
        assert taken > 0
