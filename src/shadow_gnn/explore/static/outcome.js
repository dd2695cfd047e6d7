// The outcome of edits in words: the answer before and after them, and by how much its probability changed.
// Not for: the prediction itself (prediction.js), or the edits in words (whatif.js).

import { percent, short } from "./numbers.js";

/** Return {text, changed} of a prediction and the one before the edits; changed: whether the answer is another one. */
export function outcome(found, before) {
  return { classes: ofClasses, multilabel: ofLabels, links: ofLink, values: ofValue }[found.kind](found, before);
}

function ofClasses(found, before) {
  const share = (answer, number) => answer.probabilities.find((one) => one.number === number)?.probability ?? null;
  const change = (one) => `${one.text}: ${moved(share(before, one.number), share(found, one.number))}.`;
  if (found.number === before.number) return { text: `Still ${change(found)}`, changed: false };
  return { text: `Now ${found.text}, before ${before.text}. ${change(found)} ${change(before)}`, changed: true };
}

function ofLabels(found, before) {
  const earlier = new Map(before.probabilities.map((one) => [one.number, one.probability]));
  const change = (one) => Math.abs(one.probability - (earlier.get(one.number) ?? 0));
  const most = found.probabilities.reduce((best, one) => (change(one) > change(best) ? one : best));
  const changed = found.text !== before.text;
  const labels = changed ? `Now ${found.text}, before ${before.text}` : `Still ${found.text}`;
  const largest = `Largest change: ${most.name}, ${moved(earlier.get(most.number), most.probability)}.`;
  return { text: `${labels}. ${largest}`, changed };
}

function ofLink(found, before) {
  const changed = found.text !== before.text;
  const answer = changed ? `Now ${found.text}, before ${before.text}` : `Still ${found.text}`;
  return { text: `${answer}. Probability of a link: ${moved(before.probability, found.probability)}.`, changed };
}

function ofValue(found, before) {
  const difference = found.value - before.value;
  if (short(found.value) === short(before.value)) return { text: `Still ${short(found.value)}.`, changed: false };
  const way = difference > 0 ? "more" : "less";
  return {
    text: `Now ${short(found.value)}, before ${short(before.value)}: ${short(Math.abs(difference))} ${way}.`,
    changed: true,
  };
}

/** Return in words how a probability changed. */
function moved(from, to) {
  if (percent(from) === percent(to)) return `${percent(to)} as before`;
  const points = (100 * Math.abs(to - from)).toFixed(1);
  return `from ${percent(from)} to ${percent(to)}, ${points} points ${to > from ? "more" : "less"}`;
}
