// A stage: the nodes of one scope drawn with cytoscape, with rings and edges behind them and names in front of them.
// Not for: where nodes go (layout.js), how they look (look.js), or what a click means (main.js).

import cytoscape from "./cytoscape.js";
import { AT_REST, placeLabels } from "./labels.js";
import { ringLayout } from "./layout.js";
import { RADIUS, edgeLooks, nameWeights, nodeLooks } from "./look.js";
import { TextWidths, cut, paintCaptions, paintFocus, paintNames, ringCaptions } from "./names.js";
import { paintRing } from "./paint.js";
import { sceneOf } from "./scene.js";
import { OUTLINES } from "./shapes.js";
import { calm, currentTheme } from "./theme.js";
import { edgeAt, paintEdges } from "./wires.js";

/** Pixels of a unit of cytoscape at rest. Beyond a zoom of 8 it draws nodes directly, not through slow textures. */
const FINE = 100;

const STYLE = [
  {
    selector: "node",
    style: {
      width: "data(size)",
      height: "data(size)",
      shape: "ellipse",
      "background-color": "data(color)",
      "border-width": "data(border)",
      "border-color": "data(borderColor)",
      opacity: "data(opacity)",
      "overlay-opacity": 0,
    },
  },
  // The same outlines as in pictures and legends.
  ...Object.entries(OUTLINES).map(([shape, corners]) => ({
    selector: `node[shape = "${shape}"]`,
    style: { shape: "polygon", "shape-polygon-points": corners.flat() },
  })),
  { selector: "node.dim", style: { opacity: 0.25 } },
];

export class Stage {
  /** box: an empty element; hear: {walk, edit, editEdge, hover, leave, describe, hold} of node or edge positions. */
  constructor(box, hear) {
    this.box = box;
    this.hear = hear;
    this.back = layer(box, "rings");
    this.cyBox = document.createElement("div");
    this.cyBox.className = "cytoscape";
    box.append(this.cyBox);
    this.front = layer(box, "names");
    this.cy = cytoscape({
      container: this.cyBox,
      style: STYLE,
      minZoom: 0.15 * FINE,
      maxZoom: 12 * FINE,
      boxSelectionEnabled: false,
      autounselectify: true,
    });
    this.scope = { nodes: [], edges: [] };
    this.labels = [];
    this.focused = null;
    this.lit = null;
    this.hovered = null;
    this.dim = false;
    this.widths = new TextWidths();
    this.listen();
  }

  listen() {
    const place = (event) => event.target.data("place");
    this.cy.on("viewport position resize", () => this.schedule());
    this.cy.on("tap", "node", (event) => {
      const more = event.originalEvent.shiftKey || event.originalEvent.ctrlKey || event.originalEvent.metaKey;
      (more ? this.hear.edit : this.hear.walk)(place(event), event.renderedPosition);
    });
    this.cy.on("cxttap", "node", (event) => this.hear.edit(place(event), event.renderedPosition));
    this.cy.on("mouseover", "node", (event) => this.light(place(event)));
    this.cy.on("mouseout", "node", () => this.light(null));
    this.cy.on("dragfree", "node", (event) => this.hold(place(event), event.target.position()));
    this.cy.on("mousemove", (event) => event.target === this.cy && this.hoverEdge(this.edgeAt(event)));
    this.cy.on("tap cxttap", (event) => {
      if (event.target !== this.cy) return;
      const edge = this.edgeAt(event);
      if (edge === null) this.hear.leave();
      else this.hear.editEdge(edge, event.renderedPosition);
    });
    this.resizing = new ResizeObserver(() => this.fit());
    this.resizing.observe(this.box);
  }

  /** Draw a scope; given: {mode, shared (keys) or null, hints (angle by key), held ({x, y} by key), title, legend}. */
  show(scope, given) {
    this.scope = scope;
    this.given = given;
    this.focused = null;
    this.lit = null;
    this.hovered = null;
    this.dim = false;
    const hints = scope.nodes.map((node) => given.hints?.get(node.key));
    const sizes = nodeLooks(scope, given.mode, currentTheme(), given.shared).map((look) => look.radius / RADIUS);
    const held = scope.nodes.map((node) => given.held?.get(node.key));
    this.layout = ringLayout(scope.nodes, scope.edges, { hints, sizes, held });
    const { edges, places } = this.layout;
    this.reach = places.reduce((most, place) => Math.max(most, place.held ? place.radius : 0), edges.at(-1));
    this.weights = nameWeights(scope);
    const elements = this.elements();
    this.cy.batch(() => {
      this.cy.elements().remove();
      this.cy.add(elements);
    });
    this.fit();
  }

  /** Color the same scope in another way, or after the theme changed. */
  recolor(given) {
    this.given = { ...this.given, ...given };
    const looks = new Map(this.elements().map((element) => [element.data.id, element.data]));
    this.cy.batch(() => this.cy.elements().forEach((element) => element.data(looks.get(element.id()))));
    this.schedule();
  }

  elements() {
    const theme = (this.theme = currentTheme());
    const { mode, shared } = this.given;
    this.nodeLooks = nodeLooks(this.scope, mode, theme, shared).map((look, place) => ({
      ...look,
      radius: this.layout.sizes[place] * RADIUS,
    }));
    this.edgeLooks = edgeLooks(this.scope, mode, theme);
    return this.scope.nodes.map((node, place) => {
      const look = this.nodeLooks[place];
      const marked = shared && look.shared;
      const border = marked ? 2.5 : 1;
      return {
        group: "nodes",
        data: {
          id: node.key,
          place,
          // Half of the border is outside of the shape; all of it stays in the circle that meets no other.
          size: (2 * look.radius - border) / FINE,
          shape: look.shape,
          color: look.color,
          border: border / FINE,
          borderColor: marked ? theme.text : theme.background,
          opacity: look.shared ? 1 : 0.35,
        },
        position: {
          x: (RADIUS * this.layout.places[place].x) / FINE,
          y: (RADIUS * this.layout.places[place].y) / FINE,
        },
      };
    });
  }

  /** Keep a node where it was dragged to. */
  hold(place, { x, y }) {
    const at = { x: (x * FINE) / RADIUS, y: (y * FINE) / RADIUS };
    Object.assign(this.layout.places[place], at, { angle: Math.atan2(at.y, at.x), radius: Math.hypot(at.x, at.y) });
    this.hear.hold(place, at);
  }

  /** Show the whole scope, with room for names at the sides. */
  fit() {
    const { clientWidth: width, clientHeight: height } = this.box;
    if (!width || !height) return;
    this.cy.resize();
    const zoom = Math.max(0.2, (Math.min(width, height) - 16) / (2 * RADIUS * (this.reach ?? 1)));
    this.rest = zoom;
    this.cy.viewport({ zoom: zoom * FINE, pan: { x: width / 2, y: height / 2 } });
    this.schedule();
  }

  zoom(factor) {
    const middle = { x: this.box.clientWidth / 2, y: this.box.clientHeight / 2 };
    const to = { level: this.cy.zoom() * factor, renderedPosition: middle };
    if (calm()) this.cy.zoom(to);
    else this.cy.animate({ zoom: to }, { duration: 150 });
  }

  /** Return the zoom, 1 for pixels as they are. */
  get scale() {
    return this.cy.zoom() / FINE;
  }

  schedule() {
    if (this.waiting) return;
    this.waiting = requestAnimationFrame(() => {
      this.waiting = null;
      const spots = this.spots();
      this.drawBehind(spots);
      this.drawNames(spots);
    });
  }

  edgeAt(event) {
    return edgeAt(event.renderedPosition, this.scope.edges, this.spots());
  }

  hoverEdge(edge) {
    this.cyBox.classList.toggle("on-edge", edge !== null);
    if (edge === this.hovered) return;
    this.hovered = edge;
    this.schedule();
  }

  /** Return {x, y, radius} of each node in pixels of the stage. */
  spots() {
    const zoom = this.scale;
    return this.scope.nodes.map((node, place) => {
      const { x, y } = this.cy.getElementById(node.key).renderedPosition();
      return { x, y, radius: zoom * this.nodeLooks[place].radius, outward: this.layout.places[place].x };
    });
  }

  rings() {
    if (!this.layout) return [];
    const { x, y } = this.cy.pan();
    const ring = (radius, number) => ({
      x,
      y,
      radius: radius * RADIUS * this.scale,
      color: this.theme.ring[number % 2],
      line: this.theme.border,
    });
    return this.layout.edges.map(ring).reverse();
  }

  drawBehind(spots) {
    const pen = cleared(this.back, this.box);
    for (const ring of this.rings()) paintRing(pen, ring);
    const { lit, hovered: hover, dim } = this;
    const how = { zoom: this.scale, lit, hover, dim, directed: this.given?.directed };
    paintEdges(pen, this.scope.edges, this.edgeLooks ?? [], spots, how);
  }

  drawNames(spots) {
    const pen = cleared(this.front, this.box);
    if (!this.scope.nodes.length) return;
    const captions = ringCaptions(this.layout.edges, spots, { ...this.cy.pan(), scale: this.scale * RADIUS });
    this.labels = this.chosenNames(pen, spots, captions);
    paintCaptions(pen, captions, this.theme);
    const own = (node) => node === this.focused || node === this.lit || this.scope.nodes[node].isTarget;
    paintNames(pen, this.labels, own, this.theme);
    if (this.focused !== null) paintFocus(pen, spots[this.focused], this.theme);
  }

  /** Return the names that fit: 25 at rest, more when zoomed in. */
  chosenNames(pen, spots, taken) {
    const near = this.lit === null ? null : this.nearby(this.lit);
    const named = spots.map((spot, place) => ({
      ...spot,
      text: cut(this.scope.nodes[place].name),
      weight: this.weights[place] + (near?.has(place) ? 10 : 0),
      keep: this.scope.nodes[place].isTarget || place === this.focused || place === this.lit,
    }));
    const most = Math.round(AT_REST * Math.max(1, (this.scale / this.rest) ** 2));
    const bounds = { width: this.box.clientWidth, height: this.box.clientHeight };
    return placeLabels(named, { measure: (text) => this.widths.of(pen, text), most, bounds, taken });
  }

  nearby(place) {
    const near = new Set();
    for (const { source, target } of this.scope.edges) {
      if (source === place) near.add(target);
      if (target === place) near.add(source);
    }
    return near;
  }

  /** Bring out a node and its edges; null for none. */
  light(place) {
    if (place === this.lit) return;
    this.lit = place;
    const near = place === null ? null : this.nearby(place).add(place);
    this.fade((number) => near !== null && !near.has(number));
    this.schedule();
    this.hear.hover(place, place === null ? null : this.spots()[place]);
  }

  /** Bring out the nodes for which a test holds; null ends it. */
  lightWhere(test) {
    this.dim = test !== null;
    this.fade((number) => test !== null && !test(this.scope.nodes[number]));
    this.schedule();
  }

  fade(test) {
    this.cy.batch(() => this.cy.nodes().forEach((node) => node.toggleClass("dim", test(node.data("place")))));
  }

  /** Move the focus to another node by an arrow key: along the ring, or to the ring inside or outside. */
  move(key) {
    const { places } = this.layout;
    const from = this.focused === null ? null : places[this.focused];
    if (!from) return this.focus(0);
    const turn = (place) => Math.atan2(Math.sin(place.angle - from.angle), Math.cos(place.angle - from.angle));
    const numbered = places.map((place, number) => ({ place, number })).filter((one) => one.number !== this.focused);
    const along = { ArrowRight: 1, ArrowLeft: -1 }[key];
    const ahead = (one) => (along * turn(one.place) + 2 * Math.PI) % (2 * Math.PI) || 2 * Math.PI;
    let best;
    if (along)
      best = least(
        numbered.filter((one) => one.place.ring === from.ring),
        ahead,
      );
    else {
      const ring = from.ring + (key === "ArrowUp" ? 1 : -1);
      best = least(
        numbered.filter((one) => one.place.ring === ring),
        (one) => Math.abs(turn(one.place)),
      );
    }
    return this.focus(best ? best.number : this.focused);
  }

  focus(place) {
    this.focused = place;
    this.schedule();
    this.hear.describe(place);
  }

  /** Return the scene of a picture of this stage. */
  scene() {
    const size = { width: this.box.clientWidth, height: this.box.clientHeight };
    const { title, legend } = this.given;
    const { scope, theme, labels, nodeLooks: looks, edgeLooks: lines } = this;
    return sceneOf({
      ...{ scope, title, theme, size, labels, legend, nodeLooks: looks, edgeLooks: lines },
      ...{ rings: this.rings(), spots: this.spots() },
    });
  }

  close() {
    this.resizing.disconnect();
    if (this.waiting) cancelAnimationFrame(this.waiting);
    this.cy.destroy();
    this.box.replaceChildren();
  }
}

function least(list, value) {
  return list.reduce((best, one) => (best === undefined || value(one) < value(best) ? one : best), undefined);
}

function layer(box, name) {
  const canvas = document.createElement("canvas");
  canvas.className = `layer ${name}`;
  canvas.setAttribute("aria-hidden", "true");
  box.append(canvas);
  return canvas;
}

/** Return an empty pen of a canvas as large as a box. */
function cleared(canvas, box) {
  const dots = devicePixelRatio || 1;
  const [width, height] = [Math.round(box.clientWidth * dots), Math.round(box.clientHeight * dots)];
  if (canvas.width !== width || canvas.height !== height) {
    canvas.width = width;
    canvas.height = height;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(dots, 0, 0, dots, 0, 0);
  pen.clearRect(0, 0, box.clientWidth, box.clientHeight);
  return pen;
}
