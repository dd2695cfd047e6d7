"""ServiceMetrics: counts and times of a service in the format of Prometheus.

Not for: metrics of predictions (tasks/metrics.py).
"""

from __future__ import annotations

import os

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

TOGETHER = "PROMETHEUS_MULTIPROC_DIR"
"""Variable of the environment with the folder where the workers of a service keep their metrics."""
_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30)
_SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class ServiceMetrics:
    """Everything that /metrics shows; each service has its own."""

    def __init__(self) -> None:
        """Start at zero."""
        self.registry = registry = CollectorRegistry()
        self.requests = Counter("shadow_requests", "Requests.", ["path", "status"], registry=registry)
        self.seconds = Histogram(
            "shadow_request_seconds", "Time of requests.", ["path"], buckets=_SECONDS, registry=registry
        )
        self._of_path: dict[tuple[str, int], tuple[Counter, Histogram]] = {}
        self.stages = Histogram(
            "shadow_stage_seconds", "Time of the stages of a batch.", ["stage"], buckets=_SECONDS, registry=registry
        )
        self.batch = Histogram("shadow_batch_targets", "Targets of a batch.", buckets=_SIZES, registry=registry)
        self.scope = Histogram(
            "shadow_scope_nodes",
            "Nodes of a scope, mean of a batch.",
            buckets=(1, 10, 50, 100, 200, 500, 1000, 5000),
            registry=registry,
        )
        self.queue = Gauge(
            "shadow_queue_requests", "Requests that wait.", registry=registry, multiprocess_mode="livesum"
        )
        self.cache = Gauge(
            "shadow_cache",
            "Scopes that were found in the cache or not.",
            ["found"],
            registry=registry,
            multiprocess_mode="livesum",
        )
        self.updates = Counter("shadow_updates", "Updates of the graph.", ["result"], registry=registry)
        self.version = Gauge(
            "shadow_graph_version", "Version of the graph.", registry=registry, multiprocess_mode="livemax"
        )
        self.nodes = Gauge("shadow_graph_nodes", "Nodes of the graph.", registry=registry, multiprocess_mode="livemax")
        self.edges = Gauge(
            "shadow_graph_entries", "Entries of all neighbor lists.", registry=registry, multiprocess_mode="livemax"
        )
        self.changed = Gauge(
            "shadow_changed_lists",
            "Lists that are not those of the folder.",
            registry=registry,
            multiprocess_mode="livemax",
        )

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        found = self._of_path.get((path, status))
        if found is None:  # Looking a label up takes longer than counting.
            found = self.requests.labels(path, str(status)), self.seconds.labels(path)
            self._of_path[path, status] = found
        found[0].inc()
        found[1].observe(seconds)

    def text(self) -> bytes:
        """Return all metrics in the text format, those of all workers together if there are several."""
        if TOGETHER not in os.environ:
            return generate_latest(self.registry)
        joined = CollectorRegistry()
        MultiProcessCollector(joined)  # type: ignore[no-untyped-call]
        return generate_latest(joined)
