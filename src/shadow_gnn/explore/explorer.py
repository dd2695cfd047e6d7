"""Explorer: a graph and runs behind the page, with one thread that computes whatever is asked for.

Not for: HTTP (routes.py), or the answers themselves (scopes.py, splits.py, picking.py).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from shadow_gnn.explore.about import about, class_names, own_extractor, split_names
from shadow_gnn.explore.answers import AboutAnswer, FindAnswer, PickAnswer, ScopeAnswer, SplitAnswer
from shadow_gnn.explore.edits import by_name
from shadow_gnn.explore.extractors import DEFAULT, extractor_of
from shadow_gnn.explore.finding import find
from shadow_gnn.explore.picking import PREDICTED, Place, pick
from shadow_gnn.explore.requests import PickBody, ScopeBody
from shadow_gnn.explore.runs import ExploredRun
from shadow_gnn.explore.scopes import answer_scope
from shadow_gnn.explore.splits import SplitFacts, Steps, compute_split
from shadow_gnn.extract.base_extractor import BaseExtractor
from shadow_gnn.graph.changes.live_graph import LiveGraph
from shadow_gnn.serve.limits import Limits
from shadow_gnn.serve.waiting import Draining, Job, QueueFull, WaitingWork

Work = Callable[[], Any]

_LONGEST_TEXT = 1000


@dataclass(eq=False)
class _Split:
    """A split that is being predicted, or was."""

    steps: Steps
    progress: float = 0.0
    facts: SplitFacts | None = None
    fault: Exception | None = field(default=None)


class Explorer:
    """Everything that answers the page; methods that return futures compute in the explorer's own thread."""

    def __init__(
        self, live: LiveGraph, runs: Sequence[ExploredRun] = (), *, name: str = "graph", source: str | None = None
    ) -> None:
        """Start the thread. name: shown; source: name or folder of the graph, for recipes and code."""
        self.live, self.name = live, name
        self.source = source or str(live.stored.path or name)
        self.runs = {run.name: run for run in runs}
        if len(self.runs) != len(runs):
            raise ValueError("explore: names of runs must differ")
        self._later: Callable[[], Sequence[ExploredRun]] | None = None
        self._opening = threading.Lock()
        self.limits = Limits()
        self._splits: dict[tuple[str, str], _Split] = {}
        self._work: WaitingWork[Work] = WaitingWork("explore", _handle, most_waiting=self.limits.queue, most_size=1)

    def open_later(self, opened: Callable[[], Sequence[ExploredRun]]) -> None:
        """Open runs before the next question, in place of those with the same names; forget what these predicted."""
        with self._opening:
            self._later = opened

    def prepare(self) -> None:
        """Open what was left for later."""
        with self._opening:
            if self._later is None:
                return
            for run in self._later():
                self.runs[run.name] = run
                for key in [key for key in self._splits if key[0] == run.name]:
                    self._splits.pop(key).steps.close()
            self._later = None

    def close(self) -> None:
        """Take no more requests, finish those that wait, and leave splits unfinished."""
        self._work.drain()
        for split in self._splits.values():
            split.steps.close()

    def about(self) -> AboutAnswer:
        """Return the facts that the page asks for first."""
        with self.live.lock:
            return about(self.name, self.live, self.runs.values())

    def find(self, text: str, limit: int) -> FindAnswer:
        """Return nodes whose name or id begins with a text; it is fast and waits for nothing."""
        if len(text) > _LONGEST_TEXT:
            raise ValueError(f"find: text must have at most {_LONGEST_TEXT} characters, got {len(text)}")
        if not 1 <= limit <= 1000:
            raise ValueError(f"find: limit must be from 1 to 1000, got {limit}")
        with self.live.lock:
            return find(self.live, text, limit)

    def scope(self, body: ScopeBody) -> Future[ScopeAnswer]:
        """Extract a scope, predict on it and explain the prediction."""
        run = None if body.run is None else self._run(body.run)

        def answer() -> ScopeAnswer:
            extractor = self._extractor(run, body)
            other = run is not None and run.live is not self.live and body.edits is not None
            wanted = body.model_copy(update={"edits": by_name(self.live, body.edits)}) if other else body
            return answer_scope(self.live, run, extractor, wanted, self.source)

        return self._work.submit(answer)

    def split(self, run: str, split: str) -> SplitAnswer:
        """Return how right the predictions of a split are, or how far they are computed, which begins now."""
        found = self._started(self._run(run), split)
        return {"progress": found.progress} if found.facts is None else found.facts.answer

    def pick(self, body: PickBody) -> Future[PickAnswer]:
        """Return targets with a property; one that needs predictions begins to compute them."""
        run = None if body.run is None else self._run(body.run)
        if run is None and body.by in PREDICTED:
            raise ValueError(f"pick: run must be given to pick by {body.by}")
        split = body.split
        if split is None and (body.by in PREDICTED or (run is not None and run.predictor.is_links)):
            raise ValueError("pick: split must be given to pick by predictions")
        found: _Split | None = None
        if run is not None and split is not None:
            known = self._splits.get((run.name, split))
            needed = body.by in PREDICTED or run.predictor.is_links
            found = self._started(run, split) if needed else known
        classes = class_names(self.live.stored) if run is None else run.classes
        place = Place(self.live, run, classes, None if found is None else found.facts)
        return self._work.submit(lambda: pick(place, body, 0.0 if found is None else found.progress))

    def _run(self, name: str) -> ExploredRun:
        if name not in self.runs:
            known = ", ".join(self.runs) or "none"
            raise ValueError(f"run: must be one of {known}, got {name!r:.80}")
        return self.runs[name]

    def _extractor(self, run: ExploredRun | None, body: ScopeBody) -> BaseExtractor | None:
        """Return the extractor of a request; None for the run's own."""
        if body.extractor is not None:
            known = [branch.extractor for one in self.runs.values() for branch in one.predictor.trained.config.branches]
            return extractor_of(body.extractor, tuple(one for one in known if one is not None))
        if run is None:
            return extractor_of(DEFAULT)
        if run.predictor.trained.config.is_normal:
            table = own_extractor(run)
            assert table is not None
            return extractor_of(table)
        return None

    def _started(self, run: ExploredRun, split: str) -> _Split:
        """Return a split, whose computation begins if it is new; raise if it has failed."""
        key = run.name, split
        if key not in self._splits:
            if split not in split_names(run):
                known = ", ".join(split_names(run)) or "none"
                raise ValueError(f"split: must be one of {known} for {run.name}, got {split!r:.80}")
            self._splits[key] = _Split(compute_split(run, split))
            self._work.submit(lambda: self._step(self._splits[key]))
        found = self._splits[key]
        if found.fault is not None:
            raise found.fault
        return found

    def _step(self, split: _Split) -> None:
        """Compute one step of a split, and put the next one behind the requests that wait."""
        try:
            done = next(split.steps)
        except ValueError as error:
            split.fault = error
            return
        if isinstance(done, SplitFacts):
            split.facts, split.progress = done, 1.0
            return
        split.progress = done
        with suppress(Draining):
            self._next(split)

    def _next(self, split: _Split) -> None:
        try:
            self._work.submit(lambda: self._step(split))
        except QueueFull:  # It is this thread that empties the queue: do the step now.
            self._step(split)


def _handle(jobs: Sequence[Job[Work]]) -> None:
    for job in jobs:
        try:
            job.future.set_result(job.work())
        except BaseException as error:
            job.future.set_exception(error)
