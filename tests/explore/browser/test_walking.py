"""Walking over the graph with mouse, keys and the back button; the address holds all that is seen."""

from __future__ import annotations

from urllib.parse import parse_qs


def neighbor(visit) -> str:
    """Return a drawn node that is not the target, with a plain name."""
    return next(name for name in visit.names[1:] if name.startswith("node "))


def test_a_click_walks_and_back_returns(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    name = neighbor(visit)
    visit.page.mouse.click(*visit.spot(name))
    visit.drawn(name)
    assert visit.names[0] == name
    assert parse_qs(visit.page.url.split("#")[1])["node"] == [name]
    visit.page.go_back()
    assert visit.drawn("node 20").names[0] == "node 20"
    visit.page.go_forward()
    assert visit.drawn(name).names[0] == name


def test_a_drag_moves_the_node_and_walks_nowhere(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    name = neighbor(visit)
    x, y = visit.spot(name)
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + 30, y + 25, steps=4)
    visit.page.mouse.up()
    moved = visit.spot(name)
    assert abs(moved[0] - x - 30) < 3
    assert abs(moved[1] - y - 25) < 3
    assert visit.drawn("node 20").state()["target"] == ["node 20"]


def drag(visit, name, right, down):
    """Drag a node, and return where it is then."""
    x, y = visit.spot(name)
    visit.page.mouse.move(x, y)
    visit.page.mouse.down()
    visit.page.mouse.move(x + right, y + down, steps=4)
    visit.page.mouse.up()
    return place_of(visit, name)


def place_of(visit, name):
    """Return where a node is in the drawing, whatever the zoom."""
    place = "explorer.sides[0].scope.nodes.findIndex(node => node.name === name)"
    return visit.page.evaluate(
        f"name => {{ const {{x, y}} = explorer.sides[0].stage.layout.places[{place}]; return [x, y]; }}", name
    )


def test_a_dragged_node_stays_where_it_is_held_until_it_is_put_back(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    button = visit.page.get_by_role("button", name="Put moved nodes back")
    assert button.is_disabled()
    name, other = [name for name in visit.names[1:] if name.startswith("node ")][:2]
    first = place_of(visit, name)
    held = drag(visit, name, 45, -30)
    assert abs(held[0] - first[0]) + abs(held[1] - first[1]) > 0.1
    # After an edit, another class explained, another extractor, and on the way back from another target.
    visit.page.evaluate("name => explorer.act.edit(['remove_nodes', name])", other)
    visit.until(lambda: other not in visit.drawn().names)
    assert place_of(visit, name) == held
    visit.page.locator("#prediction button.bar").nth(1).click()
    visit.until(lambda: "explained=" in visit.page.url)
    assert place_of(visit.drawn(), name) == held
    visit.page.evaluate("explorer.change({sides: [{run: 'first', kind: 'ppr', options: {topk: 13}}]})")
    visit.until(lambda: visit.drawn().state()["sides"][0]["kind"] == "ppr")
    assert place_of(visit, name) == held
    visit.page.evaluate("name => explorer.act.walkFrom(name)", name)
    visit.drawn(name)
    assert button.is_disabled()
    visit.page.go_back()
    assert place_of(visit.drawn("node 20"), name) == held
    button.click()
    assert place_of(visit, name) != held
    assert button.is_disabled()
    assert visit.page.locator("#said").inner_text() == "All nodes are back in their places."


def test_dragging_the_background_moves_all_and_the_wheel_zooms(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    before = visit.page.evaluate("[explorer.sides[0].stage.cy.pan(), explorer.sides[0].stage.cy.zoom()]")
    box = visit.page.locator(".board").bounding_box()
    corner = (box["x"] + 12, box["y"] + 12)
    visit.page.mouse.move(*corner)
    visit.page.mouse.down()
    visit.page.mouse.move(corner[0] + 40, corner[1] + 10, steps=4)
    visit.page.mouse.up()
    pan = visit.page.evaluate("explorer.sides[0].stage.cy.pan()")
    assert abs(pan["x"] - before[0]["x"] - 40) < 3
    visit.page.mouse.wheel(0, -300)
    visit.until(lambda: visit.page.evaluate("explorer.sides[0].stage.cy.zoom()") > before[1])
    visit.page.get_by_role("button", name="Show all").click()
    assert visit.page.evaluate("explorer.sides[0].stage.cy.pan()") == before[0]


def test_hovering_shows_all_facts(visit, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    name = neighbor(visit)
    node = next(n for n in served.ask(node="node 20", run="first", explain=True)["nodes"] if n["name"] == name)
    visit.page.mouse.move(*visit.spot(name))
    card = visit.page.locator(".card")
    card.wait_for()
    facts = dict(zip(card.locator("dt").all_inner_texts(), card.locator("dd").all_inner_texts(), strict=True))
    assert card.locator("strong").inner_text() == name
    assert (facts["id"], facts["hop"]) == (str(node["id"]), str(node["hop"]))
    assert facts["neighbors"] == str(node["degree"])
    assert facts["class"] == served.graph.class_name[node["label"]]
    assert float(facts["score"]) == float(f"{node['score']:.4g}")
    assert facts["contribution"][0] == ("+" if node["contribution"] > 0 else "\u2212")
    assert set(facts) >= {feature["name"] for feature in node["features"]}


def test_an_address_gives_the_same_page_again(visit, browser, served):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_label("topk", exact=True).fill("6")
    visit.until(lambda: len(visit.drawn().names) == 6)
    visit.page.get_by_role("button", name="Compare").click()
    visit.until(lambda: "sides=2" in visit.page.url)
    visit.drawn().page.get_by_role("button", name="Why").click()
    visit.until(lambda: "color=why" in visit.page.url)
    state = visit.state()
    text = visit.page.locator("#prediction").inner_text().split("\n")
    visit.page.reload()
    visit.until(lambda: visit.page.evaluate("globalThis.explorer !== undefined"))
    visit.drawn("node 20")
    assert visit.state() == state
    again = visit.page.locator("#prediction").inner_text().split("\n")
    assert [line for line in again if "ms" not in line] == [line for line in text if "ms" not in line]


def test_every_state_survives_its_address(visit):
    visit.open(node="node 20")
    states = [
        {"target": ["a&node=b#c", 7], "edits": [["labels", {"node": "\u202e", "class": None}]], "color": "why"},
        {"target": [{"new": 0}], "sides": [{"run": "x", "kind": "ppr", "options": {"topk": 3, "hide": None}}]},
        {"target": ["100"], "view": "split", "split": "test", "pick": {"by": "confused", "true": 1, "predicted": 0}},
        {"target": ["__proto__"], "method": "occlusion", "explained": "2"},
    ]
    for changes in states:
        whole, back = visit.page.evaluate(
            "async changes => { const {emptyState, toAddress, fromAddress} = await import('/explore/state.js');"
            " const whole = {...emptyState(), ...changes}; return [whole, fromAddress(toAddress(whole))]; }",
            changes,
        )
        assert back == whole


def test_a_damaged_address_is_read_as_far_as_it_goes(visit):
    visit.open("node=node+20&edits=%5B1,2&options=7&sides=9&pick=%5B%5D&color=x&view=y&id=-3&run=first").drawn(
        "node 20"
    )
    state = visit.state()
    assert (state["edits"], state["pick"], state["color"], len(state["sides"])) == ([], None, "class", 1)


def test_keys_move_between_nodes_and_walk(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.locator(".board").focus()
    seen = []
    for key in ("ArrowRight", "ArrowUp", "ArrowRight", "ArrowRight"):
        visit.page.keyboard.press(key)
        seen.append(visit.page.evaluate("explorer.sides[0].scope.nodes[explorer.sides[0].stage.focused].name"))
        assert visit.page.locator("#said").inner_text().startswith(seen[-1])
    assert seen[0] == "node 20"
    assert len(set(seen)) == 4
    visit.page.keyboard.press("ArrowLeft")
    assert visit.page.locator("#said").inner_text().startswith(seen[-2])
    visit.page.keyboard.press("Enter")
    visit.drawn(seen[-2])


def test_keys_of_the_page(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.keyboard.press("?")
    assert visit.page.locator("#help-dialog").is_visible()
    visit.page.keyboard.press("Escape")
    visit.until(lambda: visit.page.evaluate("document.activeElement === document.body"))
    assert not visit.page.locator("#help-dialog").is_visible()
    visit.page.keyboard.press("c")
    visit.until(lambda: len(visit.state()["sides"]) == 2)
    visit.page.keyboard.press("w")
    visit.until(lambda: visit.state()["color"] == "why")
    visit.page.keyboard.press("s")
    visit.until(lambda: visit.state()["view"] == "split")
    visit.page.keyboard.press("s")
    zoom = visit.drawn().page.evaluate("explorer.sides[0].stage.cy.zoom()")
    visit.page.keyboard.press("+")
    assert visit.page.evaluate("explorer.sides[0].stage.cy.zoom()") > zoom
    visit.page.keyboard.press("r")
    visit.until(lambda: visit.state()["target"] != ["node 20"])
    visit.drawn()


def test_tabs_follow_arrow_keys_and_the_table_has_every_node(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    visit.page.get_by_role("tab", name="Prediction").focus()
    visit.page.keyboard.press("ArrowLeft")
    assert visit.page.get_by_role("tab", name="Table").get_attribute("aria-selected") == "true"
    rows = visit.page.locator("#table tbody tr")
    assert rows.count() == len(visit.names)
    visit.page.get_by_role("button", name="Node", exact=True).click()
    shown = visit.page.locator("#table tbody th button").all_inner_texts()
    plain = [name for name in shown if name.startswith("node ")]
    assert plain == sorted(plain)
    assert sorted(shown) == sorted(visit.names)
    assert visit.page.locator("#table th[aria-sort=ascending]").count() == 1


def test_every_control_has_a_name(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    nameless = visit.page.evaluate(
        "[...document.querySelectorAll('button, input, select, textarea, [role=tab], [role=application]')]"
        ".filter(node => !(node.getAttribute('aria-label') || node.textContent.trim() || node.labels?.length"
        " || node.title)).map(node => node.outerHTML)"
    )
    assert nameless == []


def test_narrow_screens_have_no_sideways_scroll(visit):
    visit.page.set_viewport_size({"width": 390, "height": 800})
    visit.open(node="node 20", run="first").drawn("node 20")
    assert visit.page.evaluate("document.documentElement.scrollWidth") <= 390
    top = {name: visit.page.locator(name).bounding_box()["y"] for name in (".middle", ".right", ".left")}
    assert top[".middle"] < top[".right"] < top[".left"]


def test_the_buttons_of_a_phone_stand_in_one_line(visit):
    visit.page.set_viewport_size({"width": 375, "height": 740})
    visit.open(node="node 20", run="first").drawn("node 20")
    middles = (
        "names => names.map(name => document.querySelector(name).getBoundingClientRect()).map(r => r.y + r.height / 2)"
    )
    first, *others = visit.page.evaluate(middles, ["#random", "#compare", "#split", "#export > summary", "#help"])
    assert all(abs(other - first) < 4 for other in others)


def test_dark_and_light_follow_the_system(visit):
    visit.page.emulate_media(color_scheme="light")
    visit.open(node="node 20", run="first").drawn("node 20")
    colors = []
    for scheme in ("light", "dark"):
        visit.page.emulate_media(color_scheme=scheme)
        visit.page.wait_for_timeout(50)
        body = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
        colors.append((body, visit.page.evaluate("explorer.sides[0].stage.theme.text")))
    assert colors[0][0] == "rgb(255, 255, 255)"
    assert all(light != dark for light, dark in zip(*colors, strict=True))


def test_a_moved_slider_is_one_step_of_the_history(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    before = visit.page.evaluate("history.length")
    for topk in (5, 6, 7):
        visit.page.evaluate("topk => explorer.change({sides: [{run: 'first', kind: 'ppr', options: {topk}}]})", topk)
    visit.until(lambda: len(visit.drawn().names) == 7)
    assert visit.page.evaluate("history.length") == before + 1
    visit.page.go_back()
    visit.until(lambda: len(visit.drawn().names) == 12)


def test_nodes_that_stay_keep_their_side_of_the_target(visit):
    visit.open(node="node 20", run="first").drawn("node 20")
    angles = "Object.fromEntries(explorer.sides[0].angles())"
    before = visit.page.evaluate(angles)
    visit.page.evaluate("explorer.change({sides: [{run: 'first', kind: 'ppr', options: {topk: 11}}]})")
    visit.until(lambda: len(visit.drawn().names) == 11)
    after = visit.page.evaluate(angles)
    shared = [key for key in after if key in before]
    turns = [abs((after[key] - before[key] + 3.14159) % 6.28319 - 3.14159) for key in shared]
    assert len(shared) == 11
    assert sorted(turns)[len(turns) // 2] < 0.8
