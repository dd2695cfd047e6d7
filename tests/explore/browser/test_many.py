"""Many scopes one after another: no faults, and memory that does not grow."""

from __future__ import annotations

import pytest


def used(visit) -> int:
    """Return the bytes of the page's objects after a collection."""
    tools = visit.page.context.new_cdp_session(visit.page)
    for _ in range(3):
        tools.send("HeapProfiler.collectGarbage")
    return int(tools.send("Runtime.getHeapUsage")["usedSize"])


def walk(visit, count: int, first: int = 20) -> None:
    for step in range(count):
        name = f"node {first + step % 90}"
        visit.page.evaluate("name => explorer.change({target: [name], color: explorer.state.color})", name)
        visit.drawn(name)


@pytest.mark.parametrize("count", [30, pytest.param(200, marks=pytest.mark.slow)])
def test_scopes_one_after_another_leave_nothing_behind(visit, count):
    visit.open(node="node 20", run="first").drawn("node 20")
    walk(visit, 10)
    before = used(visit)
    elements = visit.page.evaluate("document.querySelectorAll('*').length")
    walk(visit, count)
    visit.page.evaluate("explorer.change({target: ['node 29']})")
    visit.drawn("node 29")
    assert used(visit) < before + 3_000_000
    assert visit.page.evaluate("document.querySelectorAll('*').length") < 1.5 * elements
    assert visit.page.evaluate("explorer.sides[0].stage.cy.elements().length") == len(visit.names)


def test_a_newer_question_wins(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.evaluate("for (const n of [30, 31, 32, 33]) explorer.change({target: [`node ${n}`]})")
    assert visit.drawn("node 33").names[0] == "node 33"
    visit.page.wait_for_timeout(200)
    assert visit.page.locator("#title").inner_text() == "node 33"


def test_a_second_side_goes_without_a_trace(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    elements = "document.querySelectorAll('#drawing *').length"
    before = visit.page.evaluate(elements)
    for _ in range(3):
        for count in (2, 1):
            visit.page.get_by_role("button", name="Compare").click()
            visit.until(lambda count=count: visit.page.locator(".board").count() == count)
            visit.drawn()
    assert visit.page.evaluate(elements) == before
