// A scene painted on a canvas, for PNG files.
// Not for: what is in the scene (scene.js).

import { outline } from "./shapes.js";

/** Return a promise of a PNG blob of a scene, with so many dots for a pixel. */
export function toPng(scene, dots = 2) {
  const canvas = document.createElement("canvas");
  canvas.width = scene.width * dots;
  canvas.height = scene.height * dots;
  const pen = canvas.getContext("2d");
  pen.scale(dots, dots);
  paint(pen, scene);
  return new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
}

function paint(pen, scene) {
  pen.fillStyle = scene.background;
  pen.fillRect(0, 0, scene.width, scene.height);
  for (const ring of scene.rings) paintRing(pen, ring);
  for (const edge of scene.edges) {
    pen.strokeStyle = edge.color;
    pen.globalAlpha = edge.opacity;
    pen.lineWidth = edge.width;
    pen.beginPath();
    pen.moveTo(edge.x1, edge.y1);
    pen.lineTo(edge.x2, edge.y2);
    pen.stroke();
  }
  pen.globalAlpha = 1;
  for (const node of scene.nodes) {
    pen.fillStyle = node.color;
    pen.strokeStyle = scene.background;
    pen.lineWidth = 1;
    const corners = outline(node.shape, node.x, node.y, node.radius);
    if (corners) {
      pen.beginPath();
      corners.forEach(([x, y], corner) => (corner ? pen.lineTo(x, y) : pen.moveTo(x, y)));
      pen.closePath();
    } else disc(pen, node);
    pen.fill();
    pen.stroke();
  }
  for (const text of scene.texts) write(pen, text, scene.background);
}

/** Paint the disc of a hop and its edge. */
export function paintRing(pen, ring) {
  pen.fillStyle = ring.color;
  pen.strokeStyle = ring.line;
  pen.lineWidth = 1;
  disc(pen, ring);
  pen.fill();
  pen.stroke();
}

function disc(pen, { x, y, radius }) {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
}

/** Write a text with a halo in the color of the background. */
export function write(pen, text, background) {
  pen.font = `${text.bold ? "600 " : ""}${text.size}px system-ui, sans-serif`;
  pen.textAlign = { start: "left", middle: "center" }[text.anchor];
  pen.textBaseline = "middle";
  pen.lineJoin = "round";
  pen.lineWidth = 3;
  pen.strokeStyle = background;
  pen.fillStyle = text.color;
  pen.strokeText(text.text, text.x, text.y);
  pen.fillText(text.text, text.x, text.y);
}
