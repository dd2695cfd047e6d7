"""The whole split: the numbers are those of Python, and each cell leads to its targets."""

from __future__ import annotations

import time

import numpy as np
import pytest


@pytest.fixture
def answer(served):
    for _ in range(600):
        found = served.explorer.split("first", "test")
        if found["progress"] >= 1:
            return found
        time.sleep(0.05)
    raise AssertionError("the split was not computed")


def listed(visit) -> list[str]:
    return visit.page.locator("#pick-list .picked span:first-child").all_inner_texts()


def test_confusion_cells_lead_to_their_targets(visit, served, answer):
    visit.open(view="split", run="first", split="test")
    visit.page.locator(".confusion").wait_for()
    cells = visit.page.locator(".confusion .cell")
    counts = np.array(answer["confusion"])
    assert cells.count() == np.count_nonzero(counts)
    assert sum(int(text) for text in cells.all_inner_texts()) == answer["count"] == counts.sum()
    known, predicted = np.argwhere(counts)[0]
    names = [one["name"] for one in answer["classes"]]
    label = f"{counts[known, predicted]} of class {names[known]} predicted as {names[predicted]}"
    visit.page.get_by_role("button", name=label, exact=True).click()
    visit.until(lambda: len(listed(visit)) == min(20, counts[known, predicted]))
    node = listed(visit)[0]
    visit.page.locator("#pick-list .picked").first.click()
    visit.drawn(node)
    found = visit.page.evaluate("[explorer.sides[0].answer.prediction.number, explorer.sides[0].answer.truth.number]")
    assert found == [predicted, known]
    visit.page.go_back()
    visit.page.locator(".confusion").wait_for()


def test_bars_show_the_values_and_lead_to_targets(visit, answer):
    visit.open(view="split", run="first", split="test")
    visit.page.locator(".confusion").wait_for()
    charts = visit.page.locator(".chart")
    assert charts.locator("h3").all_inner_texts() == [
        "Confusion",
        "Accuracy by number of neighbors",
        "Recall by class",
        "Calibration",
    ]
    degrees = [one for one in answer["by_degree"] if one["count"]]
    shown = charts.nth(1).locator(".number").all_inner_texts()
    assert shown == [f"{100 * one['value']:.1f}%" for one in degrees]
    calibrated = [one for one in answer["calibration"]["bins"] if one["count"]]
    for chart, counts in ((1, [one["count"] for one in degrees]), (3, [one["count"] for one in calibrated])):
        charts.nth(chart).locator("button").last.click()
        visit.until(lambda counts=counts: len(listed(visit)) == min(20, counts[-1]))
    assert charts.nth(3).locator(".tick").count() == len(calibrated)


def test_wrong_and_most_certain_come_first(visit, served, answer):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_label("Pick targets").last.select_option("wrong")
    wrong = answer["count"] - int(np.trace(np.array(answer["confusion"])))
    visit.until(lambda: len(listed(visit)) == min(20, wrong))
    shares = [text.split()[-1] for text in visit.page.locator("#pick-list .picked .quiet").all_inner_texts()]
    values = [float(text.rstrip("%")) for text in shares]
    assert values == sorted(values, reverse=True)
    visit.page.get_by_label("Pick targets").last.select_option("unsure")
    visit.until(lambda: "unsure" in visit.page.url and len(listed(visit)) > 0)
    visit.page.get_by_label("Pick targets").last.select_option("class")
    visit.until(lambda: visit.page.get_by_label("Class", exact=True).count() == 1)
    visit.page.get_by_label("Class", exact=True).select_option("1")
    visit.until(
        lambda: "%22class%22%3A1" in visit.page.url and "green" in visit.page.locator("#pick-list").inner_text()
    )
