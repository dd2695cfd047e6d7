"""Report: the results of a study as Markdown, CSV and PNG, and the best recipe.

Not for: choosing by test metrics; they are shown only for the best trial.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shadow_gnn.base.files import write_file
from shadow_gnn.base.metric_order import metric_from_score
from shadow_gnn.recipe.file import write_recipe
from shadow_gnn.recipe.record import toml_value
from shadow_gnn.studies.figures import COLORS, legend_below, picture
from shadow_gnn.studies.tune.space import Choices, Label, Range, Space
from shadow_gnn.training.runs.folder import RESULT, read_json

if TYPE_CHECKING:
    from shadow_gnn.studies.tune.study import Study, Trial

BEST, TABLE, PAGE, PICTURE = "best.toml", "trials.csv", "report.md", "report.png"
_NUM_SHOWN = 10
_NUM_BINS = 4
_BLUE, _RED, *_ = COLORS
_GRAY = "#9aa5b1"


@dataclass(frozen=True)
class Outcome:
    """The results of a study so far."""

    trials: tuple[Trial, ...]
    """Every started trial."""
    monitor: str
    """The deciding metric; empty before the first finished trial."""
    best: Trial | None
    """The finished trial with the best validation score, the first of equal ones."""
    valid: Mapping[str, float | None]
    """Validation metrics of the best."""
    test: Mapping[str, float | None]
    """Test metrics of the best; empty without a test split."""
    shares: Mapping[str, float | None]
    """By key: the share of the variance of scores that it explains; None if unknown."""

    def metric(self, score: float | None) -> float | None:
        """Return the metric of a score."""
        return None if score is None else metric_from_score(self.monitor, score)

    def count(self, state: str) -> int:
        """Return the number of trials in a state."""
        return sum(trial.state == state for trial in self.trials)


def write_report(study: Study) -> Outcome:
    """Write the report of a study so far, and return its outcome."""
    outcome = make_outcome(study)
    space, folder = study.plan.space, study.folder
    write_file(folder / TABLE, _table(outcome, space).encode())
    if outcome.best is not None:
        write_file(folder / BEST, _best_recipe(study, outcome).encode())
        _draw(outcome, space, folder / PICTURE)
    write_file(folder / PAGE, _page(study, outcome).encode())
    return outcome


def make_outcome(study: Study) -> Outcome:
    """Choose the best trial of a study by validation, and read its metrics."""
    trials = tuple(study.trials())
    finished = [trial for trial in trials if trial.score is not None]
    best = max(finished, key=lambda trial: (trial.score, -trial.number)) if finished else None
    result = read_json(study.folder_of(best.number) / RESULT) if best is not None else {}
    shares = {
        key: explained_share([scores for _, scores in _grouped(trials, key, values)])
        for key, values in study.plan.space.keys.items()
    }
    return Outcome(trials, result.get("monitor", ""), best, result.get("valid", {}), result.get("test", {}), shares)


def explained_share(groups: Sequence[Sequence[float]]) -> float | None:
    """Return the share of the variance of all values between groups, minus the share expected by chance.

    Epsilon squared: (between - (groups - 1) * within / (values - groups)) / total, of sums of squares, from 0 to 1.
    None for fewer than two groups, no more values than groups, or equal values.
    """
    groups = [group for group in groups if group]
    values = [value for group in groups for value in group]
    if len(groups) < 2 or len(values) <= len(groups):
        return None
    middle = math.fsum(values) / len(values)
    total = math.fsum((value - middle) ** 2 for value in values)
    within = math.fsum((value - math.fsum(group) / len(group)) ** 2 for group in groups for value in group)
    if total == 0:
        return None
    chance = (len(groups) - 1) * within / (len(values) - len(groups))
    return min(1.0, max(0.0, (total - within - chance) / total))


def _grouped(trials: Sequence[Trial], key: str, values: Choices | Range) -> list[tuple[str, list[float]]]:
    """Return (value, scores of its trials) in the order of the space; ranges in bins of equal count."""
    ended = [trial for trial in trials if trial.state != "running"]
    scored = [(trial.values[key], trial.best_so_far) for trial in ended if trial.best_so_far is not None]
    known = sorted({label for label, _ in scored}, key=values.labels.index if isinstance(values, Choices) else float)
    if isinstance(values, Choices) or len(known) <= 2 * _NUM_BINS:
        bins = [[label] for label in known]
    else:
        size = len(known) / _NUM_BINS
        bins = [known[round(size * number) : round(size * (number + 1))] for number in range(_NUM_BINS)]
    return [
        (_bin_name(labels, values), [score for label, score in scored if label in labels and score is not None])
        for labels in bins
    ]


def _bin_name(labels: Sequence[Label], values: Choices | Range) -> str:
    if len(labels) == 1:
        return _shown(labels[0], values)
    return f"{float(labels[0]):.2g} to {float(labels[-1]):.2g}"


def _shown(label: Label, values: Choices | Range) -> str:
    """Return a value as short text."""
    value = values.value(label)
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner}" for name, inner in value.items())
    return f"{value:.6g}" if isinstance(value, float) else toml_value(value).strip('"')


def _number(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.4f}"


def _table(outcome: Outcome, space: Space) -> str:
    """Return all trials as CSV, without test metrics, which must not influence a choice."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["trial", "state", f"valid_{outcome.monitor or 'metric'}", "num_epochs", *space.keys, "fault"])
    for trial in outcome.trials:
        score = outcome.metric(trial.best_so_far)
        epochs = trial.scores[-1][0] if trial.scores else 0
        values = [trial.values[key] for key in space.keys]
        writer.writerow([trial.number, trial.state, "" if score is None else score, epochs, *values, trial.fault])
    return text.getvalue()


def _best_recipe(study: Study, outcome: Outcome) -> str:
    assert outcome.best is not None
    rank = f"the best of {outcome.count('finished')} finished ones on validation"
    value = f"{outcome.monitor} {_number(outcome.metric(outcome.best.score))}"
    return f"# Trial {outcome.best.number}, {rank}: {value}.\n" + write_recipe(study.recipe_of(outcome.best.values))


def _page(study: Study, outcome: Outcome) -> str:
    counts = ", ".join(f"{outcome.count(state)} {state}" for state in ("finished", "pruned", "failed", "running"))
    size = study.plan.space.size
    combinations = "more combinations than can be counted" if size is None else f"{size:,} combinations"
    lines = [
        f"# Tuning {study.plan.recipe.stem}",
        "",
        f"{len(outcome.trials)} trials: {counts}. The space has {combinations}; sampler {study.plan.sampler}, pruner "
        f"{study.plan.pruner}. Every trial has the recipe's seed.",
        "",
    ]
    if outcome.best is None:
        return "\n".join([*lines, "No trial is finished yet."]) + "\n"
    return "\n".join([*lines, *_best_lines(study, outcome), *_shares_lines(outcome), *_trial_lines(study, outcome)])


def _best_lines(study: Study, outcome: Outcome) -> list[str]:
    best = outcome.best
    assert best is not None
    test = f" Its test {outcome.monitor} is {_number(outcome.test[outcome.monitor])}." if outcome.test else ""
    keys = study.plan.space.keys
    return [
        "## The best",
        "",
        f"Trial {best.number} ([{BEST}]({BEST})), chosen by validation {outcome.monitor} "
        f"{_number(outcome.valid[outcome.monitor])} alone.{test}",
        "",
        "The validation score of the best trial is optimistic, because it was selected. One seed is weak evidence:",
        "train the best recipe with several (`shadow train best.toml --repeat 5`) before you rely on it.",
        "",
        "| key | best |",
        "| --- | --- |",
        *(f"| `{key}` | {_shown(best.values[key], values)} |" for key, values in keys.items()),
        "",
        f"![History, and scores by value]({PICTURE})",
        "",
    ]


def _shares_lines(outcome: Outcome) -> list[str]:
    ranked = sorted(outcome.shares.items(), key=lambda item: -1.0 if item[1] is None else item[1], reverse=True)
    return [
        "## Importance of each key",
        "",
        "The share of the variance of validation scores that each key explains, minus the share expected by chance.",
        "Pruned trials count with their best epoch. With few trials, shares are unreliable.",
        "",
        "| key | share |",
        "| --- | --- |",
        *(f"| `{key}` | {'-' if share is None else f'{share:.2f}'} |" for key, share in ranked),
        "",
    ]


def _trial_lines(study: Study, outcome: Outcome) -> list[str]:
    finished = [trial for trial in outcome.trials if trial.score is not None]
    finished.sort(key=lambda trial: (-(trial.score or 0.0), trial.number))
    keys = study.plan.space.keys
    return [
        f"## The first {min(_NUM_SHOWN, len(finished))} by validation",
        "",
        f"All are in [{TABLE}]({TABLE}).",
        "",
        f"| trial | valid {outcome.monitor} | {' | '.join(f'`{key}`' for key in keys)} |",
        f"| --- | --- |{' --- |' * len(keys)}",
        *(
            f"| {trial.number} | {_number(outcome.metric(trial.score))} | "
            + " | ".join(_shown(trial.values[key], values) for key, values in keys.items())
            + " |"
            for trial in finished[:_NUM_SHOWN]
        ),
        "",
    ]


def _draw(outcome: Outcome, space: Space, path: Path) -> None:
    """Draw the scores in the order of the trials, and for each key by value."""
    num_rows = 1 + -(-len(space.keys) // 2)
    with picture(path, (9, 3 * num_rows)) as figure:
        grid = figure.add_gridspec(num_rows, 2)
        _draw_history(figure.add_subplot(grid[0, :]), outcome)
        for number, (key, values) in enumerate(space.keys.items()):
            axes = figure.add_subplot(grid[1 + number // 2, number % 2])
            _draw_boxes(axes, outcome, key, values)
        for axes in figure.axes:
            axes.set_ylabel(f"valid {outcome.monitor}")
            axes.grid(alpha=0.25)
        legend_below(figure)


def _draw_history(axes: Any, outcome: Outcome) -> None:
    for state, color in (("finished", _BLUE), ("pruned", _GRAY)):
        found = [trial for trial in outcome.trials if trial.state == state and trial.best_so_far is not None]
        if found:
            heights = [outcome.metric(trial.best_so_far) for trial in found]
            axes.scatter([trial.number for trial in found], heights, color=color, s=18, label=state)
    finished = [(trial.number, trial.score) for trial in outcome.trials if trial.score is not None]
    best = [outcome.metric(score) for score in accumulate((score for _, score in finished), max)]
    axes.step([number for number, _ in finished], best, where="post", color=_RED, label="best so far")
    axes.set_xlabel("trial")
    axes.xaxis.get_major_locator().set_params(integer=True)


def _draw_boxes(axes: Any, outcome: Outcome, key: str, values: Choices | Range) -> None:
    groups = [(name, scores) for name, scores in _grouped(outcome.trials, key, values) if scores]
    heights = [[outcome.metric(score) for score in scores] for _, scores in groups]
    axes.boxplot(heights, medianprops={"color": _RED}, flierprops={"markersize": 3})
    names = [f"{name} ({len(scores)})" for name, scores in groups]
    axes.set_xticks(range(1, len(groups) + 1), names, rotation=30, ha="right", fontsize=7)
    axes.set_title(key, fontsize=10)
