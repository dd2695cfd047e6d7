"""What if: edits change the prediction as Python says, can be undone, and leave the graph as it is."""

from __future__ import annotations

import numpy as np
import pytest


def near_target(visit) -> str:
    """Return a neighbor of the target with a plain name."""
    return visit.page.evaluate(
        "(() => { const {scope, stage} = explorer.sides[0]; const near = [...stage.nearby(0)];"
        " return near.map(place => scope.nodes[place].name).find(name => name.startsWith('node ')); })()"
    )


def compare(visit, served, **body):
    """Compare the page with Python's answer to the same edits."""
    expected = served.ask(run="first", explain=True, **body)
    visit.drawn()
    found = visit.page.evaluate("explorer.sides[0].answer")
    assert [node["name"] for node in found["nodes"]] == [node["name"] for node in expected["nodes"]]
    assert visit.shown == expected["prediction"]["text"]
    assert found["prediction"]["probability"] == pytest.approx(expected["prediction"]["probability"], abs=1e-5)
    return expected


def test_removing_a_node_and_undoing_it(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    before = visit.page.evaluate("explorer.sides[0].answer.prediction.probability")
    name = near_target(visit)
    visit.page.mouse.click(*visit.spot(name), button="right")
    visit.page.get_by_role("menuitem", name="Remove it", exact=True).click()
    visit.until(lambda: "edits=" in visit.page.url)
    expected = compare(visit, served, node="node 20", edits={"remove_nodes": [name]})
    assert name not in visit.names
    assert expected["before"]["probability"] == pytest.approx(before, abs=1e-6)
    assert visit.page.locator("#prediction .change").inner_text().startswith("Without your edits")
    assert visit.page.locator("#edit-chips .chip").inner_text() == f"without {name}"
    visit.page.locator("#edit-chips").get_by_role("button", name="Undo").click()
    visit.until(lambda: "edits=" not in visit.page.url)
    assert name in visit.drawn().names
    visit.page.go_back()
    visit.until(lambda: name not in visit.drawn().names)


def shown(share):
    return f"{100 * share:.1f}%"


def outcome_of(expected):
    """Return what edits did to a class and its probability, in words, computed from Python's answer."""
    found, before = expected["prediction"], expected["before"]
    shares = [{one["number"]: one["probability"] for one in answer["probabilities"]} for answer in (before, found)]

    def change(answer):
        first, last = (share[answer["number"]] for share in shares)
        if shown(first) == shown(last):
            return f"{answer['text']}: {shown(last)} as before."
        way = "more" if last > first else "less"
        return f"{answer['text']}: from {shown(first)} to {shown(last)}, {100 * abs(last - first):.1f} points {way}."

    if found["number"] == before["number"]:
        return f"Still {change(found)}"
    return f"Now {found['text']}, before {before['text']}. {change(found)} {change(before)}"


def test_the_outcome_of_each_edit_is_told_in_words_and_spoken(visit, served):
    graph, kinds = served.graph, set()
    others = [f"node {node}" for node in np.flatnonzero(graph.y == (graph.y[20] + 1) % 3)[-10:]]
    near = [graph.node_name[int(node)] for node in graph.neighbors(20)]
    moved = {
        "remove_edges": [{"from": "node 20", "to": name} for name in near],
        "add_edges": [{"from": "node 20", "to": name} for name in others],
    }
    visit.open(node="node 20", run="first").drawn("node 20")
    assert visit.page.locator(".outcome").count() == 0
    for edits in ({"features": [{"node": "node 20", "column": 2, "value": 1.5}]}, moved):
        listed = [[kind, value] for kind, values in edits.items() for value in values]
        visit.page.evaluate("edits => explorer.act.edits(edits)", listed)
        visit.until(lambda listed=listed: visit.drawn().state()["edits"] == listed)
        text = outcome_of(served.ask(node="node 20", run="first", explain=True, edits=edits))
        kinds.add(text.split(" ")[0])
        assert visit.page.locator(".outcome").inner_text() == text
        said = visit.page.locator("#said").inner_text()
        assert said.startswith("node 20, ")
        assert said.endswith(text)
    assert said.startswith(f"node 20, {len(listed)} edits, the last one: with an edge node 20 \u2013 {others[-1]}. ")
    assert kinds == {"Now", "Still"}
    visit.page.locator("#edit-chips").get_by_role("button", name="Reset").click()
    visit.until(lambda: visit.page.locator(".outcome").count() == 0)
    assert visit.drawn().page.locator("#said").inner_text().startswith("node 20: predicted ")


def test_outcomes_of_other_answers_in_words(visit):
    def told(**changes):
        empty = {"number": None, "labels": None, "value": None, "probability": None, "probabilities": []}
        made = [{**empty, "kind": changes["kind"], **one} for one in (changes["found"], changes["before"])]
        call = "async both => (await import('/explore/outcome.js')).outcome(...both)"
        return visit.page.evaluate(call, made)

    visit.open(node="node 20")
    link = {"text": "link", "number": 1, "probability": 0.75}
    assert told(kind="links", found=link, before={"text": "no link", "number": 0, "probability": 0.25}) == {
        "text": "Now link, before no link. Probability of a link: from 25.0% to 75.0%, 50.0 points more.",
        "changed": True,
    }
    value = {"text": "2.5", "value": 2.5}
    assert (
        told(kind="values", found=value, before={"text": "4", "value": 4.0})["text"] == "Now 2.5, before 4: 1.5 less."
    )
    assert told(kind="values", found=value, before=value) == {"text": "Still 2.5.", "changed": False}

    def labels(text, *shares):
        named = [{"number": place, "name": "ab"[place], "probability": share} for place, share in enumerate(shares)]
        return {"text": text, "probabilities": named}

    assert told(kind="multilabel", found=labels("a, b", 0.9, 0.7), before=labels("a", 0.8, 0.3))["text"] == (
        "Now a, b, before a. Largest change: b, from 30.0% to 70.0%, 40.0 points more."
    )
    assert told(kind="multilabel", found=labels("a", 0.9, 0.3), before=labels("a", 0.9, 0.3)) == {
        "text": "Still a. Largest change: a, 90.0% as before.",
        "changed": False,
    }


def test_removing_and_adding_an_edge(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    name = near_target(visit)
    visit.page.mouse.click(*visit.spot(name), button="right")
    visit.page.get_by_role("menuitem", name="Remove its edge with node 20").click()
    visit.until(lambda: "edits=" in visit.page.url)
    compare(visit, served, node="node 20", edits={"remove_edges": [{"from": name, "to": "node 20"}]})
    visit.page.get_by_role("tab", name="What if").click()
    field = visit.page.get_by_role("combobox", name="Add an edge from node 20 to")
    field.fill("node 99")
    field.press("Enter")
    visit.until(lambda: len(visit.state()["edits"]) == 2)
    edits = {"remove_edges": [{"from": name, "to": "node 20"}], "add_edges": [{"from": "node 20", "to": "node 99"}]}
    compare(visit, served, node="node 20", edits=edits)
    visit.page.locator("#what-if").get_by_role("button", name="Reset").click()
    visit.until(lambda: visit.state()["edits"] == [])
    compare(visit, served, node="node 20")


def test_a_click_on_an_edge_offers_to_remove_it(visit):
    visit.open(node="node 20", kind="ppr", options='{"topk":4}', run="first").drawn("node 20")
    ends, point = visit.page.evaluate(
        "(() => { const {scope, stage} = explorer.sides[0]; const spots = stage.spots(); const edge = scope.edges[0];"
        " const [a, b] = [spots[edge.source], spots[edge.target]]; const box = stage.box.getBoundingClientRect();"
        " return [[scope.nodes[edge.source].name, scope.nodes[edge.target].name],"
        " [box.left + (a.x + b.x) / 2, box.top + (a.y + b.y) / 2]]; })()"
    )
    visit.page.mouse.click(*point)
    visit.page.get_by_role("menuitem", name="Remove this edge").click()
    visit.until(lambda: len(visit.state()["edits"]) == 1)
    kind, value = visit.state()["edits"][0]
    assert kind == "remove_edges"
    assert {value["from"], value["to"]} == set(ends)
    visit.drawn()


def test_a_feature_value_changes_the_prediction(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.locator(".board").focus()
    visit.page.keyboard.press("ArrowRight")
    visit.page.keyboard.press("e")
    menu = visit.page.locator(".node-menu")
    menu.get_by_label("Feature column").select_option("1")
    menu.get_by_label("Feature value").fill("5")
    menu.get_by_role("button", name="Set").click()
    visit.until(lambda: len(visit.state()["edits"]) == 1)
    expected = compare(
        visit, served, node="node 20", edits={"features": [{"node": "node 20", "column": 1, "value": 5.0}]}
    )
    assert abs(expected["prediction"]["probability"] - expected["before"]["probability"]) > 1e-4


def test_another_class_of_a_neighbor_changes_what_a_model_that_reads_labels_says(visit, served):
    visit.open(node="node 20", run="second").drawn("node 20")
    before = visit.page.evaluate("explorer.sides[0].answer.prediction.probability")
    known = served.ask(node="node 20", run="second", explain=False)["nodes"]
    name, label = next((node["name"], node["label"]) for node in known if node["hop"] == 1 and node["split"] == "train")
    visit.page.mouse.click(*visit.spot(name), button="right")
    visit.page.locator(".node-menu").get_by_label("Class").select_option(str((label + 1) % 3))
    visit.until(lambda: len(visit.state()["edits"]) == 1)
    edits = {"labels": [{"node": name, "class": (label + 1) % 3}]}
    expected = served.ask(node="node 20", run="second", explain=True, edits=edits)
    found = visit.drawn().page.evaluate("explorer.sides[0].answer.prediction.probability")
    assert found == pytest.approx(expected["prediction"]["probability"], abs=1e-5)
    assert found != before


def test_a_model_that_reads_no_labels_offers_no_change_of_them(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.mouse.click(*visit.spot(near_target(visit)), button="right")
    visit.page.locator(".node-menu").wait_for()
    assert visit.page.locator(".node-menu").get_by_label("Class").count() == 0


def test_a_new_node_is_made_and_predicted(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_role("tab", name="What if").click()
    visit.page.get_by_label("Name of the new node").fill("<u>mine</u>")
    field = visit.page.get_by_role("combobox", name="Next to")
    for name in ("node 20", "node 30"):
        field.fill(name)
        field.press("Enter")
        visit.page.locator(".chips li", has_text=name).wait_for()
    visit.page.get_by_label("Features of the new node").fill("b=2, c=-1")
    visit.page.get_by_role("button", name="Make it and predict it").click()
    visit.drawn("<u>mine</u>")
    new = {"name": "<u>mine</u>", "features": {"b": 2.0, "c": -1.0}, "edges": [{"to": "node 20"}, {"to": "node 30"}]}
    compare(visit, served, node={"new": 0}, edits={"new_nodes": [new]})
    visit.page.locator("#edit-chips").get_by_role("button", name="Undo").click()
    visit.drawn("node 20")


def test_the_graph_is_as_it_was(visit, served):
    before = np.array(served.graph.indices)
    test_removing_and_adding_an_edge(visit, served)
    assert np.array_equal(served.explorer.live.stored.indices, before)
    assert served.explorer.live.graph.num_nodes == served.graph.num_nodes
