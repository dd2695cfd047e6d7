// Files to keep: the picture as PNG or SVG, the answer as JSON, the recipe, and the Python that makes the same scope.
// Not for: making pictures (scene.js, svg.js, paint.js).

import { toPng } from "./paint.js";
import { toSvg } from "./svg.js";

/** Kinds of files with their endings and makers; of: {stage, answer}. */
export const FILES = {
  png: ["png", "image/png", ({ stage }) => toPng(stage.scene())],
  svg: ["svg", "image/svg+xml", ({ stage }) => toSvg(stage.scene())],
  json: ["json", "application/json", ({ answer }) => JSON.stringify(answer, null, 1)],
  recipe: ["toml", "text/plain", ({ answer }) => answer.recipe],
  python: ["py", "text/x-python", ({ answer }) => answer.python],
};

/** Hand a file to the browser as a download. */
export async function download(kind, name, of) {
  const [ending, type, make] = FILES[kind];
  const made = await make(of);
  const address = URL.createObjectURL(made instanceof Blob ? made : new Blob([made], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = `${name.replace(/[^\p{L}\p{N}._+-]+/gu, "-").slice(0, 80) || "scope"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
