"""Runs that predict something other than classes: links between two nodes, labels, values."""

from __future__ import annotations

import pytest
from tests.explore.browser.conftest import serve, visiting
from tests.serve.runs import train


@pytest.fixture
def open_kind(browser, tmp_path):
    """Return a function that serves a run of a kind and opens its page without a target."""
    opened = []

    def run(kind: str):
        context = serve(train(kind, tmp_path), ("run",), kind)
        served = context.__enter__()
        page = visiting(browser, served)
        visit = page.__enter__()
        opened.extend((context, page))
        return visit.open("run=run").drawn()

    yield run
    for context in reversed(opened):
        context.__exit__(None, None, None)


def test_a_link_run_shows_a_pair_and_its_probability(open_kind):
    visit = open_kind("links")
    pair = visit.state()["target"]
    expected = visit.served.ask(pair=pair, run="run", explain=True)
    assert visit.page.locator("#title").inner_text() == " \u2013 ".join(map(str, pair))
    shares = visit.page.locator("#prediction .bar .number").first.inner_text()
    assert shares == f"{100 * expected['prediction']['probability']:.1f}%"
    field = visit.page.get_by_role("combobox", name="Second node of a pair")
    field.fill("17")
    field.press("Enter")
    visit.until(lambda: visit.state()["target"] == [pair[0], 17])
    visit.drawn(f"{pair[0]} \u2013 17")
    assert visit.page.evaluate("explorer.sides[0].scope.nodes.filter(node => node.isTarget).length") == 2


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["multilabel", "values", "branches", "rich, directed"])
def test_other_kinds_show_their_prediction_and_their_split(open_kind, kind):
    visit = open_kind(kind)
    [target] = visit.state()["target"]
    expected = visit.served.ask(node=target, run="run", explain=True)
    assert visit.shown == expected["prediction"]["text"]
    visit.page.get_by_role("tab", name="Why").click()
    assert visit.page.locator("#why .contributions").count() > 0
    visit.page.mouse.move(*visit.spot(visit.names[1]))
    visit.page.locator(".card").wait_for()
    visit.page.get_by_role("button", name="Whole split").click()
    visit.page.locator(".charts").wait_for()
    visit.page.locator(".chart button.bar").first.click()
    visit.page.locator(".picked").first.click()
    visit.drawn()
