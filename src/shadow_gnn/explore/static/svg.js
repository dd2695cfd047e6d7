// A scene as the text of an SVG file.
// Not for: what is in the scene (scene.js).

import { outline } from "./shapes.js";

/** Return the text of an SVG file; every name is escaped. */
export function toSvg(scene) {
  const lines = [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${scene.width}" height="${scene.height}" viewBox="0 0 ${scene.width} ${scene.height}" font-family="system-ui, sans-serif">`,
    `<title>${escaped(scene.title)}</title>`,
    `<rect width="100%" height="100%" fill="${scene.background}"/>`,
    ...scene.rings.map(
      (ring) => `<circle ${middle(ring)} r="${number(ring.radius)}" fill="${ring.color}" stroke="${ring.line}"/>`,
    ),
    ...scene.edges.map(
      (edge) =>
        `<line x1="${number(edge.x1)}" y1="${number(edge.y1)}" x2="${number(edge.x2)}" y2="${number(edge.y2)}" stroke="${edge.color}" stroke-width="${number(edge.width)}" stroke-opacity="${number(edge.opacity)}"/>`,
    ),
    ...scene.nodes.map((node) => shape(node, scene.background)),
    ...scene.texts.map(
      (text) =>
        `<text x="${number(text.x)}" y="${number(text.y)}" font-size="${text.size}" font-weight="${text.bold ? 600 : 400}" fill="${text.color}" text-anchor="${text.anchor}" dominant-baseline="central" paint-order="stroke" stroke="${scene.background}" stroke-width="3" stroke-linejoin="round">${escaped(text.text)}</text>`,
    ),
    "</svg>",
  ];
  return lines.join("\n");
}

function shape(node, background) {
  const look = `fill="${node.color}" stroke="${background}" stroke-width="1"`;
  const corners = outline(node.shape, node.x, node.y, node.radius);
  const inner = `<title>${escaped(node.title)}</title>`;
  if (!corners) return `<circle ${middle(node)} r="${number(node.radius)}" ${look}>${inner}</circle>`;
  return `<polygon points="${corners.map((corner) => corner.map(number).join(",")).join(" ")}" ${look}>${inner}</polygon>`;
}

const middle = ({ x, y }) => `cx="${number(x)}" cy="${number(y)}"`;
const number = (value) => String(Number(value.toFixed(2)));
const ENTITIES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
// Characters that XML forbids are left out.
const escaped = (text) =>
  String(text)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "")
    .replace(/[&<>"]/g, (character) => ENTITIES[character]);
