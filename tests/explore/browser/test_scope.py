"""The scope on the page: what it shows is what Python computes, and changes with the extractor at once."""

from __future__ import annotations

import numpy as np
import pytest

from shadow_gnn.extract import PprExtractor
from shadow_gnn.studies.drawing.looks import OUTLINES, SHAPES, radii, size_factor
from shadow_gnn.studies.drawing.rings import place_on_rings


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
    entries = visit.page.locator(".legend li").all_inner_texts()
    assert entries[:2] == ["for", "against"]
    shown = {served.graph.class_name[node["label"]] for node in expected["nodes"]}
    assert {name[:27] for name in shown} == {name.rstrip("\u2026") for name in entries[2:]}


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


LAYOUT = """async ([nodes, edges, sizes, held]) => {
  const {ringLayout} = await import('/explore/layout.js');
  const {places, edges: rings, sizes: settled} = ringLayout(nodes, edges, {sizes, held});
  return {places: places.map(({x, y}) => [x, y]), rings, sizes: settled};
}"""


def laid_out(visit, scope, sizes, held=()):
    """Return the page's places, edges of rings and sizes of a scope."""
    receiver = np.repeat(np.arange(len(scope.node_id)), np.diff(scope.indptr))
    pairs = sorted({(min(a, b), max(a, b)) for a, b in zip(receiver.tolist(), scope.indices.tolist(), strict=True)})
    nodes = [{"hop": int(h), "score": float(s)} for h, s in zip(scope.hop, scope.score, strict=True)]
    edges = [{"source": a, "target": b} for a, b in pairs]
    found = visit.page.evaluate(LAYOUT, [nodes, edges, sizes, list(held)])
    return np.array(found["places"]), np.array(found["rings"]), np.array(found["sizes"])


@pytest.mark.parametrize("targets", [[20], [[20, 31]]], ids=["node", "pair"])
@pytest.mark.parametrize(("topk", "larger"), [(30, 1), (110, 1), (110, 4)], ids=["few", "many", "too many"])
def test_places_are_those_of_the_static_pictures(visit, served, targets, topk, larger):
    """The page and draw_scope put nodes at the same places, and shrink them alike where a ring is too full."""
    scope = PprExtractor(topk=topk)(served.graph, targets)[0]
    wanted = larger * radii(scope.score.astype(float), scope.hop == 0, ["circle"] * len(scope.node_id))
    expected = place_on_rings(scope, wanted)
    place, rings, sizes = laid_out(visit.open(node="node 20"), scope, wanted.tolist())
    assert np.abs(place - expected.place).max() < 1e-6
    assert rings == pytest.approx(expected.edges)
    assert sizes == pytest.approx(expected.radius)
    assert (sizes[0] < wanted[0]) == (larger > 1)


def test_held_nodes_stay_and_others_make_room(visit, served):
    scope = PprExtractor(topk=60)(served.graph, [20])[0]
    wanted = radii(scope.score.astype(float), scope.hop == 0, ["circle"] * 60).tolist()
    visit.open(node="node 20")
    before, _, _ = laid_out(visit, scope, wanted)
    # Node 5 is held just next to where node 9 would be.
    held = [None] * 60
    held[5] = {"x": before[9, 0] + 0.01, "y": before[9, 1]}
    after, _, sizes = laid_out(visit, scope, wanted, held)
    assert after[5].tolist() == [held[5]["x"], held[5]["y"]]
    distance = np.hypot(*(after[:, None] - after[None]).T)
    apart = distance - sizes[:, None] - sizes[None]
    assert apart[np.triu_indices(60, 1)].min() > 0


def test_outlines_are_those_of_the_static_pictures(visit):
    found = visit.open(node="node 20").page.evaluate(
        "async () => { const {OUTLINES, sizeFactor} = await import('/explore/shapes.js');"
        " const {SHAPES} = await import('/explore/palette.js');"
        " return [OUTLINES, SHAPES, SHAPES.map(sizeFactor)]; }"
    )
    outlines, shapes, factors = found
    assert set(outlines) == set(OUTLINES)
    for name, corners in outlines.items():
        assert np.abs(np.array(corners) * (1, -1) - OUTLINES[name]).max() < 1e-9, name
    assert ["circle", *shapes[1:]] == list(SHAPES)
    assert factors == pytest.approx([size_factor(shape) for shape in SHAPES])


def test_classes_differ_in_color_and_in_shape(visit):
    looks = visit.open(node="node 20").page.evaluate(
        "async () => { const {classLook} = await import('/explore/palette.js');"
        " return Array.from({length: 56}, (_, rank) => classLook(rank)); }"
    )
    pairs = [(look["color"], look["shape"]) for look in looks]
    assert len(set(pairs)) == 56
    assert len({color for color, _ in pairs[:7]}) == len({shape for _, shape in pairs[:7]}) == 7


def test_drawn_nodes_do_not_touch_and_each_ring_has_a_caption(visit):
    visit.open(node="node 20", kind="ppr", options='{"topk":60}').drawn("node 20")
    spots, hops = visit.page.evaluate(
        "[explorer.sides[0].stage.spots(), explorer.sides[0].scope.nodes.map(node => node.hop)]"
    )
    place, size = np.array([[spot["x"], spot["y"]] for spot in spots]), np.array([spot["radius"] for spot in spots])
    apart = np.hypot(*(place[:, None] - place[None]).T) - size[:, None] - size[None]
    assert apart[np.triu_indices(len(size), 1)].min() > 0
    captions = visit.page.evaluate(
        "async () => { const {ringCaptions} = await import('/explore/names.js'); const {stage} = explorer.sides[0];"
        " return ringCaptions(stage.layout.edges, stage.spots(),"
        " {...stage.cy.pan(), scale: stage.scale * 300}).map(one => one.text); }"
    )
    assert captions == [f"hop {hop}" for hop in range(1, max(hops) + 1)]


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
