"""The page that `shadow explain --html` writes: it needs no server, and its nodes and names meet nothing."""

from __future__ import annotations

import itertools

from shadow_gnn import explain
from shadow_gnn.studies.explain.files import save_explanations

BOXES = """() => {
  const box = node => { const {x, y, width, height} = node.getBBox(); return [x, y, x + width, y + height]; };
  const all = selector => [...document.querySelectorAll(selector)];
  return {
    names: all("#scope text").map(node => [node.textContent, box(node)]),
    nodes: all("#scope [tabindex]").map(box),
    legend: all("#legend li").map(node => node.textContent),
    page: document.documentElement.scrollWidth <= innerWidth,
    hit: globalThis.hit ?? null,
  };
}"""


def meet(one, other):
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def test_a_written_page_opens_alone_and_nothing_in_it_overlaps(browser, served, tmp_path):
    predictor = served.explorer.runs["second"].predictor
    made = explain(predictor, None, [20, 31])
    save_explanations(made, tmp_path / "page.html")
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    faults, asked = [], []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "page.html").as_uri())
    for number, one in enumerate(made):
        page.locator("#choice").select_option(str(number))
        assert page.locator("#title").inner_text() == one.target_text
        found = page.evaluate(BOXES)
        assert found["page"]
        assert found["hit"] is None
        assert len(found["nodes"]) == len(one.node_id)
        names = dict(found["names"])
        assert {f"hop {hop}" for hop in range(1, int(one.hop.max()) + 1)} <= set(names)
        assert one.target_text in names
        assert 5 < len(names) <= 25 + int(one.hop.max())
        assert not any(meet(first, second) for first, second in itertools.combinations(names.values(), 2))
        assert not any(meet(name, node) for name in names.values() for node in found["nodes"])
        assert found["legend"][:3] == ["target", "speaks for it", "speaks against it"]
        assert len(found["legend"]) > 3
    page.close()
    assert (faults, asked) == ([], [(tmp_path / "page.html").as_uri()])
