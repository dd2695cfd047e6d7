// How nodes and edges of a scope look: size for score, color for class or contribution, strength for contribution.
// Not for: where they are (layout.js), or drawing them (stage.js, scene.js).

import { AGAINST, FOR, classLook, contributionColor, hopLook } from "./palette.js";
import { sizeFactor } from "./shapes.js";

export const RADIUS = 300;

const most = (values) => values.reduce((best, value) => Math.max(best, Math.abs(value ?? 0)), 0);

/** Return {color, shape, radius, shared} of each node; mode: class or why; theme: colors of the page. */
export function nodeLooks(scope, mode, theme, shared) {
  const outside = scope.nodes.filter((node) => !node.isTarget);
  const best = most(outside.map((node) => node.score)) || 1;
  // The target's own part is often larger than all others; it would make them pale.
  const strongest = most(outside.map((node) => node.contribution)) || 1;
  const classes = scope.nodes.some((node) => node.rank >= 0);
  const small = Math.max(0.55, Math.min(1, Math.sqrt(70 / scope.nodes.length)));
  return scope.nodes.map((node) => {
    const { color, shape } = classes ? classLook(node.rank) : hopLook(node.hop ?? 5);
    const share = Math.sqrt(Math.min(1, Math.max(0, (node.score ?? 0) / best)));
    return {
      color: mode === "why" ? contributionColor((node.contribution ?? 0) / strongest, theme.pale) : color,
      shape: node.isTarget ? "star" : shape,
      radius: node.isTarget ? 17 : small * (4.5 + 9 * share) * sizeFactor(shape),
      shared: shared ? shared.has(node.key) : true,
    };
  });
}

/** Return {color, width, opacity} of each edge; without contributions, edges of the target are stronger. */
export function edgeLooks(scope, mode, theme) {
  const strongest = most(scope.edges.map((edge) => edge.contribution));
  const faint = Math.min(0.5, Math.max(0.1, 5 / Math.sqrt(scope.edges.length + 1)));
  return scope.edges.map((edge) => {
    const own = scope.nodes[edge.source].isTarget || scope.nodes[edge.target].isTarget;
    if (!strongest)
      return { color: own ? theme.line : theme.faint, width: own ? 1.2 : 0.8, opacity: own ? 0.5 : faint };
    const share = (edge.contribution ?? 0) / strongest;
    const strength = Math.abs(share);
    const color = mode === "why" ? (share < 0 ? AGAINST : share > 0 ? FOR : theme.faint) : theme.line;
    return { color, width: 0.6 + 4 * strength, opacity: Math.min(0.8, 0.5 * faint + 0.65 * strength) };
  });
}

/** Return the weight of each name: contribution and score count, whichever is more. */
export function nameWeights(scope) {
  const best = most(scope.nodes.map((node) => (node.isTarget ? 0 : node.score))) || 1;
  const strongest = most(scope.nodes.map((node) => (node.isTarget ? 0 : node.contribution))) || 1;
  return scope.nodes.map((node) => Math.max((node.score ?? 0) / best, Math.abs(node.contribution ?? 0) / strongest));
}
